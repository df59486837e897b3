package ecs

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A reaction is one thing that an observer does: to the entity that is some places after the one of the event.
type reaction struct {
	verb, tag, ahead int
}

const (
	reactSet = iota
	reactUnset
	reactSetWhere // with the tag of the event
	reactClear
	reactSetAll
	reactStop
	reactions
)

// reactor is an observer with its reactions. kind: 0 OnSpawn, 1 OnDespawn, 2 OnSet, 3 OnUnset, 4 the release of a Binding.
type reactor struct {
	kind, tag int
	does      []reaction
}

// stage is a world with observers that react at random, between books that only write down what they hear.
type stage struct {
	t     *rapid.T
	w     *World
	extra Tag // on the rows before the entities, which nothing else reaches
	tags  []Tag
	ids   []ID // by ordinal; 0: despawned
	fuel  int  // reactions left in this change: they may multiply
	stops []func()
	log   []string
	books []*book
}

// book is an index that a user keeps by observers: which entities have the tag.
type book struct {
	tag     int
	members map[ID]bool
	log     map[ID]int // changes
}

func (b *book) hear(t *rapid.T, id ID, set bool) {
	if b.members[id] == set {
		t.Fatalf("book of tag %d: %v hears set=%v twice", b.tag, id, set)
	}
	b.members[id] = set
	b.log[id]++
}

const stageEntities = 5

func newStage(t *rapid.T, reactors []reactor, skip int) *stage {
	w, err := New(Config{Capacity: 128})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, w: w}
	s.extra, _ = w.Tag("extra")
	for _, name := range []string{"a", "b", "c"} {
		tag, _ := w.Tag(name)
		s.tags = append(s.tags, tag)
	}
	before, ids := make([]ID, skip), make([]ID, stageEntities)
	if w.SpawnN(before) != nil || s.extra.SetAll(before) != nil || w.SpawnN(ids) != nil {
		t.Fatal("no room")
	}
	s.ids = ids
	binding := NewBinding(w, func(id ID, i int) { s.react(reactors[i], id) })
	s.addBooks()
	for i, r := range reactors {
		f := func(id ID, _ Slot) { s.react(r, id) }
		switch r.kind {
		case 0:
			s.stops = append(s.stops, w.OnSpawn(f))
		case 1:
			s.stops = append(s.stops, w.OnDespawn(f))
		case 2:
			s.stops = append(s.stops, s.tags[r.tag].OnSet(f))
		case 3:
			s.stops = append(s.stops, s.tags[r.tag].OnUnset(f))
		case 4:
			if binding.Bind(ids[i%stageEntities], i) != nil {
				t.Fatal("bind")
			}
		}
	}
	s.addBooks()
	return s
}

func (s *stage) addBooks() {
	for i, tag := range s.tags {
		b := &book{tag: i, members: map[ID]bool{}, log: map[ID]int{}}
		tag.OnSet(func(id ID, _ Slot) {
			if !tag.Has(id) {
				s.t.Fatalf("%v gained a tag that it lacks", id)
			}
			b.hear(s.t, id, true)
		})
		tag.OnUnset(func(id ID, _ Slot) {
			if !tag.Has(id) {
				s.t.Fatalf("%v loses a tag that it lacks", id)
			}
			b.hear(s.t, id, false)
		})
		s.books = append(s.books, b)
	}
}

func (s *stage) react(r reactor, id ID) {
	ordinal := slices.Index(s.ids, id)
	if ordinal < 0 { // OnSpawn runs before the caller knows the id
		ordinal = slices.Index(s.ids, 0)
	}
	s.log = append(s.log, fmt.Sprintf("%d: tag %d of %d", r.kind, r.tag, ordinal))
	for _, do := range r.does {
		if s.fuel--; s.fuel < 0 {
			return
		}
		s.change(do, ordinal, r.tag)
	}
}

