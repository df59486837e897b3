package skill_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
	"pgregory.net/rapid"
)

var (
	careful = skill.Actor{Name: "cat", Profile: "careful"}
	boss    = skill.Actor{Name: "ada", Profile: "boss"}
)

// withApprovals makes the calls of profile careful to ecs.write need approval, which profile boss gives.
func withApprovals(r *skill.Registry) error {
	return errors.Join(
		skill.Approvals(r),
		r.AddProfile(skill.Profile{Name: "careful", Permissions: []string{"ecs.write", "scene.*", "skills.*"}, Approval: []string{"ecs.*", "skills.*"}}),
		r.AddProfile(skill.Profile{Name: "boss", Permissions: []string{"skills.approve", "scene.*"}}),
	)
}

func approvalConfig() yardConfig {
	return yardConfig{more: withApprovals, sim: evertick.Config{History: evertick.HistoryConfig{Keep: 100}}, skills: skill.Config{HeldTicks: 20, Held: 8}}
}

// moveTo submits a call that is held, and returns it with its number.
func (y *yard) moveTo(t testing.TB, a skill.Actor, id string, x float64) (*skill.Pending, uint64) {
	t.Helper()
	p := y.submit(t, a, "ecs.updateComponent", fmt.Sprintf(`{"id":%q,"position":[%v,0,0]}`, id, x))
	y.step(t, 1)
	select {
	case <-p.Done():
		t.Fatalf("not held: %v", p.Result())
	default:
	}
	if p.Held() == 0 {
		t.Fatal("held without a number")
	}
	return p, p.Held()
}

func (y *yard) decide(t testing.TB, how string, call uint64) skill.Result {
	t.Helper()
	return y.do(t, boss, "skills."+how, fmt.Sprintf(`{"call":%d}`, call))
}

// result returns the result of a call, which must have ended.
func result(t testing.TB, p *skill.Pending) skill.Result {
	t.Helper()
	select {
	case <-p.Done():
		return p.Result()
	default:
		t.Fatal("a call without a result")
		return skill.Result{}
	}
}

func (y *yard) x(id uint64) float32 {
	slot, _ := y.sim.World.Slot(y.ids[id-1])
	return y.sim.World.Position.X[slot]
}

// A held call changes nothing. Once it is approved it runs in that tick, as its own actor; its events name each other.
func TestApprove(t *testing.T) {
	y := newYard(t, approvalConfig())
	was := y.sim.World.Hash()
	p, call := y.moveTo(t, careful, "ent_4", 5)
	y.step(t, 3)
	if y.sim.World.Hash() != was || y.r.Stats().Held != 1 || y.r.Stats().Waiting != 0 {
		t.Errorf("a held call has changed the world; %+v", y.r.Stats())
	}
	list := must[skill.PendingOutput](t, y, boss, "skills.pending", `{}`)
	want := skill.HeldCall{Call: call, Tick: 0, Expires: 20, Actor: "cat", Profile: "careful", Skill: "ecs.updateComponent@1", Input: `{"id":"ent_4","position":[5,0,0]}`}
	if len(list.Calls) != 1 || list.Calls[0] != want {
		t.Errorf("%+v", list)
	}
	if res := y.decide(t, "approve", call); res.Err != nil || string(res.Output) != `{"call":1,"actor":"cat","skill":"ecs.updateComponent@1"}` {
		t.Errorf("%s %v", res.Output, res.Err)
	}
	res := result(t, p)
	if res.Err != nil || res.Tick != 5 || y.x(4) != 5 || len(res.Output) == 0 {
		t.Errorf("%+v, x = %v", res, y.x(4))
	}
	events, _ := y.r.Trace(nil, "")
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%d: %s %s code %q cause %d held %d", e.Seq, e.Actor, e.Skill, e.Code, e.Cause, e.Held))
	}
	if wantEvents := []string{
		`1: cat ecs.updateComponent@1 code "pending_approval" cause 0 held 0`,
		`2: ada skills.pending@1 code "" cause 0 held 0`,
		`3: ada skills.approve@1 code "" cause 0 held 0`,
		`4: cat ecs.updateComponent@1 code "" cause 3 held 1`,
	}; !slices.Equal(got, wantEvents) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if res.Seq != 4 || y.r.Stats() != (skill.Stats{Submitted: 3, Answered: 3}) {
		t.Errorf("%+v %+v", res, y.r.Stats())
	}
}

