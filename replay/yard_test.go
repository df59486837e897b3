package replay_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/spatial"
	"github.com/evertick/evertick/worldlog"
)

// yard is a small scenario with some of everything that a log has to bring back: bodies that
// inputs push, entities that inputs make and end, random numbers, queries, and a state
// outside the world.
type yard struct {
	sim    *evertick.Sim
	ids    []ecs.ID
	seen   spatial.Result
	ask    spatial.Queries
	sum    sum
	secret uint64 // what a snapshot does not know of

	capacity int
	columns  []string
	wrong    func(*evertick.Tick) error // does what it should not
	forget   bool                       // secret decides something
	probe    *replay.QueryProbe
	probed   bool
	history  bool
}

// sum is the state: a sum over all inputs.
type sum struct{ v uint64 }

func (s *sum) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, s.v) }

func (s *sum) RestoreState(src []byte) error {
	if len(src) != 8 {
		return errors.New("not a sum")
	}
	s.v = binary.LittleEndian.Uint64(src)
	return nil
}

const (
	push uint32 = 1 + iota
	spawn
	despawn
	bad // what a test looks for
)

const yardBodies = 6

// scenario returns the yard with changes.
func scenario(change func(*yard)) replay.Scenario {
	return replay.Scenario{Name: "yard", New: func(seed uint64) (*evertick.Sim, error) {
		y := &yard{capacity: 64}
		if change != nil {
			change(y)
		}
		err := y.build(seed)
		return y.sim, err
	}}
}

func (y *yard) build(seed uint64) (err error) {
	c := evertick.Config{Capacity: y.capacity, Seed: seed, Spatial: spatial.Config{CellSize: 2}}
	if y.history {
		c.History.Keep = 64
	}
	y.sim, err = evertick.New(c)
	if err != nil {
		return err
	}
	errs := []error{y.sim.AddState("sum", &y.sum)}
	for _, name := range y.columns {
		_, err := ecs.AddColumn[float32](y.sim.World, name)
		errs = append(errs, err)
	}
	for i := range yardBodies {
		errs = append(errs, y.body(i))
	}
	if y.probed {
		y.probe, err = replay.NewQueryProbe(y.sim)
		errs = append(errs, err)
	}
	errs = append(errs,
		y.sim.Add(evertick.BeforePhysics, "obey", y.obey),
		y.sim.Add(evertick.BeforePhysics, "wander", y.wander),
		y.sim.Add(evertick.AfterIndex, "look", y.look))
	if y.wrong != nil {
		errs = append(errs, y.sim.Add(evertick.AfterIndex, "wrong", y.wrong))
	}
	return errors.Join(errs...)
}

func (y *yard) body(i int) error {
	id, err := y.sim.World.Spawn()
	if err != nil {
		return err
	}
	def := physics.DefaultBodyDef()
	def.Type, def.Position = physics.DynamicBody, [2]float32{float32(i) * 1.2, 0}
	b, err := y.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	y.ids = append(y.ids, id)
	_, err = y.sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5})
	return err
}

func (y *yard) obey(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		y.sum.v += in.Seq + uint64(in.Kind) + in.Tick + in.At + uint64(in.Fraction)
		switch in.Kind {
		case push:
			if err := y.push(y.ids[int(in.Data[0])%yardBodies], float32(int8(in.Data[1]))/32, 0); err != nil {
				return err
			}
		case spawn:
			id := t.Commands().Spawn()
			if err := t.Commands().SetPosition(id, float32(in.Data[0]), 5, 0); err != nil {
				return err
			}
		case despawn:
			y.despawnLast(t)
		}
	}
	y.secret++
	if y.forget && y.secret%7 == 0 {
		return y.push(y.ids[2], 1, 1)
	}
	return nil
}

func (y *yard) despawnLast(t *evertick.Tick) {
	w := y.sim.World
	for slot := w.HighWater() - 1; slot >= yardBodies; slot-- {
		if id, ok := w.ID(ecs.Slot(slot)); ok {
			t.Commands().Despawn(id)
			return
		}
	}
}

func (y *yard) push(id ecs.ID, jx, jy float32) error {
	b, _ := y.sim.Body(id)
	return y.sim.Physics.ApplyLinearImpulseToCenter(b, [2]float32{jx, jy})
}

func (y *yard) wander(t *evertick.Tick) error {
	r := t.Rand(y.ids[0], 1)
	return y.push(y.ids[int(t.N)%yardBodies], r.Range(-1, 1), r.Range(-1, 1))
}

func (y *yard) look(t *evertick.Tick) error {
	q, pos := &y.ask, &y.sim.World.Position
	q.X, q.Y, q.Z, q.Radius = append(q.X[:0], pos.X[0]), append(q.Y[:0], pos.Y[0]), append(q.Z[:0], pos.Z[0]), append(q.Radius[:0], 3)
	err := y.sim.Index.Radius(q, &y.seen)
	if y.probe != nil {
		y.probe.Result(&y.seen)
	}
	return err
}

// inputOf is what comes in at a tick, on and on: a function, so that all runs of it agree.
func inputOf(tick uint64) (evertick.Input, bool) {
	r := loop.NewRand(99, tick, 0, 0)
	in := evertick.Input{Tick: tick, Source: 3, Seq: tick, Kind: push + uint32(r.Uint64()%3), Data: []byte{byte(r.Uint64()), byte(r.Uint64())}}
	if tick%3 > 0 { // others are not stamped
		in.At, in.Fraction = tick*1e9/60, r.Uint32()
	}
	return in, r.Uint64()%4 != 0
}

// drive pushes inputs and steps.
func drive(t testing.TB, sim *evertick.Sim, ticks int) {
	t.Helper()
	for range ticks {
		if in, ok := inputOf(sim.Ticks()); ok {
			if err := sim.Push(in); err != nil {
				t.Fatal(err)
			}
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// recorded records a run in a directory of its own, and returns it and the hashes.
func recorded(t testing.TB, sc replay.Scenario, ticks int, opt replay.Options) (dir string, hashes []uint64) {
	t.Helper()
	dir = t.TempDir()
	sim, err := sc.New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, opt)
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		drive(t, sim, 1)
		hashes = append(hashes, sim.Hash())
		if opt.SnapshotTicks > 0 && sim.Ticks()%opt.SnapshotTicks == 0 {
			settle(t, rec, sim.Ticks()/opt.SnapshotTicks)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, hashes
}

// settle waits until so many snapshots are on disk, so that none is refused because others
// are under way.
func settle(t testing.TB, rec *replay.Recorder, want uint64) {
	t.Helper()
	for {
		switch s := rec.Log().Stats(); {
		case s.SnapshotErr != nil:
			t.Fatal(s.SnapshotErr)
		case s.Snapshots == want:
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// opened returns the log's ticks.
func opened(t testing.TB, dir string) []worldlog.Tick {
	t.Helper()
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []worldlog.Tick
	for tick, err := range r.Ticks(0) {
		if err != nil {
			t.Fatal(err)
		}
		whole := *tick
		whole.Records = slices.Clone(tick.Records)
		for i := range whole.Records {
			whole.Records[i].Data = slices.Clone(whole.Records[i].Data)
		}
		all = append(all, whole)
	}
	return all
}

// crash makes of a log that was closed one whose writer has died so many bytes before its
// end.
func crash(t *testing.T, dir string, bytes int) {
	t.Helper()
	name := filepath.Join(dir, "segment-0000000000.evlog")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(name, data[:len(data)-bytes], 0o666), os.Remove(filepath.Join(dir, "DURABLE")))
	if err != nil {
		t.Fatal(err)
	}
}
