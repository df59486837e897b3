package replay_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"pgregory.net/rapid"
)

func rolling(t testing.TB, change func(*yard), c replay.RollbackConfig) (*replay.Rollback, *evertick.Sim) {
	t.Helper()
	sim, err := scenario(change).New(5)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewRollback(sim, c)
	if err != nil {
		t.Fatal(err)
	}
	return r, sim
}

// inTime returns the hashes of a run in which all inputs come in time.
func inTime(t testing.TB, ticks int) (hashes []uint64) {
	t.Helper()
	sim, err := scenario(nil).New(5)
	if err != nil {
		t.Fatal(err)
	}
	for range ticks {
		drive(t, sim, 1)
		hashes = append(hashes, sim.Hash())
	}
	return hashes
}

// However late inputs are, within what is kept, and in whatever order they come, the run
// ends as one in which they came in time.
func TestRollbackLate(t *testing.T) {
	const ticks = 120
	want := inTime(t, ticks)
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.IntRange(1, 9).Draw(t, "frames")
		seed := rapid.Uint64().Draw(t, "seed")
		sim, err := scenario(nil).New(5)
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.NewRollback(sim, replay.RollbackConfig{Frames: frames, Ahead: 4})
		if err != nil {
			t.Fatal(err)
		}
		due := map[uint64][]evertick.Input{}
		for tick := range uint64(ticks) {
			if in, ok := inputOf(tick); ok {
				rand := loop.NewRand(seed, tick, 0, 0)
				at := tick + rand.Uint64n(uint64(frames+4)) // from three ticks early to frames late
				at = min(max(at, 3)-3, ticks)
				due[at] = append(due[at], in)
			}
		}
		for range ticks {
			if err := r.Advance(due[sim.Ticks()]...); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Confirm(due[ticks]...); err != nil {
			t.Fatal(err)
		}
		if sim.Hash() != want[ticks-1] || sim.Ticks() != ticks {
			t.Fatalf("hash %x behind %d ticks, %d of them again; in time %x", sim.Hash(), sim.Ticks(), r.Rolled(), want[ticks-1])
		}
		if frames > 4 && r.Rolled() == 0 {
			t.Fatal("nothing was late")
		}
	})
}

// A guess is corrected, and one that was right costs nothing.
func TestRollbackGuess(t *testing.T) {
	want := inTime(t, 20)
	r, sim := rolling(t, nil, replay.RollbackConfig{})
	right := 0
	for range 20 {
		var late []evertick.Input
		if in, ok := inputOf(sim.Ticks()); ok {
			guess := in
			if sim.Ticks()%3 != 0 {
				guess.Kind, guess.Data = push, []byte{0, 90}
			}
			late = append(late, in)
			if err := r.Advance(guess); err != nil {
				t.Fatal(err)
			}
		} else if err := r.Advance(); err != nil {
			t.Fatal(err)
		}
		n, err := r.Confirm(late...)
		if err != nil {
			t.Fatal(err)
		}
		if len(late) > 0 && n == 0 {
			right++
		}
	}
	if sim.Hash() != want[19] {
		t.Errorf("hash %x, in time %x", sim.Hash(), want[19])
	}
	if right == 0 || r.Rolled() == 0 {
		t.Errorf("%d guesses right, %d ticks again", right, r.Rolled())
	}
}

// An input that differs in its stamp alone is another one.
func TestRollbackStamp(t *testing.T) {
	r, sim := rolling(t, nil, replay.RollbackConfig{})
	in := evertick.Input{Source: 1, Seq: 1, Kind: spawn, Data: []byte{1}}
	if err := r.Advance(in); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(){func() {}, func() { in.At = 5 }, func() { in.Fraction = 6 }} {
		before, was := sim.Hash(), in
		change()
		n, err := r.Confirm(in)
		changed := in.At != was.At || in.Fraction != was.Fraction
		if err != nil || (n == 1) != changed || (sim.Hash() != before) != changed {
			t.Errorf("%+v: %d ticks again, %v", in, n, err)
		}
	}
}

