package train_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// StepAsync and StepWait do what Step does: two batches by turns, in all modes, with any number of workers.
func TestAsyncStep(t *testing.T) {
	for mode := range train.Disabled {
		for _, workers := range []int{1, 3} {
			cfg := train.Config{Worlds: 9, Seed: 6, Autoreset: mode, Workers: workers}
			var batches, plain [2]*train.Batch
			var bufs, plainBufs [2]*train.Buffers
			for i := range batches {
				cfg.First = uint64(9 * i)
				batches[i], bufs[i] = begun(t, counter(nil), cfg)
				plain[i], plainBufs[i] = begun(t, counter(nil), cfg)
			}
			ends := 0
			for s := range 40 {
				i := s % 2
				if s >= 2 {
					if err := batches[i].StepWait(); err != nil {
						t.Fatal(err)
					}
					ends += compare(t, batches[i], plain[i], bufs[i], plainBufs[i])
				}
				for k := range bufs[i].Choices {
					bufs[i].Choices[k] = int32((s*(k+3) + i) % 7 / 6)
				}
				copy(plainBufs[i].Choices, bufs[i].Choices)
				if err := errors.Join(plain[i].Step(plainBufs[i]), batches[i].StepAsync(bufs[i])); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(batches[0].StepWait(), batches[1].StepWait()); err != nil || ends == 0 {
				t.Errorf("%d episodes have ended, %v", ends, err)
			}
		}
	}
}

// compare compares two batches after the same steps, and returns how many worlds have ended in the last one.
func compare(t *testing.T, got, want *train.Batch, gotBuf, wantBuf *train.Buffers) (ends int) {
	t.Helper()
	if !slices.Equal(got.AppendHashes(nil), want.AppendHashes(nil)) {
		t.Fatal("the hashes differ")
	}
	for i := range want.Len() {
		a, b := saidOf(gotBuf, i), saidOf(wantBuf, i)
		if a != b {
			t.Fatalf("world %d: %+v, by Step %+v", i, a, b)
		}
		if b.terminated || b.truncated {
			ends++
		}
	}
	return ends
}

// While a step runs, each other call is refused by its name and changes nothing.
func TestAsyncMisuse(t *testing.T) {
	b, buf := begun(t, counter(nil), train.Config{Worlds: 3})
	wantError(t, b.StepWait(), fault.ErrStale, "StepWait without StepAsync")
	data, err := b.Save(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := b.NewBuffers()
	if err := b.StepAsync(buf); err != nil {
		t.Fatal(err)
	}
	_, errSave := b.Save(0, nil)
	_, errExport := b.Export(0, t.TempDir())
	for call, err := range map[string]error{
		"StepAsync": b.StepAsync(other), "Step": b.Step(other), "Reset": b.Reset(train.Options{}, other), "Observe": b.Observe(other),
		"Save": errSave, "Load": b.Load(0, data), "Fork": b.Fork(0, 1), "Export": errExport,
	} {
		wantError(t, err, fault.ErrStale, call+" between StepAsync and StepWait")
	}
	for _, call := range []func(){func() { b.Hash(0) }, func() { b.AppendHashes(nil) }, func() { b.Episode(0) }} {
		if v := panicOf(call); v != "train: a call between StepAsync and StepWait" {
			t.Errorf("panic %v", v)
		}
	}
	if err := b.StepWait(); err != nil {
		t.Fatal(err)
	}
	if want := []float32{firstObs(0, 0, 0), 1, firstObs(0, 1, 0), 1, firstObs(0, 2, 0), 1}; !slices.Equal(buf.Obs, want) {
		t.Errorf("observations %v, want %v", buf.Obs, want)
	}
	wantError(t, b.StepWait(), fault.ErrStale)
	if err := b.Step(buf); err != nil {
		t.Error(err)
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// exiting is a world that ends its goroutine.
type exiting struct{ *counters }

func (exiting) Step(int, int, *train.Actions, *train.Outcomes) error {
	runtime.Goexit()
	return nil
}

// StepWait returns the errors of Step, passes on the panic of a world, and returns if a world has ended the goroutine.
func TestAsyncFails(t *testing.T) {
	b, buf := begun(t, counter(map[int]error{1: errors.ErrUnsupported}), train.Config{Worlds: 3})
	step := func() error { return errors.Join(b.StepAsync(buf), b.StepWait()) }
	before := b.AppendHashes(nil)
	buf.Choices[1] = 9
	wantError(t, step(), fault.ErrRange, "choice of world[1] = 9")
	if !slices.Equal(b.AppendHashes(nil), before) {
		t.Error("the refused step has stepped")
	}
	buf.Choices[1] = 2
	wantError(t, step(), train.ErrWorld)
	wantError(t, step(), errors.ErrUnsupported)

	def := counter(nil)
	def.New = func(n int, _ bool) (train.Worlds, error) {
		return panicking{&counters{make([]uint64, n), make([]uint32, n), nil}}, nil
	}
	for _, workers := range []int{1, 3} {
		b, buf = begun(t, def, train.Config{Worlds: 9, Workers: workers})
		buf.Choices[4] = 2
		if v := panicOf(func() { _ = step() }); v != "broken down" {
			t.Errorf("panic %v", v)
		}
		wantError(t, step(), train.ErrWorld)
	}

	def.New = func(n int, _ bool) (train.Worlds, error) {
		return exiting{&counters{make([]uint64, n), make([]uint32, n), nil}}, nil
	}
	b, buf = begun(t, def, train.Config{Worlds: 3})
	wantError(t, step(), train.ErrWorld)
	wantError(t, step(), train.ErrWorld)
}

func TestAsyncAllocations(t *testing.T) {
	for _, workers := range []int{1, 2} {
		b, buf := begun(t, counter(nil), train.Config{Worlds: 64, Workers: workers, Autoreset: train.SameStep})
		step := func() {
			if err := errors.Join(b.StepAsync(buf), b.StepWait()); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			step()
		}
		if n := testing.AllocsPerRun(200, step); n != 0 {
			t.Errorf("%d workers: %v allocations a step", workers, n)
		}
	}
}
