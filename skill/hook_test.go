package skill_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

// Hooks run around the handler, the first one outermost, and see the call. After a refusal neither the hooks further
// in nor the handler run.
func TestHooks(t *testing.T) {
	var steps []string
	note := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }
	hook := func(name string, refuse error) skill.Hook {
		return skill.Hook{
			Before: func(c *skill.Call) error {
				in := c.Input.(skill.TagInput)
				note("%s before %s %s %s %s %d", name, c.Actor.Name, c.Skill, in.Component, c.JSON, c.Tick.N)
				if in.Component == name {
					return refuse
				}
				return nil
			},
			After: func(c *skill.Call, out json.RawMessage, err *skill.Error) {
				code := skill.OK
				if err != nil {
					code = err.Code
				}
				note("%s after %s %v", name, code, len(out) > 0)
			},
		}
	}
	y := newYard(t, yardConfig{more: func(r *skill.Registry) error {
		r.AddHook(hook("outer", errors.New("not today")))
		r.AddHook(skill.Hook{})
		r.AddHook(hook("inner", fmt.Errorf("no room: %w", evertick.ErrCapacity)))
		r.AddHook(hook("last", &skill.Error{Code: skill.RateLimited, Text: "slowly"}))
		return nil
	}})
	for tick, c := range []struct {
		component string
		code      skill.Code
		text      string
		steps     []string
	}{
		{"outer", skill.Refused, "not today", []string{"outer before", "outer after refused false"}},
		{"inner", skill.CapacityExceeded, "no room: capacity exceeded",
			[]string{"outer before", "inner before", "inner after capacity_exceeded false", "outer after capacity_exceeded false"}},
		{"last", skill.RateLimited, "slowly",
			[]string{"outer before", "inner before", "last before", "last after rate_limited false", "inner after rate_limited false", "outer after rate_limited false"}},
		{"fine", skill.OK, "", []string{"outer before", "inner before", "last before", "last after  true", "inner after  true", "outer after  true"}},
	} {
		input := fmt.Sprintf(`{"id":"ent_1","component":%q}`, c.component)
		seen := fmt.Sprintf(" bob ecs.addComponent@1 %s %s %d", c.component, input, tick)
		was := y.sim.World.Hash()
		steps = nil
		res := y.do(t, builder, "ecs.addComponent", input)
		if codeOf(res.Err) != c.code || (c.code != skill.OK) != (was == y.sim.World.Hash()) {
			t.Errorf("%s: %v", c.component, res.Err)
		}
		var e *skill.Error
		if errors.As(res.Err, &e) && e.Text != c.text {
			t.Errorf("%s: %q, want %q", c.component, e.Text, c.text)
		}
		for i, s := range c.steps {
			if len(s) < 13 {
				c.steps[i] += seen
			}
		}
		if !slices.Equal(steps, c.steps) {
			t.Errorf("%s:\n%q, want\n%q", c.component, steps, c.steps)
		}
	}
	steps = nil
	for input, code := range map[string]skill.Code{`{"id":"ent_1"}`: skill.InvalidInput, `{"id":"ent_1","component":"a"}`: skill.Forbidden} {
		if res := y.do(t, reader, "ecs.addComponent", input); codeOf(res.Err) != code {
			t.Error(res.Err)
		}
	}
	if len(steps) > 0 {
		t.Errorf("refused earlier, and %q", steps)
	}
}

// A hook is part of the scenario: a replay refuses the same calls, and one with another hook diverges.
func TestHooksInReplay(t *testing.T) {
	build := func(seed uint64, limit float32) (*yard, error) {
		return buildYard(seed, yardConfig{more: func(r *skill.Registry) error {
			r.AddHook(skill.Hook{Before: func(c *skill.Call) error {
				if slot, _ := c.Sim.World.Slot(1); c.Sim.World.Position.X[slot] >= limit {
					return errors.New("far enough")
				}
				return nil
			}})
			return nil
		}})
	}
	scenario := func(limit float32) replay.Scenario {
		return replay.Scenario{Name: "hooks", New: func(seed uint64) (*evertick.Sim, error) {
			y, err := build(seed, limit)
			if err != nil {
				return nil, err
			}
			return y.sim, nil
		}}
	}
	y, err := build(7, 3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rec, err := replay.Record(dir, "hooks", y.sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 6 {
		if res := y.do(t, builder, "ecs.updateComponent", fmt.Sprintf(`{"id":"ent_1","position":[%d,0,0]}`, i)); res.Err != nil {
			refused++
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(dir, scenario(3), replay.VerifyOptions{}); err != nil || rep.Hash != y.sim.Hash() || refused != 2 {
		t.Errorf("%d refused; %+v, %v", refused, rep, err)
	}
	if _, err := replay.Verify(dir, scenario(4), replay.VerifyOptions{}); !errors.Is(err, replay.ErrDiverged) {
		t.Errorf("another hook: %v", err)
	}
}
