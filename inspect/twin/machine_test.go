package twin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/inspector"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// The twin has the hash of the server after each tick, of the seed that the server has, and shows that Sim.
func TestEqual(t *testing.T) {
	r := newRig(t, Config{Seed: 1, Watch: []byte("watch")})
	r.serve(r.build(77))
	r.run(40)
	r.connect(false)
	r.run(500)
	got := r.m.report()
	if got.Equal < 500 || got.Different != 0 || got.Snapshots != 1 || got.Own != got.Server || got.Tick != r.sim.Ticks() || got.Error != "" {
		t.Errorf("%+v", got)
	}
	if got.Own != inspector.HashText(r.sim.Hash()) || r.m.sim.Hash() != r.sim.Hash() || r.m.sim.Seed() != 77 {
		t.Errorf("the page shows hash %x, the server has %x", r.m.sim.Hash(), r.sim.Hash())
	}
	if r.sim.World.Len() != 8 {
		t.Errorf("%d entities: a watcher has one", r.sim.World.Len())
	}
	if got.BytesSecond < 60 {
		t.Errorf("%v bytes a second", got.BytesSecond)
	}
}

// Alone, with inputs, the Sim runs from the beginning, and anew after the page has left a server; without it stands at tick 0.
func TestAlone(t *testing.T) {
	still := newRig(t, Config{})
	still.run(30)
	if still.m.sim.Ticks() != 0 {
		t.Errorf("%d ticks without inputs", still.m.sim.Ticks())
	}
	r := newRig(t, Config{Alone: func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		if tick == 3 {
			dst = append(dst, evertick.Input{Tick: tick, Source: 5, Kind: driftJoin})
		}
		return dst, nil
	}})
	check := func() {
		t.Helper()
		entities := r.m.sim.World.Len()
		r.run(30)
		if got := r.m.sim; got.Ticks() < 25 || got.World.Len() != entities+1 {
			t.Errorf("%d ticks, %d entities of %d and one more", got.Ticks(), got.World.Len(), entities)
		}
	}
	check()
	r.serve(r.build(77))
	r.connect(false)
	r.run(40)
	if got := r.m.report(); got.Equal == 0 || got.Different != 0 {
		t.Errorf("%+v", got)
	}
	if err := r.m.link.disconnect(); err != nil {
		t.Fatal(err)
	}
	check()
}

// The server is killed, and goes on from its log: the twin waits, resumes its session, and has the hashes again.
func TestServerRestarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	r := newRig(t, Config{Watch: []byte("watch")})
	sim, err := r.build(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, drift.Name, sim, replay.Options{SnapshotTicks: 20})
	if err != nil {
		t.Fatal(err)
	}
	r.serve(sim, nil)
	r.connect(false)
	r.run(100)
	before := r.m.report()
	r.kill()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	r.run(600) // ten seconds
	got := r.m.report()
	if got.State != waiting || !strings.Contains(got.Error, "no server") || got.Equal != before.Equal {
		t.Errorf("without a server: %+v", got)
	}
	if n := r.dialled - 1; n < 4 || n > 12 { // 1/4 + 1/2 + 1 + 2 + 4 + 8 s, and they begin late
		t.Errorf("%d attempts in ten seconds", n)
	}
	_, sim, _, err = replay.Resume(dir, r.m.config.Scenario, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.serve(sim, nil)
	r.run(600)
	got = r.m.report()
	if got.State != joined || got.Joins != 2 || got.Session != before.Session || got.Different != 0 || got.Equal < before.Equal+100 || got.Own != inspector.HashText(r.sim.Hash()) {
		t.Errorf("%+v\nbefore: %+v", got, before)
	}
}

// The twin counts and shows a tick that differs, gets a snapshot, and goes on.
func TestDivergence(t *testing.T) {
	r := newRig(t, Config{})
	r.serve(r.build(1))
	r.connect(false)
	r.run(100)
	r.sim.World.Position.X[3]++ // no input has done that
	at := r.sim.Ticks() + 1
	r.run(200)
	got := r.m.report()
	if got.Different != 1 || got.Last == nil || got.Last.Tick != at || got.Last.Own == got.Last.Server || got.Snapshots != 2 || got.Own != inspector.HashText(r.sim.Hash()) {
		t.Errorf("%+v, last %+v", got, got.Last)
	}
	var h struct {
		Ticks       []uint64
		Own, Server []string
	}
	v, err := r.m.hashes("50")
	if text, _ := json.Marshal(v); err != nil || json.Unmarshal(text, &h) != nil {
		t.Fatal(err)
	}
	differ := 0
	for i := range h.Ticks {
		if h.Own[i] != h.Server[i] {
			differ++
		}
	}
	if differ != 1 || len(h.Ticks) < 100 || h.Ticks[0] != 51 {
		t.Errorf("%d of %d differ, from tick %d", differ, len(h.Ticks), h.Ticks[0])
	}
}