// change makes one change, and writes down what it returned.
func (s *stage) change(do reaction, ordinal, with int) {
	tag, id := s.tags[do.tag], s.ids[(ordinal+do.ahead)%stageEntities]
	n := 0
	switch do.verb {
	case reactSet:
		tag.Set(id)
	case reactUnset:
		tag.Unset(id)
	case reactSetWhere:
		n = tag.SetWhere(With(s.tags[with]), Without(s.extra))
	case reactClear:
		n = tag.UnsetWhere(Without(s.extra))
	case reactSetAll:
		tag.SetAll([]ID{id})
	case reactStop:
		if len(s.stops) > 0 {
			s.stops[do.ahead%len(s.stops)]()
		}
	}
	s.log = append(s.log, fmt.Sprint(do, n))
}

// check compares the books with the tags, and with each other.
func (s *stage) check() {
	for i, b := range s.books {
		for _, id := range s.ids {
			if s.tags[b.tag].Has(id) != b.members[id] {
				s.t.Fatalf("book %d of tag %d says of %v: %v", i, b.tag, id, b.members[id])
			}
		}
		for id, in := range b.members {
			if in && !slices.Contains(s.ids, id) {
				s.t.Fatalf("book %d of tag %d: %v is gone", i, b.tag, id)
			}
		}
		if other := s.books[b.tag]; !maps.Equal(b.log, other.log) {
			s.t.Fatalf("two books of tag %d heard of %v and of %v changes", b.tag, other.log, b.log)
		}
	}
}

// An op is a change from outside of all observers. The verbs after those of reactions come and go.
const (
	opSpawn = reactions + iota
	opDespawn
	opDespawnN
	opDespawnWhere
	opApply
	ops
)

func (s *stage) do(op reaction) {
	s.fuel = 200
	id := s.ids[op.ahead]
	switch op.verb {
	case opSpawn:
		if i := slices.Index(s.ids, 0); i >= 0 {
			s.ids[i], _ = s.w.Spawn()
		}
	case opDespawn:
		s.w.Despawn(id)
	case opDespawnN:
		var ids []ID
		for _, id := range s.ids[op.ahead:] {
			if id != 0 {
				ids = append(ids, id)
			}
		}
		if err := s.w.DespawnN(ids); err != nil {
			s.t.Fatal(err)
		}
	case opDespawnWhere:
		s.w.DespawnWhere(With(s.tags[op.tag]), Without(s.extra))
	case opApply:
		c := s.w.NewCommands()
		c.Set(s.tags[op.tag], id)
		c.Despawn(s.ids[(op.ahead+1)%stageEntities])
		c.Unset(s.tags[op.tag], id)
		if _, err := s.w.Apply(c); err != nil {
			s.t.Fatal(err)
		}
	default:
		s.change(op, 0, op.tag)
	}
	for i, id := range s.ids {
		if _, alive := s.w.Slot(id); !alive {
			s.ids[i] = 0
		}
	}
	s.check()
	if s.w.rounds != 0 || s.w.locks.Load() != 0 {
		s.t.Fatal("a round has not ended")
	}
	for _, tag := range s.w.tags {
		for _, m := range slices.Concat(tag.rounds.gaining, tag.rounds.losing, tag.rounds.revoked) {
			if m != 0 {
				s.t.Fatalf("tag %s: a round has not ended", tag.name)
			}
		}
	}
}

// Whatever observers do, an index that is kept by OnSet and OnUnset holds what the tag holds, each index hears of the
// same changes of each entity, and nothing depends on the rows of the entities.
func TestModelOfObservers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawReaction := func(verbs int) reaction {
			return reaction{rapid.IntRange(0, verbs-1).Draw(t, "verb"), rapid.IntRange(0, 2).Draw(t, "tag"), rapid.IntRange(0, stageEntities-1).Draw(t, "ahead")}
		}
		reactors := make([]reactor, rapid.IntRange(1, 6).Draw(t, "observers"))
		for i := range reactors {
			r := reactor{kind: rapid.IntRange(0, 4).Draw(t, "kind"), tag: rapid.IntRange(0, 2).Draw(t, "of")}
			for range rapid.IntRange(1, 3).Draw(t, "reactions") {
				r.does = append(r.does, drawReaction(reactions))
			}
			reactors[i] = r
		}
		one, other := newStage(t, reactors, 0), newStage(t, reactors, 61)
		for range rapid.IntRange(1, 12).Draw(t, "ops") {
			op := drawReaction(ops)
			one.do(op)
			other.do(op)
			if !slices.Equal(one.log, other.log) {
				t.Fatalf("%v depends on the rows:\n%v\n%v", op, one.log, other.log)
			}
		}
	})
}

