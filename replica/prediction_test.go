package replica

import (
	"testing"

	"github.com/evertick/evertick"
)

// leading is a client with a prediction, whose inputs take some ticks to the server, and the messages of
// the server as many ticks back.
type leading struct {
	*authority
	*Simulator
	follower
	lane
	up, down int
	sentUp   []evertick.Input
	seq      uint64
}

func newLeading(t testing.TB, players, up, down int) *leading {
	l := &leading{authority: newAuthority(t, 24, players), up: up, down: down, lane: lane{room: 1000}}
	s, err := NewSimulator(newDuel(t, duelSeed, 24).sim, SimulatorConfig{Predicted: newDuel(t, duelSeed, 24).sim})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.welcome(&welcome{session: 20, seed: duelSeed, simVersion: evertick.SimVersion}); err != nil {
		t.Fatal(err)
	}
	l.Simulator = s
	l.stream.join(&l.follower, 0)
	return l
}

// act makes an input for a tick of the prediction.
func (l *leading) act(t testing.TB, tick uint64) {
	t.Helper()
	l.seq++
	in := evertick.Input{Tick: tick, Source: 20, Seq: l.seq, Kind: duelPush, Data: []byte{byte(17 * l.seq), byte(29 * l.seq)}}
	if err := l.input(in.Kind, in.Data, in.Tick, in.Seq); err != nil {
		t.Fatal(err)
	}
	l.sentUp = append(l.sentUp, in)
}

// tick runs a tick of the server, and delivers what has arrived on both sides.
func (l *leading) tick(t testing.TB, lost func(evertick.Input) bool) {
	t.Helper()
	for len(l.sentUp) > l.up {
		if in := l.sentUp[0]; !lost(in) {
			if err := l.authority.sim.Push(in); err != nil {
				t.Fatal(err)
			}
		}
		l.sentUp = l.sentUp[1:]
	}
	l.step(t)
	if _, err := l.stream.send(&l.follower, l); err != nil {
		t.Fatal(err)
	}
	l.deliver(t, l.Simulator, max(0, len(l.messages)-l.down))
}

// While nobody else acts, and inputs are in time, the prediction is what the server computes later, and no
// tick is run again. Its own inputs show at once.
func TestSimulatorPredicts(t *testing.T) {
	l := newLeading(t, 0, 4, 5)
	const ahead = 11
	predicted := map[uint64]uint64{}
	for range 400 {
		l.tick(t, func(evertick.Input) bool { return false })
		if l.held() == 0 {
			continue
		}
		next := l.held() + ahead - 1
		if l.Predicted().Ticks() == next {
			l.act(t, next)
		}
		if err := l.Predict(next + 1); err != nil {
			t.Fatal(err)
		}
		predicted[next+1] = l.Predicted().Hash()
	}
	equal := 0
	for tick, hash := range predicted {
		if tick <= uint64(len(l.authority.hashes)) {
			if hash != l.authority.hashes[tick-1] {
				t.Fatalf("tick %d: predicted hash %x, want %x", tick, hash, l.authority.hashes[tick-1])
			}
			equal++
		}
	}
	if st := l.Stats(); st.Rolled != 0 || st.Diverged != 0 || equal < 300 || l.authority.sum == 0 || l.seq < 300 {
		t.Errorf("%+v, %d predictions came true, %d inputs", st, equal, l.seq)
	}
}

// Where others act, inputs come late or are lost, the confirmed state is that of the server at every
// tick, and the prediction is right again when they stop.
func TestSimulatorPredictsAmongOthers(t *testing.T) {
	l := newLeading(t, 3, 4, 5)
	var late, lost, ticks int
	for i := range 800 {
		if l.up = 4 + i/50%3*4; i >= 600 {
			l.players, l.up = 0, 4
		}
		l.tick(t, func(in evertick.Input) bool {
			if in.Tick < l.authority.sim.Ticks() {
				late++
			}
			if i < 600 && in.Seq%17 == 0 {
				lost++
				return true
			}
			return false
		})
		if l.held() == 0 {
			continue
		}
		if l.Simulator.sim.Hash() != l.authority.hashes[l.held()-1] {
			t.Fatalf("tick %d: confirmed hash", l.held())
		}
		next := l.Predicted().Ticks()
		for ; next < l.held()+12; next++ {
			if err := l.Predict(next); err != nil {
				t.Fatal(err)
			}
			if next >= l.held() {
				l.act(t, next)
			}
		}
		if err := l.Predict(next); err != nil {
			t.Fatal(err)
		}
		ticks++
	}
	st := l.Stats()
	if st.Diverged != 0 || st.Rolled == 0 || lost < 10 || late < 10 {
		t.Errorf("%+v, %d lost, %d late of %d", st, lost, late, ticks)
	}
	l.up = 0
	for range 20 {
		l.tick(t, func(evertick.Input) bool { return false })
	}
	if err := l.Predict(l.authority.sim.Ticks()); err != nil || l.Predicted().Hash() != l.authority.sim.Hash() {
		t.Errorf("prediction for tick %d: hash %x, want %x: %v", l.Predicted().Ticks(), l.Predicted().Hash(), l.authority.sim.Hash(), err)
	}
	if len(l.prediction.pending) > 40 {
		t.Errorf("%d inputs wait", len(l.prediction.pending))
	}
}
