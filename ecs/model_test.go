package ecs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
	held int // handle bound to it; 0: none

	blob    string
	hasBlob bool
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

// modelled is a World with its model.
type modelled struct {
	w  *World
	m  *model
	hp *Column[int16]

	blobs *Blobs

	lists    []*Commands
	binding  *Binding[int]
	handles  int         // bound so far; the first is 1
	released map[int]int // how often

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
	b, err := w.Blobs("script")
	if err != nil {
		t.Fatal(err)
	}
	s := &modelled{w: w, m: m, hp: c, blobs: b, released: map[int]int{}}
	s.lists = []*Commands{w.NewCommands(), w.NewCommands(), w.NewCommands()}
	s.binding = NewBinding(w, func(_ ID, handle int) { s.released[handle]++ })
	return s
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
		s.hp.Values()[e.slot] = e.hp
	}
}

// setBlob sets or removes a blob. Sometimes its bytes are a part of another blob.
func (s *modelled) setBlob(t *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(t, "blobs") {
		id := s.anyID(t)
		e := s.m.entities[id]
		if rapid.IntRange(0, 3).Draw(t, "unset") == 0 {
			if ok := s.blobs.Unset(id); ok != (e != nil) {
				t.Fatalf("Unset(%v): %v", id, ok)
			}
			if e != nil {
				e.blob, e.hasBlob = "", false
			}
			continue
		}
		data, ok := s.blobs.Get(s.anyID(t))
		if n := len(data); ok && rapid.Bool().Draw(t, "other") {
			data = data[rapid.IntRange(0, n).Draw(t, "from"):]
		} else {
			data = bytes.Repeat([]byte{byte(rapid.IntRange(0, 255).Draw(t, "byte"))}, rapid.IntRange(0, 40).Draw(t, "length"))
		}
		want := string(data)
		if err := s.blobs.Set(id, data); (err == nil) != (e != nil) {
			t.Fatalf("Set(%v): %v", id, err)
		}
		if e != nil {
			e.blob, e.hasBlob = want, true
		}
	}
}

// commands records random commands for random ids and for own spawns into several lists,
// and applies them all at once.
func (s *modelled) commands(t *rapid.T) {
	m, want, full := s.m.clone(), Applied{}, ""
	for i, c := range s.lists {
		c.Reset()
		var names, born []ID
		for j := range rapid.IntRange(0, 15).Draw(t, "commands") {
			id := s.anyID(t)
			name := id
			if k := rapid.IntRange(-2, len(born)-1).Draw(t, "own"); k >= 0 {
				id, name = born[k], names[k]
			}
			tag, x := rapid.SampledFrom(modelTags).Draw(t, "tag"), rapid.Int16().Draw(t, "x")
			e, n := m.entities[id], (*int)(nil)
			switch rapid.IntRange(0, 8).Draw(t, "kind") {
			case 0, 1:
				names = append(names, c.Spawn())
				if full == "" && len(m.entities) == len(m.slots) {
					full = fmt.Sprintf("lists[%d]: command[%d]", i, j)
				}
				if full != "" {
					born = append(born, 0)
					continue
				}
				born = append(born, m.spawn())
				e, n = m.entities[m.next-1], &want.Spawned
			case 2:
				c.Despawn(name)
				m.despawn(id)
				n = &want.Despawned
			case 3:
				c.Set(s.tag(t, tag), name)
				if n = &want.Tagged; e != nil {
					e.tags[tag] = true
				}
			case 4:
				c.Unset(s.tag(t, tag), name)
				if n = &want.Untagged; e != nil {
					delete(e.tags, tag)
				}
			case 5:
				Write(c, s.hp, name, x)
				if n = &want.Written; e != nil {
					e.hp = x
				}
			case 6:
				if err := c.SetPosition(name, float32(x), 0, 0); err != nil {
					t.Fatal(err)
				}
				if n = &want.Written; e != nil {
					e.x = float32(x)
				}
			case 7:
				data := ID(x).String()[:rapid.IntRange(0, 4).Draw(t, "length")]
				if err := c.SetBlob(s.blobs, name, []byte(data)); err != nil {
					t.Fatal(err)
				}
				if n = &want.Written; e != nil {
					e.blob, e.hasBlob = data, true
				}
			case 8:
				c.UnsetBlob(s.blobs, name)
				if n = &want.Written; e != nil {
					e.blob, e.hasBlob = "", false
				}
			}
			if e == nil {
				n = &want.Stale
			}
			*n++
		}
	}
	hash := s.w.Hash()
	got, err := s.w.Apply(s.lists...)
	if full != "" {
		if !errors.Is(err, ErrCapacity) || !strings.Contains(err.Error(), full) || s.w.Hash() != hash {
			t.Fatalf("Apply to a world that is full at %s: %v", full, err)
		}
		return
	}
	if err != nil || got != want {
		t.Fatalf("applied %+v, %v; want %+v", got, err, want)
	}
	s.m = m
}

func (s *modelled) snapshot(t *rapid.T) {
	s.saved = s.w.Snapshot(s.saved[:0])
	s.savedModel, s.savedHash = s.m.clone(), s.w.Hash()
}

// restore goes back in the same world, or continues in a new one with other tags and
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
		fresh.saved, fresh.savedModel, fresh.savedHash = s.saved, s.savedModel, s.savedHash
		*s = *fresh
	}
	m.resize(s.w.Cap())
	m.keepHandles(s.m)
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

// reorder moves all entities: to the rows of their ids, at random, or only together.
func (s *modelled) reorder(t *rapid.T) {
	m := s.m
	ids := m.ids()
	switch rapid.SampledFrom([]string{"by id", "at random", "together"}).Draw(t, "order") {
	case "at random":
		ids = rapid.Permutation(ids).Draw(t, "ids")
	case "together":
		slices.SortFunc(ids, func(a, b ID) int { return int(m.entities[a].slot) - int(m.entities[b].slot) })
	}
	order := make([]Slot, len(ids))
	for i, id := range ids {
		order[i] = m.entities[id].slot
	}
	generation, touches, moves := s.w.Generation(), s.w.LastTouch(), m.high != len(ids)
	for i, slot := range order {
		moves = moves || slot != Slot(i)
	}
	if err := s.w.Reorder(order); err != nil {
		t.Fatal(err)
	}
	if changed := s.w.Generation() != generation; changed != moves || changed != (s.w.LastTouch() != touches) {
		t.Fatalf("a reorder that moves rows: %t; Generation %d, was %d", moves, s.w.Generation(), generation)
	}
	clear(m.slots)
	for i, id := range ids {
		m.slots[i], m.entities[id].slot = id, Slot(i)
	}
	m.high = len(ids)
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
		if math.Float32bits(w.Position.X[slot]) != math.Float32bits(e.x) || s.hp.Values()[slot] != e.hp || w.Scale.Y[slot] != 1 {
			t.Fatalf("%v has x %v, hp %v; want %v, %v", id, w.Position.X[slot], s.hp.Values()[slot], e.x, e.hp)
		}
		if data, ok := s.blobs.Get(id); ok != e.hasBlob || string(data) != e.blob {
			t.Fatalf("%v has blob %q, %v; want %q, %v", id, data, ok, e.blob, e.hasBlob)
		}
	}
	checkBlobs(t, w)
	s.checkHandles(t)
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
				"blobs":    s.setBlob,
				"commands": s.commands,
				"bind":     s.bind,
				"snapshot": s.snapshot,
				"restore":  s.restore,
				"reorder":  s.reorder,
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
