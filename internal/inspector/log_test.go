package inspector

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// pit is a scenario with some of everything that a log shows: bodies, a column, a tag, blobs, a state, entities that
// come and go.
type pit struct {
	sim   *evertick.Sim
	hp    *ecs.Column[float32]
	hot   ecs.Tag
	notes *ecs.Blobs
	count counter
	ids   []ecs.ID
}

type counter struct{ n uint64 }

func (c *counter) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, c.n) }
func (c *counter) RestoreState(src []byte) error {
	if len(src) != 8 {
		return errors.New("not a counter")
	}
	c.n = binary.LittleEndian.Uint64(src)
	return nil
}

const pitBodies = 8

// pitScenario returns the pit; change, if not nil, changes each one that is built.
func pitScenario(change func(*pit)) replay.Scenario {
	return replay.Scenario{Name: "pit", New: func(seed uint64) (*evertick.Sim, error) {
		p, err := newPit(seed)
		if err == nil && change != nil {
			change(p)
		}
		return p.sim, err
	}}
}

func newPit(seed uint64) (p *pit, err error) {
	p = new(pit)
	if p.sim, err = evertick.New(evertick.Config{Capacity: 128, Seed: seed}); err != nil {
		return p, err
	}
	w := p.sim.World
	var errs [5]error
	p.hp, errs[0] = ecs.AddColumn[float32](w, "hp")
	p.hot, errs[1] = w.Tag("hot")
	p.notes, errs[2] = w.Blobs("note")
	errs[3] = p.sim.AddState("count", &p.count)
	errs[4] = p.sim.Add(evertick.BeforePhysics, "live", p.live)
	if err := errors.Join(errs[:]...); err != nil {
		return p, err
	}
	for i := range pitBodies {
		id, err := w.Spawn()
		if err != nil {
			return p, err
		}
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{float32(i) * 1.5, float32(i % 3)}
		b, err := p.sim.CreateBody(id, def)
		if err != nil {
			return p, err
		}
		if _, err := p.sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}); err != nil {
			return p, err
		}
		p.ids = append(p.ids, id)
	}
	return p, nil
}

// live does a bit of everything, as inputs and chance say.
func (p *pit) live(t *evertick.Tick) error {
	w := p.sim.World
	p.count.n += t.N
	for _, in := range t.Inputs() {
		p.count.n += uint64(in.Kind)
		b, _ := p.sim.Body(p.ids[int(in.Kind)%pitBodies])
		if err := p.sim.Physics.ApplyLinearImpulseToCenter(b, [2]float32{1, 0.25}); err != nil {
			return err
		}
	}
	r := t.Rand(p.ids[0], 1)
	id := p.ids[int(r.Uint64()%pitBodies)]
	slot, _ := w.Slot(id)
	p.hp.Values()[slot] += r.Float32()
	p.hp.Touch()
	if r.Uint64()%2 == 0 {
		p.hot.Set(id)
	} else {
		p.hot.Unset(id)
	}
	if err := p.notes.Set(id, fmt.Appendf(nil, "tick %d", t.N)); err != nil {
		return err
	}
	if t.N%5 == 0 {
		t.Commands().Spawn()
	}
	if t.N%7 == 0 && w.HighWater() > pitBodies {
		if last, ok := w.ID(ecs.Slot(w.HighWater() - 1)); ok {
			t.Commands().Despawn(last)
		}
	}
	return nil
}

// writer writes a log of the pit.
type writer struct {
	t      testing.TB
	dir    string
	sim    *evertick.Sim
	rec    *replay.Recorder
	hashes []uint64 // by ticks that have run; [0] is not known
	input  func(tick uint64) (kind uint32, ok bool)
}

func newWriter(t testing.TB, sc replay.Scenario, opt replay.Options) *writer {
	t.Helper()
	w := &writer{t: t, dir: t.TempDir(), hashes: []uint64{0}}
	var err error
	if w.sim, err = sc.New(7); err != nil {
		t.Fatal(err)
	}
	if w.rec, err = replay.Record(w.dir, sc.Name, w.sim, opt); err != nil {
		t.Fatal(err)
	}
	w.input = func(tick uint64) (uint32, bool) { return uint32(tick * 31), tick%3 == 0 }
	return w
}

