package ecs

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// model says what a World should do, in maps and searches.
type model struct {
	slots    []ID // 0: free
	next     ID
	version  uint64
	high     int
	entities map[ID]*modelEntity
}

type modelEntity struct {
	slot Slot
	tags map[string]bool
	x    float32
	hp   int16
}

func (m *model) spawn() ID {
	slot := slices.Index(m.slots, 0)
	m.slots[slot] = m.next
	m.entities[m.next] = &modelEntity{slot: Slot(slot), tags: map[string]bool{}}
	m.high = max(m.high, slot+1)
	m.version++
	m.next++
	return m.next - 1
}

func (m *model) despawn(id ID) bool {
	e, ok := m.entities[id]
	if ok {
		m.slots[e.slot] = 0
		delete(m.entities, id)
		m.version++
	}
	return ok
}

func (m *model) clone() *model {
	c := *m
	c.slots = slices.Clone(m.slots)
	c.entities = map[ID]*modelEntity{}
	for id, e := range m.entities {
		d := *e
		d.tags = map[string]bool{}
		for t := range e.tags {
			d.tags[t] = true
		}
		c.entities[id] = &d
	}
	return &c
}

// resize fits the model to a world of another capacity, above all rows in use.
func (m *model) resize(capacity int) {
	slots := make([]ID, capacity)
	copy(slots, m.slots)
	m.slots = slots
}

