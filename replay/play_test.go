package replay_test

import (
	"errors"
	"io"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
)

// A player goes forwards, back, and on live.
func TestPlay(t *testing.T) {
	for _, period := range []uint64{0, 15} {
		dir, hashes := recorded(t, scenario(nil), 60, replay.Options{SnapshotTicks: period})
		p, err := replay.Play(dir, scenario(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Sim().Step(); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("stepped by another: %v", err)
		}
		for range 5 {
			if err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for _, tick := range []uint64{4, 40, 39, 41, 3, 0, 59, 29, 30, 31} {
			if err := p.Seek(tick); err != nil {
				t.Fatalf("every %d: tick %d: %v", period, tick, err)
			}
			if p.Sim().Ticks() != tick+1 || p.Sim().Hash() != hashes[tick] {
				t.Errorf("every %d: tick %d: behind %d ticks, hash %x, want %x", period, tick, p.Sim().Ticks(), p.Sim().Hash(), hashes[tick])
			}
		}
		if err := p.Seek(60); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("beyond the end: %v", err)
		}
		if err := p.Step(); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
		if err := p.Seek(20); err != nil {
			t.Fatal(err)
		}
		sim, err := p.Live()
		if err != nil {
			t.Fatal(err)
		}
		if drive(t, sim, 39); sim.Hash() != hashes[59] {
			t.Errorf("live from tick 20: hash %x, want %x", sim.Hash(), hashes[59])
		}
	}
}

// A Sim that steps back and forward again is in its log once.
func TestRecordStepBack(t *testing.T) {
	sc := scenario(func(y *yard) { y.history = true })
	dir := t.TempDir()
	sim, err := sc.New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 30)
	hash := sim.Hash()
	if err := sim.StepBack(12); err != nil {
		t.Fatal(err)
	}
	if err := sim.Forward(12); err != nil || sim.Hash() != hash || sim.Ticks() != 30 {
		t.Fatal(err, sim.Ticks())
	}
	drive(t, sim, 5)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(dir, sc, replay.VerifyOptions{}); err != nil || rep.Ticks != 35 || rep.Hash != sim.Hash() {
		t.Errorf("%+v, %v", rep, err)
	}
}

// A Sim that was set back and goes another way does not get into the log.
func TestRecordSetBack(t *testing.T) {
	dir := t.TempDir()
	sim, err := scenario(nil).New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, "yard", sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 10)
	save, err := sim.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 5)
	if err := sim.Restore(save); err != nil {
		t.Fatal(err)
	}
	if err := sim.Step(); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("%v", err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); err != nil || rep.Ticks != 15 {
		t.Errorf("%+v, %v", rep, err)
	}
}