// A rejected call, and one that nobody decides on in time, changes nothing and gets its code.
func TestRejectAndExpire(t *testing.T) {
	y := newYard(t, approvalConfig())
	was := y.sim.World.Hash()
	p, call := y.moveTo(t, careful, "ent_4", 5)
	q, _ := y.moveTo(t, careful, "ent_4", 6)
	if res := y.do(t, boss, "skills.reject", fmt.Sprintf(`{"call":%d,"reason":"too far"}`, call)); res.Err != nil {
		t.Error(res.Err)
	}
	if err := result(t, p).Err; codeOf(err) != skill.NotApproved || !errors.Is(err, skill.ErrForbidden) || !strings.Contains(err.Error(), "rejected by ada: too far") {
		t.Error(err)
	}
	y.step(t, 21-int(y.sim.Ticks()))
	if q.Held() == 0 || y.r.Stats().Held != 1 {
		t.Error("expired too early")
	}
	y.step(t, 1) // tick 21: it was held in tick 1
	if res := result(t, q); codeOf(res.Err) != skill.ApprovalExpired || res.Tick != 21 {
		t.Errorf("%+v", res)
	}
	events, _ := y.r.Trace(nil, "cat")
	if e := events[len(events)-1]; e.Held != 2 || e.Cause != 2 || e.Code != skill.ApprovalExpired {
		t.Errorf("%+v", e)
	}
	if y.sim.World.Hash() != was {
		t.Error("the world has changed")
	}
	if stats := must[skill.StatsOutput](t, y, admin, "world.stats", `{}`); stats.Refused != 2 {
		t.Errorf("%d refused", stats.Refused)
	}
}

// What an approver may not do, and what is checked again.
func TestApprovalRefuses(t *testing.T) {
	y := newYard(t, approvalConfig())
	p, call := y.moveTo(t, careful, "ent_4", 5)
	for _, c := range []struct {
		actor skill.Actor
		input string
		want  skill.Code
	}{
		{careful, fmt.Sprintf(`{"call":%d}`, call), skill.Forbidden}, // its own call; and no approval is needed to approve
		{builder, fmt.Sprintf(`{"call":%d}`, call), skill.Forbidden}, // without the permission
		{boss, `{"call":77}`, skill.InvalidInput},
		{boss, `{"call":0}`, skill.InvalidInput},
		{boss, `{}`, skill.InvalidInput},
	} {
		if res := y.do(t, c.actor, "skills.approve", c.input); codeOf(res.Err) != c.want {
			t.Errorf("%s %s: %v, want %s", c.actor.Name, c.input, res.Err, c.want)
		}
	}
	if res := y.do(t, boss, "scene.destroyEntity", `{"id":"ent_4"}`); res.Err != nil {
		t.Fatal(res.Err)
	}
	if y.decide(t, "approve", call); codeOf(result(t, p).Err) != skill.StaleEntity {
		t.Errorf("an entity that is gone: %v", result(t, p).Err)
	}
	if res := y.decide(t, "approve", call); codeOf(res.Err) != skill.InvalidInput {
		t.Errorf("approved twice: %v", res.Err)
	}
	p, call = y.moveTo(t, careful, "ent_5", 5)
	if err := y.r.AddProfile(skill.Profile{Name: "careful", Permissions: []string{"scene.*"}}); err != nil {
		t.Fatal(err)
	}
	if y.decide(t, "approve", call); codeOf(result(t, p).Err) != skill.Forbidden {
		t.Errorf("a permission that is gone: %v", result(t, p).Err)
	}
	if err := y.r.AddProfile(skill.Profile{Name: "x", Approval: []string{""}}); !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "Approval[0]") {
		t.Error(err)
	}
}

