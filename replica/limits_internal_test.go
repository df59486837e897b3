package replica

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// A window counts a number as lost once, when it leaves the window and has not arrived: those up to 64 below the greatest one that no add named.
func TestWindowCountsLost(t *testing.T) {
	for i := range uint64(300) {
		r := rand.New(rand.NewPCG(paritytest.Seed(), i))
		var w window
		arrived, lost := map[uint64]bool{}, uint64(0)
		for range 200 {
			next := w.greatest + 1 + r.Uint64N([]uint64{2, 10, 200}[r.IntN(3)])
			if back := r.Uint64N(80); r.IntN(3) == 0 && back < w.greatest {
				next = w.greatest - back
			}
			if !w.has(next) {
				lost += w.add(next)
				arrived[next] = true
			}
		}
		want := uint64(0)
		for seq := uint64(1); seq+64 <= w.greatest; seq++ {
			if !arrived[seq] {
				want++
			}
		}
		if lost != want {
			t.Fatalf("seed %d, run %d: %d lost of %d, want %d", paritytest.Seed(), i, lost, w.greatest, want)
		}
	}
}

// A client that sends an input, a Look, an acknowledgement and now and then a Ping in each tick is no faster than the default limits
// allow, at any rate.
func TestHonestClientIsNotTooFast(t *testing.T) {
	for _, hz := range []int{1, 30, 60, 120, 144, 240, 1000} {
		t.Run(fmt.Sprint(hz), func(t *testing.T) {
			clock := new(loop.ManualClock)
			sim, err := evertick.New(evertick.Config{Clock: clock, Loop: loop.Config{RateNum: int64(hz), RateDen: 1}})
			check(t, err)
			s, err := New(sim, Config{Inline: true})
			check(t, err)
			defer s.Close()
			p, err := s.Join(t.Context(), &recorder{unordered: true}, (&Hello{}).append(nil))
			check(t, err)
			for tick := range 6 * hz {
				clock.Add(1e9 / int64(hz))
				check(t, sim.Step())
				messages := [][]byte{appendIntents(nil, []intent{{seq: uint64(tick) + 1, kind: 1, data: make([]byte, 200)}}), (&look{x: 1}).append(nil),
					appendTick(nil, kindAck, sim.Ticks())}
				if tick%max(hz/4, 1) == 0 {
					messages = append(messages, appendPing(nil, 1))
				}
				for _, f := range messages {
					if err := p.Receive(f); err != nil {
						t.Fatalf("tick %d: %v", tick, err)
					}
				}
			}
			var err2 error
			for i := 0; err2 == nil && i < 100*hz+10_000; i++ {
				err2 = p.Receive(appendPing(nil, 1))
			}
			if !errors.Is(err2, TooFast) {
				t.Errorf("a flood of Pings: %v", err2)
			}
		})
	}
}
