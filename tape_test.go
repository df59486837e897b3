package evertick_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// The frames of a Sim are those of its loop's tape, a system's pause, a failed
// tick and a scale included.
func TestTapeOfSim(t *testing.T) {
	c := small()
	c.Loop.JitterFix, c.Loop.SmoothDelta = 50, true
	s := newSim(t, c)
	var tape loop.Tape
	if err := s.Loop().Record(&tape); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	if err := s.Add(evertick.AfterIndex, "pause", func(tick *evertick.Tick) error {
		switch tick.N {
		case 40:
			s.Loop().SetPaused(true)
		case 205:
			return loop.ErrStop
		case 210:
			return stop
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var want []loop.Frame
	for i := range int64(400) {
		switch i {
		case 60:
			s.Loop().SetPaused(false)
		case 100:
			if err := s.Loop().SetScale(loop.Dilation, "test", 0.3, 50e6); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.Advance(16_666_667 + i%7*10_000 + i%50/49*70e6)
		f.Overrun = loop.Overrun{}
		want = append(want, f)
		if errors.Is(err, stop) {
			break
		}
		if err != nil && !errors.Is(err, loop.ErrStop) {
			t.Fatal(err)
		}
	}
	i := 0
	if err := tape.Replay(func(f loop.Frame) error {
		if i >= len(want) || f != want[i] {
			t.Fatalf("frame %d of %d\n got %+v\nwant %+v", i, len(want), f, want[min(i, len(want)-1)])
		}
		i++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if i != len(want) || s.Ticks() < 200 || tape.Err() != nil {
		t.Errorf("%d frames replayed of %d, %d ticks, %v", i, len(want), s.Ticks(), tape.Err())
	}
}