// What is outside the window is refused, and nothing has changed.
func TestRollbackRange(t *testing.T) {
	r, sim := rolling(t, nil, replay.RollbackConfig{Frames: 4, Ahead: 3})
	for range 10 {
		if err := r.Advance(); err != nil {
			t.Fatal(err)
		}
	}
	hash := sim.Hash()
	for _, tick := range []uint64{0, 5, 13, 1 << 63} {
		good := evertick.Input{Tick: 8, Source: 1, Kind: push, Data: []byte{1, 1}}
		if n, err := r.Confirm(good, evertick.Input{Tick: tick, Source: 2, Kind: push, Data: []byte{1, 1}}); !errors.Is(err, evertick.ErrRange) || n != 0 {
			t.Errorf("tick %d: %d, %v", tick, n, err)
		}
	}
	for _, tick := range []uint64{5, 11} {
		if err := r.Load(tick); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("Load(%d): %v", tick, err)
		}
	}
	if sim.Hash() != hash || sim.Ticks() != 10 || r.Rolled() != 0 {
		t.Error("something has changed")
	}
	if n, err := r.Confirm(evertick.Input{Tick: 6, Source: 2, Kind: push, Data: []byte{1, 1}}); err != nil || n != 4 {
		t.Errorf("tick 6: %d, %v", n, err)
	}
	if err := errors.Join((replay.RollbackConfig{Frames: -1}).Validate(), (replay.RollbackConfig{Ahead: 4097}).Validate()); !errors.Is(err, evertick.ErrRange) {
		t.Error(err)
	}
}

// Load goes back, and the same inputs lead to the same state again.
func TestRollbackLoad(t *testing.T) {
	want := inTime(t, 30)
	r, sim := rolling(t, nil, replay.RollbackConfig{Frames: 10})
	run := func(to uint64) {
		for sim.Ticks() < to {
			in, ok := inputOf(sim.Ticks())
			ins := []evertick.Input{in}
			if !ok {
				ins = nil
			}
			if err := r.Advance(ins...); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(20)
	if err := r.Load(12); err != nil || sim.Ticks() != 12 || sim.Hash() != want[11] {
		t.Fatalf("tick %d, %v", sim.Ticks(), err)
	}
	// Going back does not bring back what was let go.
	if _, err := r.Confirm(evertick.Input{Tick: 5, Source: 2, Kind: push, Data: []byte{1, 1}}); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("tick 5: %v", err)
	}
	run(30)
	if sim.Hash() != want[29] {
		t.Errorf("hash %x, want %x", sim.Hash(), want[29])
	}
}

// What was saved at the present is not believed any more once the past has changed.
func TestRollbackStaleSave(t *testing.T) {
	r, sim := rolling(t, nil, replay.RollbackConfig{})
	for range 10 {
		if err := r.Advance(); err != nil {
			t.Fatal(err)
		}
	}
	was := sim.Hash()
	if err := r.Save(); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Confirm(evertick.Input{Tick: 7, Kind: push, Data: []byte{1, 100}}); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	now := sim.Hash()
	if err := r.Load(10); err != nil || sim.Hash() != now || now == was {
		t.Errorf("%v; hash %x, want %x", err, sim.Hash(), now)
	}
}

// Rolling back allocates nothing once all has its size.
func TestRollbackAllocs(t *testing.T) {
	r, sim := rolling(t, nil, replay.RollbackConfig{})
	data, ins := []byte{2, 30}, make([]evertick.Input, 1)
	tick := func() {
		ins[0] = evertick.Input{Tick: max(sim.Ticks(), 6) - 6, Source: 1, Seq: sim.Ticks(), Kind: push, Data: data}
		if err := r.Advance(ins...); err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		tick()
	}
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	if r.Bytes() == 0 || r.Rolled() == 0 {
		t.Errorf("%d bytes, %d ticks again", r.Bytes(), r.Rolled())
	}
}