// Held calls are limited in number, for each actor and for all; a refused one is not held.
func TestApprovalLimits(t *testing.T) {
	y := newYard(t, approvalConfig()) // 8, of which an actor may have 2
	for i := range 10 {
		a := careful
		a.Name = fmt.Sprint("cat", i/3)
		res := y.submit(t, a, "ecs.addComponent", `{"id":"ent_1","component":"a"}`)
		y.step(t, 1)
		if full := i%3 == 2 || i >= 9; full != (res.Held() == 0) || full && codeOf(result(t, res).Err) != skill.CapacityExceeded {
			t.Errorf("call %d: held as %d", i, res.Held())
		}
		if i == 8 {
			for j := range 2 {
				a.Name = "more"
				if p := y.submit(t, a, "ecs.addComponent", `{"id":"ent_1","component":"a"}`); j == 1 {
					y.step(t, 1)
					if p.Held() == 0 {
						t.Error("not held")
					}
				}
			}
		}
	}
	list := must[skill.PendingOutput](t, y, boss, "skills.pending", `{"after":1,"limit":3}`)
	if len(list.Calls) != 3 || list.Calls[0].Call <= 1 || list.More != 4 {
		t.Errorf("%+v", list)
	}
	y.r.Close(nil)
	if s := y.r.Stats(); s.Held != 0 || s.Lost != 8 {
		t.Errorf("%+v", s)
	}
}

// Def.Approval holds the calls of every actor. Hooks run once it is approved, and the rate counts a call once.
func TestApprovalOfSkill(t *testing.T) {
	hooks := 0
	type note struct {
		Text string `json:"text"`
	}
	y := newYard(t, yardConfig{more: func(r *skill.Registry) error {
		r.AddHook(skill.Hook{Before: func(c *skill.Call) error {
			if c.Skill == "host.note@1" {
				hooks++
				if c.Held != 1 || c.Seq != 3 || c.Input.(note).Text != "hi" {
					t.Errorf("%+v", c)
				}
			}
			return nil
		}})
		return errors.Join(withApprovals(r), skill.Register(r, skill.Def{Name: "host.note", Permission: "host.note", Approval: true, Rate: skill.Rate{Calls: 1, Ticks: 1000}},
			func(_ *skill.Call, in note) (note, error) { return in, nil }))
	}})
	p := y.submit(t, admin, "host.note", `{"text":"hi"}`)
	y.step(t, 1)
	if p.Held() != 1 || hooks != 0 {
		t.Errorf("held as %d, %d hooks", p.Held(), hooks)
	}
	if y.decide(t, "approve", 1); result(t, p).Err != nil || hooks != 1 || string(result(t, p).Output) != `{"text":"hi"}` {
		t.Errorf("%+v, %d hooks", result(t, p), hooks)
	}
	if res := y.do(t, admin, "host.note", `{"text":"hi"}`); codeOf(res.Err) != skill.RateLimited {
		t.Errorf("a second one: %v", res.Err)
	}
}