// ids returns the ids alive, ascending.
func (m *model) ids() []ID {
	var ids []ID
	for id := range m.entities {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// tagged returns the slots of the entities that have tag with and not tag
// without, ascending.
func (m *model) tagged(with, without string) []Slot {
	var slots []Slot
	for _, e := range m.entities {
		if (with == "" || e.tags[with]) && !e.tags[without] {
			slots = append(slots, e.slot)
		}
	}
	slices.Sort(slots)
	return slots
}

// modelled is a World beside its model.
type modelled struct {
	w  *World
	m  *model
	hp []int16

	saved      []byte
	savedModel *model
	savedHash  uint64
}

var modelTags = []string{"a", "b", "c"}

func newModelled(t *rapid.T, capacity int) *modelled {
	w, err := New(Config{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	c, err := AddColumn[int16](w, "hp")
	if err != nil {
		t.Fatal(err)
	}
	m := &model{slots: make([]ID, capacity), next: 1, entities: map[ID]*modelEntity{}}
	return &modelled{w: w, m: m, hp: c.Values()}
}

func (s *modelled) tag(t *rapid.T, name string) Tag {
	tag, err := s.w.Tag(name)
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

// anyID draws an id that is alive, dead or not yet issued.
func (s *modelled) anyID(t *rapid.T) ID {
	if ids := s.m.ids(); len(ids) > 0 && rapid.IntRange(0, 9).Draw(t, "stale") > 0 {
		return rapid.SampledFrom(ids).Draw(t, "id")
	}
	return ID(rapid.Uint64Range(0, uint64(s.m.next)+1).Draw(t, "id"))
}

func (s *modelled) spawn(t *rapid.T) {
	n := rapid.SampledFrom([]int{1, 1, 2, 7, 64, 65, 1100}).Draw(t, "n")
	dst := make([]ID, n)
	var err error
	if n == 1 {
		dst[0], err = s.w.Spawn()
	} else {
		err = s.w.SpawnN(dst)
	}
	if fits := len(s.m.entities)+n <= len(s.m.slots); fits != (err == nil) {
		t.Fatalf("spawn of %d: %v", n, err)
	}
	for i := range dst {
		if err == nil && s.m.spawn() != dst[i] || err != nil && dst[i] != 0 {
			t.Fatalf("spawned %v", dst[i])
		}
	}
}

func (s *modelled) despawn(t *rapid.T) {
	id := s.anyID(t)
	if got, want := s.w.Despawn(id), s.m.despawn(id); got != want {
		t.Fatalf("Despawn(%v) = %v", id, got)
	}
}

// cull despawns one in k, one by one or together, or those with a tag.
func (s *modelled) cull(t *rapid.T) {
	k := ID(rapid.IntRange(1, 5).Draw(t, "k"))
	how := rapid.SampledFrom([]string{"one by one", "batch", "tag"}).Draw(t, "how")
	var doomed []ID
	for _, id := range s.m.ids() {
		if how != "tag" && id%k == 0 || how == "tag" && s.m.entities[id].tags["b"] {
			doomed = append(doomed, id)
			s.m.despawn(id)
		}
	}
	switch how {
	case "one by one":
		for _, id := range doomed {
			s.w.Despawn(id)
		}
	case "batch":
		if err := s.w.DespawnN(doomed); err != nil {
			t.Fatal(err)
		}
	case "tag":
		if n := s.w.DespawnWhere(With(s.tag(t, "b"))); n != len(doomed) {
			t.Fatalf("%d despawned, want %d", n, len(doomed))
		}
	}
}

func (s *modelled) setTag(t *rapid.T) {
	id, name := s.anyID(t), rapid.SampledFrom(modelTags).Draw(t, "tag")
	tag := s.tag(t, name)
	on := rapid.Bool().Draw(t, "on")
	ok := on && tag.Set(id) || !on && tag.Unset(id)
	e := s.m.entities[id]
	if ok != (e != nil) {
		t.Fatalf("tagging %v: %v", id, ok)
	}
	if ok && on {
		e.tags[name] = true
	} else if ok {
		delete(e.tags, name)
	}
}

func (s *modelled) write(t *rapid.T) {
	id := s.anyID(t)
	x := rapid.Float32().Draw(t, "x")
	err := s.w.SetPosition(id, x, 0, 0)
	e := s.m.entities[id]
	if ok := e != nil && !math.IsInf(float64(x), 0) && x == x; ok != (err == nil) {
		t.Fatalf("SetPosition(%v, %v): %v", id, x, err)
	}
	if err == nil {
		e.x, e.hp = x, rapid.Int16().Draw(t, "hp")
		s.hp[e.slot] = e.hp
	}
}

func (s *modelled) snapshot(t *rapid.T) {
	s.saved = s.w.Snapshot(s.saved[:0])
	s.savedModel, s.savedHash = s.m.clone(), s.w.Hash()
}

// restore goes back in the same world, or on in a new one with other tags and
// another capacity.
func (s *modelled) restore(t *rapid.T) {
	if s.savedModel == nil {
		t.Skip("nothing saved")
	}
	m := s.savedModel.clone()
	if rapid.Bool().Draw(t, "new world") {
		fresh := newModelled(t, m.high+rapid.IntRange(1, 100).Draw(t, "room"))
		fresh.tag(t, "c")
		fresh.tag(t, "unused")
		s.w, s.hp = fresh.w, fresh.hp
	}
	m.resize(s.w.Cap())
	s.m = m
	generation := s.w.Generation()
	if err := s.w.Restore(s.saved); err != nil {
		t.Fatal(err)
	}
	if s.w.Hash() != s.savedHash || s.w.Generation() != generation+1 {
		t.Fatal("the restored world has another hash, or no new generation")
	}
	same := newModelled(t, s.w.Cap()) // and what it saves restores to the same
	if err := same.w.Restore(s.w.Snapshot(nil)); err != nil || same.w.Hash() != s.savedHash {
		t.Fatalf("the second snapshot differs: %v", err)
	}
}

func (s *modelled) check(t *rapid.T) {
	w, m := s.w, s.m
	if w.Len() != len(m.entities) || w.HighWater() != m.high || w.Version() != m.version {
		t.Fatalf("Len %d, HighWater %d, Version %d; want %d, %d, %d",
			w.Len(), w.HighWater(), w.Version(), len(m.entities), m.high, m.version)
	}
	if got := slices.Collect(w.IDs()); !slices.Equal(got, m.ids()) {
		t.Fatalf("IDs %v, want %v", got, m.ids())
	}
	if got := w.LiveSlots(nil); !slices.Equal(got, m.tagged("", "")) {
		t.Fatalf("live slots %v, want %v", got, m.tagged("", ""))
	}
	for i, with := range modelTags {
		without := modelTags[(i+1)%len(modelTags)]
		got := slices.Collect(w.Query(With(s.tag(t, with)), Without(s.tag(t, without))))
		if !slices.Equal(got, m.tagged(with, without)) {
			t.Fatalf("with %s without %s: %v, want %v", with, without, got, m.tagged(with, without))
		}
	}
	for id, e := range m.entities {
		slot, ok := w.Slot(id)
		back, _ := w.ID(slot)
		if !ok || slot != e.slot || back != id {
			t.Fatalf("%v is in slot %d, want %d", id, slot, e.slot)
		}
		if math.Float32bits(w.Position.X[slot]) != math.Float32bits(e.x) || s.hp[slot] != e.hp || w.Scale.Y[slot] != 1 {
			t.Fatalf("%v has x %v, hp %v; want %v, %v", id, w.Position.X[slot], s.hp[slot], e.x, e.hp)
		}
	}
	if w.Hash() != Fold(w.ColumnHashes()) {
		t.Fatal("Hash is not the Fold of ColumnHashes")
	}
}

func TestModel(t *testing.T) {
	for _, capacity := range []int{1, 3, 64, 100, 1200, 5000} {
		t.Run("capacity="+strconv.Itoa(capacity), rapid.MakeCheck(func(t *rapid.T) {
			s := newModelled(t, capacity)
			t.Repeat(map[string]func(*rapid.T){
				"spawn":    s.spawn,
				"despawn":  s.despawn,
				"cull":     s.cull,
				"tag":      s.setTag,
				"write":    s.write,
				"snapshot": s.snapshot,
				"restore":  s.restore,
				"":         s.check,
			})
		}))
	}
}

// TestSameFuture: a world and its restored copy, in which columns and tags were
// registered in another order, stay equal under the same operations.
func TestSameFuture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newModelled(t, 150)
		a.tag(t, "a")
		a.tag(t, "b")
		AddColumn[float32](a.w, "weight")
		for range 30 {
			a.spawn(t)
			a.despawn(t)
			a.setTag(t)
		}
		b, err := New(Config{Capacity: 150})
		if err != nil {
			t.Fatal(err)
		}
		b.Tag("b")
		AddColumn[float32](b, "weight")
		AddColumn[int16](b, "hp")
		if err := b.Restore(a.w.Snapshot([]byte("prefix"))[len("prefix"):]); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			switch id := a.anyID(t); rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				x, _ := a.w.Spawn()
				y, _ := b.Spawn()
				if sx, _ := a.w.Slot(x); x != y || x != 0 && b.ids[sx] != y {
					t.Fatalf("%v and %v", x, y)
				}
				if x != 0 {
					a.m.spawn()
				}
			case 1:
				a.m.despawn(id)
				if a.w.Despawn(id) != b.Despawn(id) {
					t.Fatalf("Despawn(%v) differs", id)
				}
			case 2:
				tb, _ := b.Tag("a")
				if a.tag(t, "a").Set(id) != tb.Set(id) {
					t.Fatalf("tagging %v differs", id)
				}
			}
			if a.w.Hash() != b.Hash() || a.w.Version() != b.Version() {
				t.Fatal("the futures differ")
			}
		}
		if !bytes.Equal(b.Snapshot(nil), b.Snapshot([]byte{1})[1:]) {
			t.Fatal("a snapshot depends on what it is appended to")
		}
	})
}
