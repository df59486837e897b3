package ecs

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestIDText(t *testing.T) {
	for id, text := range map[ID]string{0: "ent_0", 1: "ent_1", 1024: "ent_1024", math.MaxInt64: "ent_9223372036854775807"} {
		if id.String() != text {
			t.Errorf("%d prints %s", uint64(id), id)
		}
		if got, err := ParseID(text); err != nil || got != id {
			t.Errorf("ParseID(%q) = %v, %v", text, got, err)
		}
	}
	var v struct{ ID ID }
	if err := json.Unmarshal([]byte(`{"ID":"ent_77"}`), &v); err != nil || v.ID != 77 {
		t.Fatal(v, err)
	}
	if b, err := json.Marshal(v); err != nil || string(b) != `{"ID":"ent_77"}` {
		t.Fatal(string(b), err)
	}
	if err := v.ID.UnmarshalText([]byte("ent_")); err == nil || v.ID != 77 {
		t.Fatal("a bad text changed the id")
	}
}

func TestParseIDErrors(t *testing.T) {
	for _, s := range []string{"", "ent_", "ent", "7", "ent_-1", "ent_+1", "ent_01", "ent_00", "ent_1 ", " ent_1",
		"ENT_1", "ent_1_000", "ent_0x1", "ent_1\x00", "ent_" + strings.Repeat("x", 1000)} {
		id, err := ParseID(s)
		wantError(t, err, ErrCorrupt, "ecs: ParseID")
		if id != 0 || len(err.Error()) > 200 {
			t.Fatalf("ParseID(%.40q) = %v, %v", s, id, err)
		}
	}
	// What stands for an entity that is not there yet is no name of one.
	c := newWorld(t, 1).NewCommands()
	for _, s := range []string{c.Spawn().String(), "ent_9223372036854775808", "ent_9999999999999999999",
		"ent_18446744073709551615", "ent_18446744073709551616", "ent_" + strings.Repeat("1", 100)} {
		if id, err := ParseID(s); id != 0 || !errors.Is(err, ErrRange) {
			t.Errorf("ParseID(%q) = %v, %v", s, id, err)
		}
	}
}

// All lengths, and a byte beside the digits at each place.
func TestParseIDDigits(t *testing.T) {
	for _, digits := range []string{"9", "10", "999", "1000", "4321", "98765", "123456", "7654321", "98765432", "99999999", "123456789"} {
		want, _ := strconv.ParseUint(digits, 10, 64)
		if id, err := ParseID("ent_" + digits); err != nil || id != ID(want) {
			t.Errorf("%s is parsed as %v, %v", digits, id, err)
		}
		for i := range digits {
			for c := range 256 {
				s := "ent_" + digits[:i] + string([]byte{byte(c)}) + digits[i+1:]
				id, err := ParseID(s)
				if err == nil && id.String() != s || err != nil && c >= '1' && c <= '9' {
					t.Errorf("%q is parsed as %v, %v", s, id, err)
				}
			}
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{"ent_0", "ent_1", "ent_18446744073709551615", "ent_18446744073709551616", "ent_01", "x", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err == nil && id.String() != s {
			t.Fatalf("%q parses as %v", s, id)
		}
		if back, err := ParseID(ID(len(s)).String()); err != nil || back != ID(len(s)) {
			t.Fatalf("%d does not survive its text", len(s))
		}
	})
}

func TestHandle(t *testing.T) {
	w := newWorld(t, 3)
	if _, ok := w.Handle(1); ok || w.Valid(Handle{}) || w.Valid(Handle{Slot: 99, Gen: 1}) {
		t.Fatal("a handle of nobody")
	}
	a, b := spawn(t, w), spawn(t, w)
	ha, _ := w.Handle(a)
	hb, _ := w.Handle(b)
	if ha != (Handle{0, a}) || hb != (Handle{1, b}) || !w.Valid(ha) || !w.Valid(hb) || w.Valid(Handle{}) {
		t.Fatal(ha, hb)
	}
	w.Despawn(a)
	if w.Valid(ha) || w.Valid(Handle{Slot: ha.Slot}) {
		t.Fatal("the handle of a dead entity is valid")
	}
	c := spawn(t, w)
	hc, _ := w.Handle(c)
	if hc.Slot != ha.Slot || w.Valid(ha) || !w.Valid(hc) {
		t.Fatal("a reused slot makes an old handle valid")
	}
}
