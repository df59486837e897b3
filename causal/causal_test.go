package causal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

// town is a world whose agents act through skills, some of which need approval.
type town struct {
	sim    *evertick.Sim
	agents *agent.Agents
	skills *skill.Registry
}

const people = 4

// actorOf names the actor as which an agent acts: the last two share one.
func actorOf(id ecs.ID) string {
	if id > people-2 {
		return "crowd"
	}
	return id.String()
}

// provider makes an agent move itself, now and then another one, which is forbidden, or nonsense.
func provider(delay time.Duration) agent.Provider {
	return agent.Func(func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
		r := loop.NewRand(7, p.Turn, uint64(p.Agent), 1)
		select {
		case <-time.After(time.Duration(r.IntN(4)) * delay):
		case <-ctx.Done():
			return agent.Decision{}, ctx.Err()
		}
		var d agent.Decision
		for i := range r.IntN(3) {
			d.Actions = append(d.Actions, agent.Action{
				Name: "ecs_updateComponent", After: uint32(2 * i),
				Data: fmt.Appendf(nil, `{"id":"ent_%d","position":[%d,0,0]}`, 1+r.IntN(people), r.IntN(9)),
			})
		}
		if r.IntN(6) == 0 {
			return d, errors.New("no idea")
		}
		return d, nil
	})
}

