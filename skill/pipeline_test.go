package skill_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

func TestConfig(t *testing.T) {
	if err := (skill.Config{}).Validate(); err != nil {
		t.Error(err)
	}
	bad := skill.Config{
		Calls: -1, ActorCalls: 1 << 17, InputBytes: 1 << 21, OutputBytes: 10, Rows: -1, Rate: skill.Rate{Calls: 1}, Buckets: -1,
		Tags: 257, Extent: 0.5, Trace: -1, Snapshots: -1, SnapshotBytes: -1,
	}
	err := bad.Validate()
	for _, field := range []string{"Calls", "ActorCalls", "InputBytes", "OutputBytes", "Rows", "Rate", "Buckets", "Tags", "Extent", "Trace", "Snapshots", "SnapshotBytes"} {
		if err == nil || !errors.Is(err, fault.ErrRange) || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
}

type echoInput struct {
	Text string `json:"text"`
}

// echo is a skill that fails or not, as its input says, and changes the world in either case.
func echo(version int) func(*skill.Registry) error {
	return func(r *skill.Registry) error {
		return skill.Register(r, skill.Def{Name: "test.echo", Version: version, Permission: "test.echo", ReadOnly: true, Rate: skill.Unlimited},
			func(_ *skill.Call, in echoInput) (echoInput, error) {
				switch in.Text {
				case "":
					return in, errors.New("nothing to say")
				case "long":
					return echoInput{strings.Repeat("x", 5000)}, nil
				}
				return echoInput{fmt.Sprint(in.Text, version)}, nil
			})
	}
}

func TestVersions(t *testing.T) {
	y := newYard(t, yardConfig{skills: skill.Config{OutputBytes: 4096}, more: func(r *skill.Registry) error {
		return errors.Join(echo(3)(r), echo(1)(r))
	}})
	for name, want := range map[string]string{"test.echo": "a3", "test_echo": "a3", "test.echo@1": "a1", "test.echo@3": "a3"} {
		if out := must[echoInput](t, y, admin, name, `{"text":"a"}`); out.Text != want {
			t.Errorf("%s: %q, want %q", name, out.Text, want)
		}
	}
	for input, want := range map[string]skill.Code{`{"text":""}`: skill.HandlerError, `{"text":"long"}`: skill.CapacityExceeded} {
		if got := codeOf(y.do(t, admin, "test.echo", input).Err); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
	if err := echo(3)(y.r); !errors.Is(err, fault.ErrRange) {
		t.Errorf("a name that is taken: %v", err)
	}
	noop := func(*skill.Call, echoInput) (echoInput, error) { return echoInput{}, nil }
	for _, d := range []skill.Def{
		{Name: "", Permission: "x"}, {Name: "a b", Permission: "x"}, {Name: "a@1", Permission: "x"}, {Name: "a"},
		{Name: "a", Permission: "*"}, {Name: "a", Permission: "x", Version: -1}, {Name: "a", Permission: "x", Rate: skill.Rate{Calls: -2}},
		{Name: strings.Repeat("a", 65), Permission: "x"}, {Name: "test_echo", Permission: "x"},
	} {
		if err := skill.Register(y.r, d, noop); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := skill.Register(y.r, skill.Def{Name: "a", Permission: "x"}, func(*skill.Call, struct{ F func() }) (echoInput, error) {
		return echoInput{}, nil
	}); !errors.Is(err, fault.ErrRange) {
		t.Errorf("a function in an input: %v", err)
	}
}

func TestProfiles(t *testing.T) {
	y := newYard(t, yardConfig{more: echo(1)})
	at := `"position":{"x":1,"y":1,"z":0}`
	calls := []struct{ name, input string }{
		{"scene.queryEntities", `{}`}, {"physics.raycast", `{"from":{"x":0,"y":0,"z":0},"to":{"x":1,"y":0,"z":0}}`}, {"world.stats", `{}`},
		{"ecs.updateComponent", `{"id":"ent_1",` + at + `}`}, {"ecs.addComponent", `{"id":"ent_1","component":"a"}`},
		{"physics.applyImpulse", `{"id":"ent_1","impulse":{"x":1,"y":0,"z":0}}`},
		{"ecs.updateComponent", `{"id":"ent_2",` + at + `}`}, {"scene.createEntity", `{` + at + `}`}, {"scene.destroyEntity", `{"id":"ent_6"}`},
		{"world.snapshot", `{}`}, {"test.echo", `{"text":"a"}`},
	}
	own := skill.Profile{Name: "gardener", Permissions: []string{"scene.*"}}
	if err := y.r.AddProfile(own); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		actor   skill.Actor
		allowed string // of calls
	}{
		{reader, "xxx--------"}, {player, "xxxxxx-----"}, {builder, "xxxxxxxxx--"}, {admin, "xxxxxxxxsxx"}, // ent_6 is destroyed before
		{skill.Actor{Name: "g", Profile: "gardener"}, "x------xs--"},
	} {
		for i, call := range calls {
			err := y.do(t, c.actor, call.name, call.input).Err
			want := map[byte]skill.Code{'x': skill.OK, '-': skill.Forbidden, 's': skill.StaleEntity}[c.allowed[i]]
			if got := codeOf(err); got != want {
				t.Errorf("%s: %s %s: %v, want %q", c.actor.Profile, call.name, call.input, err, want)
			}
		}
	}
	err := y.do(t, reader, "scene.createEntity", `{`+at+`}`).Err
	if !errors.Is(err, skill.ErrForbidden) {
		t.Errorf("%v is not ErrForbidden", err)
	}
	if err := y.r.AddProfile(skill.Profile{Permissions: []string{""}}); !errors.Is(err, fault.ErrRange) {
		t.Errorf("a bad profile: %v", err)
	}
	for _, a := range []skill.Actor{{}, {Name: "x"}, {Name: strings.Repeat("x", 129), Profile: "p"}, {Name: "\xff", Profile: "p"}} {
		if _, err := y.r.Caller(a); !errors.Is(err, fault.ErrRange) {
			t.Errorf("actor %.20q: %v", a.Name, err)
		}
	}
}

// The model of a token bucket is a list of the ticks of calls.
func TestRateLimit(t *testing.T) {
	rate := skill.Rate{Calls: 2, Ticks: 5, Burst: 3}
	y := newYard(t, yardConfig{skills: skill.Config{Rate: rate, Calls: 64, ActorCalls: 32}})
	tokens, per, limited := 3*5, 5, 0 // in fifths of a call
	for tick := range 60 {
		n := (tick * 7 % 11) / 3
		if tick > 30 && tick < 45 {
			n = 0
		}
		var pending []*skill.Pending
		for range n {
			pending = append(pending, y.submit(t, reader, "world.stats", `{}`))
		}
		// Another actor, and another skill, have buckets of their own.
		var others []*skill.Pending
		if tick%5 == 0 {
			others = append(others, y.submit(t, admin, "world.stats", `{}`), y.submit(t, reader, "scene.queryEntities", `{"limit":1}`))
		}
		y.step(t, 1)
		for i, p := range pending {
			want := skill.OK
			if tokens < per {
				want = skill.RateLimited
				limited++
			} else {
				tokens -= per
			}
			if err := p.Result().Err; codeOf(err) != want || want != skill.OK && !errors.Is(err, skill.ErrRateLimited) {
				t.Fatalf("tick %d, call %d: %v, want %q", tick, i, err, want)
			}
		}
		for _, p := range others {
			if err := p.Result().Err; err != nil {
				t.Errorf("tick %d: another bucket: %v", tick, err)
			}
		}
		tokens = min(3*5, tokens+2)
	}
	if limited == 0 {
		t.Error("no call was limited")
	}
}

func TestBucketsAreBounded(t *testing.T) {
	y := newYard(t, yardConfig{skills: skill.Config{Buckets: 2, Rate: skill.Rate{Calls: 1, Ticks: 1, Burst: 2}}})
	var got []skill.Code
	var pending []*skill.Pending
	for i := range 3 {
		pending = append(pending, y.submit(t, skill.Actor{Name: fmt.Sprint("actor", i), Profile: skill.Reader}, "world.stats", `{}`))
	}
	y.step(t, 1)
	for _, p := range pending {
		got = append(got, codeOf(p.Result().Err))
	}
	if !slices.Equal(got, []skill.Code{skill.OK, skill.OK, skill.CapacityExceeded}) {
		t.Errorf("codes %q", got)
	}
	y.step(t, 2) // they are full again, and forgotten
	if got := codeOf(y.do(t, skill.Actor{Name: "actor2", Profile: skill.Reader}, "world.stats", `{}`).Err); got != skill.OK {
		t.Errorf("behind that: %q", got)
	}
}

// drive makes calls of every kind, some of which are refused, in ticks of a yard.
func drive(t testing.TB, y *yard, ticks int) {
	for tick := range ticks {
		y.submit(t, builder, "scene.createEntity", fmt.Sprintf(
			`{"position":{"x":%d,"y":20,"z":0},"tags":["made"],"body":{"type":"dynamic","shape":{"type":"circle","radius":0.5}}}`, tick*2))
		switch tick % 5 {
		case 0:
			y.submit(t, player, "ecs.updateComponent", `{"id":"ent_1","position":{"x":-9,"y":1,"z":0}}`)
			y.submit(t, player, "ecs.updateComponent", `{"id":"ent_2","position":{"x":-9,"y":1,"z":0}}`)
		case 1:
			y.submit(t, builder, "physics.applyImpulse", `{"id":"ent_2","impulse":{"x":0.5,"y":2,"z":0},"angular":0.2}`)
		case 2:
			y.submit(t, reader, "scene.queryEntities", `{"center":{"x":0,"y":0,"z":0},"radius":30,"tags":["made"]}`)
			y.submit(t, reader, "scene.destroyEntity", `{"id":"ent_1"}`)
		case 3:
			y.submit(t, builder, "scene.destroyEntity", fmt.Sprintf(`{"id":"ent_%d"}`, 5+tick))
			y.submit(t, admin, "world.snapshot", `{}`)
		case 4:
			y.submit(t, builder, "nothing", `{"x":1}`)
			y.submit(t, builder, "ecs.addComponent", strings.Repeat("x", 1<<20))
		}
		y.step(t, 1)
	}
}

func yardScenario(c yardConfig) replay.Scenario {
	return replay.Scenario{Name: "skills", New: func(seed uint64) (*evertick.Sim, error) {
		y, err := buildYard(seed, c)
		if err != nil {
			return nil, err
		}
		return y.sim, nil
	}}
}

// A log replays the calls, hash by hash, and holds an event for every call.
func TestReplay(t *testing.T) {
	const ticks = 30
	y := newYard(t, yardConfig{})
	dir := t.TempDir()
	rec, err := replay.Record(dir, "skills", y.sim, replay.Options{SnapshotTicks: 10, Log: worldlog.Options{Durability: worldlog.None}})
	if err != nil {
		t.Fatal(err)
	}
	y.r.LogTo(rec.Log())
	drive(t, y, ticks)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(dir, yardScenario(yardConfig{}), replay.VerifyOptions{})
	if err != nil || rep.Ticks != ticks || rep.Hash != y.sim.Hash() {
		t.Fatalf("%+v: %v", rep, err)
	}
	if _, err := replay.Seek(dir, yardScenario(yardConfig{}), 25, nil); err != nil {
		t.Errorf("from a snapshot: %v", err)
	}

	// With other rules the runs differ, at least in the state of the skills.
	if _, err := replay.Verify(dir, yardScenario(yardConfig{skills: skill.Config{Rate: skill.Rate{Calls: 1, Ticks: 50}}}), replay.VerifyOptions{}); !errors.Is(err, replay.ErrDiverged) {
		t.Errorf("with another rate: %v", err)
	}

	trace, lost := y.r.Trace(nil, "")
	logged := eventsOf(t, dir)
	if !slices.Equal(trace, logged) || lost != 0 {
		t.Errorf("%d events in the log, %d in the trace", len(logged), len(trace))
	}
	seen := map[skill.Code]int{}
	for i, e := range logged {
		seen[e.Code]++
		if e.Seq != uint64(i+1) || e.Count != 1 || e.Actor == "" || e.Input == 0 || (e.Output == 0) != (e.Code != skill.OK) {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
	for _, code := range []skill.Code{skill.OK, skill.Forbidden, skill.NotFound, skill.InvalidInput} {
		if seen[code] == 0 {
			t.Errorf("no event with code %q", code)
		}
	}
	if mine, _ := y.r.Trace(nil, reader.Name); len(mine) == 0 || slices.ContainsFunc(mine, func(e skill.Event) bool { return e.Actor != reader.Name }) {
		t.Errorf("trace of one actor: %d events", len(mine))
	}
}

// eventsOf reads the events of a log.
func eventsOf(t *testing.T, dir string) (events []skill.Event) {
	t.Helper()
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		tick, err := r.Next()
		if err == io.EOF {
			return events
		} else if err != nil {
			t.Fatal(err)
		}
		for _, rec := range tick.Records {
			if rec.Type != worldlog.Intent || rec.Source != skill.LogKind {
				continue
			}
			e, err := skill.ParseEvent(rec.Data)
			if err != nil || e.Tick != tick.Tick || e.Seq != rec.Seq {
				t.Fatalf("tick %d: %+v %v", tick.Tick, e, err)
			}
			events = append(events, e)
		}
	}
}

// A snapshot contains everything that later calls depend on.
func TestSyncTest(t *testing.T) {
	y := newYard(t, yardConfig{})
	feeds := map[uint64][]evertick.Input{}
	y.sim.AddHooks(evertick.Hooks{BeforeTick: func(tick *evertick.Tick) error {
		for _, in := range tick.Inputs() {
			in.Data = slices.Clone(in.Data)
			feeds[tick.N] = append(feeds[tick.N], in)
		}
		return nil
	}})
	drive(t, y, 12)
	err := replay.SyncTest(yardScenario(yardConfig{}), 7, 12, func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		return append(dst, feeds[tick]...), nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A system can call, too; a refused call is an error for it and an event.
func TestCallInTick(t *testing.T) {
	y := newYard(t, yardConfig{})
	if err := y.r.AddActor(player); err != nil {
		t.Fatal(err)
	}
	var apply skill.Applier = y.r.Apply
	var errs [4]error
	if err := y.sim.Add(evertick.AfterIndex, "agents", func(tick *evertick.Tick) error {
		_, errs[0] = y.r.Call(tick, builder, "scene.createEntity", []byte(`{"position":{"x":1,"y":2,"z":3}}`), 5)
		errs[1] = apply(tick, player.Name, "ecs.updateComponent", []byte(`{"id":"ent_1","position":{"x":-7,"y":0,"z":0}}`), 6)
		errs[2] = apply(tick, player.Name, "ecs.updateComponent", []byte(`{"id":"ent_2","position":{"x":-7,"y":0,"z":0}}`), 7)
		errs[3] = apply(tick, "stranger", "world.stats", nil, 8)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	y.step(t, 1)
	for i, want := range []skill.Code{skill.OK, skill.OK, skill.Forbidden, skill.Forbidden} {
		if got := codeOf(errs[i]); got != want {
			t.Errorf("call %d: %v, want %q", i, errs[i], want)
		}
	}
	trace, _ := y.r.Trace(nil, "")
	for i, e := range trace {
		if e.Cause != uint64(5+i) || e.Tick != 0 {
			t.Errorf("%+v", e)
		}
	}
	y.step(t, 1)
	b, _ := y.sim.Body(1)
	if p, _ := y.sim.Physics.Position(b); p[0] != -7 {
		t.Errorf("body at %v", p)
	}
}

// A million calls between two ticks: as many as fit run, the rest is refused, counted and recorded.
func TestFlood(t *testing.T) {
	n := 1_000_000
	if testing.Short() || paritytest.Instrumented {
		n = 20_000
	}
	y := newYard(t, yardConfig{skills: skill.Config{Calls: 40, ActorCalls: 30}})
	c, err := y.r.Caller(builder)
	if err != nil {
		t.Fatal(err)
	}
	var taken []*skill.Pending
	input := []byte(`{"limit":1}`)
	for range n {
		p, err := c.Submit("scene.queryEntities", input, 0)
		if err == nil {
			taken = append(taken, p)
		} else if codeOf(err) != skill.CapacityExceeded || !errors.Is(err, fault.ErrCapacity) {
			t.Fatal(err)
		}
	}
	if len(taken) != 30 {
		t.Fatalf("%d taken of one actor, not 30", len(taken))
	}
	for range 10 {
		y.submit(t, reader, "world.stats", ``)
	}
	d, err := y.r.Caller(admin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Submit("world.stats", nil, 0); codeOf(err) != skill.CapacityExceeded {
		t.Fatalf("beyond Config.Calls: %v", err)
	}
	y.step(t, 1)
	for i, p := range taken {
		if err := p.Result().Err; err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	want := skill.Stats{Submitted: 40, Full: uint64(n) - 30 + 1, Answered: 40}
	if got := y.r.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	doors := map[string]uint64{}
	trace, _ := y.r.Trace(nil, "")
	for _, e := range trace {
		if e.Seq == 0 && e.Code == skill.CapacityExceeded {
			doors[e.Actor] += e.Count
		}
	}
	if doors[builder.Name] != uint64(n)-30 || doors[admin.Name] != 1 {
		t.Errorf("refused at the door: %v", doors)
	}
	if got := codeOf(y.do(t, admin, "world.stats", ``).Err); got != skill.OK {
		t.Errorf("behind the flood: %q", got)
	}
}

// The Sim may queue fewer inputs than the registry.
func TestSimIsFull(t *testing.T) {
	y := newYard(t, yardConfig{sim: evertick.Config{Inputs: evertick.InputConfig{Capacity: 2}}})
	y.submit(t, builder, "world.stats", ``)
	y.submit(t, builder, "world.stats", ``)
	c, _ := y.r.Caller(builder)
	if _, err := c.Submit("world.stats", nil, 0); codeOf(err) != skill.CapacityExceeded {
		t.Error(err)
	}
	y.step(t, 1)
	if s := y.r.Stats(); s.Answered != 2 || s.Full != 1 || s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
}

// Other inputs with the kind and the source of skills are refused, and recorded as events.
func TestForeignInputs(t *testing.T) {
	y := newYard(t, yardConfig{skills: skill.Config{Calls: 3, ActorCalls: 3}})
	hash := func() uint64 { return y.sim.World.Hash() }
	was := hash()
	for i, data := range [][]byte{nil, {1}, []byte("\x01\x07nonsense"), []byte(strings.Repeat("\xff", 3000)), nil} {
		if err := y.sim.Push(evertick.Input{Source: skill.LogKind, Seq: uint64(1000 + i), Kind: skill.LogKind, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := y.sim.Push(evertick.Input{Source: 1, Seq: 1, Kind: skill.LogKind, Data: []byte("of somebody else")}); err != nil {
		t.Fatal(err)
	}
	y.step(t, 1)
	trace, _ := y.r.Trace(nil, "")
	var got []skill.Code
	for _, e := range trace {
		got = append(got, e.Code)
	}
	if len(trace) != 5 || slices.Contains(got, skill.OK) || hash() != was {
		t.Errorf("codes %q, hash %#x, was %#x", got, hash(), was)
	}
	// New calls get numbers after those.
	if got := codeOf(y.do(t, builder, "world.stats", ``).Err); got != skill.OK {
		t.Errorf("%q", got)
	}
}

// Calls that are lost to a Restore or a feed are answered.
func TestLost(t *testing.T) {
	y := newYard(t, yardConfig{})
	y.step(t, 3)
	save, err := y.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	y.step(t, 2)
	p := y.submit(t, builder, "world.stats", ``)
	if err := y.sim.Restore(save); err != nil {
		t.Fatal(err)
	}
	y.step(t, 2)
	if err := p.Result().Err; !errors.Is(err, skill.ErrClosed) {
		t.Errorf("after a Restore: %v", err)
	}
	if res := y.do(t, builder, "world.stats", ``); res.Err != nil {
		t.Errorf("after that: %v", res.Err)
	}
	y.sim.SetInputs(func(_ uint64, dst []evertick.Input) ([]evertick.Input, error) { return dst, nil })
	p = y.submit(t, builder, "world.stats", ``)
	y.step(t, 2)
	if err := p.Result().Err; !errors.Is(err, skill.ErrClosed) {
		t.Errorf("with a feed: %v", err)
	}
	if s := y.r.Stats(); s.Lost != 2 || s.Waiting != 0 || s.Answered != 1 {
		t.Errorf("%+v", s)
	}
}

// A call that waits in a snapshot runs after the snapshot is restored, and no number is used twice.
func TestWaitingInSnapshot(t *testing.T) {
	y := newYard(t, yardConfig{})
	y.do(t, builder, "world.stats", ``)
	y.submit(t, builder, "scene.createEntity", `{"position":{"x":1,"y":1,"z":1}}`)
	save, err := y.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	z := newYard(t, yardConfig{})
	if err := z.sim.Restore(save); err != nil {
		t.Fatal(err)
	}
	p := z.submit(t, builder, "scene.createEntity", `{"position":{"x":2,"y":1,"z":1}}`)
	z.step(t, 1)
	if err := p.Result().Err; err != nil || z.sim.World.Len() != 8 {
		t.Errorf("%d entities, not 8: %v", z.sim.World.Len(), err)
	}
}

func TestClose(t *testing.T) {
	y := newYard(t, yardConfig{})
	p := y.submit(t, builder, "world.stats", ``)
	why := errors.New("the sun has gone down")
	y.r.Close(why)
	y.r.Close(nil)
	if err := p.Result().Err; !errors.Is(err, skill.ErrClosed) || !errors.Is(err, why) {
		t.Error(err)
	}
	c, _ := y.r.Caller(builder)
	if _, err := c.Submit("world.stats", nil, 0); !errors.Is(err, skill.ErrClosed) {
		t.Error(err)
	}
}

// Many goroutines call while the world runs; each gets its own answer.
func TestConcurrentCallers(t *testing.T) {
	y := newYard(t, yardConfig{more: echo(1), skills: skill.Config{Calls: 64, ActorCalls: 64}})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			c, err := y.r.Caller(skill.Actor{Name: fmt.Sprint("a", i), Profile: skill.Admin})
			if err != nil {
				t.Error(err)
				return
			}
			for k := range 20 {
				text := fmt.Sprint(i, " ", k, " ")
				res, err := c.Call(ctx, "test.echo", []byte(fmt.Sprintf(`{"text":%q}`, text)), uint64(k))
				var out echoInput
				if err == nil {
					err = json.Unmarshal(res.Output, &out)
				}
				if err != nil || out.Text != text+"1" {
					t.Errorf("%q: %q %v", text, out.Text, err)
					return
				}
				y.r.Trace(nil, "a1")
				y.r.Stats()
			}
		})
	}
	done := make(chan struct{})
	go func() { callers.Wait(); close(done) }()
	for {
		select {
		case <-done:
			if s := y.r.Stats(); s.Answered != 160 {
				t.Errorf("%+v", s)
			}
			return
		default:
			y.step(t, 1)
		}
	}
}

func TestCallGivesUp(t *testing.T) {
	y := newYard(t, yardConfig{})
	c, _ := y.r.Caller(builder)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Call(ctx, "world.stats", nil, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	y.step(t, 1)
}

// A ring that is too small drops the oldest events.
func TestTraceRing(t *testing.T) {
	y := newYard(t, yardConfig{skills: skill.Config{Trace: 3}})
	for range 5 {
		y.do(t, builder, "world.stats", ``)
	}
	trace, lost := y.r.Trace(nil, "")
	if lost != 2 || len(trace) != 3 || trace[0].Seq != 3 || trace[2].Seq != 5 {
		t.Errorf("%d lost, %+v", lost, trace)
	}
}

// Ticks that run again, back and forth, run the calls again, and no call is answered twice.
func TestStepBack(t *testing.T) {
	y := newYard(t, yardConfig{sim: evertick.Config{History: evertick.HistoryConfig{Keep: 32}}})
	drive(t, y, 10)
	hash, stats := y.sim.Hash(), y.r.Stats()
	trace, _ := y.r.Trace(nil, "")
	if err := y.sim.StepBack(6); err != nil {
		t.Fatal(err)
	}
	if err := y.sim.Forward(6); err != nil {
		t.Fatal(err)
	}
	again, _ := y.r.Trace(nil, "")
	if y.sim.Hash() != hash || y.r.Stats() != stats || len(again) > len(trace) {
		t.Errorf("hash %#x, was %#x; %+v, was %+v", y.sim.Hash(), hash, y.r.Stats(), stats)
	}
	if res := y.do(t, builder, "world.stats", ``); res.Err != nil {
		t.Error(res.Err)
	}
}

// Ticks without calls allocate nothing.
func TestNoAllocation(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	y := newYard(t, yardConfig{})
	drive(t, y, 10)
	y.step(t, 100)
	if n := testing.AllocsPerRun(50, func() { y.step(t, 1) }); n != 0 {
		t.Errorf("%v allocations in a tick", n)
	}
}

// Importers of the core do not depend on the library for schemas.
func TestDependencies(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("not run: the go command is not installed")
	}
	module := "github.com/evertick/evertick"
	cmd := exec.Command("go", "list", "-deps", module, module+"/ecs", module+"/spatial", module+"/physics", module+"/loop", module+"/replay")
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if strings.Contains(dep, "jsonschema") || strings.HasPrefix(dep, module+"/skill") || strings.Contains(dep, "modelcontextprotocol") {
			t.Errorf("the core depends on %s", dep)
		}
	}
}
