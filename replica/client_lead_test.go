package replica

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/wire"
)

// aimed is a client that acts once a tick, as Aim says, over a connection with a delay, and the server
// to which it is connected.
type aimed struct {
	*bench
	delay  func() int64 // ns, one way
	every  uint64
	inputs []aimedInput // not reported back yet
	tick   uint64       // of the next message
	late   int
	waited []int64 // ns in the server
}

type aimedInput struct {
	seq, tick uint64
	arrived   int64
}

func newAimed(t *testing.T, delay func() int64, every uint64) *aimed {
	t.Helper()
	a := &aimed{bench: newBench(t, ClientConfig{Ordered: true}), delay: delay, every: every, tick: every}
	w := plainWelcome(Schema{})
	w.every = every
	a.join(w)
	return a
}

// run acts in n ticks.
func (a *aimed) run(n int) {
	a.t.Helper()
	a.late, a.waited = 0, a.waited[:0]
	for range n {
		tick, wait := a.Aim()
		a.advance(a.clock.Now() + int64(wait) + 1)
		seq, err := a.Input(1, nil, tick)
		a.must(err)
		a.inputs = append(a.inputs, aimedInput{seq, tick, a.clock.Now() + a.delay()})
	}
}

// advance delivers the messages that arrive until a time. They take the mean delay.
func (a *aimed) advance(to int64) {
	a.t.Helper()
	for ; ; a.tick += a.every {
		ended := int64(a.tick-1)*tickNs + 1e6 // a tick takes 1 ms
		if ended+20e6 > to {
			break
		}
		a.clock.Set(max(a.clock.Now(), ended+20e6))
		f := append(binary.AppendUvarint([]byte{kindKeyframe}, a.tick), 0)
		f = binary.AppendUvarint(f, uint64(ended)/1000)
		var seq uint64
		var waited int64
		for len(a.inputs) > 0 {
			in := a.inputs[0]
			begins := max(int64(in.tick), (in.arrived+tickNs-1)/tickNs)
			if begins >= int64(a.tick) {
				break
			}
			if begins > int64(in.tick) {
				a.late++
			}
			seq, waited = in.seq, begins*tickNs-in.arrived
			a.waited = append(a.waited, waited)
			a.inputs = a.inputs[1:]
		}
		if seq > 0 {
			f[len(binary.AppendUvarint([]byte{kindKeyframe}, a.tick))] = flagApplied
			f = wire.AppendUvarints(f, seq, uint64(waited)/1000)
		}
		a.must(a.Receive(append(f, 0)))
	}
	a.clock.Set(max(a.clock.Now(), to))
}

func (a *aimed) mean() int64 {
	sum := int64(0)
	for _, w := range a.waited {
		sum += w
	}
	return sum / int64(max(len(a.waited), 1))
}

// Inputs come shortly before their tick, whatever the delay, and soon again after it has changed.
func TestClientAim(t *testing.T) {
	for _, every := range []uint64{1, 3} {
		delay := int64(20e6)
		a := newAimed(t, func() int64 { return delay }, every)
		a.run(1000)
		check := func(when string, most int) {
			t.Helper()
			a.run(600)
			within := int64(tickNs / 4)
			if every > 1 { // an input that waits for less than a tick may be late
				within = 3 * tickNs / 2
			}
			if a.late > most || a.mean() > within {
				t.Errorf("every %d, %s: %d late, and %d µs in the server", every, when, a.late, a.mean()/1000)
			}
		}
		check("a constant delay", 0)
		delay = 90e6
		a.run(1) // the first with the new delay
		check("more delay", 24*int(every))
		check("the same delay", 0)
		delay = 5e6
		a.run(1500)
		check("less delay", 0)
	}
}

// With jitter few inputs are late.
func TestClientAimJitter(t *testing.T) {
	n := int64(0)
	a := newAimed(t, func() int64 { n++; return 20e6 + n*7919%11*1e6 }, 1)
	a.run(1000)
	a.run(1000)
	if a.late > 30 || a.mean() > 14e6 {
		t.Errorf("%d of 1000 late, and %d µs in the server", a.late, a.mean()/1000)
	}
}

// The lead rises by a tick when an input is missed, once for all that were sent with it, and has bounds.
func TestLeadTime(t *testing.T) {
	s := clockSync{num: 60, den: 1e9}
	var l leadTime
	first := l.now(&s)
	if first != leadMargin {
		t.Errorf("the lead begins with %v ticks", first)
	}
	l.late(&intent{seq: 1, tick: 100, ahead: 3}, 2, 103, &s)
	if got := l.now(&s); got != first+1 {
		t.Errorf("lead %v after an input that was missed, want %v", got, first+1)
	}
	l.late(&intent{seq: 2, tick: 100, ahead: 9}, 5, 103, &s)
	if got := l.now(&s); got != first+1 {
		t.Errorf("lead %v: one fault counts twice", got)
	}
	fill := func(n int, ahead, waited float64) {
		for range n {
			l.applied(&intent{tick: 200, ahead: ahead}, waited, 201, 1, &s)
		}
	}
	fill(2*leadWindow+1, 2.5, 0.25)
	if got := l.now(&s); got != 2.25+leadMargin {
		t.Errorf("lead %v for inputs that needed 2.25 ticks", got)
	}
	l.applied(&intent{tick: 112, ahead: 2.5}, 0.5, 115, 1, &s)
	if got := l.now(&s); got != 2.25+leadMargin {
		t.Errorf("lead %v after one input that needed more", got)
	}
	l.applied(&intent{tick: 112, ahead: 2.5}, 0.5, 115, 1, &s)
	if got := l.now(&s); got != 4+leadMargin {
		t.Errorf("lead %v for inputs that were late, and needed 4 ticks", got)
	}
	fill(4000, -5, 90)
	if got := l.now(&s); got != leastLead {
		t.Errorf("lead %v at the least", got)
	}
	fill(2, 1e9, 0)
	if got := l.now(&s); got != mostLead {
		t.Errorf("lead %v at the most", got)
	}
	l = leadTime{}
	fill(2*leadWindow, 3, -1)
	if got := l.now(&s); math.Abs(got-(3-leadFall)) > 1e-9 {
		t.Errorf("lead %v for inputs that were in time by an unknown time", got)
	}
}