// Within a tick a held call returns an error that says so; for the action of an agent it is no error.
func TestApprovalWithinTick(t *testing.T) {
	var errs []error
	y := newYard(t, yardConfig{more: withApprovals})
	if err := y.r.AddActor(careful); err != nil {
		t.Fatal(err)
	}
	if err := y.sim.Add(evertick.BeforePhysics, "caller", func(tick *evertick.Tick) error {
		if tick.N == 0 {
			input := []byte(`{"id":"ent_4","position":[5,0,0]}`)
			_, err := y.r.Call(tick, careful, "ecs.updateComponent", input, 17)
			errs = append(errs, err, y.r.Apply(tick, "cat", "ecs_updateComponent", input, 18))
			clear(input) // it is kept
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	y.step(t, 1)
	if codeOf(errs[0]) != skill.PendingApproval || !errors.Is(errs[0], skill.ErrPending) || errs[1] != nil {
		t.Errorf("%v", errs)
	}
	if y.decide(t, "approve", 2); y.x(4) != 5 {
		t.Errorf("x = %v", y.x(4))
	}
}

// Caller.Call says that the call is held when it stops waiting.
func TestApprovalTimeout(t *testing.T) {
	y := newYard(t, yardConfig{more: withApprovals})
	c, err := y.r.Caller(careful)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		res, err := c.Call(ctx, "ecs.addComponent", []byte(`{"id":"ent_1","component":"a"}`), 0)
		if res.Seq != 1 {
			err = fmt.Errorf("number %d: %w", res.Seq, err)
		}
		done <- err
	}()
	for y.r.Stats().Held == 0 {
		y.step(t, 1)
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; codeOf(err) != skill.PendingApproval || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Held calls are in snapshots and in the hash: a world that is restored from one goes on with the same hashes.
func TestApprovalState(t *testing.T) {
	y, calm := newYard(t, approvalConfig()), newYard(t, approvalConfig())
	p, call := y.moveTo(t, careful, "ent_4", 5)
	calm.step(t, 1)
	if y.sim.Hash() == calm.sim.Hash() {
		t.Error("a held call is not in the hash")
	}
	snapshot, err := y.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	twin := newYard(t, approvalConfig())
	if err := twin.sim.Restore(snapshot); err != nil || twin.sim.Hash() != y.sim.Hash() {
		t.Fatalf("restored to another state: %v", err)
	}
	for _, y := range []*yard{y, twin} {
		if res := y.decide(t, "approve", call); res.Err != nil {
			t.Error(res.Err)
		}
	}
	if twin.sim.Hash() != y.sim.Hash() || twin.x(4) != 5 || result(t, p).Err != nil {
		t.Errorf("another state after the approval; x = %v", twin.x(4))
	}
	// A Restore to before a call was held ends the wait.
	before, err := y.sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ = y.moveTo(t, careful, "ent_4", 6)
	if err := y.sim.Restore(before); err != nil {
		t.Fatal(err)
	}
	if res := result(t, p); !errors.Is(res.Err, skill.ErrClosed) {
		t.Errorf("%+v", res)
	}
}

// Stepping back over an approval and forward again gives the same hashes.
func TestApprovalStepBack(t *testing.T) {
	y := newYard(t, approvalConfig())
	p, call := y.moveTo(t, careful, "ent_4", 5)
	y.step(t, 1)
	q, _ := y.moveTo(t, careful, "ent_5", 5)
	y.decide(t, "approve", call)
	y.step(t, 1)
	hash := y.sim.Hash()
	for back := 1; back <= 5; back++ {
		if err := y.sim.StepBack(uint64(back)); err != nil {
			t.Fatal(err)
		}
		if err := y.sim.Forward(uint64(back)); err != nil || y.sim.Hash() != hash {
			t.Errorf("%d ticks back and forward: another hash, %v", back, err)
		}
	}
	if result(t, p).Err != nil || q.Held() != 2 {
		t.Errorf("%+v, held as %d", result(t, p), q.Held())
	}
}

// A log has calls and decisions, so a replay ends with the same hash, also from a snapshot in between.
func TestApprovalInReplay(t *testing.T) {
	scenario := replay.Scenario{Name: "approvals", New: func(seed uint64) (*evertick.Sim, error) {
		y, err := buildYard(seed, approvalConfig())
		if err != nil {
			return nil, err
		}
		return y.sim, nil
	}}
	y := newYard(t, approvalConfig())
	dir := t.TempDir()
	rec, err := replay.Record(dir, "approvals", y.sim, replay.Options{SnapshotTicks: 2, Log: worldlog.Options{Durability: worldlog.None}})
	if err != nil {
		t.Fatal(err)
	}
	y.r.LogTo(rec.Log())
	_, a := y.moveTo(t, careful, "ent_4", 5)
	_, b := y.moveTo(t, careful, "ent_5", 5)
	y.moveTo(t, skill.Actor{Name: "tom", Profile: "careful"}, "ent_6", 5)
	y.step(t, 5)
	y.decide(t, "approve", a)
	y.decide(t, "reject", b)
	y.step(t, 20)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(dir, scenario, replay.VerifyOptions{})
	if err != nil || rep.Hash != y.sim.Hash() {
		t.Errorf("%+v %v", rep, err)
	}
	if sim, err := replay.Seek(dir, scenario, rep.Ticks-1, nil); err != nil || sim.Hash() != y.sim.Hash() {
		t.Error(err)
	}
	var codes []skill.Code
	events, _ := y.r.Trace(nil, "")
	for _, e := range events {
		codes = append(codes, e.Code)
	}
	want := []skill.Code{
		skill.PendingApproval, skill.PendingApproval, skill.PendingApproval, skill.OK, skill.OK, skill.OK, skill.NotApproved, skill.ApprovalExpired,
	}
	if !slices.Equal(codes, want) {
		t.Errorf("%q", codes)
	}
}

// A tick in which calls are held allocates nothing.
func TestHeldTicksAllocateNothing(t *testing.T) {
	y := newYard(t, yardConfig{more: func(r *skill.Registry) error {
		r.AddHook(skill.Hook{Before: func(*skill.Call) error { return nil }})
		return withApprovals(r)
	}})
	y.moveTo(t, careful, "ent_4", 5)
	step := func() {
		y.step(t, 1)
		y.sim.Hash()
	}
	for range 70 {
		step()
	}
	if n := testing.AllocsPerRun(50, step); n > 0 {
		t.Errorf("%v allocations in a tick", n)
	}
}

// Any order of calls, decisions and waits ends each call as a plain list of held calls says.
func TestApprovalModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := newYard(t, approvalConfig())
		type held struct {
			actor string
			tick  uint64
			p     *skill.Pending
		}
		var model []held
		want := map[*skill.Pending]skill.Code{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			tick := y.sim.Ticks()
			for len(model) > 0 && model[0].tick+20 <= tick {
				want[model[0].p] = skill.ApprovalExpired
				model = slices.Delete(model, 0, 1)
			}
			switch op := rapid.SampledFrom([]string{"call", "call", "approve", "reject", "wait", "wait"}).Draw(rt, "op"); op {
			case "call":
				name := rapid.SampledFrom([]string{"cat", "ada", "tom", "kim", "sue"}).Draw(rt, "actor")
				p := y.submit(t, skill.Actor{Name: name, Profile: "careful"}, "ecs.addComponent", `{"id":"ent_1","component":"a"}`)
				own := 0
				for _, h := range model {
					if h.actor == name {
						own++
					}
				}
				if own == 2 || len(model) == 8 {
					want[p] = skill.CapacityExceeded
				} else {
					model = append(model, held{name, tick, p})
				}
			case "wait":
			default:
				i := rapid.IntRange(0, 8).Draw(rt, "which")
				if i >= len(model) {
					want[y.submit(t, boss, "skills."+op, `{"call":99999}`)] = skill.InvalidInput
					break
				}
				p := y.submit(t, boss, "skills."+op, fmt.Sprintf(`{"call":%d}`, model[i].p.Held()))
				if model[i].actor == boss.Name {
					want[p] = skill.Forbidden
					break
				}
				want[p], want[model[i].p] = skill.OK, map[string]skill.Code{"approve": skill.OK, "reject": skill.NotApproved}[op]
				model = slices.Delete(model, i, i+1)
			}
			y.step(t, 1)
			for p, code := range want { // order-free: only checks
				select {
				case <-p.Done():
					if got := codeOf(result(t, p).Err); got != code {
						rt.Fatalf("tick %d: %v, want %q", tick, result(t, p).Err, code)
					}
				default:
					rt.Fatalf("tick %d: no result, want %q", tick, code)
				}
			}
			for _, h := range model {
				if h.p.Held() == 0 {
					rt.Fatalf("tick %d: a call of %s is not held", tick, h.actor)
				}
			}
			if y.r.Stats().Held != len(model) {
				rt.Fatalf("tick %d: %d held, want %d", tick, y.r.Stats().Held, len(model))
			}
		}
		snapshot, err := y.sim.Snapshot(nil)
		if err != nil {
			rt.Fatal(err)
		}
		twin := newYard(t, approvalConfig())
		if err := twin.sim.Restore(snapshot); err != nil {
			rt.Fatal(err)
		}
		if again, err := twin.sim.Snapshot(nil); err != nil || !bytes.Equal(again, snapshot) {
			rt.Fatalf("restored to something else: %v", err)
		}
	})
}

// The outputs of the skills of approval match their schemas.
func TestApprovalSchemas(t *testing.T) {
	y := newYard(t, approvalConfig())
	_, call := y.moveTo(t, careful, "ent_4", 5)
	for _, c := range []struct{ name, input string }{{"skills.pending", `{}`}, {"skills.approve", fmt.Sprintf(`{"call":%d}`, call)}} {
		res := y.do(t, boss, c.name, c.input)
		for _, s := range y.r.Skills() {
			if s.Name != c.name {
				continue
			}
			schema, err := s.Output.Resolve(nil)
			var v any
			if err == nil {
				err = json.Unmarshal(res.Output, &v)
			}
			if err == nil {
				err = schema.Validate(v)
			}
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}
