package jetstream

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/spatial"
	"github.com/evertick/evertick/worldlog"
)

// startServer runs a real server in the process, with its store in dir.
func startServer(t testing.TB, dir string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// served returns a connection to a server of the test's own.
func served(t testing.TB) *nats.Conn {
	t.Helper()
	return connect(t, startServer(t, t.TempDir(), server.RANDOM_PORT).ClientURL())
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// total is a state outside the world: a sum over all inputs.
type total struct{ v uint64 }

func (s *total) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, s.v) }

func (s *total) RestoreState(src []byte) error {
	if len(src) != 8 {
		return errors.New("not a total")
	}
	s.v = binary.LittleEndian.Uint64(src)
	return nil
}

// field is a scenario that inputs and random numbers move.
func field() replay.Scenario {
	return replay.Scenario{Name: "field", New: newField(0)}
}

func newField(wrong uint64) func(uint64) (*evertick.Sim, error) {
	return func(seed uint64) (*evertick.Sim, error) {
		sim, err := evertick.New(evertick.Config{Capacity: 32, Seed: seed, Spatial: spatial.Config{CellSize: 2}})
		if err != nil {
			return nil, err
		}
		sum := new(total)
		err = errors.Join(sim.AddState("total", sum), sim.Add(evertick.BeforePhysics, "add", func(t *evertick.Tick) error {
			sum.v = sum.v*31 + t.N
			if wrong > 0 && t.N == wrong {
				sum.v++
			}
			for _, in := range t.Inputs() {
				for _, b := range in.Data {
					sum.v = sum.v*131 + uint64(b)
				}
			}
			return nil
		}))
		for range 4 {
			_, e := sim.World.Spawn()
			err = errors.Join(err, e)
		}
		return sim, err
	}
}

// master is a Sim that is recorded and shipped.
type master struct {
	sim  *evertick.Sim
	rec  *replay.Recorder
	ship *Shipper
}

func newMaster(t testing.TB, dir string, opt replay.Options) *master {
	t.Helper()
	sim, err := newField(0)(7)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, "field", sim, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return &master{sim: sim, rec: rec}
}

func (m *master) shipTo(t testing.TB, nc *nats.Conn, c ShipConfig) *master {
	t.Helper()
	var err error
	if m.ship, err = Ship(background(t), nc, m.rec, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.ship.cancel)
	return m
}

// inputOf is the input of a tick: a function, so that all runs of it agree. salt makes other runs.
func inputOf(tick, salt uint64) evertick.Input {
	r := loop.NewRand(3, tick, salt, 0)
	data := make([]byte, r.Uint64()%40)
	for i := range data {
		data[i] = byte(r.Uint64())
	}
	return evertick.Input{Tick: tick, Source: 2, Seq: tick, Kind: 1 + uint32(r.Uint64()%3), Data: data}
}

func drive(t testing.TB, sim *evertick.Sim, ticks int, salt uint64) {
	t.Helper()
	for range ticks {
		if err := sim.Push(inputOf(sim.Ticks(), salt)); err != nil {
			t.Fatal(err)
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// reach steps a Follower until its Sim has run so many ticks.
func reach(t testing.TB, f *Follower, ticks uint64) {
	t.Helper()
	ctx := background(t)
	for f.Sim().Ticks() < ticks {
		if err := f.Step(ctx); err != nil {
			t.Fatalf("after %d ticks: %v", f.Sim().Ticks(), err)
		}
	}
}

func follow(t testing.TB, nc *nats.Conn, c FollowConfig) *Follower {
	t.Helper()
	f, err := Follow(background(t), nc, field(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// until waits for a condition.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happens: %s", what)
		}
	}
}

// hashes returns the state hashes of the log in dir.
func hashes(t testing.TB, dir string) []uint64 {
	t.Helper()
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []uint64
	for tick, err := range r.Ticks(0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tick.Hash)
	}
	return all
}

func shortened(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

// cutLog makes of the log in dir one that a power cut has left with so many ticks.
func cutLog(t testing.TB, dir string, ticks int) {
	t.Helper()
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "short")
	log, err := worldlog.Create(short, r.Identity(), worldlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		tick, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tick.Records {
			err = errors.Join(err, log.Append(&tick.Records[i]))
		}
		if err = errors.Join(err, log.Commit(tick.Tick, tick.Hash, tick.Counts)); err != nil {
			t.Fatal(err)
		}
	}
	err = errors.Join(r.Close(), log.Close(), os.Rename(filepath.Join(dir, ownerName), filepath.Join(short, ownerName)),
		os.RemoveAll(dir), os.Rename(short, dir))
	if err != nil {
		t.Fatal(err)
	}
}