// A server of another SimVersion, scenario or kind is refused with the reason, and the page goes on showing its Sim.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		scenario string
		hello    func([]byte) []byte
		want     string
	}{
		"SimVersion": {hello: func(message []byte) []byte {
			return bytes.Replace(message, []byte{evertick.SimVersion}, []byte{200}, 1)
		}, want: "SimVersion"},
		"scenario": {scenario: "chess", want: `"drift"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{})
			if c.scenario != "" {
				r.m.config.Scenario.Name = c.scenario
				c.want = `"chess"`
			}
			r.hello = c.hello
			r.serve(r.build(1))
			shown := r.m.sim
			if err := r.m.link.connect("ws://test", false); err != nil {
				t.Fatal(err)
			}
			r.run(700)
			got := r.m.report()
			if got.State != refused || !strings.Contains(got.Error, c.want) || r.dialled != 1 {
				t.Errorf("%d attempts, %+v", r.dialled, got)
			}
			if r.m.sim != shown || !r.m.alone {
				t.Error("the page no longer shows its Sim")
			}
		})
	}
}

// A page that the messages outrun joins anew, and has the hashes again.
func TestFarBehind(t *testing.T) {
	r := newRig(t, Config{})
	r.serve(r.build(1))
	r.connect(false)
	r.conns[0].to.message(make([]byte, mostWaiting))
	r.conns[0].to.message(make([]byte, 1))
	r.settle(false)
	if got := r.m.report(); got.State == joined {
		t.Errorf("%+v", got)
	}
	r.run(120)
	if got := r.m.report(); got.State != joined || got.Joins != 2 || got.Different != 0 || got.Own != inspector.HashText(r.sim.Hash()) || r.m.link.traffic.waiting != 0 {
		t.Errorf("%+v, %d bytes wait", got, r.m.link.traffic.waiting)
	}
}

// push is the Steer of the tests.
func push(p Pad) (kind uint32, data []byte) { return driftPush, []byte{byte(int8(p.X * 10))} }

// ownX returns where the entity of a session is.
func ownX(t *testing.T, sim *evertick.Sim, session uint32) float32 {
	t.Helper()
	owner, _ := ecs.FindColumn[uint32](sim.World, "owner")
	for slot := range sim.World.Query() {
		if owner.Values()[slot] == session {
			return sim.World.Position.X[slot]
		}
	}
	t.Fatalf("session %d has no entity", session)
	return 0
}

// The own entity moves with the next tick, though the server answers half a second later, and what the server
// confirms has its bits.
func TestPlay(t *testing.T) {
	r := newRig(t, Config{Steer: push})
	r.delay = 15
	r.serve(r.build(5))
	r.connect(true)
	r.run(240)
	session := r.m.report().Session
	seen, confirmed := ownX(t, r.m.sim, session), ownX(t, r.m.link.sim.Sim(), session)
	if err := r.m.setPad([]byte(`{"x":1,"y":0}`)); err != nil {
		t.Fatal(err)
	}
	r.run(2)
	if now := ownX(t, r.m.sim, session); now == seen {
		t.Errorf("x = %v, two ticks after the key", now)
	}
	if now := ownX(t, r.m.link.sim.Sim(), session); now != confirmed {
		t.Error("the server has answered already: the test shows nothing")
	}
	r.run(200)
	if now := ownX(t, r.m.link.sim.Sim(), session); now < confirmed+100 {
		t.Errorf("the server has moved the entity by %v", now-confirmed)
	}
	got := r.m.report()
	if got.Different != 0 || got.Equal < 400 || got.Ahead == 0 || !got.Playing {
		t.Errorf("%+v", got)
	}
}

// The player acts once for each tick, however the looks at the time fall.
func TestDue(t *testing.T) {
	const tickNs = 16_666_667
	for _, every := range []int{1_000_000, 4_000_000, 4_166_667, 5_000_000, 15_000_000} {
		for phase := range 50 {
			s, acted := steering{next: 100}, uint64(100)
			for now := phase * 333_333; now < 100*tickNs; now += every {
				tick := 100 + uint64(now/tickNs)
				got, due := s.due(tick, time.Duration(tickNs-now%tickNs))
				if due && got != acted {
					t.Fatalf("every %d ns: acts for tick %d after %d", every, got, acted-1)
				}
				if due {
					acted++
				}
				if tick > acted+1 {
					t.Fatalf("every %d ns: tick %d has come, the last act was for %d", every, tick, acted-1)
				}
			}
		}
	}
	s := steering{next: 5}
	if got, due := s.due(50, time.Hour); !due || got != 50 {
		t.Error("after a stall the player acts for", got, due)
	}
}

// A log that is dropped is played, checked and shown, with and without a server. What is no log, is damaged or is of
// another scenario is named, and what was shown before stays.
func TestDrop(t *testing.T) {
	r := newRig(t, Config{})
	r.serve(r.build(1))
	r.connect(false)
	drop := func(f *files) {
		for name, data := range f.data {
			if err := r.m.addFile(name, data); err != nil {
				t.Fatal(err)
			}
		}
		r.m.openLog()
	}
	drop(&files{data: map[string][]byte{"notes.txt": []byte("x")}})
	if got := r.m.report(); got.Log || !strings.Contains(got.LogError, "no file of a log") {
		t.Errorf("%+v", got)
	}
	dir := t.TempDir()
	record(t, dir, 100)
	drop(read(t, dir))
	if got := r.m.report(); !got.Log || got.LogError != "" {
		t.Fatalf("%+v", got)
	}
	r.run(60)
	if got := r.m.report(); got.State != joined || got.Different != 0 || got.Own != inspector.HashText(r.sim.Hash()) {
		t.Errorf("%+v", got)
	}
}

// What is wrong with a log is said where the log is shown, and the client stays joined.
func TestDropForeign(t *testing.T) {
	r := newRig(t, Config{})
	r.serve(r.build(1))
	r.connect(false)
	dir := t.TempDir()
	log, err := worldlog.Create(filepath.Join(dir, "log"), worldlog.Identity{Scenario: "chess", SimVersion: evertick.SimVersion}, worldlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Commit(0, 1, worldlog.Counts{}), log.Close()); err != nil {
		t.Fatal(err)
	}
	r.m.dropped.pending = read(t, dir)
	r.m.openLog()
	var answer inspector.Answer
	for start := time.Now(); !strings.Contains(string(answer.Body), "chess"); {
		answer = r.m.answer(t.Context(), &inspector.Request{Method: "GET", Path: "timeline"})
		if time.Since(start) > time.Minute {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	r.run(60)
	if got := r.m.report(); got.State != joined || !got.Log || got.Different != 0 {
		t.Errorf("%+v", got)
	}
}

// A twin answers the page while it runs, and refuses nonsense with the reason.
func TestAnswers(t *testing.T) {
	m, err := newMachine(Config{Scenario: drift, Seed: 3, URL: "ws://a/world"}, nil, new(loop.SystemClock))
	if err != nil {
		t.Fatal(err)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() { m.run(done); close(ended) }()
	defer func() { close(done); <-ended }()
	ask := func(method, path, body string) (status int, answer map[string]any) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		a := m.answer(ctx, &inspector.Request{Method: method, Path: u.Path, Query: u.Query(), Body: []byte(body)})
		if a.Type == "application/json" {
			if err := json.Unmarshal(a.Body, &answer); err != nil {
				t.Fatal(err)
			}
		}
		return a.Status, answer
	}
	if status, a := ask("GET", "twin", ""); status != 200 || a["state"] != "alone" || a["proposed_url"] != "ws://a/world" || a["can_play"] != false {
		t.Error(status, a)
	}
	if status, a := ask("GET", "hashes?after=0", ""); status != 200 {
		t.Error(status, a)
	}
	if status, a := ask("GET", "status", ""); status != 200 || a["tick"] != 0.0 || a["control"] != true {
		t.Error(status, a)
	}
	for _, bad := range [][3]string{
		{"POST", "twin", "{"}, {"POST", "twin", "{}"}, {"POST", "twin", `{"connect":"ws://x","play":true}`},
		{"POST", "pad", `{"x":1,"y":1}`}, {"POST", "pad", `[]`}, {"POST", "input?kind=1", ""}, {"POST", "input?kind=x", ""},
		{"POST", "file?name=..", "x"}, {"POST", "twin", strings.Repeat(" ", mostBody+1)},
	} {
		if status, a := ask(bad[0], bad[1], bad[2]); status < 400 || a["error"] == "" {
			t.Errorf("%v: %d, %v", bad, status, a)
		}
	}
	if status, a := ask("GET", "twin", ""); status != 200 || a["state"] != "alone" {
		t.Error(status, a)
	}
}

func TestConfigFaults(t *testing.T) {
	bad := Config{Watch: make([]byte, 5000), Play: make([]byte, 4097)}
	err := bad.Validate()
	for _, field := range []string{"Scenario.New", "Watch", "Play"} {
		if !errors.Is(err, fault.ErrRange) || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := Run(Config{Scenario: drift}); !errors.Is(err, fault.ErrUnsupported) {
		t.Error(err)
	}
}