func (w *writer) write(ticks int) {
	w.t.Helper()
	for range ticks {
		n := w.sim.Ticks()
		if kind, ok := w.input(n); ok {
			if err := w.sim.Push(evertick.Input{Tick: n, Source: 1, Seq: n, Kind: kind}); err != nil {
				w.t.Fatal(err)
			}
		}
		if n%50 == 25 {
			if err := w.rec.Mark(fmt.Sprintf("mark at %d", n)); err != nil {
				w.t.Fatal(err)
			}
		}
		if err := w.sim.Step(); err != nil {
			w.t.Fatal(err)
		}
		w.hashes = append(w.hashes, w.sim.Hash())
	}
	if err := w.rec.Log().Sync(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) close() {
	w.t.Helper()
	if err := w.rec.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// logOf writes a log of so many ticks.
func logOf(t testing.TB, sc replay.Scenario, ticks int, opt replay.Options) (dir string, hashes []uint64) {
	t.Helper()
	w := newWriter(t, sc, opt)
	w.write(ticks)
	w.close()
	return w.dir, w.hashes
}

// answerTo answers a request, with a body if one is given.
func answerTo(t testing.TB, in *Inspector, text string, body ...string) Answer {
	t.Helper()
	r := request(t, text)
	if len(body) > 0 {
		r.Method, r.Body = "POST", []byte(body[0])
	}
	return in.Answer(context.Background(), r)
}

func timelineOf(t testing.TB, in *Inspector) *timelineAnswer {
	t.Helper()
	v := decode[timelineAnswer](t, answerTo(t, in, "timeline"))
	return &v
}

// until waits for a state of the log "log".
func until(t testing.TB, in *Inspector, what string, ok func(*logTimeline) bool) *logTimeline {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		l := timelineOf(t, in).Log
		if ok(l) {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatalf("no timeline where %s: %+v", what, l)
		}
	}
}

func move1(t testing.TB, in *Inspector, body string) {
	t.Helper()
	if a := answerTo(t, in, "timeline", body); a.Status != 200 {
		t.Fatalf("%s: %d %s", body, a.Status, a.Body)
	}
}

// at goes to a tick and returns the hash there.
func at(t testing.TB, in *Inspector, tick uint64) uint64 {
	t.Helper()
	move1(t, in, fmt.Sprintf(`{"of":"log","seek":%d}`, tick))
	until(t, in, fmt.Sprint("at is ", tick), func(l *logTimeline) bool { return l.Seeking == nil && l.At == tick })
	return hashNow(t, in)
}

func hashNow(t testing.TB, in *Inspector) uint64 {
	t.Helper()
	s := decode[status](t, answerTo(t, in, "status?of=log"))
	var h uint64
	if _, err := fmt.Sscanf(s.Hash, "%x", &h); err != nil {
		t.Fatal(err)
	}
	return h
}

func viewer(t testing.TB, dir string, sc replay.Scenario) *Inspector {
	return newInspector(t, nil, Config{Log: dir, Scenario: sc})
}

// Every tick that a page goes to, in any order, by seeks and steps, has the hash of the log.
func TestLogScrub(t *testing.T) {
	const ticks = 300
	sc := pitScenario(nil)
	dir, hashes := logOf(t, sc, ticks, replay.Options{SnapshotTicks: 100})
	in := viewer(t, dir, sc)
	l := until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
	if l.First != 0 || l.Last != ticks || l.At != 0 || l.State != "paused" || l.Torn != "" || l.Error != "" || len(l.Snapshots) == 0 {
		t.Errorf("%+v", l)
	}
	if len(l.Marks) != 6 || l.Marks[1] != (mark{75, "mark at 75"}) {
		t.Errorf("marks %v", l.Marks)
	}
	if id := l.Identity; id.Scenario != "pit" || id.Seed != "7" || id.SimVersion != evertick.SimVersion {
		t.Errorf("identity %+v", id)
	}
	for _, seed := range []uint64{1, paritytest.Seed()} {
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		tick := uint64(0)
		at(t, in, tick)
		for range 25 {
			if rng.IntN(2) == 0 {
				tick = rng.Uint64N(ticks + 1)
				move1(t, in, fmt.Sprintf(`{"of":"log","seek":%d}`, tick))
			} else {
				n := rng.Int64N(9) - 4
				if int64(tick)+n < 0 || int64(tick)+n > ticks {
					continue
				}
				tick += uint64(n)
				move1(t, in, fmt.Sprintf(`{"step":%d}`, n))
			}
			l := until(t, in, fmt.Sprint("at is ", tick), func(l *logTimeline) bool { return l.Seeking == nil && l.At == tick })
			if got := hashNow(t, in); tick > 0 && got != hashes[tick] {
				t.Fatalf("tick %d: hash %x, want %x", tick, got, hashes[tick])
			}
			want := "paused"
			if tick == ticks {
				want = "ended"
			}
			if l.State != want || l.Error != "" {
				t.Fatalf("tick %d: %+v", tick, l)
			}
		}
	}
	// Steps add up, also while the log seeks.
	at(t, in, 0)
	for range 20 {
		move1(t, in, `{"step":3}`)
	}
	until(t, in, "at is 60", func(l *logTimeline) bool { return l.At == 60 })
}

// What a page asks for is answered while the log seeks, and a seek ends the one before.
func TestLogSeekIsCancelled(t *testing.T) {
	var most atomic.Uint64
	slow := pitScenario(func(p *pit) {
		_ = p.sim.Add(evertick.AfterPhysics, "slow", func(t *evertick.Tick) error {
			most.Store(max(most.Load(), t.N))
			time.Sleep(5 * time.Millisecond)
			return nil
		})
	})
	dir, hashes := logOf(t, pitScenario(nil), 400, replay.Options{})
	in := viewer(t, dir, slow)
	until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
	move1(t, in, `{"seek":400}`)
	l := until(t, in, "it seeks", func(l *logTimeline) bool { return l.Seeking != nil && l.Seeking.At > 3 })
	if l.State != "seeking" || l.Seeking.To != 400 || l.Seeking.From != 0 {
		t.Errorf("%+v, %+v", l, l.Seeking)
	}
	if a := answerTo(t, in, "frame?of=log"); a.Status != 200 {
		t.Errorf("a frame while it seeks: %d %s", a.Status, a.Body)
	}
	if got := at(t, in, 6); got != hashes[6] {
		t.Errorf("hash %x, want %x", got, hashes[6])
	}
	if most.Load() == 399 {
		t.Error("the first seek has not ended before its tick")
	}
	move1(t, in, `{"seek":300}`)
	until(t, in, "it seeks", func(l *logTimeline) bool { return l.Seeking != nil && l.Seeking.At > 6 })
	move1(t, in, `{"play":0}`)
	l = until(t, in, "it has stopped", func(l *logTimeline) bool { return l.Seeking == nil })
	if l.State != "paused" || l.At >= 300 || hashNow(t, in) != hashes[l.At] {
		t.Errorf("stopped: %+v", l)
	}
}

// manualClock is moved by the test.
type manualClock struct {
	mu      sync.Mutex
	time    time.Duration
	waiters []chan time.Time
}

func (c *manualClock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *manualClock) after(time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := make(chan time.Time, 1)
	c.waiters = append(c.waiters, w)
	return w
}

func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time += d
	for _, w := range c.waiters {
		w <- time.Time{}
	}
	c.waiters = nil
}

