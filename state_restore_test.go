package evertick_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

func copyFrom(t testing.TB, to, from *evertick.Sim) {
	t.Helper()
	if err := to.CopyFrom(from); err != nil {
		t.Fatal(err)
	}
}

// A copy at any tick has the snapshot of its source and continues as it does, in a Sim that was in
// another state and in one of another capacity; and the source continues, too.
func TestCopyFromAtEveryTick(t *testing.T) {
	r := record(t, newPark(t, parkConfig()), parkTicks)
	other := parkConfig()
	other.Workers, other.Physics.Capacity, other.Capacity, other.Seed = 2, 300, 320, 5
	other.Physics.Slots = 256
	source, alike, roomy := newPark(t, parkConfig()), newPark(t, parkConfig()), newPark(t, other)
	stride := 1
	if testing.Short() {
		stride = 13
	}
	for k := range r.snaps {
		if k > 0 {
			source.next(t)
		}
		if k%stride != 0 {
			continue
		}
		copyFrom(t, alike.sim, source.sim)
		copyFrom(t, alike.sim, alike.sim)
		if !bytes.Equal(snapshot(t, alike.sim), r.snaps[k]) {
			t.Fatalf("tick %d: the snapshot of the copy differs", k)
		}
		r.follow(t, alike, k)
		if k%7 == 0 {
			copyFrom(t, roomy.sim, source.sim)
			copyFrom(t, alike.sim, roomy.sim) // back
			if !bytes.Equal(snapshot(t, alike.sim), r.snaps[k]) {
				t.Fatalf("tick %d: the snapshot of the copy of a copy differs", k)
			}
			r.follow(t, roomy, k)
		}
	}
	if source.sim.Hash() != r.hashes[parkTicks] {
		t.Error("the source was changed")
	}
}

// A run that moves to a copy after random numbers of ticks has the hashes of a run in one Sim, and so
// has a run that continues from an older copy.
func TestCopyFromByTurns(t *testing.T) {
	r := record(t, newPark(t, parkConfig()), parkTicks)
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 7))
		now, spare, old := newPark(t, parkConfig()), newPark(t, parkConfig()), newPark(t, parkConfig())
		for range 2 * parkTicks {
			if rng.IntN(4) == 0 {
				copyFrom(t, spare.sim, now.sim)
				now, spare = spare, now
			}
			switch k := int(now.sim.Ticks()); {
			case k == parkTicks || rng.IntN(16) == 0: // back
				copyFrom(t, now.sim, old.sim)
			case rng.IntN(16) == 0:
				copyFrom(t, old.sim, now.sim)
			default:
				if now.next(t) != r.hashes[k+1] {
					t.Fatalf("seed %d: tick %d differs", seed, k+1)
				}
			}
		}
	}
}

// A body of an entity beyond the Sim is refused, and the Sim stays as it was.
func TestCopyFromBodyBeyondWorld(t *testing.T) {
	c := small()
	c.Physics.Slots = 1000
	src, s := newSim(t, c), newSim(t, small())
	if _, err := src.Physics.CreateBody(physics.BodyDef{HasSlot: true, Slot: 900}); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, s)
	wantError(t, s.CopyFrom(src), evertick.ErrCorrupt, "evertick: CopyFrom", "slot of body[0] = 900")
	if !bytes.Equal(snapshot(t, s), before) {
		t.Error("the Sim was changed")
	}
}

// Copies of one Sim into another by turns, from two sources, take no memory.
func TestCopyFromAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	early, late, other := newPark(t, parkConfig()), newPark(t, parkConfig()), newPark(t, parkConfig())
	for range 30 {
		late.next(t)
	}
	round := func() {
		copyFrom(t, other.sim, early.sim)
		copyFrom(t, other.sim, late.sim)
	}
	for range 3 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestCopyFromNil(t *testing.T) {
	s := newSim(t, small())
	defer func() {
		if p := recover(); p != "evertick: CopyFrom from a nil Sim" {
			t.Errorf("panic %v", p)
		}
	}()
	_ = s.CopyFrom(nil)
}

