package agent

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// An answer is the data of an input, all little-endian, uvarints in their shortest form:
//
//	byte version, 1; byte reason; uint64 decision, agent, hash of the perception
//	of reason none: uvarint how many actions; for each
//	    uvarint kind, target, after, how many arguments, each as float32, bytes of data, and the data
//	of reason ProviderBusy: uvarint how many ticks, and a text as below
//	of another reason: a text for people, up to 256 bytes
const (
	answerVersion = 1
	answerHeader  = 1 + 1 + 3*8
	maxText       = 256
	maxTicksBytes = 5 // of a number up to limit
)

// RefusedError says what is wrong with a decision. It wraps one of ErrRange, ErrNotFinite,
// ErrCapacity and ErrCorrupt.
type RefusedError struct {
	Reason Reason
	Err    error
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(why Reason, sentinel error, field string, value any) error {
	return &RefusedError{why, fault.Field(sentinel, "agent: "+field, value)}
}

// rules are the limits of decisions.
type rules struct {
	defs       []ActionDef
	maxActions int
	maxBytes   int
}

func rulesOf(c *Config) rules { return rules{c.Actions, c.MaxActions, c.MaxBytes} }

// kind returns the index of an action.
func (r *rules) kind(name string) int {
	for i := range r.defs {
		if r.defs[i].Name == name {
			return i
		}
	}
	return -1
}

// check refuses an action that does not match its definition.
func (r *rules) check(kind, index int, a *Action) error {
	if kind < 0 || kind >= len(r.defs) {
		return refuse(UnknownAction, fault.ErrRange, fmt.Sprintf("Decision.Actions[%d].Name", index), fmt.Sprintf("%.70q", a.Name))
	}
	def, at := &r.defs[kind], func(field string) string { return fmt.Sprintf("Decision.Actions[%d].%s", index, field) }
	switch {
	case def.Target == NoTarget && a.Target != 0, def.Target == NeedTarget && a.Target == 0:
		return refuse(BadTarget, fault.ErrRange, at("Target"), a.Target)
	case a.After > MaxAfter:
		return refuse(BadDelay, fault.ErrRange, at("After"), a.After)
	case len(a.Data) > def.MaxData && !(utf8.Valid(a.Data) && utf8.RuneCount(a.Data) <= def.MaxData):
		return refuse(TooLarge, fault.ErrCapacity, "len("+at("Data")+")", len(a.Data))
	case len(a.Args) != len(def.Args):
		return refuse(BadArgs, fault.ErrRange, "len("+at("Args")+")", len(a.Args))
	}
	for i, v := range a.Args {
		lo, hi := def.Args[i].Bounds()
		switch {
		case !fault.Finite(v):
			return refuse(NotFinite, fault.ErrNotFinite, at("Args."+def.Args[i].Name), v)
		case v < lo || v > hi:
			return refuse(BadArgs, fault.ErrRange, at("Args."+def.Args[i].Name), v)
		}
	}
	return nil
}

// head is the beginning of an answer.
type head struct {
	decision uint64
	agent    ecs.ID
	hash     uint64
}

func (h *head) append(dst []byte, why Reason) []byte {
	dst = append(dst, answerVersion, byte(why))
	return wire.AppendU64s(dst, h.decision, uint64(h.agent), h.hash)
}

// encode appends the answer that a decision is, or an error.
func (r *rules) encode(dst []byte, h head, d *Decision) ([]byte, error) {
	if len(d.Actions) > r.maxActions {
		return dst, refuse(TooManyActions, fault.ErrCapacity, "len(Decision.Actions)", len(d.Actions))
	}
	size := 0 // checked first, so that little is copied that will be refused
	for i := range d.Actions {
		size += len(d.Actions[i].Data)
	}
	if size > r.maxBytes {
		return dst, refuse(TooLarge, fault.ErrCapacity, "bytes of Decision.Actions", size)
	}
	start := len(dst)
	dst = h.append(dst, NoReason)
	dst = wire.AppendUvarints(dst, uint64(len(d.Actions)))
	for i := range d.Actions {
		a := &d.Actions[i]
		kind := r.kind(a.Name)
		if err := r.check(kind, i, a); err != nil {
			return dst[:start], err
		}
		dst = appendAction(dst, kind, a)
	}
	if n := len(dst) - start; n > r.maxBytes {
		return dst[:start], refuse(TooLarge, fault.ErrCapacity, "bytes of the Decision", n)
	}
	return dst, nil
}

func appendAction(dst []byte, kind int, a *Action) []byte {
	dst = wire.AppendUvarints(dst, uint64(kind), uint64(a.Target), uint64(a.After), uint64(len(a.Args)))
	dst = wire.AppendF32s(dst, a.Args...)
	return wire.AppendPrefixed(dst, a.Data)
}

// failure appends an answer that says why there is no decision.
func (h *head) failure(dst []byte, why Reason, text string) []byte {
	return append(h.append(dst, why), cut(text)...)
}

// busy returns the answer of a provider that is not to be asked for a number of ticks.
func (h *head) busy(ticks uint64, text string) []byte {
	return append(wire.AppendUvarints(h.append(nil, ProviderBusy), ticks), cut(text)...)
}

// cut returns the beginning of a text that is too long.
func cut(text string) string {
	if len(text) > maxText {
		cut := maxText
		for cut > maxText-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return text
}

// encodeOrFail encodes a decision, or the reason for which it is refused.
func (r *rules) encodeOrFail(h head, d *Decision) []byte {
	data, err := r.encode(nil, h, d)
	var refused *RefusedError
	if errors.As(err, &refused) {
		return h.failure(nil, refused.Reason, err.Error())
	}
	return data
}

// Answer is a decision, or the reason why there is none.
type Answer struct {
	Decision uint64
	Agent    ecs.ID
	Hash     uint64 // of the perception
	Actions  []Action
	Reason   Reason // none if it is a decision
	Ticks    uint64 // for which the provider is not asked, if Reason is ProviderBusy
	Text     string // for people, if there is a Reason
	kinds    []int  // of the actions
}

// decode reads an answer. Its actions satisfy the rules, or there is an error whose reason says why
// not; what could be read of the head is returned with the error. Actions have memory of their own.
func (r *rules) decode(data []byte) (Answer, error) {
	p := wire.NewReader(data)
	version := p.U8()
	a := Answer{Reason: Reason(p.U8()), Decision: p.U64(), Agent: ecs.ID(p.U64()), Hash: p.U64()}
	switch {
	case p.Err() != nil || version != answerVersion || a.Reason >= reasonEnd:
		return Answer{}, refuse(Malformed, fault.ErrCorrupt, "answer: bytes", len(data))
	case len(data) > max(r.maxBytes, answerHeader+maxTicksBytes+maxText):
		return a, refuse(TooLarge, fault.ErrCapacity, "answer: bytes", len(data))
	case a.Reason != NoReason:
		if a.Reason == ProviderBusy {
			a.Ticks = p.Canonical(0, limit)
		}
		if p.Err() != nil {
			return a, refuse(Malformed, fault.ErrCorrupt, "answer: bytes", len(data))
		}
		if p.Len() > maxText {
			return a, refuse(TooLarge, fault.ErrCapacity, "answer: bytes of text", p.Len())
		}
		a.Text = string(p.Rest())
		return a, nil
	}
	n := p.Canonical(0, math.MaxInt32)
	if n > uint64(r.maxActions) {
		return a, refuse(TooManyActions, fault.ErrCapacity, "answer: actions", n)
	}
	for i := range int(n) {
		if err := r.decodeAction(&p, &a, i); err != nil {
			a.Actions, a.kinds = nil, nil
			return a, err
		}
	}
	if p.Done() != nil {
		a.Actions, a.kinds = nil, nil
		return a, refuse(Malformed, fault.ErrCorrupt, "answer: bytes", len(data))
	}
	return a, nil
}

func (r *rules) decodeAction(p *wire.Reader, a *Answer, i int) error {
	act := action(p)
	kind := act.kind
	if p.Err() != nil {
		return refuse(Malformed, fault.ErrCorrupt, "answer: action", i)
	}
	if kind < len(r.defs) {
		act.Name = r.defs[kind].Name
	}
	if err := r.check(kind, i, &act.Action); err != nil {
		return err
	}
	a.Actions, a.kinds = append(a.Actions, act.Action), append(a.kinds, kind)
	return nil
}

type decodedAction struct {
	Action
	kind int
}

// action reads one action, into memory of its own, without its name.
func action(p *wire.Reader) (d decodedAction) {
	d.kind = int(p.Canonical(0, math.MaxInt32))
	d.Target = ecs.ID(p.Canonical(0, math.MaxUint64))
	d.After = uint32(p.Canonical(0, math.MaxUint32))
	if n := p.Count(p.Canonical(0, 64), 64, 4); n > 0 {
		d.Args = make([]float32, n)
		p.F32s(d.Args)
	}
	if data := p.Bytes(int(p.Canonical(0, math.MaxInt32))); len(data) > 0 {
		d.Data = append([]byte(nil), data...)
	}
	return d
}
