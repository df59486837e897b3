package loop_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// Loops as they are written elsewhere, in whole units of 1/60 ns, so that nothing is rounded: a step has a thousand million.
const portedStep = 1_000_000_000

func portSeed(t *testing.T) *rand.Rand {
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 8))
}

// An accumulator that clamps a frame to 0.25 s, runs at most 5 steps and keeps the remainder however large it grows is KeepAll with
// ClipTime.
func TestPortOfAnAccumulatorThatKeepsAll(t *testing.T) {
	r := portSeed(t)
	keep, all := mustNew(t, loop.Config{Policy: loop.Keep, ClipTime: true}), mustNew(t, loop.Config{Policy: loop.KeepAll, ClipTime: true})
	var accumulator int64
	deep, differ := int64(0), 0
	for i := range 200_000 {
		elapsed := r.Int64N(30 * ms)
		switch r.IntN(100) {
		case 0:
			elapsed = r.Int64N(2_000 * ms)
		case 1:
			elapsed = 250*ms + r.Int64N(3) - 1
		}
		if i/1000%10 == 3 { // an overload that lasts
			elapsed += 90 * ms
		}

		accumulator += min(elapsed, 250*ms) * 60
		steps := 0
		for accumulator >= portedStep && steps < 5 {
			accumulator -= portedStep
			steps++
		}

		f := all.Advance(elapsed)
		if f.Steps != steps || int64(f.Backlog) != accumulator/portedStep || int64(f.AlphaNum) != accumulator%portedStep || f.DroppedTotal != 0 {
			t.Fatalf("frame %d of %d ns: %+v; the port runs %d steps and keeps %d units", i, elapsed, f, steps, accumulator)
		}
		deep = max(deep, accumulator/portedStep)
		if keep.Advance(elapsed).Steps != steps {
			differ++
		}
	}
	if deep < 1000 || differ == 0 {
		t.Errorf("the backlog was at most %d steps, and Keep differed in %d frames: that shows nothing", deep, differ)
	}
}

// portedArcade is the frame of an arcade game, in the order in which it does things.
type portedArcade struct {
	accumulator, freeze int64 // units, nanoseconds
	dilation            float64
	menu                bool
}

func (p *portedArcade) frame(elapsed int64) (steps int) {
	if p.menu { // 1. a menu returns at once
		return 0
	}
	if elapsed > 200*ms { // 2. a stall begins anew
		p.accumulator = 0
		return 0
	}
	raw := min(elapsed, 33*ms) // 3. the clock is capped
	if p.freeze > 0 {          // 4. a hit-stop takes the capped time, and holds the frame
		if p.freeze -= raw; p.freeze <= 0 {
			p.freeze, p.dilation = 0, 1
		}
		return 0
	}
	p.accumulator = min(p.accumulator+int64(float64(raw)*p.dilation)*60, 15*portedStep) // 5. time is scaled, and bounded
	for p.accumulator >= portedStep && steps < 4 {                                      // 6. at most four steps
		p.accumulator -= portedStep
		steps++
	}
	if p.accumulator >= portedStep { // 7. what is left at the cap is gone
		p.accumulator = 0
	}
	return steps // 8. the picture
}

// That frame is Arcade with FreezeFrames. Without, a freeze of 300 ms holds three frames of 100 ms, and not ten.
func TestPortOfAHitStop(t *testing.T) {
	r := portSeed(t)
	c := loop.Arcade()
	wall := mustNew(t, c)
	c.FreezeFrames = true
	l := mustNew(t, c)
	for _, tc := range []struct {
		l    *loop.Loop
		held int
	}{{mustNew(t, c), 10}, {wall, 3}} {
		must(t, tc.l.Freeze(300*ms))
		held := 0
		for ; tc.l.Advance(100*ms).Steps == 0 && held < 20; held++ {
		}
		if held != tc.held {
			t.Errorf("%d frames were held, want %d", held, tc.held)
		}
	}
	p := portedArcade{dilation: 1}
	frozen, thawed := 0, 0
	for i := range 200_000 {
		switch r.IntN(40) {
		case 0:
			ns := r.Int64N(400 * ms)
			must(t, l.Freeze(ns))
			if p.freeze = max(p.freeze, ns); ns == 0 {
				p.freeze, p.dilation = 0, 1
			}
		case 1:
			must(t, l.SetScale(loop.Dilation, "bullet time", 0.5, loop.Forever))
			p.dilation = 0.5
		case 2:
			p.menu = !p.menu
			l.SetMenu(p.menu)
		}
		elapsed := 2 * r.Int64N(20*ms) // halves are whole nanoseconds
		switch r.IntN(50) {
		case 0:
			elapsed = 2 * r.Int64N(150*ms)
		case 1:
			elapsed = 200*ms + 2*(r.Int64N(3)-1)
		}
		before := p.freeze
		steps := p.frame(elapsed)
		if before > 0 && p.freeze > 0 {
			frozen++
		} else if before > 0 {
			thawed++
		}
		f := l.Advance(elapsed)
		if f.Steps != steps || int64(f.AlphaNum) != p.accumulator || l.Frozen() != p.freeze || f.Frozen != (p.freeze > 0) || f.Backlog != 0 {
			t.Fatalf("frame %d of %d ns: %+v, %d ns frozen; the port runs %d steps: %+v", i, elapsed, f, l.Frozen(), steps, p)
		}
	}
	if frozen < 1000 || thawed < 1000 {
		t.Errorf("%d frames were frozen, and %d thawed: that shows nothing", frozen, thawed)
	}
}
