// Package tuning holds the rules of a world that programs can change while it runs, as part of its state.
package tuning

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
)

// DefaultHitSpeed is Tuning.HitSpeed where it is left zero, in m/s.
const DefaultHitSpeed = 1

// Tuning holds the rules. An engine has a public type of the same fields, which says what they mean.
type Tuning struct {
	ContactHertz, ContactDamping, PushSpeed, RestitutionThreshold, MaxSpeed float32
	HitSpeed                                                                float32
}

const count = 6

func (t *Tuning) numbers() [count]struct {
	name  string
	value *float32
	usual float32
} {
	return [...]struct {
		name  string
		value *float32
		usual float32
	}{
		{"ContactHertz", &t.ContactHertz, 30}, {"ContactDamping", &t.ContactDamping, 10}, {"PushSpeed", &t.PushSpeed, 3},
		{"RestitutionThreshold", &t.RestitutionThreshold, 1}, {"MaxSpeed", &t.MaxSpeed, 400}, {"HitSpeed", &t.HitSpeed, DefaultHitSpeed},
	}
}

// Check reports every fault of t at once. It puts prefix in front of the fields, as in "physics: Tuning.".
func (t *Tuning) Check(prefix string) error {
	var numbers [count]check.Number
	for i, v := range t.numbers() {
		numbers[i] = check.Number{Name: v.name, Value: *v.value}
	}
	return check.Coefficients(prefix, numbers[:]...)
}

// Filled returns t with its defaults filled in.
func (t Tuning) Filled() Tuning {
	for _, v := range t.numbers() {
		if *v.value == 0 {
			*v.value = v.usual
		}
	}
	return t
}

// Encode appends the fields, as float32.
func (t *Tuning) Encode(e *frame.Encoder) {
	for _, v := range t.numbers() {
		e.F32(*v.value)
	}
}

// Decode reads what Encode has appended. Other content is fault.ErrCorrupt.
func (t *Tuning) Decode(d *frame.Decoder, content []byte) error {
	if len(content) != count*4 {
		return d.Corrupt("length of the tuning", len(content))
	}
	for i, v := range t.numbers() {
		*v.value = wire.F32At(content, i)
	}
	if t.Check("") != nil || *t != t.Filled() {
		return d.Corrupt("tuning", *t)
	}
	return nil
}

// Hash appends the hash of the fields.
func (t *Tuning) Hash(dst []statehash.Column) []statehash.Column {
	var numbers [count]float32
	for i, v := range t.numbers() {
		numbers[i] = *v.value
	}
	return append(dst, statehash.Column{Name: "Tuning", Hash: statehash.Rows(numbers[:])})
}
