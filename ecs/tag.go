package ecs

import (
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// MaxTags is the number of tags that a world can have.
const MaxTags = 256

// Tag is a flag that each entity has or lacks: one bit a row. It is a handle, valid as long as its
// World, also after a Restore; make one with World.Tag.
type Tag struct{ set *tagSet }

type tagSet struct {
	world *World
	name  string
	index uint16   // in World.tags
	bits  []uint64 // by slot; a subset of the live slots

	onSet, onUnset observers
	rounds         tagRounds
}

func (s *tagSet) label() string { return s.name }

// Tag returns the tag of that name and registers it if it is new. A name that
// is not 1 to 255 bytes of UTF-8 is ErrRange, the 257th tag ErrCapacity.
func (w *World) Tag(name string) (Tag, error) {
	if _, err := w.checkTag("ecs: Tag", name, nil); err != nil {
		return Tag{}, err
	}
	return Tag{w.tagNamed(name)}, nil
}

// checkTag calls checkNew for the name of a tag.
func (w *World) checkTag(caller, name string, coming []string) ([]string, error) {
	return checkNew(caller, "tags", name, w.tagsByName, coming, MaxTags)
}

func (w *World) addTag(name string) *tagSet {
	s := &tagSet{world: w, name: name, index: uint16(len(w.tags)), bits: make([]uint64, words(w.Cap()))}
	w.tags = append(w.tags, s)
	w.tagsByName = insertByName(w.tagsByName, s)
	return s
}

// tagNamed returns the tag of that name, and adds it if there is none.
func (w *World) tagNamed(name string) *tagSet {
	if s := find(w.tagsByName, name); s != nil {
		return s
	}
	return w.addTag(name)
}

// must returns the set of a handle, and panics unless World.Tag made the handle.
func (t Tag) must() *tagSet {
	if t.set == nil {
		panic("ecs: use of a zero Tag")
	}
	return t.set
}

// Name returns the name of the tag.
func (t Tag) Name() string { return t.must().name }

// Set gives the tag to an entity, which may have it already. It reports false,
// and changes nothing, if there is no such entity.
func (t Tag) Set(id ID) bool {
	s := t.must()
	w := s.world
	slot, ok := w.Slot(id)
	if !ok {
		return false
	}
	if s.observed() {
		s.gain(id, slot)
		return true
	}
	s.bits[slot>>6] |= 1 << (slot & 63)
	w.changes++
	return true
}

// Unset removes the tag from an entity, which may not have it. It reports false,
// and changes nothing, if there is no such entity.
func (t Tag) Unset(id ID) bool {
	s := t.must()
	w := s.world
	slot, ok := w.Slot(id)
	if !ok {
		return false
	}
	if s.observed() {
		s.lose(id, slot)
		return true
	}
	s.bits[slot>>6] &^= 1 << (slot & 63)
	w.changes++
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
func (t Tag) SetAll(ids []ID) error { return t.changeAll("ecs: Tag.SetAll ids", ids, true) }

// UnsetAll is Unset for every id, with the error of SetAll.
func (t Tag) UnsetAll(ids []ID) error { return t.changeAll("ecs: Tag.UnsetAll ids", ids, false) }

func (t Tag) changeAll(field string, ids []ID, set bool) error {
	s := t.must()
	w := s.world
	for i, id := range ids {
		if _, ok := w.Slot(id); !ok {
			return fault.Element(ErrStale, field, i, id)
		}
	}
	if s.observed() {
		change := Tag.Unset
		if set {
			change = Tag.Set
		}
		for _, id := range ids {
			change(t, id)
		}
		return nil
	}
	for _, id := range ids {
		slot, _ := w.Slot(id)
		word, bit := &s.bits[slot>>6], uint64(1)<<(slot&63)
		if *word |= bit; !set {
			*word &^= bit
		}
	}
	w.changes++
	return nil
}

// SetWhere gives the tag to the entities that satisfy every term when the call begins, and returns the
// number of those to which it gave the tag. With no terms all entities get it.
func (t Tag) SetWhere(terms ...Term) int { return t.changeWhere(terms, true) }

// UnsetWhere removes the tag from the entities that satisfy every term when the call begins, and returns
// the number of those from which it took the tag. With no terms all entities lose it.
func (t Tag) UnsetWhere(terms ...Term) int { return t.changeWhere(terms, false) }

func (t Tag) changeWhere(terms []Term, set bool) (n int) {
	s := t.must()
	w := s.world
	w.checkTerms(terms)
	if s.observed() {
		return s.changeSelected(terms, set)
	}
	for i := range words(w.high) {
		m := w.match(terms, i)
		if set {
			m &^= s.bits[i]
		} else {
			m &= s.bits[i]
		}
		s.bits[i] ^= m
		n += bits.OnesCount64(m)
		w.changes++
	}
	return n
}

// changeSelected is changeWhere for a tag with observers, which may change what the terms ask for: it
// selects all entities first.
func (s *tagSet) changeSelected(terms []Term, set bool) (n int) {
	w := s.world
	var selected []uint64
	if last := len(w.selections) - 1; last >= 0 {
		selected, w.selections = w.selections[last], w.selections[:last]
	}
	selected = zeroed(selected, words(w.high))
	defer func() { w.selections = append(w.selections, selected) }()
	for i := range selected {
		selected[i] = w.match(terms, i)
	}
	for i, m := range selected {
		eachBit(i, m, func(slot Slot) {
			if id := w.ids[slot]; set && s.gain(id, slot) || !set && s.lose(id, slot) {
				n++
			}
		})
	}
	return n
}

// Clear removes the tag from every entity.
func (t Tag) Clear() { t.UnsetWhere() }

// Count returns the number of entities that have the tag.
func (t Tag) Count() int { return native.CountRows(t.must().bits) }

// Mask returns the entities that have the tag as a bitmap, in the form of Query.Mask. It is
// the memory of the tag itself: only read it. It changes as entities get and lose the tag.
func (t Tag) Mask() []uint64 { return t.must().bits }
