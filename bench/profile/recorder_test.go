package profile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop"
)

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// A loop without a Sim calls Begin, Phase and End.
func TestByHand(t *testing.T) {
	now := int64(1000)
	r, err := profile.New(profile.Config{Steps: 8, Clock: func() int64 { return now }}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	r.Phase(0) // outside of a step: nothing
	r.End()
	r.Begin(-1)
	now += 5 // in no phase
	r.Phase(0)
	now += 10
	r.Phase(1)
	now += 20
	r.Phase(0)
	now += 40
	r.Phase(-1)
	now += 80
	r.End()
	r.End()
	r.Begin(900)
	r.Begin(now - 30) // the one before has failed
	r.Phase(1)
	now += 3
	r.End()
	s := r.Run().Steps
	if !slices.Equal(s.Phases, []string{"a", "b"}) || !slices.Equal(s.Tick, []uint64{0, 1}) ||
		!slices.Equal(s.StartNs, []int64{0, 155}) || !slices.Equal(s.DueNs, []int64{0, 125}) || !slices.Equal(s.Ns, []int64{155, 3}) ||
		!slices.Equal(s.PhaseNs[0], []int64{50, 0}) || !slices.Equal(s.PhaseNs[1], []int64{20, 3}) {
		t.Errorf("%+v", s)
	}
	if r.Now() != now {
		t.Errorf("it is %d, says Now: %d", now, r.Now())
	}
}

func TestNewRefuses(t *testing.T) {
	for _, phases := range [][]string{{"a", ""}, {"a", "b", "a"}} {
		if _, err := profile.New(profile.Config{}, phases); !errors.Is(err, evertick.ErrRange) || !contains(err, "phases[") {
			t.Errorf("%q: %v", phases, err)
		}
	}
	if _, err := profile.New(profile.Config{Steps: -1}, nil); !errors.Is(err, evertick.ErrRange) {
		t.Error(err)
	}
}

func TestMisusePanics(t *testing.T) {
	r, err := profile.New(profile.Config{}, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	panics := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s does not panic", what)
			}
		}()
		f()
	}
	r.Begin(-1)
	panics("an unknown phase", func() { r.Phase(1) })
	panics("nil", func() { _, _ = profile.Attach(nil, profile.Config{}) })
}

// Steps are due on a grid that no slow step moves, so that one slow step delays the next ones until
// the host has caught up.
func TestGrid(t *testing.T) {
	now := int64(0)
	r, err := profile.New(profile.Config{Warmup: 1, RateHz: 1000, Clock: func() int64 { return now }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const period = 1_000_000
	var late []int64
	due := int64(0)
	for i, took := range []int64{9 * period, 100, 2_500_000, 100, 100, 100} {
		if i > 0 { // after the warm-up: the host waits for the next step if it is not late
			if i == 1 {
				due = now
			}
			now = max(now, due)
			late = append(late, now-due)
			due += period
		}
		r.Begin(-1)
		now += took
		r.End()
	}
	s := r.Run().Steps
	for i := range late {
		if got := s.StartNs[i] - s.DueNs[i]; got != late[i] {
			t.Errorf("step %d is late by %d, want %d", i, got, late[i])
		}
		if s.DueNs[i] != int64(i)*period {
			t.Errorf("step %d was due at %d", i, s.DueNs[i])
		}
	}
	if r.Run().RateHz != 1000 {
		t.Errorf("rate %g", r.Run().RateHz)
	}
}

// A host that does not wait is as late as one that does: by each step that takes longer than
// its time, until shorter ones have made up for it.
func TestGridWithoutWaiting(t *testing.T) {
	const period = 20_000_000
	random := loop.NewRand(2, 0, 0, 0)
	var took []int64
	for i := range 3000 {
		ns := int64(random.IntN(period))
		if i%100 == 7 {
			ns += 5 * period
		}
		took = append(took, ns)
	}
	run := func(wait bool) (late []int64) {
		now := int64(77)
		r, err := profile.New(profile.Config{RateHz: 50, Clock: func() int64 { return now }}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, ns := range took {
			if wait {
				now = max(now, 77+int64(i)*period)
			}
			r.Begin(-1)
			now += ns
			r.End()
		}
		s := r.Run().Steps
		for i := range s.Ns {
			late = append(late, s.StartNs[i]-s.DueNs[i])
		}
		return late
	}
	waiting, rushing := run(true), run(false)
	if !slices.Equal(waiting, rushing) {
		t.Error("steps are late otherwise if the host does not wait")
	}
	want, behind := int64(0), 0
	for i, ns := range took {
		if waiting[i] != want {
			t.Fatalf("step %d is late by %d, want %d", i, waiting[i], want)
		}
		if want = max(0, want+ns-period); want > 0 {
			behind++
		}
	}
	if behind < 100 {
		t.Errorf("%d steps late", behind)
	}
}

func TestOverheadIsMeasured(t *testing.T) {
	now, step := int64(0), int64(0)
	r, err := profile.New(profile.Config{Clock: func() int64 { now += 10; return now }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 33 {
		r.Begin(-1)
		now += 1000
		r.End()
		step++
	}
	if o := r.Run().Overhead; o <= 0 || o > 0.1 {
		t.Errorf("recording takes a share of %g, and some readings of 10 ns beside 1,000", o)
	}
	r.Reset()
	if o := r.Run().Overhead; o != 0 {
		t.Errorf("%g without steps", o)
	}
}
