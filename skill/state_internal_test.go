package skill

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
)

func stateOfTest(t testing.TB) *state {
	sim, err := evertick.New(evertick.Config{Capacity: 8})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(sim, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Standard(r); err != nil {
		t.Fatal(err)
	}
	return &r.state
}

func filled(t testing.TB) *state {
	s := stateOfTest(t)
	s.calls, s.refused, s.trace, s.input, s.snapshots = 9, 3, 1<<63, 8, 2
	s.buckets = []bucket{{"ann", "x@1", 5, 77}, {"ann", "y@1", 0, 78}, {"bob", "x@1", 1e12, 1 << 40}}
	s.tags = []string{"b", "a"}
	return s
}

// filledWithHeld also holds three calls, the last of which carries out a decision.
func filledWithHeld(t testing.TB) *state {
	s := filled(t)
	s.held = []heldCall{
		{request{actor: Actor{"ann", Player, 12}, skill: "world.stats@1", cause: 1 << 60}, 3, 70},
		{request{actor: Actor{"bob", Admin, 0}, skill: "ecs.addComponent@1", input: []byte(`{"id":"ent_1","component":"a"}`)}, 6, 71},
		{request{actor: Actor{"crowd", Admin, 0}, skill: "world.stats@1", cause: 7, agentDecision: AgentDecision{99, 7}}, 9, 72},
	}
	return s
}

func TestStateBytes(t *testing.T) {
	for version, s := range map[byte]*state{1: filled(t), 2: filledWithHeld(t)} {
		data := s.AppendState(nil)
		if data[0] != version {
			t.Errorf("version %d, want %d", data[0], version)
		}
		testStateBytes(t, data)
	}
}

func testStateBytes(t *testing.T, data []byte) {
	s := stateOfTest(t)
	if err := s.RestoreState(data); err != nil {
		t.Fatal(err)
	}
	if got := s.AppendState(nil); !bytes.Equal(got, data) {
		t.Errorf("restored state is %x, not %x", got, data)
	}
	was := s.AppendState(nil)
	for n := range data {
		if err := s.RestoreState(data[:n]); !errors.Is(err, fault.ErrCorrupt) {
			t.Fatalf("%d bytes of %d: %v", n, len(data), err)
		}
	}
	if err := s.RestoreState(append(bytes.Clone(data), 0)); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("one byte more: %v", err)
	}
	swapped := filled(t)
	swapped.buckets[0], swapped.buckets[1] = swapped.buckets[1], swapped.buckets[0]
	if err := s.RestoreState(swapped.AppendState(nil)); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("buckets out of order: %v", err)
	}
	if !bytes.Equal(s.AppendState(nil), was) {
		t.Error("a state that was refused has changed something")
	}
}

func FuzzRestoreState(f *testing.F) {
	f.Add(filled(f).AppendState(nil))
	f.Add(filledWithHeld(f).AppendState(nil))
	s := stateOfTest(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		was := s.AppendState(nil)
		if err := s.RestoreState(data); err != nil {
			if !errors.Is(err, fault.ErrCorrupt) || !bytes.Equal(s.AppendState(nil), was) {
				t.Fatalf("%v, or a change", err)
			}
			return
		}
		s.prune(1 << 50)
		s.AppendState(nil)
	})
}

func TestCut(t *testing.T) {
	for _, s := range []string{"", "abc", "äöü", "\xff\xff\xff\xff\xff", "aaaa\xc3", strings.Repeat("€", 10), "aaa\xf0\x9f\x98\x80b"} {
		for n := range 12 {
			got := truncate(s, n)
			if len(got) > n || !utf8.ValidString(got) {
				t.Errorf("truncate(%q, %d) = %q", s, n, got)
			}
			if len(s) <= n && utf8.ValidString(s) && got != s {
				t.Errorf("truncate(%q, %d) = %q", s, n, got)
			}
		}
	}
}

// Parsing an encoded call returns its parts.
func TestCallBytes(t *testing.T) {
	r := stateOfTest(t).registry
	for _, n := range []int{0, 1, r.config.InputBytes, r.config.InputBytes + 1} {
		q := request{actor: Actor{"ann", Player, 12}, skill: "a.b@2", cause: 1 << 60, input: bytes.Repeat([]byte("x"), n)}
		for _, q.agentDecision = range []AgentDecision{{}, {0, 1}, {math.MaxUint32, math.MaxUint64}} {
			got, err := parseCall(r.appendCall(nil, &q))
			if err != nil || got.actor != q.actor || got.skill != q.skill || got.cause != q.cause || got.bytes() != uint64(n) || got.agentDecision != q.agentDecision {
				t.Errorf("%d bytes: %+v %v", n, got, err)
			}
			if (got.oversized != nil) != (n > r.config.InputBytes) {
				t.Errorf("%d bytes: oversized %v", n, got.oversized)
			}
		}
	}
	for _, bad := range []string{"\x02\x00\x00\x00", "\x02\x00\x05\x00", "\x02\x00\x80\x80\x80\x80\x10\x01", "\x03\x00"} { // no decision, sources, a version
		if _, err := parseCall([]byte(bad + "\x05\x01\x05admin\x03pam\x0bworld.stats")); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Parsing an encoded event returns it. Events of versions 1 and 2 are read as they were, and of version 1 the causes of
// actors that are called as an entity are decisions.
func TestEventBytes(t *testing.T) {
	event := Event{Seq: 5, Count: 1, Tick: 2, Actor: "crowd", Profile: Player, Entity: 3, Skill: "x@1", Cause: 9, Code: Forbidden, Input: 1 << 63, Output: 1}
	for _, event.Held = range []uint64{0, 4} {
		for _, event.Decision = range []AgentDecision{{}, {0, 1}, {math.MaxUint32, math.MaxUint64}} {
			if got, err := ParseEvent(appendEvent(nil, &event)); err != nil || got != event {
				t.Errorf("%+v: %v, not %+v", got, err, event)
			}
		}
	}
	const body = "\x03\x05\x01\x02\x03\x09\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00\x00\x00\x00\x00"
	for _, c := range []struct {
		data           string
		held, decision uint64
	}{
		{"\x01" + body + "\x05crowd\x06player\x03x@1", 0, 0},
		{"\x01" + body + "\x05ent_3\x06player\x03x@1", 0, 9},
		{"\x02" + body + "\x05ent_3\x06player\x03x@1\x04", 4, 0},
	} {
		want := event
		want.Held, want.Decision, want.Actor = c.held, AgentDecision{0, c.decision}, c.data[1+len(body)+1:][:5]
		if got, err := ParseEvent([]byte(c.data)); err != nil || got != want {
			t.Errorf("%q: %+v, not %+v: %v", c.data, got, want, err)
		}
		for _, bad := range []string{c.data[:len(c.data)-1], c.data + "\x00", "\x00" + c.data[1:], "\x04" + c.data[1:]} {
			if _, err := ParseEvent([]byte(bad)); !errors.Is(err, fault.ErrCorrupt) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
}
