package search_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replay/search"
	"github.com/evertick/evertick/replay/search/internal/searchtest"
)

// counts returns the numbers of workers to try.
func counts() []int {
	if paritytest.Instrumented && testing.Short() {
		return []int{5}
	}
	return []int{1, 2, 5}
}

// pools returns pools of different sizes, which all must return the same.
func pools(reg *search.Registry) []search.Pool {
	var all []search.Pool
	for _, workers := range counts() {
		l := search.Local{Registry: reg, Workers: workers}
		all = append(all, l, search.Twice(l))
	}
	return all
}

// collect returns the results and the error that ends them.
func collect[T any](results iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for r, err := range results {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// numbers are jobs that contain their number.
func numbers(n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < n && yield(binary.AppendUvarint(nil, uint64(i))); i++ {
		}
	}
}

// custom returns a registry with one function, "custom".
func custom(do func(ctx context.Context, n uint64) ([]byte, error)) *search.Registry {
	return &search.Registry{Functions: map[string]search.Function{"custom": func([]byte) (search.Work, error) {
		return func(ctx context.Context, job []byte) ([]byte, error) {
			n, _ := binary.Uvarint(job)
			return do(ctx, n)
		}, nil
	}}}
}

var task = search.Task{Function: "custom"}

// The results have the order of the jobs, though later jobs end first: job 0 ends after many others.
func TestInOrder(t *testing.T) {
	for _, workers := range []int{2, 5} {
		var ended atomic.Int64
		reg := custom(func(_ context.Context, n uint64) ([]byte, error) {
			if n > 0 {
				ended.Add(1)
				return fmt.Append(nil, n), nil
			}
			for ended.Load() < 10 { // later jobs
			}
			return []byte("0"), nil
		})
		got, err := collect(search.Local{Registry: reg, Workers: workers}.Do(t.Context(), task, numbers(500)))
		if err != nil || len(got) != 500 {
			t.Fatal(len(got), err)
		}
		for i, g := range got {
			if string(g) != fmt.Sprint(i) {
				t.Fatalf("result %d is %s", i, g)
			}
		}
	}
}

// The error is that of the lowest job with one, after the results of all lower ones; and a job that panics has an error.
func TestJobError(t *testing.T) {
	reg := custom(func(_ context.Context, n uint64) ([]byte, error) {
		switch {
		case n == 40:
			panic("forty")
		case n > 40:
			return nil, fmt.Errorf("number %d", n)
		}
		return nil, nil
	})
	for _, p := range pools(reg) {
		got, err := collect(p.Do(t.Context(), task, numbers(200)))
		var failed *search.JobError
		if !errors.As(err, &failed) || failed.Job != 40 || len(got) != 40 || !strings.Contains(err.Error(), "panic: forty") {
			t.Errorf("%T: %d results, %v", p, len(got), err)
		}
	}
}

// A loop that ends early cancels the jobs under way, and no job is begun long after it. So does ctx.
func TestCancel(t *testing.T) {
	var begun, cancelled atomic.Int64
	reg := custom(func(ctx context.Context, n uint64) ([]byte, error) {
		begun.Add(1)
		if n < 3 {
			return nil, nil
		}
		<-ctx.Done()
		cancelled.Add(1)
		return nil, ctx.Err()
	})
	l := search.Local{Registry: reg, Workers: 5}
	seen := 0
	for _, err := range l.Do(t.Context(), task, numbers(1<<30)) {
		if seen++; err != nil {
			t.Fatal(err)
		}
		if seen == 3 {
			break
		}
	}
	if b, c := begun.Load(), cancelled.Load(); b > 8 || c != b-3 {
		t.Errorf("%d begun, %d cancelled", b, c)
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := collect(l.Do(ctx, task, numbers(100))); err != why {
		t.Error(err)
	}
	if got, err := collect(l.Do(t.Context(), task, numbers(0))); err != nil || got != nil {
		t.Error("no jobs:", got, err)
	}
}

// Names and versions that a worker lacks are refused, with the name, before any job.
func TestForeign(t *testing.T) {
	worked := false
	reg := custom(func(context.Context, uint64) ([]byte, error) { worked = true; return nil, nil })
	reg.Scenarios = []replay.Scenario{searchtest.Tally("tally")}
	l := search.Local{Registry: reg}
	for name, do := range map[string]func() error{
		"no-function": func() error {
			_, err := collect(l.Do(t.Context(), search.Task{Function: "no-function"}, numbers(3)))
			return err
		},
		fmt.Sprint(evertick.SimVersion + 1): func() error {
			_, err := collect(l.Do(t.Context(), search.Task{Function: "custom", SimVersion: evertick.SimVersion + 1}, numbers(3)))
			return err
		},
		"no-scenario": func() error {
			_, err := search.FirstSeed(t.Context(), l, search.Seeds{Scenario: "no-scenario", Failure: "rare", To: 9, Ticks: 9})
			return err
		},
		"no-failure": func() error {
			_, err := search.FirstSeed(t.Context(), l, search.Seeds{Scenario: "tally", Failure: "no-failure", To: 9, Ticks: 9})
			return err
		},
	} {
		if err := do(); !errors.Is(err, evertick.ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if worked {
		t.Error("a job was done")
	}
}

// Twice notices a job that has another result the second time.
func TestDiverged(t *testing.T) {
	for _, fails := range []bool{false, true} {
		var mu sync.Mutex
		times := map[uint64]int{}
		reg := custom(func(_ context.Context, n uint64) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			times[n]++
			if n == 33 && times[n] == 2 {
				if fails {
					return nil, errors.New("the second time")
				}
				return []byte("other"), nil
			}
			return []byte("same"), nil
		})
		got, err := collect(search.Twice(search.Local{Registry: reg, Workers: 1}).Do(t.Context(), task, numbers(100)))
		if !errors.Is(err, replay.ErrDiverged) || !strings.Contains(err.Error(), "job 33:") || len(got) != 33 {
			t.Errorf("%d results, %v", len(got), err)
		}
	}
}

// The seeds that are found are those that runs one after the other find, and the first is the lowest.
func TestSeeds(t *testing.T) {
	reg := searchtest.Registry()
	q := search.Seeds{Scenario: "tally", Failure: "rare", From: 11, To: 90, Ticks: 100}
	if paritytest.Instrumented && testing.Short() {
		q.To = 40
	}
	var want []search.Found
	for seed := q.From; seed < q.To; seed++ {
		sim, err := searchtest.Tally("tally").New(seed)
		if err != nil {
			t.Fatal(err)
		}
		for tick := range q.Ticks {
			if err := sim.Step(); err != nil {
				t.Fatal(err)
			}
			if reg.Failures["rare"](sim, nil) {
				want = append(want, search.Found{Seed: seed, Outcome: replay.Outcome{Failed: true, Tick: tick, Hash: sim.Hash()}})
				break
			}
		}
	}
	if len(want) < 2 || len(want) > 60 || want[0].Seed == q.From {
		t.Fatalf("%d seeds fail, first %+v: the test needs some that do and some that do not", len(want), want[0])
	}
	for _, p := range pools(reg) {
		if got, err := collect(search.FindSeeds(t.Context(), p, q)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v", got, err)
		}
		if got, err := search.FirstSeed(t.Context(), p, q); err != nil || got != want[0] {
			t.Errorf("%v: %v", got, err)
		}
		never := q
		never.Failure = "never"
		if _, err := search.FirstSeed(t.Context(), p, never); !errors.Is(err, replay.ErrNoFailure) {
			t.Error(err)
		}
		panics := q
		panics.Failure = "panics"
		if _, err := search.FirstSeed(t.Context(), p, panics); err == nil || !strings.Contains(err.Error(), "job 0: panic: at tick 1") {
			t.Error(err)
		}
	}
	for _, bad := range []search.Seeds{{Scenario: "tally", Failure: "rare", From: 3, To: 3, Ticks: 1}, {Scenario: "tally", Failure: "rare", To: 3}} {
		if _, err := search.FirstSeed(t.Context(), search.Local{Registry: reg}, bad); !errors.Is(err, evertick.ErrRange) {
			t.Error(err)
		}
	}
}

// files returns the content of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// Report, progress and log are those of replay.Shrink, byte for byte, for any number of workers, and with a limit on runs.
func TestShrink(t *testing.T) {
	reg := searchtest.Registry()
	dir := searchtest.Record(t)
	for _, failure := range []string{"both", "error"} {
		limits := []int{0, 1, 3, 11}
		if testing.Short() {
			limits = []int{0, 11}
		}
		for _, limit := range limits {
			sc := searchtest.Tally("tally")
			if failure == "error" { // the log was recorded with a scenario of this name that does not end
				sc.New = searchtest.Tally("tally/error").New
			}
			reg.Scenarios[0] = sc
			var progress []int
			opt := replay.ShrinkOptions{MaxRuns: limit, Progress: func(runs, inputs int) { progress = append(progress, runs, inputs) }}
			small := t.TempDir()
			want, err := replay.Shrink(dir, sc, small, reg.Failures[failure], opt)
			if err != nil || limit == 0 && (want.Inputs != 2 || !want.Minimal || want.Tick != 50) || limit > 0 && want.Runs != limit {
				t.Fatalf("%+v, %v", want, err)
			}
			log, wantProgress := files(t, small), progress
			for _, p := range pools(reg) {
				progress, small = nil, t.TempDir()
				got, err := search.Shrink(t.Context(), p, dir, sc, small, failure, opt)
				if err != nil || got != want || !slices.Equal(progress, wantProgress) {
					t.Errorf("%s, limit %d: %+v, %v; want %+v", failure, limit, got, err, want)
				}
				if !reflect.DeepEqual(files(t, small), log) {
					t.Errorf("%s, limit %d: another log", failure, limit)
				}
			}
		}
	}
	if _, err := search.Shrink(t.Context(), search.Local{Registry: reg}, dir, searchtest.Tally("tally"), t.TempDir(), "never", replay.ShrinkOptions{}); !errors.Is(err, replay.ErrNoFailure) {
		t.Error(err)
	}
}

// Runs with random failures: inputs of a random set are all needed, or any two of them.
func TestShrinkRandomly(t *testing.T) {
	dir := searchtest.Record(t)
	logs := uint64(12)
	if testing.Short() {
		logs = 3
	}
	for i := range logs {
		r := loop.NewRand(i, 1, 2, 3)
		need, any := r.Uint64()&0xff, i%3 == 0
		reg := searchtest.Registry()
		reg.Failures["random"] = func(sim *evertick.Sim, _ error) bool {
			set := searchtest.Set(sim) & need
			return set == need || any && set&(set-1) != 0
		}
		sc := searchtest.Tally("tally")
		want, wantErr := replay.Shrink(dir, sc, t.TempDir(), reg.Failures["random"], replay.ShrinkOptions{})
		for _, workers := range counts() {
			got, err := search.Shrink(t.Context(), search.Local{Registry: reg, Workers: workers}, dir, sc, t.TempDir(), "random", replay.ShrinkOptions{})
			if got != want || (err == nil) != (wantErr == nil) {
				t.Errorf("%d: %+v, %v; want %+v, %v", i, got, err, want, wantErr)
			}
		}
	}
}

// Scores are the same bits for any number of workers: those that a sum in the order of matches has.
func TestEvaluate(t *testing.T) {
	reg := searchtest.Registry()
	sets := [][]float32{{0, 0}, {0.3, -0.2}, {-1, 1}, {0.7, 0.1}}
	var matches []search.Match
	for i := range 10 {
		matches = append(matches, search.Match{Seed: 3, World: uint64(4 * i), Worlds: 4, Players: []int{i % 4, (i + 1) % 4}})
	}
	want := make([]float64, len(sets))
	for _, m := range matches {
		one, err := search.Evaluate(t.Context(), search.Local{Registry: reg, Workers: 1}, "tag", sets, []search.Match{m})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Players {
			want[p] += one[p]
		}
	}
	for _, p := range pools(reg) {
		if got, err := search.Evaluate(t.Context(), p, "tag", sets, matches); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	for _, m := range []search.Match{{Worlds: 0}, {Worlds: 1, Players: []int{4}}, {Worlds: 1, Players: []int{-1}}} {
		if _, err := search.Evaluate(t.Context(), search.Local{Registry: reg}, "tag", sets, []search.Match{m}); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	reg.Functions["short"] = search.Play(func(context.Context, search.Match, [][]float32) ([]float64, error) { return nil, nil }).Function()
	if _, err := search.Evaluate(t.Context(), search.Local{Registry: reg}, "short", sets, matches); !errors.Is(err, evertick.ErrRange) {
		t.Error(err)
	}
}