// quickClock runs twenty times as fast as time, so that a second passes in a moment.
type quickClock struct{ wallClock }

func (c quickClock) now() time.Duration                     { return 20 * c.wallClock.now() }
func (c quickClock) after(d time.Duration) <-chan time.Time { return c.wallClock.after(d / 20) }

func quickViewer(t testing.TB, dir string, sc replay.Scenario) *Inspector {
	return clockViewer(t, dir, sc, quickClock{wallClock{time.Now()}})
}

func clockViewer(t testing.TB, dir string, sc replay.Scenario, cl clock) *Inspector {
	c := Config{Log: dir, Scenario: sc}
	in := &Inspector{config: c, subjects: []subject{openLog("log", dir, &c, cl)}}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

// A log plays as many ticks as its rate says, and stops at its end.
func TestLogPlays(t *testing.T) {
	sc := pitScenario(nil)
	dir, hashes := logOf(t, sc, 100, replay.Options{})
	clock := new(manualClock)
	in := clockViewer(t, dir, sc, clock)
	until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
	move1(t, in, `{"play":10}`)
	until(t, in, "the first tick", func(l *logTimeline) bool { return l.At == 1 })
	for tick := uint64(2); tick <= 12; tick++ {
		clock.advance(99 * time.Millisecond)
		time.Sleep(2 * time.Millisecond)
		if now := timelineOf(t, in).Log; now.At != tick-1 || now.State != "playing" || now.Playing != 10 {
			t.Fatalf("before tick %d: %+v", tick, now)
		}
		clock.advance(time.Millisecond)
		until(t, in, fmt.Sprint("at is ", tick), func(l *logTimeline) bool { return l.At == tick })
		if got := hashNow(t, in); got != hashes[tick] {
			t.Fatalf("tick %d: hash %x, want %x", tick, got, hashes[tick])
		}
	}
	move1(t, in, `{"play":1000}`)
	until(t, in, "a faster rate", func(l *logTimeline) bool { return l.At == 13 })
	move1(t, in, `{"play":0}`)
	until(t, in, "paused", func(l *logTimeline) bool { return l.State == "paused" })
	clock.advance(time.Second)
	time.Sleep(5 * time.Millisecond)
	stopped := timelineOf(t, in).Log.At
	if stopped != 13 {
		t.Errorf("stopped at 13, now at %d", stopped)
	}
	move1(t, in, `{"play":1000000}`)
	go func() {
		for range 400 {
			clock.advance(10 * time.Millisecond)
			time.Sleep(time.Millisecond)
		}
	}()
	end := until(t, in, "the end", func(l *logTimeline) bool { return l.State == "ended" && l.Playing == 0 })
	if end.At != 100 || hashNow(t, in) != hashes[100] {
		t.Errorf("%+v", end)
	}
}

// A log that is written while it is looked at grows, and can be played to its new end.
func TestLogGrows(t *testing.T) {
	sc := pitScenario(nil)
	w := newWriter(t, sc, replay.Options{Log: worldlog.Options{SegmentTicks: 40}})
	w.write(50)
	in := quickViewer(t, w.dir, sc)
	until(t, in, "50 ticks", func(l *logTimeline) bool { return l.Complete && l.Last == 50 })
	for round := 1; round <= 3; round++ {
		last := uint64(50 + 30*round)
		w.write(30)
		until(t, in, fmt.Sprint(last, " ticks"), func(l *logTimeline) bool { return l.Complete && l.Last == last })
		if got := at(t, in, last); got != w.hashes[last] {
			t.Errorf("tick %d: hash %x, want %x", last, got, w.hashes[last])
		}
	}
	move1(t, in, `{"play":100000}`)
	w.write(30)
	until(t, in, "the new end", func(l *logTimeline) bool { return l.At == 170 })
	if got := hashNow(t, in); got != w.hashes[170] {
		t.Errorf("hash %x, want %x", got, w.hashes[170])
	}
	w.close()
}

// A log that does not exist yet is opened once it does.
func TestLogComes(t *testing.T) {
	sc := pitScenario(nil)
	dir, hashes := logOf(t, sc, 20, replay.Options{})
	later := filepath.Join(t.TempDir(), "log")
	in := quickViewer(t, later, sc)
	l := until(t, in, "an error", func(l *logTimeline) bool { return l.Error != "" })
	if l.State != "failed" || !strings.Contains(l.Error, "log") || l.Identity != nil {
		t.Errorf("%+v", l)
	}
	if a := answerTo(t, in, "timeline", `{"seek":3}`); a.Status < 400 || !strings.Contains(string(a.Body), "error") {
		t.Errorf("a seek: %d %s", a.Status, a.Body)
	}
	if err := os.Rename(dir, later); err != nil {
		t.Fatal(err)
	}
	until(t, in, "20 ticks", func(l *logTimeline) bool { return l.Last == 20 && l.Error == "" })
	if got := at(t, in, 20); got != hashes[20] {
		t.Errorf("hash %x, want %x", got, hashes[20])
	}
}

// Each kind of damage is named, and all before it can be looked at.
func TestLogDamage(t *testing.T) {
	sc := pitScenario(nil)
	segment := func(n int) string { return fmt.Sprintf("segment-%010d.evlog", n) }
	change := func(name string, f func([]byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			name := filepath.Join(dir, name)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := change(segment(2), func(b []byte) []byte { return b[:len(b)-3] })
	flip := func(b []byte) []byte { b[len(b)/2] ^= 4; return b }
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		last   func(uint64) bool
		want   string // in the error, or in torn if it begins with "torn"
	}{
		{"a bit", change(segment(1), flip), func(n uint64) bool { return n >= 40 && n < 80 }, segment(1)},
		{"a crash", func(t *testing.T, dir string) { cut(t, dir); remove("DURABLE")(t, dir) }, func(n uint64) bool { return n == 99 }, "torn"},
		{"an end that was durable", cut, func(n uint64) bool { return n == 99 }, "DURABLE"},
		{"a segment is missing", remove(segment(1)), func(n uint64) bool { return n == 40 }, segment(1)},
		{"the header", change(segment(0), func(b []byte) []byte { b[3] ^= 1; return b }), func(n uint64) bool { return n == 0 }, segment(0)},
		{"a snapshot", change("snapshot-00000000000000000059.evsnap", flip), func(n uint64) bool { return n == 100 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWriter(t, sc, replay.Options{SnapshotTicks: 60, Log: worldlog.Options{SegmentTicks: 40}})
			w.write(100)
			for w.rec.Log().Stats().Snapshots == 0 {
				time.Sleep(time.Millisecond)
			}
			w.close()
			c.damage(t, w.dir)
			in := viewer(t, w.dir, sc)
			l := until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
			text := l.Error
			if c.want == "torn" {
				text = "torn " + l.Torn
				if l.Torn == "" {
					t.Errorf("%+v", l)
				}
			}
			if !c.last(l.Last) || !strings.Contains(text, c.want) || (text == "") != (c.want == "") {
				t.Fatalf("last %d, error %q, torn %q", l.Last, l.Error, l.Torn)
			}
			if l.Last == 0 {
				return
			}
			for _, tick := range []uint64{l.Last, 1, l.Last / 2, l.Last} {
				if got := at(t, in, tick); got != w.hashes[tick] {
					t.Errorf("tick %d: hash %x, want %x", tick, got, w.hashes[tick])
				}
			}
			if a := answerTo(t, in, "timeline", fmt.Sprintf(`{"seek":%d}`, l.Last+1)); a.Status != 400 || !strings.Contains(string(a.Body), fmt.Sprint(l.Last+1)) {
				t.Errorf("beyond: %d %s", a.Status, a.Body)
			}
		})
	}
}

// A Sim that is not that of the log, or that fails, is an error which names the tick, and the ticks before can be
// looked at.
func TestLogOfAnother(t *testing.T) {
	dir, hashes := logOf(t, pitScenario(nil), 100, replay.Options{})
	other := pitScenario(nil)
	other.Name = "other"
	in := viewer(t, dir, other)
	l := until(t, in, "an error", func(l *logTimeline) bool { return l.Error != "" && l.Complete })
	if l.State != "failed" || !strings.Contains(l.Error, `"pit"`) || l.Last != 100 {
		t.Errorf("another scenario: %+v", l)
	}
	if a := answerTo(t, in, "frame?of=log"); a.Status == 200 {
		t.Errorf("a frame of no Sim: %d", a.Status)
	}
	if a := answerTo(t, in, "world?of=log"); a.Status != 503 || !strings.Contains(string(a.Body), "pit") {
		t.Errorf("the columns of no Sim: %d %s", a.Status, a.Body)
	}
	for name, wrong := range map[string]func(*pit) error{
		"diverges": func(p *pit) error { p.count.n++; return nil },
		"fails":    func(p *pit) error { return errors.New("out of luck") },
		"panics":   func(p *pit) error { panic("out of luck") },
	} {
		t.Run(name, func(t *testing.T) {
			in := viewer(t, dir, pitScenario(func(p *pit) {
				_ = p.sim.Add(evertick.AfterPhysics, "wrong", func(t *evertick.Tick) error {
					if t.N == 70 {
						return wrong(p)
					}
					return nil
				})
			}))
			until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
			for range 2 {
				move1(t, in, `{"seek":90}`)
				l := until(t, in, "an error", func(l *logTimeline) bool { return l.Seeking == nil && l.Error != "" })
				if l.State != "failed" || l.At != 70 && (l.At != 71 || name != "diverges") {
					t.Fatalf("%+v", l)
				}
				if a := answerTo(t, in, "frame?of=log"); a.Status != 200 {
					t.Errorf("a frame after it: %d %s", a.Status, a.Body)
				}
				for _, tick := range []uint64{70, 30} {
					if got := at(t, in, tick); got != hashes[tick] {
						t.Errorf("tick %d: hash %x, want %x", tick, got, hashes[tick])
					}
				}
				if l := timelineOf(t, in).Log; l.State != "paused" || l.Error != "" {
					t.Errorf("afterwards: %+v", l)
				}
			}
		})
	}
	if _, err := New(nil, Config{Log: dir}); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("no scenario: %v", err)
	}
}

// Requests that make no sense are refused, and change nothing.
func TestTimelineRefuses(t *testing.T) {
	sc := pitScenario(nil)
	dir, _ := logOf(t, sc, 10, replay.Options{})
	in := newInspector(t, newSim(t, evertick.Config{Capacity: 4}, 1), Config{Log: dir, Scenario: sc})
	until(t, in, "all is read", func(l *logTimeline) bool { return l.Complete })
	for body, status := range map[string]int{
		`{"of":"log","seek":11}`:                   400,
		`{"of":"log","seek":-1}`:                   400,
		`{"of":"log","seek":1.5}`:                  400,
		`{"of":"log","step":-1}`:                   400,
		`{"of":"log","step":11}`:                   400,
		`{"of":"log","play":-1}`:                   400,
		`{"of":"log","play":1e9}`:                  400,
		`{"of":"log","pause":true}`:                400,
		`{"of":"log"}`:                             400,
		`{"of":"log","seek":1,"play":1}`:           400,
		`{"of":"log","seek":1} {"seek":1}`:         400,
		`{"of":"log","jump":1}`:                    400,
		`{"of":"moon","seek":1}`:                   400,
		`{"of":"other","seek":1}`:                  400,
		`{"of":"live","pause":true}`:               403,
		`{"of":"live","step":1}`:                   403,
		`[]`:                                       400,
		``:                                         400,
		strings.Repeat(" ", 5000) + `{}`:           400,
		`{"of":"log","step":-9223372036854775808}`: 400,
	} {
		a := answerTo(t, in, "timeline", body)
		var e struct{ Error string }
		if err := json.Unmarshal(a.Body, &e); err != nil || e.Error == "" || a.Status != status {
			t.Errorf("%.60s: %d %s", body, a.Status, a.Body)
		}
	}
	if l := timelineOf(t, in).Log; l.At != 0 || l.Seeking != nil || l.Error != "" {
		t.Errorf("%+v", l)
	}
	for _, path := range []string{"diff?a=1&b=11", "diff?a=x", "diff?with=other", "diff?limit=0", "diff?limit=10001"} {
		if a := answerTo(t, in, path); a.Status != 400 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}