// The rules of the comment of the package, one by one.
func TestRoundsOfObservers(t *testing.T) {
	w := newWorld(t, 100)
	a, b := tag(t, w, "a"), tag(t, w, "b")
	var log []string
	stops := []func(){}
	on := func(register func(func(ID, Slot)) func(), name string, f func(ID)) {
		stops = append(stops, register(func(id ID, _ Slot) {
			log = append(log, fmt.Sprintf("%s%v %v %v", name, uint64(id), a.Has(id), b.Has(id)))
			if f != nil {
				f(id)
			}
		}))
	}
	want := func(lines ...string) {
		t.Helper()
		if !slices.Equal(log, lines) {
			t.Errorf("%q\nwant %q", log, lines)
		}
		log = nil
		for _, stop := range stops {
			stop()
		}
		stops = nil
		a.Clear()
		b.Clear()
	}
	id := spawn(t, w)

	on(a.OnSet, "+", func(id ID) { a.Unset(id) }) // noted: the second observer hears of the gain first
	on(a.OnSet, "+", nil)
	on(a.OnUnset, "-", nil)
	a.Set(id)
	want("+1 true false", "+1 true false", "-1 true false")

	on(a.OnSet, "+", func(id ID) { a.Unset(id) })
	on(a.OnSet, "+", func(id ID) { a.Set(id) }) // taken back
	on(a.OnUnset, "-", nil)
	a.Set(id)
	if !a.Has(id) {
		t.Error("a tag that was given again is lost")
	}
	stops[2]() // Clear is silent
	want("+1 true false", "+1 true false")

	a.Set(id)
	on(a.OnUnset, "-", func(id ID) { a.Set(id) }) // without effect
	on(a.OnSet, "+", nil)
	a.Unset(id)
	if a.Has(id) {
		t.Error("a loss was undone")
	}
	want("-1 true false")

	on(b.OnUnset, "-", nil) // b has no turn left when it is given
	on(b.OnSet, "+", nil)
	b.Set(id)
	on(w.OnDespawn, "gone", nil)
	on(a.OnUnset, "-", nil)
	NewBinding(w, func(id ID, _ int) { a.Set(id); b.Unset(id) }).Bind(id, 1)
	a.OnSet(func(ID, Slot) {})
	w.Despawn(id)
	want("+1 false true", "gone1 false true", "-1 false true", "-1 true true")
}

// Observers whose rounds nest without end end in a panic that the program can catch, not in an overflow of the stack.
func TestRoundsNestTooDeep(t *testing.T) {
	w := newWorld(t, maxRounds+2)
	a := tag(t, w, "a")
	ids := make([]ID, maxRounds+2)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	a.SetWhere()
	a.OnUnset(func(id ID, _ Slot) { a.Unset(id + 1) }) // each entity pulls the next one along
	a.Unset(ids[2])
	if a.Count() != 2 {
		t.Fatalf("%d entities keep the tag after a chain of %d rounds", a.Count(), maxRounds)
	}
	if err := a.SetAll(ids); err != nil {
		t.Fatal(err)
	}
	wantPanic(t, "ecs: observers nest more than 1,024 deep", func() { a.Unset(ids[0]) })
	if w.rounds != 0 || a.Count() != len(ids) {
		t.Fatalf("after the panic %d rounds run, and %d entities have the tag", w.rounds, a.Count())
	}
	a.Unset(ids[2])
	if _, err := w.Spawn(); a.Count() != 2 || err == nil {
		t.Fatal("the world has changed")
	}
}
