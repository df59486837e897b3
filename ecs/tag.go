package ecs

import (
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// MaxTags is the number of tags that a world can have.
const MaxTags = 256

// Tag is a mark that entities carry or do not: one bit a row. It is a handle,
// valid as long as its World, across Restores too; make one with World.Tag.
type Tag struct{ set *tagSet }

type tagSet struct {
	world *World
	name  string
	index uint16   // in World.tags
	bits  []uint64 // by slot; a subset of the live slots

	onSet, onUnset observers
}

func (s *tagSet) label() string { return s.name }

// Tag returns the tag of that name and registers it if it is new. A name that
// is not 1 to 255 bytes of UTF-8 is ErrRange, the 257th tag ErrCapacity.
func (w *World) Tag(name string) (Tag, error) {
	if i, ok := search(w.tagsByName, name); ok {
		return Tag{w.tagsByName[i]}, nil
	}
	if err := checkName("ecs: Tag name", name); err != nil {
		return Tag{}, err
	}
	if len(w.tags) == MaxTags {
		return Tag{}, fault.Field(ErrCapacity, "ecs: Tag tags", MaxTags)
	}
	return Tag{w.addTag(name)}, nil
}

func (w *World) addTag(name string) *tagSet {
	s := &tagSet{world: w, name: name, index: uint16(len(w.tags)), bits: make([]uint64, words(w.Cap()))}
	w.tags = append(w.tags, s)
	w.tagsByName = insertByName(w.tagsByName, s)
	return s
}

// must returns the set behind a handle that World.Tag made.
func (t Tag) must() *tagSet {
	if t.set == nil {
		panic("ecs: use of a zero Tag")
	}
	return t.set
}

// Name returns the name of the tag.
func (t Tag) Name() string { return t.must().name }

// Set gives the tag to an entity that may have it already. It reports false,
// and changes nothing, if there is no such entity.
func (t Tag) Set(id ID) bool {
	s := t.must()
	w := s.world
	slot, ok := w.Slot(id)
	if !ok {
		return false
	}
	tells := len(s.onSet) != 0 && !s.has(slot)
	s.bits[slot>>6] |= 1 << (slot & 63)
	w.edits++
	if tells {
		w.tell(s.onSet, id, slot)
	}
	return true
}

// Unset takes the tag from an entity that may not have it. It reports false,
// and changes nothing, if there is no such entity.
func (t Tag) Unset(id ID) bool {
	s := t.must()
	w := s.world
	slot, ok := w.Slot(id)
	if !ok {
		return false
	}
	if len(s.onUnset) != 0 && s.has(slot) {
		w.tell(s.onUnset, id, slot)
	}
	s.bits[slot>>6] &^= 1 << (slot & 63)
	w.edits++
	return true
}

func (s *tagSet) has(slot Slot) bool { return s.bits[slot>>6]>>(slot&63)&1 != 0 }

// Has reports whether an entity is alive and has the tag.
func (t Tag) Has(id ID) bool {
	s := t.must()
	slot, ok := s.world.Slot(id)
	return ok && s.has(slot)
}

// SetAll is Set for every id. If one is stale it is ErrStale naming its index,
// and nothing is changed.
func (t Tag) SetAll(ids []ID) error {
	if err := t.must().world.checkAlive("ecs: Tag.SetAll ids", ids); err != nil {
		return err
	}
	if len(t.set.onSet) != 0 {
		for _, id := range ids {
			t.Set(id)
		}
		return nil
	}
	for _, id := range ids {
		slot, _ := t.set.world.Slot(id)
		t.set.bits[slot>>6] |= 1 << (slot & 63)
	}
	t.set.world.edits++
	return nil
}

// UnsetAll is Unset for every id, with the error of SetAll.
func (t Tag) UnsetAll(ids []ID) error {
	if err := t.must().world.checkAlive("ecs: Tag.UnsetAll ids", ids); err != nil {
		return err
	}
	if len(t.set.onUnset) != 0 {
		for _, id := range ids {
			t.Unset(id)
		}
		return nil
	}
	for _, id := range ids {
		slot, _ := t.set.world.Slot(id)
		t.set.bits[slot>>6] &^= 1 << (slot & 63)
	}
	t.set.world.edits++
	return nil
}

// SetWhere gives the tag to the entities that satisfy every term, and returns how
// many did not have it. With no terms it is given to all.
func (t Tag) SetWhere(terms ...Term) int {
	s := t.must()
	s.world.checkTerms(terms)
	n := 0
	for i := range words(s.world.high) {
		m := s.world.match(terms, i) &^ s.bits[i]
		if len(s.onSet) != 0 {
			n += s.oneByOne(i, m, false, Tag.Set)
			continue
		}
		s.bits[i] |= m
		n += bits.OnesCount64(m)
		s.world.edits++
	}
	return n
}

// oneByOne calls Set or Unset for the entities of a mask in word i. It leaves out those
// to whom an observer of one before has done the same, and returns the number of others.
func (s *tagSet) oneByOne(i int, mask uint64, had bool, change func(Tag, ID) bool) (n int) {
	eachBit(i, mask, func(slot Slot) {
		if s.has(slot) == had {
			change(Tag{s}, s.world.ids[slot])
			n++
		}
	})
	return n
}

// UnsetWhere takes the tag from the entities that satisfy every term, and returns
// how many had it. With no terms it is taken from all.
func (t Tag) UnsetWhere(terms ...Term) int {
	s := t.must()
	s.world.checkTerms(terms)
	n := 0
	for i := range words(s.world.high) {
		m := s.world.match(terms, i) & s.bits[i]
		if len(s.onUnset) != 0 {
			n += s.oneByOne(i, m, true, Tag.Unset)
			continue
		}
		s.bits[i] &^= m
		n += bits.OnesCount64(m)
		s.world.edits++
	}
	return n
}

// Clear takes the tag from every entity.
func (t Tag) Clear() { t.UnsetWhere() }

// Count returns the number of entities that have the tag.
func (t Tag) Count() int { return countBits(t.must().bits) }

// Mask returns who has the tag as a bitmap, in the form of Query.Mask. It is the
// memory of the tag itself: it is to be read only, and changes as the tag is given
// and taken.
func (t Tag) Mask() []uint64 { return t.must().bits }

func (w *World) checkAlive(field string, ids []ID) error {
	for i, id := range ids {
		if _, ok := w.Slot(id); !ok {
			return fault.Element(ErrStale, field, i, id)
		}
	}
	return nil
}