// discs returns a Sim of n discs that lie on each other and on the ground.
func discs(tb testing.TB, n int) *evertick.Sim {
	tb.Helper()
	s := newSim(tb, evertick.Config{Capacity: 2 * n, Physics: physics.Config{Gravity: [2]float32{0, -10}}})
	add := func(d physics.BodyDef, shape func(physics.Body) error) {
		tb.Helper()
		id := spawn(tb, s)
		p := &s.World.Position
		p.X[slotOf(tb, s, id)], p.Y[slotOf(tb, s, id)] = d.Position[0], d.Position[1]
		b, err := s.CreateBody(id, d)
		if err == nil {
			err = shape(b)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	add(physics.BodyDef{Type: physics.StaticBody}, func(b physics.Body) error {
		_, err := s.Physics.CreatePolygon(b, physics.ShapeDef{}, physics.Box(100, 1))
		return err
	})
	for i := range n {
		d := physics.BodyDef{Type: physics.DynamicBody, Position: [2]float32{float32(i%64) - 32, float32(i/64) + 2}}
		add(d, func(b physics.Body) error {
			_, err := s.Physics.CreateCircle(b, physics.ShapeDef{Density: 1}, physics.Circle{Radius: 0.5})
			return err
		})
	}
	step(tb, s, 60)
	return s
}

// A rollback copies a Sim as often as it runs ticks again.
func BenchmarkCopyFrom(b *testing.B) {
	src, dst := discs(b, 1024), discs(b, 1024)
	data := snapshot(b, src)
	for _, c := range []struct {
		name string
		copy func() error
	}{
		{"CopyFrom", func() error { return dst.CopyFrom(src) }},
		{"Snapshot", func() (err error) { data, err = src.Snapshot(data[:0]); return err }},
		{"Restore", func() error { return dst.Restore(data) }},
	} {
		b.Run("of="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.copy(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// medley is a Sim with a random set-up, whose systems and host do random things with all that a
// snapshot holds.
type medley struct {
	*evertick.Sim
	blobs  []*ecs.Blobs
	tags   []ecs.Tag
	cols   []*ecs.Column[float32]
	timer  *evertick.Timer
	bodies []physics.Body
	kept   keptNumber
}

// newMedley returns the Sim of a number: equal numbers give equal set-ups.
func newMedley(t testing.TB, number uint64) *medley {
	t.Helper()
	r := rand.New(rand.NewPCG(number, 1))
	m := &medley{Sim: newSim(t, evertick.Config{
		Capacity: 40 + 60*r.IntN(2), Seed: number, Previous: r.IntN(2) == 0, Workers: r.IntN(3), PhysicsModes: 5 * r.Uint64N(2),
		Physics: physics.Config{Gravity: [2]float32{0, -10}}, Spatial: spatial.Config{CellSize: float32(2 * r.IntN(2))},
		Inputs: evertick.InputConfig{Capacity: 8 + 50*r.IntN(2)}, History: evertick.HistoryConfig{Keep: 3 * r.IntN(2), Every: 4},
	})}
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	for _, i := range r.Perm(4) { // each set-up lacks some, and has the others in an order of its own
		if r.IntN(2) > 0 {
			b, err := m.World.Blobs(fmt.Sprintf("blobs.%d", i))
			m.blobs = append(m.blobs, b)
			keep(err)
		}
		if r.IntN(3) > 0 {
			tag, err := m.World.Tag(fmt.Sprint("tag", i))
			m.tags = append(m.tags, tag)
			keep(err)
		}
		if r.IntN(40) == 0 {
			_, err := ecs.AddColumn[int16](m.World, fmt.Sprintf("column.%d", i))
			keep(err)
		} else if r.IntN(9) > 0 {
			c, err := ecs.AddColumn[float32](m.World, fmt.Sprintf("column.%d", i))
			m.cols = append(m.cols, c)
			keep(err)
		}
	}
	var err error
	m.timer, err = m.AddTimer("timer", 3*r.Uint64N(2))
	keep(errors.Join(err, m.AddState("kept", &m.kept)))
	add(t, m.Sim, evertick.AfterPhysics, "count", func(tick *evertick.Tick) error {
		for _, in := range tick.Inputs() {
			m.kept.n = 31*m.kept.n + byte(in.Seq+in.At+uint64(in.Fraction)+uint64(len(in.Data)))
		}
		m.kept.n += byte(len(m.Physics.Events().Moved) + 7*len(m.Physics.Events().Begin))
		return nil
	})
	add(t, m.Sim, evertick.AfterIndex, "act", func(tick *evertick.Tick) error {
		m.act(rand.New(rand.NewPCG(tick.N, m.Seed())))
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return m
}

// act does random things. What is impossible, such as a spawn in a full world, does not happen.
func (m *medley) act(r *rand.Rand) {
	c, ids := m.Commands(), []ecs.ID{77}
	for id := range m.World.IDs() {
		ids = append(ids, id)
	}
	for range r.IntN(7) {
		id, data := ids[r.IntN(len(ids))], make([]byte, r.IntN(40))
		switch i := r.IntN(12); {
		case i == 0 && m.World.Len()+c.Len() < m.World.Cap():
			spawned := c.Spawn()
			_ = c.SetPosition(spawned, r.Float32(), r.Float32(), 0)
		case i == 1 && len(ids) > 20:
			c.Despawn(id)
		case i <= 3 && len(m.blobs) > 0:
			_ = m.blobs[r.IntN(len(m.blobs))].Set(id, data)
		case i <= 5 && len(m.blobs) > 0:
			_ = c.SetBlob(m.blobs[r.IntN(len(m.blobs))], id, data)
		case i == 6 && len(m.tags) > 0:
			m.tags[r.IntN(len(m.tags))].Set(id)
		case i == 7 && len(m.cols) > 0:
			ecs.Write(c, m.cols[r.IntN(len(m.cols))], id, r.Float32())
		case i == 8:
			_ = m.SetMode(uint8(r.IntN(3)))
		case i == 9:
			m.timer.Set(r.Uint64N(5))
			m.timer.Start()
		case i == 10:
			_ = m.Push(evertick.Input{Tick: m.Ticks() + r.Uint64N(4), Seq: r.Uint64(), At: r.Uint64N(3), Fraction: r.Uint32N(3), Data: data})
		case i == 11:
			_ = m.World.SetPosition(id, r.Float32(), 2, 0)
		}
	}
}

// host does what only a host may do, between ticks.
func (m *medley) host(r *rand.Rand) {
	m.act(r)
	for range r.IntN(4) {
		switch r.IntN(4) {
		case 0:
			if id, err := m.World.Spawn(); err == nil {
				if b, err := m.CreateBody(id, physics.BodyDef{Type: physics.DynamicBody, Position: [2]float32{r.Float32(), r.Float32()}}); err == nil {
					_, _ = m.Physics.CreateCircle(b, physics.ShapeDef{Density: 1}, physics.Circle{Radius: 0.5})
					m.bodies = append(m.bodies, b)
				}
			}
		case 1:
			if n := len(m.bodies); n > 1 {
				j := physics.DefaultRevoluteJointDef()
				j.BodyA, j.BodyB = m.bodies[r.IntN(n)], m.bodies[r.IntN(n)]
				_, _ = m.Physics.CreateRevoluteJoint(j)
			}
		case 2:
			categories := make([]uint32, m.World.Cap())
			categories[0] = r.Uint32()
			m.Index.SetCategories(categories)
		case 3:
			if back := m.Ticks() - m.OldestTick(); back > 0 {
				_ = m.StepBack(r.Uint64N(back)) // ErrStale, where a host has changed something
			}
		}
	}
}

func (m *medley) live(seed uint64, ticks int) {
	r := rand.New(rand.NewPCG(seed, 2))
	for range ticks {
		m.host(r)
		_ = m.Step()
	}
	m.host(r)
	for range 4 { // many commands that wait
		m.act(r)
	}
}

// sameKind reports whether both errors wrap one of those that Restore documents.
func sameKind(a, b error) bool {
	return slices.ContainsFunc([]error{evertick.ErrCapacity, evertick.ErrUnsupported}, func(kind error) bool { return errors.Is(a, kind) && errors.Is(b, kind) })
}

// CopyFrom does what Restore of a snapshot does, between Sims of any set-up: it gives the same kind of
// error and the same state, which goes on alike, as does that of the source if its set-up is equal.
func TestCopyFromIsRestore(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 150
	}
	copies, refused := 0, 0
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 3))
		number := r.Uint64N(50)
		other := number + r.Uint64N(2)*(1+r.Uint64N(50))
		src, restored, copied := newMedley(t, number), newMedley(t, other), newMedley(t, other)
		src.live(seed, r.IntN(12))
		ticks := r.IntN(8)
		restored.live(seed+1, ticks)
		copied.live(seed+1, ticks)
		data, err := src.Snapshot(nil)
		if err != nil {
			continue
		}
		err = restored.Restore(data)
		if e := copied.CopyFrom(src.Sim); (e == nil) != (err == nil) || err != nil && !sameKind(e, err) {
			t.Fatalf("seed %d: CopyFrom: %v, Restore: %v", seed, e, err)
		}
		if !bytes.Equal(snapshot(t, src.Sim), data) {
			t.Fatalf("seed %d: the source was changed", seed)
		}
		followers := []*medley{copied}
		switch {
		case err != nil:
			refused++
		case number == other:
			followers = append(followers, src)
			fallthrough
		default:
			copies++
		}
		for range 6 {
			want, failed := restored.Snapshot(nil)
			for _, m := range followers {
				got, err := m.Snapshot(nil)
				if m.Hash() != restored.Hash() || (err == nil) != (failed == nil) || !bytes.Equal(got, want) {
					d, _ := evertick.Diff(restored.Sim, m.Sim)
					t.Fatalf("seed %d, tick %d: differs: %v; errors %v and %v", seed, m.Ticks(), d, failed, err)
				}
				_ = m.Step()
			}
			_ = restored.Step()
		}
	}
	if copies == 0 || refused == 0 {
		t.Error("no copy, or none refused")
	}
	t.Logf("%d copies, %d refused", copies, refused)
}

const (
	simMagic   = "evtk.sim"
	simVersion = 1
)

// forgery is a Sim whose snapshots are forged.
type forgery struct {
	name string
	sim  *evertick.Sim
	good []byte
	more [][]byte // other snapshots of it
}

// forgeries are the park, and entities with bodies in space.
func forgeries(t testing.TB) []forgery {
	t.Helper()
	p := newPark(t, parkConfig())
	r := record(t, p, 61)
	p.forged = true
	l, err := sims3.NewLife(5, evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	inSpace := forgery{name: "space", sim: l.Sim}
	for _, n := range []int{0, 12, 40, 40} {
		step(t, l.Sim, n)
		inSpace.more = append(inSpace.more, snapshot(t, l.Sim))
	}
	inSpace.good = inSpace.more[3]
	return []forgery{{"park", p.sim, r.snaps[33], [][]byte{r.snaps[0], r.snaps[9], r.snaps[20], r.snaps[61]}}, inSpace}
}

// For any bytes in place of a snapshot or of a part of it, with right checksums or not, Restore refuses them and leaves the Sim as
// it was, or makes it a state that can be saved and stepped without a panic.
func FuzzRestore(f *testing.F) {
	all := forgeries(f)
	for i, g := range all {
		f.Add(uint8(i), uint8(0), uint32(0), []byte(simMagic), true)
		for k, snap := range g.more {
			for at := range 40 {
				f.Add(uint8(i), uint8(k), uint32(at*at*len(snap)/1600), []byte{0xff, 0x7f}, false)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which, snap uint8, at uint32, change []byte, whole bool) {
		g := all[int(which)%len(all)]
		data := change
		if !whole {
			data = bytes.Clone(g.more[int(snap)%len(g.more)])
			copy(data[int(at)%len(data):], change)
		}
		for _, data := range [...][]byte{data, frametest.ResealDeep(data)} {
			restore(t, g.sim, g.good)
			base := snapshot(t, g.sim) // with tags that were forged before: they stay registered
			if err := g.sim.Restore(data); err != nil {
				if after := snapshot(t, g.sim); !bytes.Equal(after, base) {
					t.Fatalf("a Restore that failed has changed the Sim: %v", err)
				}
				wantDocumented(t, err)
				continue
			}
			again := snapshot(t, g.sim)
			restore(t, g.sim, again)
			if !bytes.Equal(snapshot(t, g.sim), again) {
				t.Fatal("what was restored is not what it saves")
			}
			_ = g.sim.Step() // may fail: numbers may be anything
		}
	})
}

// The test makes each frame of a snapshot, and of a snapshot within it, shorter and longer, leaves it out, doubles it, and changes
// words in it, with right checksums: Restore refuses the data or makes it a valid state.
func TestRestoreForged(t *testing.T) {
	for _, g := range forgeries(t) {
		t.Run(g.name, func(t *testing.T) { restoreForged(t, g) })
	}
}

func restoreForged(t *testing.T, g forgery) {
	frames := frametest.Split(g.good)
	if !bytes.Equal(frametest.Forge(simMagic, simVersion, frames), g.good) {
		t.Fatal("the snapshot is not made of frames")
	}
	refused, taken := 0, 0
	restore(t, g.sim, g.good)
	base := g.good // and the tags that were forged: they stay registered
	try := func(what string, i int, list [][]byte) {
		t.Helper()
		err := g.sim.Restore(frametest.ResealDeep(frametest.Forge(simMagic, simVersion, list)))
		if err == nil {
			taken++
			_ = g.sim.Step()
			restore(t, g.sim, g.good)
			base = snapshot(t, g.sim)
			return
		}
		refused++
		wantDocumented(t, err)
		if !bytes.Equal(snapshot(t, g.sim), base) {
			t.Fatalf("frame %d %s: refused, but the Sim was changed: %v", i, what, err)
		}
	}
	with := func(i int, f []byte) [][]byte {
		list := append([][]byte{}, frames...)
		list[i] = f
		return list
	}
	for i, f := range frames {
		try("left out", i, append(append([][]byte{}, frames[:i]...), frames[i+1:]...))
		try("doubled", i, append(append([][]byte{}, frames[:i+1]...), frames[i:]...))
		try("longer", i, with(i, append(bytes.Clone(f), 0)))
		if len(f) > 0 {
			try("shorter", i, with(i, f[:len(f)-1]))
			try("empty", i, with(i, nil))
		}
		step := max(1, len(f)/150)
		if testing.Short() {
			step = max(1, len(f)/15)
		}
		for at := 0; at+4 <= len(f); at += step {
			for _, word := range [...]uint32{0, 1, 0x7fffffff, 0xffffffff, 0x7fc00000} {
				changed := bytes.Clone(f)
				binary.LittleEndian.PutUint32(changed[at:], word)
				try("forged", i, with(i, changed))
			}
		}
	}
	if !testing.Short() && (refused < 500 || taken < 500) {
		t.Errorf("%d refused, %d taken: not the test that it should be", refused, taken)
	}
}

// wantDocumented checks that an error is one that Sim.Restore documents. The states of the park
// have errors of their own.
func wantDocumented(t *testing.T, err error) {
	t.Helper()
	if !frametest.Documented(err) && !strings.Contains(err.Error(), "evertick: Restore: state ") {
		t.Fatalf("an error that Restore does not promise: %v", err)
	}
}

// A snapshot with right checksums that contradicts itself, at any depth, is refused with
// one of the documented errors, and leaves the Sim as it was.
func TestRestoreRefusals(t *testing.T) {
	for _, g := range forgeries(t) {
		t.Run(g.name, func(t *testing.T) { restoreRefusals(t, g) })
	}
}

func restoreRefusals(t *testing.T, g forgery) {
	restore(t, g.sim, g.good)
	base := g.good
	refused := map[error]int{}
	n := uint64(6000)
	if testing.Short() {
		n = 400
	}
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 14))
		err := g.sim.Restore(mutated(rng, g.good))
		if err == nil {
			_ = g.sim.Step()
			restore(t, g.sim, g.good)
			base = snapshot(t, g.sim) // with tags that were forged: they stay registered
			continue
		}
		if wantDocumented(t, err); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		for _, e := range []error{evertick.ErrCorrupt, evertick.ErrUnsupported, evertick.ErrCapacity} {
			if errors.Is(err, e) {
				refused[e]++
			}
		}
		if !bytes.Equal(snapshot(t, g.sim), base) {
			t.Fatalf("seed %d: refused, but the Sim was changed: %v", seed, err)
		}
	}
	t.Logf("of %d mutations, refused: %v", n, refused)
	if refused[evertick.ErrCorrupt] == 0 || refused[evertick.ErrUnsupported] == 0 {
		t.Error("some refusals were never met")
	}
}

// mutated changes frames of a snapshot, or frames within one of them.
func mutated(rng *rand.Rand, good []byte) []byte {
	frames := frametest.Split(good)
	i := rng.IntN(len(frames))
	if from, to, ok := frametest.Within(frames[i]); ok && rng.IntN(8) > 0 {
		magic, version := string(frames[i][from:from+8]), binary.LittleEndian.Uint32(frames[i][from+8:])
		inner := frametest.Forge(magic, version, frametest.Mutate(rng, frametest.Split(frames[i][from:to])))
		f := append(bytes.Clone(frames[i][:from]), inner...)
		if from > 8 { // a solver's, with its length
			binary.LittleEndian.PutUint64(f[from-8:], uint64(len(inner)))
		}
		frames[i] = append(f, frames[i][to:]...)
		return frametest.Forge(simMagic, simVersion, frames)
	}
	return frametest.ResealDeep(frametest.Forge(simMagic, simVersion, frametest.Mutate(rng, frames)))
}

// A body of an entity beyond the world of the snapshot contradicts that world, however large the Sim is.
func TestRestoreBodyBeyondWorld(t *testing.T) {
	p := newPark(t, parkConfig())
	r := record(t, p, 5)
	frames := frametest.Split(r.snaps[5])
	met := 0
	for i, f := range frames {
		if !bytes.HasPrefix(f, []byte("evtk.rig")) {
			continue
		}
		inner := frametest.Split(f)
		const bodyBytes = 98 // of which the slots are bytes 88 to 91, column by column
		rows := len(inner[1]) / bodyBytes
		for _, slot := range []uint32{uint32(p.sim.World.Cap()), 1 << 24, 1064509617, 1<<32 - 2} {
			binary.LittleEndian.PutUint32(inner[1][88*rows:], slot)
			frames[i] = frametest.Forge("evtk.rig", 3, inner)
			err := p.sim.Restore(frametest.Forge(simMagic, simVersion, frames))
			want := fmt.Sprintf("physics: snapshot: slot of body[0] = %d", slot)
			if !errors.Is(err, evertick.ErrCorrupt) || errors.Is(err, evertick.ErrCapacity) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			met++
		}
	}
	if met != 4 {
		t.Errorf("%d slots were tried", met)
	}
}
