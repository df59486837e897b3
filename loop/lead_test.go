package loop_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/loop"
)

// sender is a source that acts once a tick, at any moment of it, with the lead that the host advises. The advice reaches
// it four times a second, 50 ms later.
type sender struct {
	line     loop.Timeline
	arrivals *loop.Arrivals
	rand     *rand.Rand
	clock    int64 // by how much its clock is ahead of the host's
	lead     int64
	advised  []advice
	inFlight []flight
}

type advice struct {
	at   int64
	lead int64
}

type flight struct {
	arrival loop.Arrival
	counts  bool
}

// outcome counts the inputs of a part of a run.
type outcome struct {
	inputs, late int
	leads        float64 // sum, ns
	delays       []int64
}

// run acts from one moment to another; inputs after settled count.
func (s *sender) run(from, settled, to int64, delay func() int64) (o outcome) {
	const period = 1_000_000_000 / 60
	next := from
	for start := from; start < to; start += period {
		at := start + s.rand.Int64N(period)
		s.deliver(uint64(at), &o)
		if at >= next {
			st, _ := s.arrivals.Source(1)
			s.advised = append(s.advised, advice{at + 50*ms, st.LeadNs})
			next += 250 * ms
		}
		for len(s.advised) > 0 && s.advised[0].at <= at {
			s.lead, s.advised = s.advised[0].lead, s.advised[1:]
		}
		d := delay()
		own := uint64(at + s.clock)
		tick, _ := s.line.TickAt(own + uint64(s.lead))
		s.inFlight = append(s.inFlight, flight{loop.Arrival{Source: 1, NowNs: uint64(at + d), At: own, DueNs: s.line.DueAt(tick)}, at >= settled})
		if at >= settled {
			o.delays = append(o.delays, d)
			o.leads += float64(s.lead + s.clock)
		}
	}
	s.deliver(math.MaxUint64, &o)
	slices.Sort(o.delays)
	return o
}

// deliver passes the inputs that have arrived until now to the host, in the order of arrival.
func (s *sender) deliver(now uint64, o *outcome) {
	slices.SortStableFunc(s.inFlight, func(a, b flight) int { return int(int64(a.arrival.NowNs - b.arrival.NowNs)) })
	n := 0
	for ; n < len(s.inFlight) && s.inFlight[n].arrival.NowNs <= now; n++ {
		f := s.inFlight[n]
		s.arrivals.Add(f.arrival)
		if f.counts {
			o.inputs++
			if f.arrival.NowNs > f.arrival.DueNs {
				o.late++
			}
		}
	}
	s.inFlight = slices.Delete(s.inFlight, 0, n)
}

// Sources with delays of every kind that follow the advice have at most 2 % of their inputs late, and
// do not lead by more than the quantile of their delays and a tick.
func TestLeadConverges(t *testing.T) {
	const tick = 1_000_000_000 / 60
	r := rand.New(rand.NewPCG(1, 2))
	constant := func(d int64) func() int64 { return func() int64 { return d } }
	jitter := func(from, to int64) func() int64 { return func() int64 { return from + r.Int64N(to-from) } }
	heavy := func() int64 { // Pareto: one in a hundred exceeds 30 ms by 65 ms, one in a thousand by 300 ms
		return 30*ms + int64(3*ms*math.Pow(1-r.Float64(), -1/1.5))
	}
	spikes := func(every int) func() int64 {
		n := 0
		return func() int64 {
			if n++; n%every < 10 { // ten in a row
				return 300 * ms
			}
			return jitter(20*ms, 30*ms)()
		}
	}
	for _, c := range []struct {
		name   string
		clock  int64
		most   float64 // part of the inputs that may be late
		phases []func() int64
	}{
		{"constant", 0, 0, []func() int64{constant(40 * ms)}},
		{"none", 0, 0, []func() int64{constant(0)}},
		{"jitter", 0, 0.02, []func() int64{jitter(20*ms, 60*ms)}},
		{"clock ahead", 37 * ms, 0.02, []func() int64{jitter(40*ms, 80*ms)}},
		{"clock behind", -500 * ms, 0.02, []func() int64{jitter(40*ms, 80*ms)}},
		{"heavy tail", 0, 0.02, []func() int64{heavy}},
		{"steps", 0, 0.02, []func() int64{jitter(20*ms, 30*ms), jitter(110*ms, 130*ms), constant(5 * ms), heavy}},
		{"spikes", 0, 0.02, []func() int64{spikes(500), jitter(20*ms, 30*ms)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := loop.New(loop.Config{})
			if err != nil {
				t.Fatal(err)
			}
			s := sender{line: l.Timeline(), arrivals: mustArrivals(t, loop.ArrivalsConfig{}), rand: r, clock: c.clock}
			begin := int64(100_000 * ms)
			for i, delay := range c.phases {
				const settling, lasting = 10_500 * ms, 60_000 * ms
				o := s.run(begin, begin+settling, begin+lasting, delay)
				begin += lasting
				late, lead := float64(o.late)/float64(o.inputs), int64(o.leads/float64(len(o.delays)))
				p99 := quantileOf(o.delays, 0.99)
				t.Logf("phase %d: %.2f %% late, lead %.1f ms on average, 99 %% of delays within %.1f ms", i, 100*late, float64(lead)/ms, float64(p99)/ms)
				if late > c.most || lead > p99+tick || len(o.delays) < 2900 {
					t.Errorf("phase %d: %d of %d late, lead %d, p99 %d", i, o.late, o.inputs, lead, p99)
				}
			}
		})
	}
}

// When delays rise at once, at most half a second's inputs are late.
func TestLeadRisesAtOnce(t *testing.T) {
	l, err := loop.New(loop.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := sender{line: l.Timeline(), arrivals: mustArrivals(t, loop.ArrivalsConfig{}), rand: rand.New(rand.NewPCG(1, 2))}
	s.run(1000*ms, 0, 20_000*ms, func() int64 { return 20 * ms })
	o := s.run(20_000*ms, 20_000*ms, 25_000*ms, func() int64 { return 200 * ms })
	if o.late == 0 || o.late > 45 {
		t.Errorf("%d of %d late", o.late, o.inputs)
	}
}
