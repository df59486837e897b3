package replica

import (
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
)

// Clients send, and others read counts, while ticks apply inputs: no two wait for each other.
func TestSessionsReceiveDuringTicks(t *testing.T) {
	const peers = 100
	inputs := casesOf(400, 2000)
	if paritytest.Instrumented {
		inputs /= 4
	}
	// The queue is never so full that a source exceeds its share.
	w := newWorld(t, 2*peers, Config{Limits: Limits{FramesPerSecond: 1_000_000, BytesPerSecond: 1 << 28}}, evertick.InputConfig{Capacity: 4 * peers * inputs})
	w.quiet = true
	watchdog := time.AfterFunc(2*time.Minute, func() { panic("ticks and sessions wait for each other") }) // shows all goroutines
	defer watchdog.Stop()
	var all sync.WaitGroup
	for range peers {
		p := w.mustJoin(Hello{})
		all.Go(func() {
			for seq := range uint64(inputs) {
				if err := p.input(seq+1, 0, 1, "x"); err != nil {
					t.Error(err)
					return
				}
				if seq%100 == 0 {
					w.stats()
					p.Stats()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	for sending := true; sending; w.step(1) { // the last step applies what is left
		select {
		case <-done:
			sending = false
		default:
		}
	}
	if st := w.stats(); st.Intents.Pushed != uint64(peers*inputs) || len(w.took()) != peers*inputs {
		t.Errorf("%+v", st.Intents)
	}
}