func build(seed uint64, p agent.Provider) (*town, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 16, Seed: seed, History: evertick.HistoryConfig{Keep: 64}})
	if err != nil {
		return nil, err
	}
	y := &town{sim: sim}
	if y.skills, err = skill.New(sim, skill.Config{HeldTicks: 30}); err != nil {
		return nil, err
	}
	y.agents, err = agent.New(sim, agent.Config{
		Actions:   []agent.ActionDef{{Name: "ecs_updateComponent", MaxData: 256}},
		Providers: []agent.ProviderConfig{{Provider: p, InFlight: 2}},
		Apply: func(t *evertick.Tick, q *agent.Queued) error {
			return y.skills.Apply(t, actorOf(q.Agent), q.Name, q.Data, q.Decision)
		},
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		skill.Standard(y.skills), skill.Approvals(y.skills),
		y.skills.AddProfile(skill.Profile{Name: "watched", Permissions: []string{"ecs.write"}, OwnEntity: true, Approval: []string{"ecs.write"}}),
	); err != nil {
		return nil, err
	}
	for i := range people {
		id, err := sim.World.Spawn()
		if err != nil {
			return nil, err
		}
		profile := skill.Player
		if i == 0 {
			profile = "watched"
		}
		if err := errors.Join(
			y.skills.AddActor(skill.Actor{Name: actorOf(id), Profile: profile, Entity: id}),
			y.agents.Add(id, agent.Spec{IntervalTicks: 5, Phase: uint32(i), Radius: 10, Shed: agent.Coalesce, Priority: uint8(i)}),
		); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// scenario builds the town with a Tap that writes lines.
func scenario(out *bytes.Buffer) replay.Scenario {
	return replay.Scenario{Name: "town", New: func(seed uint64) (*evertick.Sim, error) {
		y, err := build(seed, provider(0))
		if err != nil {
			return nil, err
		}
		y.tap(nil, causal.JSONLines(out))
		return y.sim, nil
	}}
}

func (y *town) tap(next worldlog.Appender, sink func(*causal.Step) error) {
	tap := causal.Attach(y.sim, next, sink)
	y.agents.LogTo(tap)
	y.skills.LogTo(tap)
}

func (y *town) step(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := y.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// record runs a town with slow providers, whose held calls an approver decides on, and records it.
func record(t *testing.T, dir string, ticks int) (lines []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		y, err := build(3, provider(40*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := replay.Record(dir, "town", y.sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		y.tap(rec.Log(), causal.JSONLines(&out))
		boss, err := y.skills.Caller(skill.Actor{Name: "ada \"the boss\"", Profile: skill.Admin})
		if err != nil {
			t.Fatal(err)
		}
		for i := range ticks {
			if i%10 == 9 {
				how := []string{"approve", "reject", "pending"}[i/10%3]
				events, _ := y.skills.Trace(nil, "ent_1")
				last := slices.IndexFunc(events, func(e skill.Event) bool { return e.Code == skill.PendingApproval && e.Tick+12 > uint64(i) })
				input := "{}"
				if how != "pending" && last >= 0 {
					input = fmt.Sprintf(`{"call":%d}`, events[last].Seq)
				}
				if _, err := boss.Submit("skills."+how, []byte(input), 1<<60); err != nil {
					t.Fatal(err)
				}
			}
			y.step(t, 1)
			time.Sleep(time.Second / 60)
			synctest.Wait()
		}
		if err := errors.Join(rec.Close(), y.agents.Close(context.Background())); err != nil {
			t.Fatal(err)
		}
		lines = out.Bytes()
	})
	return lines
}

// The lines of a live run, of its log and of a replay are the same bytes.
func TestSameLines(t *testing.T) {
	dir := t.TempDir()
	live := record(t, dir, 600)
	var fromLog, again bytes.Buffer
	if err := causal.Read(dir, nil, causal.JSONLines(&fromLog)); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(dir, scenario(&again), replay.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	compare(t, "log", live, fromLog.Bytes())
	compare(t, "replay", live, again.Bytes())
	for _, want := range []string{
		`"kind":"perceived"`, `"kind":"issued"`, `"kind":"accepted"`, `"kind":"applied"`, `"kind":"rejected"`, `"reason":"provider_error"`,
		`"reason":"handler_error"`, `"code":"ok"`, `"code":"forbidden"`, `"code":"pending_approval"`, `"code":"not_approved"`,
		`"code":"approval_expired"`, `"held":"call/`, `"actor":"ada \"the boss\""`, `"number":"1152921504606846976"`, `"of":"decision"`, `"of":"call"`,
	} {
		if !bytes.Contains(live, []byte(want)) {
			t.Errorf("no line with %s", want)
		}
	}
}

// ReadTicks yields the steps of its ticks as Read does, with their times.
func TestReadTicks(t *testing.T) {
	dir := t.TempDir()
	lines := record(t, dir, 100)
	for _, r := range [][2]uint64{{0, 0}, {0, 1}, {0, 100}, {0, 1000}, {1, 2}, {17, 60}, {60, 60}, {60, 17}, {99, 100}, {100, 200}} {
		var want, got bytes.Buffer
		for l := range bytes.Lines(lines) {
			var at line
			if err := json.Unmarshal(l, &at); err != nil {
				t.Fatal(err)
			}
			if at.Tick >= r[0] && at.Tick < r[1] {
				want.Write(l)
			}
		}
		if err := causal.ReadTicks(dir, nil, r[0], r[1], causal.JSONLines(&got)); err != nil {
			t.Fatal(err)
		}
		compare(t, fmt.Sprint("ticks ", r), want.Bytes(), got.Bytes())
	}
}

// A Tap that was detached yields nothing more.
func TestDetach(t *testing.T) {
	y, err := build(3, provider(0))
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	tap := causal.Attach(y.sim, nil, func(*causal.Step) error { steps++; return nil })
	y.agents.LogTo(tap)
	y.step(t, 20)
	before := steps
	y.agents.LogTo(nil)
	tap.Detach()
	y.step(t, 20)
	if before == 0 || steps != before {
		t.Errorf("%d steps, then %d", before, steps)
	}
}

func compare(t *testing.T, what string, want, got []byte) {
	t.Helper()
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s: line %d is\n%s, not\n%s", what, i, b[i], a[i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d lines, not %d", what, len(b), len(a))
	}
}

// line has every field of the documentation.
type line struct {
	ID, Kind, Cause, Decision                 string
	Tick                                      uint64
	Time                                      json.Number
	Agent, Reason, Hash                       string
	Provider, Index, Actions                  int
	Actor, Profile, Entity, Skill, Code, Held string
	Number, Input, Output                     string
	Source                                    uint32
	Seq, Of                                   string
	Late, Bytes                               uint64
	Input_kind                                uint32
}

// Each line is an object with the fields of the documentation, ids are unique, and every cause is an earlier line.
// From each action, and from each call of an agent, the causes lead back to a perception.
func TestLinesLeadBack(t *testing.T) {
	byID, byDecision := map[string]line{}, map[string]line{}
	calls, actions, crowd := 0, 0, 0
	for s := range bytes.Lines(record(t, t.TempDir(), 400)) {
		var l line
		d := json.NewDecoder(bytes.NewReader(s))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if _, twice := byID[l.ID]; twice || l.ID == "" {
			t.Fatalf("id %q again", l.ID)
		}
		byID[l.ID] = l
		for _, id := range []string{l.Cause, l.Held} {
			if _, ok := byID[id]; !ok && id != "" {
				t.Fatalf("%s: no line %s before", s, id)
			}
		}
		if want := fmt.Sprintf("%d.%09d", l.Tick/60, l.Tick%60*1e9/60); l.Time.String() != want {
			t.Fatalf("%s: not at %s", s, want)
		}
		switch l.Kind {
		case "perceived":
			byDecision[l.Decision] = l
		case "applied":
			actions++
			accepted := byID[l.Cause]
			issued := byID[accepted.Cause]
			if p := byID[issued.Cause]; accepted.Kind != "accepted" || issued.Kind != "issued" || p.Kind != "perceived" || p.Agent != l.Agent || p.Decision != l.Decision {
				t.Fatalf("%s <- %+v <- %+v <- %+v", s, accepted, issued, p)
			}
		case "call":
			if first := byID[l.Held]; l.Held != "" && first.Decision != l.Decision {
				t.Fatalf("%s: its first step has decision %s", s, first.Decision)
			}
			p, decided := byDecision[l.Decision]
			switch {
			case decided == (l.Profile == skill.Admin):
				t.Fatalf("%s: of decision %+v", s, p)
			case !decided:
				continue
			case l.Actor == "crowd":
				crowd++
			case p.Agent != l.Actor:
				t.Fatalf("%s: of no decision of its agent: %+v", s, p)
			}
			calls++
		}
	}
	if calls < 20 || actions < 20 || crowd < 10 {
		t.Errorf("%d calls, %d of them of the crowd, %d actions", calls, crowd, actions)
	}
}

// Ticks that run again have no lines, also if they run with a Tap attached.
func TestStepBack(t *testing.T) {
	var out [2]bytes.Buffer
	for i := range out {
		y, err := build(3, provider(0))
		if err != nil {
			t.Fatal(err)
		}
		y.tap(nil, causal.JSONLines(&out[i]))
		c, err := y.skills.Caller(skill.Actor{Name: "ada", Profile: skill.Admin})
		if err != nil {
			t.Fatal(err)
		}
		y.agents.SetMode(agent.Replay) // no answer comes, whatever the machine does
		for range 30 {
			if _, err := c.Submit("world.stats", nil, 0); err != nil {
				t.Fatal(err)
			}
			y.step(t, 1)
			if y.sim.Ticks()%7 == 0 && i == 1 {
				if err := errors.Join(y.sim.StepBack(5), y.sim.Forward(5)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	compare(t, "with steps back", out[0].Bytes(), out[1].Bytes())
}

// A tick without steps allocates nothing with a Tap.
func TestTicksAllocateNothing(t *testing.T) {
	y, err := build(3, provider(0))
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	y.tap(nil, func(s *causal.Step) error { steps++; return nil })
	err = y.sim.Add(evertick.BeforePhysics, "nobody", func(tick *evertick.Tick) error {
		for id := ecs.ID(1); id <= people && tick.N == 0; id++ {
			y.agents.Remove(tick, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	y.step(t, 80)
	if n := testing.AllocsPerRun(20, func() { y.step(t, 1) }); n > 0 || steps > 0 {
		t.Errorf("%v allocations in a tick, %d steps", n, steps)
	}
}

// The error of a sink fails the step, and a tick that fails has no lines.
func TestErrors(t *testing.T) {
	full := errors.New("full")
	y, err := build(3, provider(0))
	if err != nil {
		t.Fatal(err)
	}
	y.tap(nil, func(*causal.Step) error { return full })
	if err := y.sim.Step(); !errors.Is(err, full) {
		t.Error(err)
	}
	if y, err = build(3, provider(0)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	dir := t.TempDir()
	rec, err := replay.Record(dir, "town", y.sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y.tap(rec.Log(), causal.JSONLines(&out))
	if err := y.sim.Add(evertick.AfterIndex, "broken", func(*evertick.Tick) error { return full }); err != nil {
		t.Fatal(err)
	}
	if err := y.sim.Step(); !errors.Is(err, full) || out.Len() > 0 {
		t.Errorf("%v, %s", err, out.Bytes())
	}
	if err := errors.Join(rec.CommitFailed(), rec.Close()); err != nil {
		t.Fatal(err)
	}
	if err := causal.Read(dir, nil, causal.JSONLines(&out)); err != nil || out.Len() > 0 {
		t.Errorf("%v, %s", err, out.Bytes())
	}
	if err := causal.Read(t.TempDir(), nil, func(*causal.Step) error { return nil }); err == nil {
		t.Error("no log, and no error")
	}
	dir = t.TempDir()
	record(t, dir, 50)
	if err := causal.Read(dir, nil, func(*causal.Step) error { return full }); !errors.Is(err, full) {
		t.Error(err)
	}
}

// A record of a type that only agents and skills may write is an error in a log.
func TestForeignRecords(t *testing.T) {
	dir := t.TempDir()
	log, err := worldlog.Create(dir, worldlog.Identity{Scenario: "x"}, worldlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Append(&worldlog.Record{Type: worldlog.Intent, Data: []byte("mine")}), log.Commit(0, 1, worldlog.Counts{}), log.Close()); err != nil {
		t.Fatal(err)
	}
	if err := causal.Read(dir, nil, func(*causal.Step) error { return nil }); err == nil {
		t.Error("no error")
	}
}

// The seconds of a tick that a log states are those of a rate that a Loop can have.
func TestImpossibleRates(t *testing.T) {
	for _, dt := range []float32{0, -1, 1e-30, 1e-7, 1e9, math.MaxFloat32, float32(math.NaN())} {
		dir := t.TempDir()
		log, err := worldlog.Create(dir, worldlog.Identity{Scenario: "x"}, worldlog.Options{Durability: worldlog.None})
		if err != nil {
			t.Fatal(err)
		}
		config := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, math.Float32bits(dt)), 1)
		if err := errors.Join(log.Append(&worldlog.Record{Type: worldlog.Config, Data: config}), log.Commit(0, 1, worldlog.Counts{}), log.Close()); err != nil {
			t.Fatal(err)
		}
		err = causal.Read(dir, nil, func(*causal.Step) error { return nil })
		if !errors.Is(err, evertick.ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprint("seconds of a tick = ", dt)) {
			t.Errorf("%v: %v", dt, err)
		}
	}
}

// The time of a step is that of its tick, at any usual rate.
func TestTime(t *testing.T) {
	for _, rate := range [][2]int64{{60, 1}, {1, 1}, {30, 1}, {50, 1}, {144, 1}, {1000, 1}, {30000, 1001}, {60000, 1001}, {1, 3}, {7, 3}, {1, 60}, {240, 7}, {1_000_000, 1}} {
		sim, err := evertick.New(evertick.Config{Capacity: 1, Loop: loop.Config{RateNum: rate[0], RateDen: rate[1]}})
		if err != nil {
			t.Fatal(err)
		}
		var want loop.SimTime
		steps := 0
		causal.Attach(sim, nil, func(s *causal.Step) error {
			if steps++; s.Time.Compare(want) != 0 {
				t.Errorf("rate %v: %v ns, want %v", rate, s.Time.Ns(), want.Ns())
			}
			return nil
		})
		if err := sim.Push(evertick.Input{Tick: 5, Seq: 1}); err != nil {
			t.Fatal(err)
		}
		if err := sim.Add(evertick.BeforePhysics, "time", func(tick *evertick.Tick) error { want = tick.Time(); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := sim.StepN(8); err != nil || steps != 1 {
			t.Errorf("rate %v: %v, %d steps", rate, err, steps)
		}
	}
}

// A rate that no small fraction comes near gives times that differ by rounding only.
func TestTimeOfAnyRate(t *testing.T) {
	for _, rate := range [][2]int64{{1, 3600}, {1, 100_000_000}, {33_752_675, 170_468}, {100_000_000, 925_666}, {100_000_000, 610_500}, {7_777, 30_000_001}, {99_999_989, 101}, {12_345_679, 99_999_999}} {
		sim, err := evertick.New(evertick.Config{ // without physics, for which some ticks are too long
			Capacity: 1, PhysicsModes: 1 << 1, Loop: loop.Config{RateNum: rate[0], RateDen: rate[1]},
		})
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		causal.Attach(sim, nil, func(s *causal.Step) error {
			steps++
			if got, want := s.Time.Seconds(), sim.Loop().TimeAt(s.Tick).Seconds(); math.Abs(got-want) > 1e-7*want {
				t.Errorf("rate %v: %v s, want %v", rate, got, want)
			}
			return nil
		})
		if err := sim.Push(evertick.Input{Tick: 5, Seq: 1}); err != nil {
			t.Fatal(err)
		}
		if err := sim.StepN(8); err != nil || steps != 1 {
			t.Errorf("rate %v: %v, %d steps", rate, err, steps)
		}
	}
}

// FuzzAppendJSON writes events with any names: the object is valid JSON and has them.
func FuzzAppendJSON(f *testing.F) {
	f.Add("ann", "x@1", uint64(0), uint64(1<<63))
	f.Add("a\"\\\x00\n\u2028\xff", "ent_1", uint64(1<<53+1), uint64(0))
	f.Fuzz(func(t *testing.T, actor, name string, cause, hash uint64) {
		s := causal.Step{Tick: cause, Source: skill.LogKind, Event: &skill.Event{Seq: 1, Actor: actor, Skill: name, Cause: cause, Input: hash}}
		var l line
		if err := json.Unmarshal(s.AppendJSON(nil), &l); err != nil {
			t.Fatalf("%s: %v", s.AppendJSON(nil), err)
		}
		valid := func(s string) string { return string([]rune(s)) } // each byte that is not UTF-8 becomes U+FFFD
		if l.Actor != valid(actor) || l.Skill != valid(name) || l.ID != "call/1" {
			t.Fatalf("%+v", l)
		}
		if n := l.Number + l.Decision; cause != 0 && n != fmt.Sprint(cause) || hash != 0 && l.Input != fmt.Sprintf("%016x", hash) {
			t.Fatalf("%+v", l)
		}
	})
}
