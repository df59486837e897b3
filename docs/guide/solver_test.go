package guide_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
)

// springs hang entities on springs, along y. The number of a spring is the body of its entity.
type springs struct {
	evertick.Solver
	world     *ecs.World
	all, next []spring // next: what Prepare has read
	bytes     []byte
}

type spring struct {
	used           bool
	slot           ecs.Slot
	rest, velocity float32 // in m, m/s
}

const springBytes = 1 + 3*4

func attachSprings(sim *evertick.Sim) (*springs, error) {
	s := &springs{world: sim.World}
	s.Solver = evertick.Solver{
		Name: "spring", Step: s.step, Destroy: s.destroy, MoveSlots: s.moveSlots, ShiftOrigin: s.shiftOrigin,
		Snapshot: s.snapshot, Prepare: s.prepare, Commit: s.commit, AppendColumnHashes: s.hashes,
	}
	return s, sim.Attach(&s.Solver)
}

// hang hangs an entity on a spring with its end, at rest, where the entity is now.
func (s *springs) hang(id ecs.ID) error {
	return s.Create(id, func(slot ecs.Slot) (body uint64, err error) {
		s.all = append(s.all, spring{true, slot, s.world.Position.Y[slot], 0})
		return uint64(len(s.all) - 1), nil
	})
}

func (s *springs) step(t *evertick.Tick) error {
	y := s.world.Position.Y // what systems write there is where the mass is
	for i := range s.all {
		if m := &s.all[i]; m.used {
			m.velocity += float32((float32(-40*(y[m.slot]-m.rest)) - 10) * t.Dt)
			y[m.slot] += float32(m.velocity * t.Dt)
		}
	}
	s.world.Position.Touch()
	return nil
}

func (s *springs) destroy(_ ecs.ID, body uint64) {
	if body < uint64(len(s.all)) { // else the snapshot was forged
		s.all[body] = spring{}
	}
}

func (s *springs) moveSlots(to []ecs.Slot) error {
	for i := range s.all {
		if m := &s.all[i]; m.used {
			m.slot = to[m.slot]
		}
	}
	return nil
}

func (s *springs) shiftOrigin(offset [3]float32) error {
	for i := range s.all {
		s.all[i].rest -= offset[1]
	}
	return nil
}

func (s *springs) snapshot(dst []byte) ([]byte, error) {
	for _, m := range s.all {
		used := byte(0)
		if m.used {
			used = 1
		}
		dst = binary.LittleEndian.AppendUint32(append(dst, used), m.slot)
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(m.rest))
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(m.velocity))
	}
	return dst, nil
}

func (s *springs) prepare(data []byte) error {
	s.next = s.next[:0]
	for ; len(data) >= springBytes; data = data[springBytes:] {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32(data[1+4*i:]) }
		m := spring{data[0] != 0, word(0), math.Float32frombits(word(1)), math.Float32frombits(word(2))}
		if int(m.slot) >= s.world.Cap() {
			return fmt.Errorf("spring %d: slot %d: %w", len(s.next), m.slot, evertick.ErrCorrupt)
		}
		s.next = append(s.next, m)
	}
	if len(data) > 0 {
		return fmt.Errorf("springs: %d bytes too many: %w", len(data), evertick.ErrCorrupt)
	}
	return nil
}

func (s *springs) commit() { s.all, s.next = s.next, s.all }

func (s *springs) hashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	s.bytes, _ = s.snapshot(s.bytes[:0])
	return append(dst, ecs.ColumnHash{Name: "State", Hash: crc64.Checksum(s.bytes, crc64.MakeTable(crc64.ECMA))})
}

func Example_solver() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	check(err)
	all, err := attachSprings(sim)
	check(err)
	ids := make([]ecs.ID, 3)
	check(sim.World.SpawnN(ids))
	for i, id := range ids {
		check(sim.World.SetPosition(id, 0, float32(i), 0))
		check(all.hang(id))
	}
	height := func(id ecs.ID) float32 {
		slot, _ := sim.World.Slot(id)
		return sim.World.Position.Y[slot]
	}

	check(sim.StepN(30))
	fmt.Printf("after half a second, %.2f m\n", height(ids[2]))
	saved, err := sim.Snapshot(nil)
	check(err)
	check(sim.StepN(30))
	hash := sim.Hash()
	check(sim.Restore(saved))
	check(sim.StepN(30))
	fmt.Printf("after another half, %.2f m, the same again: %t\n", height(ids[2]), sim.Hash() == hash)

	sim.World.Despawn(ids[0]) // which destroys its spring
	_, has := all.Body(ids[0])
	fmt.Println("a spring without an entity:", has || all.all[0].used)
	slots := sim.World.LiveSlots(nil)
	check(sim.World.Reorder([]ecs.Slot{slots[1], slots[0]})) // ids[2] first
	check(sim.StepN(10))
	slot, _ := sim.World.Slot(ids[2])
	fmt.Printf("in row %d its spring swings on, at %.2f m\n", slot, height(ids[2]))
	_, err = sim.CreateBody(ids[2], physics.DefaultBodyDef())
	fmt.Println(err)

	// Output:
	// after half a second, 1.50 m
	// after another half, 2.00 m, the same again: true
	// a spring without an entity: false
	// in row 0 its spring swings on, at 1.85 m
	// evertick: CreateBody: entity with a body = ent_3: out of range
}
