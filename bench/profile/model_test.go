package profile_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"pgregory.net/rapid"
)

// noted is a step as a plain list keeps it.
type noted struct {
	tick           uint64
	start, due, ns int64
	phases         map[string]int64
	count          int64
}

// sameSteps compares what was recorded with the last most of the list.
func sameSteps(t *rapid.T, s *profile.Steps, list []noted, most int) {
	list = list[max(0, len(list)-most):]
	if s.Len() != len(list) {
		t.Fatalf("%d steps, want %d", s.Len(), len(list))
	}
	for i, want := range list {
		origin := list[0].due
		if s.Tick[i] != want.tick || s.StartNs[i] != want.start-origin || s.DueNs[i] != want.due-origin || s.Ns[i] != want.ns {
			t.Fatalf("step %d: tick %d, began %d, due %d, took %d, want %+v", i, s.Tick[i], s.StartNs[i], s.DueNs[i], s.Ns[i], want)
		}
		for k, name := range s.Phases {
			if s.PhaseNs[k][i] != want.phases[name] {
				t.Fatalf("step %d: %s took %d, want %d", i, name, s.PhaseNs[k][i], want.phases[name])
			}
		}
		if k := slices.Index(s.Counters, "count"); s.Counts[k][i] != want.count {
			t.Fatalf("step %d: counted %d, want %d", i, s.Counts[k][i], want.count)
		}
	}
}

// A Recorder of New keeps what a plain list does, for any sequence of calls.
func TestByHandAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var now, count int64
		names := []string{"a", "b", "c"}
		most, warmup := rapid.IntRange(1, 6).Draw(t, "most"), rapid.IntRange(0, 3).Draw(t, "warmup")
		r, err := profile.New(profile.Config{
			Steps: most, Warmup: warmup, Clock: func() int64 { return now },
			Counters: []profile.Counter{{Name: "count", Read: func() int64 { return count }}},
		}, names)
		if err != nil {
			t.Fatal(err)
		}
		var list []noted
		var step *noted
		tick, phase, lap := uint64(0), -1, int64(0)
		lapse := func() {
			if step != nil && phase >= 0 {
				step.phases[names[phase]] += now - lap
			}
			lap = now
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				run := r.Run()
				sameSteps(t, &run.Steps, list, most)
				if err := run.Validate(); err != nil {
					t.Fatal(err)
				}
			},
			"time": func(t *rapid.T) { now += rapid.Int64Range(0, 1e9).Draw(t, "ns") },
			"begin": func(t *rapid.T) {
				count = rapid.Int64().Draw(t, "count")
				due := rapid.Int64Range(-1, now).Draw(t, "due")
				r.Begin(due)
				if due < 0 {
					due = now
				}
				step, phase = &noted{tick: tick, start: now, due: due, phases: map[string]int64{}}, -1
				lapse()
			},
			"phase": func(t *rapid.T) {
				i := rapid.IntRange(-2, 2).Draw(t, "phase")
				r.Phase(i)
				lapse()
				phase = i
			},
			"end": func(t *rapid.T) {
				r.End()
				if step == nil {
					return
				}
				lapse()
				step.ns, step.count = now-step.start, count
				if warmup > 0 {
					warmup--
				} else {
					list = append(list, *step)
				}
				tick++
				step = nil
			},
			"reset": func(t *rapid.T) {
				r.Reset()
				list, step = nil, nil
			},
		})
	})
}

// The same for a Sim, with systems that are added at any time, and steps that fail.
func TestSimAgainstList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		y := newYard(t, evertick.Config{})
		broken := errors.New("broken")
		var count int64
		var list []noted
		var step noted
		fails := false
		added := 0
		add := func(rt *rapid.T) {
			name := fmt.Sprint("system ", added)
			s := evertick.System{Name: name, Stage: evertick.Stage(rapid.IntRange(0, 3).Draw(rt, "stage"))}
			added++
			s.Run = func(*evertick.Tick) error {
				ns := rapid.Int64Range(0, 1e9).Draw(rt, "ns")
				y.clock.Add(ns)
				step.phases[name] += ns
				step.ns += ns
				if fails {
					return broken
				}
				return nil
			}
			if err := y.AddSystem(s); err != nil {
				rt.Fatal(err)
			}
		}
		add(rt)
		most := rapid.IntRange(1, 6).Draw(rt, "most")
		r, err := profile.Attach(y.Sim, profile.Config{
			Steps: most, Counters: []profile.Counter{{Name: "count", Read: func() int64 { return count }}},
		})
		if err != nil {
			rt.Fatal(err)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				run := r.Run()
				sameSteps(rt, &run.Steps, list, most)
				if err := run.Validate(); err != nil {
					rt.Fatal(err)
				}
			},
			"time": func(rt *rapid.T) { y.clock.Add(rapid.Int64Range(0, 1e9).Draw(rt, "ns")) },
			"add":  add,
			"step": func(rt *rapid.T) {
				count = rapid.Int64().Draw(rt, "count")
				now := y.clock.Now()
				step = noted{tick: y.Ticks(), start: now, due: now, phases: map[string]int64{}, count: count}
				if err := y.Step(); err != nil {
					rt.Fatal(err)
				}
				list = append(list, step)
			},
			"fail": func(rt *rapid.T) {
				saved, err := y.Snapshot(nil)
				if err != nil {
					rt.Fatal(err)
				}
				step = noted{phases: map[string]int64{}}
				fails = true
				if err := y.Step(); !errors.Is(err, broken) {
					rt.Fatal(err)
				}
				fails = false
				if err := y.Restore(saved); err != nil {
					rt.Fatal(err)
				}
			},
		})
	})
}
