package inspector

import (
	"context"
	"strconv"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/causal"
)

// traceLog holds the last steps of the causal trace of a live Sim.
type traceLog struct {
	mu   sync.Mutex
	ring ring[[]byte] // JSON objects
}

// attachTrace makes the agents and skills of the Config pass their records to a trace too, until the hooks of l are
// removed. Call it where Step may be called.
func (in *Inspector) attachTrace(sim *evertick.Sim, l *live) {
	c := &in.config
	if len(c.Trace) == 0 && c.TraceTo == nil {
		return
	}
	tap := causal.Attach(sim, c.TraceTo, l.trace.add)
	for _, t := range c.Trace {
		t.LogTo(tap)
	}
	remove := l.remove
	l.remove = func() {
		remove()
		for _, t := range c.Trace {
			t.LogTo(c.TraceTo)
		}
		tap.Detach()
		l.remove = remove
	}
}

// add is the sink of the trace.
func (l *traceLog) add(s *causal.Step) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	row := l.ring.next(recordedSteps)
	*row = s.AppendJSON((*row)[:0])
	return nil
}

// answer appends the steps after a number.
func (l *traceLog) answer(after uint64) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, lost := l.ring.since(after)
	dst := beginSteps(l.ring.last, lost)
	for seq := first; seq <= l.ring.last; seq++ {
		dst = appendStep(dst, seq, *l.ring.at(seq), seq == first)
	}
	return Answer{200, typeJSON, append(dst, "]}"...)}
}

func beginSteps(seq, lost uint64) []byte {
	dst := strconv.AppendUint([]byte(`{"seq":`), seq, 10)
	dst = strconv.AppendUint(append(dst, `,"lost":`...), lost, 10)
	return append(dst, `,"steps":[`...)
}

// appendStep appends the object of a step, with its number as its first field.
func appendStep(dst []byte, seq uint64, object []byte, first bool) []byte {
	if !first {
		dst = append(dst, ',')
	}
	dst = strconv.AppendUint(append(dst, `{"seq":`...), seq, 10)
	return append(append(dst, ','), object[1:]...)
}

const (
	// stepsPerTick makes numbers of the steps of a log: tick·stepsPerTick + 1, + 2, …, so that a step has the same number
	// in all answers though no answer counts the steps of all ticks before it.
	stepsPerTick = 1 << 16
	// mostTraced bounds the ticks of a log that an answer reads.
	mostTraced = 1 << 16
)

// logSteps are the last steps of a range of ticks.
type logSteps struct {
	ring    ring[[]byte]
	numbers [recordedSteps]uint64 // by number in the ring modulo its length
	tick    uint64
	inTick  uint64 // steps of tick so far
}

// read reads the steps of a range of ticks with numbers above after.
func (l *logSteps) read(ctx context.Context, c *Config, dir string, from, to, after uint64) error {
	return causal.ReadTicks(dir, c.FS, from, to, func(s *causal.Step) error {
		if s.Tick != l.tick {
			l.tick, l.inTick = s.Tick, 0
		}
		l.inTick++
		if seq := s.Tick*stepsPerTick + min(l.inTick, stepsPerTick-1); seq > after {
			row := l.ring.next(recordedSteps)
			*row = s.AppendJSON((*row)[:0])
			l.numbers[l.ring.last%recordedSteps] = seq
		}
		return ctx.Err()
	})
}

// logTrace answers with the steps of a log before a tick: the last ones, of at most mostTraced ticks.
// It reads more and more ticks until they have enough steps.
func (in *Inspector) logTrace(ctx context.Context, dir string, ticks, after uint64) Answer {
	end := ticks * stepsPerTick
	if after >= end { // the Sim has gone back
		after = 0
	}
	oldest := max(ticks, mostTraced) - mostTraced
	oldest = max(oldest, after/stepsPerTick)
	var steps *logSteps
	span := uint64(1 << 10)
	if after > 0 { // to count what is lost
		span = ticks
	}
	for ; ; span *= 4 {
		from := max(max(ticks, span)-span, oldest)
		steps = new(logSteps)
		if err := steps.read(ctx, &in.config, dir, from, ticks, after); err != nil {
			return errorAnswer(err)
		}
		if from == oldest || steps.ring.last >= recordedSteps {
			break
		}
	}
	first, lost := steps.ring.since(0)
	if after == 0 { // the page asks for the last steps
		lost = 0
	}
	dst := beginSteps(max(end, 1)-1, lost)
	for n := first; n <= steps.ring.last; n++ {
		dst = appendStep(dst, steps.numbers[n%recordedSteps], *steps.ring.at(n), n == first)
	}
	return Answer{200, typeJSON, append(dst, "]}"...)}
}

// trace answers GET trace. It does not wait for the Sim.
func (in *Inspector) trace(ctx context.Context, r *Request, s subject) Answer {
	after, err := wholeNumber(r.Query, "after", 0)
	if err != nil {
		return errorAnswer(err)
	}
	var st status
	switch s.name() {
	case "live":
		return in.live.trace.answer(after)
	case "other":
		s.report(&st)
		return in.logTrace(ctx, in.config.Other, st.Tick, after)
	}
	s.report(&st)
	return in.logTrace(ctx, in.config.Log, st.Tick, after)
}
