package ecs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// ID names an entity: a sequence number, counted from 1 in the order of creation and
// never reused. The zero ID names no entity.
type ID uint64

// Slot is the row of an entity in every column. Slots are recycled; an alias, so
// that a []Slot is the []uint32 that kernels and indexes take.
type Slot = uint32

const idPrefix = "ent_"

// maxID bounds the ids that a snapshot may contain, so that later ids never overflow.
const maxID = 1 << 62

// String returns "ent_<n>", n in decimal.
func (id ID) String() string {
	var buf [len(idPrefix) + 20]byte
	return string(id.append(buf[:0]))
}

// MarshalText returns the form of String; it never fails.
func (id ID) MarshalText() ([]byte, error) {
	return id.append(nil), nil
}

// UnmarshalText accepts what ParseID accepts. On an error id is unchanged.
func (id *ID) UnmarshalText(text []byte) error {
	v, err := ParseID(string(text))
	if err == nil {
		*id = v
	}
	return err
}

// ParseID is the inverse of String. It accepts only the form that String returns, so that
// one entity has one name: no sign, no space, no leading zero. "ent_0" is the zero ID.
// Anything else is ErrCorrupt, and a number from 2^63 on, which no world issues, ErrRange.
func ParseID(s string) (ID, error) {
	digits, ok := strings.CutPrefix(s, idPrefix)
	if !ok || digits == "" || digits[0] == '0' && digits != "0" {
		return 0, fault.Field(ErrCorrupt, "ecs: ParseID", fmt.Sprintf("%.40q", s))
	}
	if len(digits) <= 8 && len(s) >= 8 {
		if n, ok := eightDigits(s[len(s)-8:], len(digits)); ok {
			return ID(n), nil
		}
	}
	var n uint64
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, fault.Field(ErrCorrupt, "ecs: ParseID", fmt.Sprintf("%.40q", s))
		}
		n = 10*n + uint64(d)
	}
	if len(digits) > 19 || n >= uint64(provisional) { // 20 digits may have wrapped around
		return 0, fault.Field(ErrRange, "ecs: ParseID", fmt.Sprintf("%.40q", s))
	}
	return ID(n), nil
}

// eightDigits parses the last n of eight bytes as a decimal number, and returns false
// if they are not all digits. It has no branch that depends on n, which is hard to
// predict: it loads all bytes as one word and joins neighbours to numbers of two,
// then four, then eight digits, each step with one multiplication.
func eightDigits(s string, n int) (uint64, bool) {
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	const zeros, high = 0x3030303030303030, 0xf0f0f0f0f0f0f0f0
	x = (x ^ zeros) >> (8 * (8 - n)) << (8 * (8 - n)) // the first of them is the lowest
	if x&high != 0 || (x+0x0606060606060606)&high != 0 {
		return 0, false
	}
	x = x * (1 + 10<<8) >> 8 & 0x00ff00ff00ff00ff
	x = x * (1 + 100<<16) >> 16 & 0x0000ffff0000ffff
	return x * (1 + 10000<<32) >> 32, true
}

func (id ID) append(dst []byte) []byte {
	return strconv.AppendUint(append(dst, idPrefix...), uint64(id), 10)
}

// Handle is an ID together with its slot, for loops that look at the same
// entities again and again: checking it is one comparison. It is valid as long as
// the entity lives. The zero Handle is never valid.
type Handle struct {
	Slot Slot
	Gen  ID // the entity in the slot: as ids are not reused, it serves as the generation
}

// Handle returns the handle of an entity, and false if there is no such entity.
func (w *World) Handle(id ID) (Handle, bool) {
	slot, ok := w.table.slot(id)
	if !ok {
		return Handle{}, false
	}
	return Handle{slot, id}, true
}

// Valid reports whether the entity of a handle is alive, and still in the handle's slot.
// It is false for any handle that this world did not issue, unless it issued an equal one.
func (w *World) Valid(h Handle) bool {
	return uint(h.Slot) < uint(len(w.ids)) && w.ids[h.Slot] == h.Gen && h.Gen != 0
}
