package causal

import (
	"cmp"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

// Step is one step of the trace: either an input, a record or an event; the other two are nil. It is valid until the
// function that gets it returns.
type Step struct {
	Tick uint64
	Time loop.SimTime // simulated time at which the tick begins
	// Source is the source of the input, agent.Config.Source of the record, or skill.LogKind.
	Source uint32
	Input  *evertick.Input
	Record *agent.Record
	Event  *skill.Event
}

// Decision returns the decision that a step belongs to, as the source of the agents and a number, and whether it
// belongs to one. A call states its decision; the package comment has the rule for inputs.
func (s *Step) Decision() (source uint32, number uint64, ok bool) {
	switch {
	case s.Record != nil:
		return s.Source, s.Record.Decision, s.Record.Decision != 0
	case s.Event != nil:
		d := s.Event.Decision
		return cmp.Or(d.Source, agent.DefaultSource), d.Number, d.Number != 0
	case s.Input != nil:
		return agent.DefaultSource, s.Input.Seq, s.Source == agent.DefaultSource && s.Input.Kind == agent.DefaultKind
	}
	return 0, 0, false
}

// maker makes the steps of records, and passes them to a sink.
type maker struct {
	sink     func(*Step) error
	num, den int64 // ticks in a second; 0: 60
	step     Step
	input    evertick.Input
	record   agent.Record
	event    skill.Event
}

// setDt computes the rate from dt, the seconds of a tick, since a log has only these. It takes a rate whose tick rounds
// to dt: a whole number if there is one, else one over 1,001 as in television, else the one with the smallest
// denominator up to 1,024. If there is none, it takes the nearest rate with the greatest numerator or denominator that
// a rate can have. So 1/60 gives 60 exactly.
func (m *maker) setDt(dt float32) error {
	if !(dt > 0 && dt < math.MaxFloat32) {
		return fault.Field(fault.ErrCorrupt, "causal: seconds of a tick", dt)
	}
	const most = 100_000_000 // see loop.Config.RateNum
	seconds := float64(dt)
	nearest := func(den float64) bool {
		num := math.RoundToEven(den / seconds)
		m.num, m.den = int64(min(max(num, 1), 1<<62)), int64(den)
		return num <= most && float32(den/num) == dt
	}
	found := nearest(1) || nearest(1001)
	for den := 2.0; den <= 1024 && !found; den++ {
		found = nearest(den)
	}
	switch {
	case found:
	case seconds < 1:
		nearest(max(1, math.Floor(most*seconds)))
	default:
		num := max(1, math.Floor(most/seconds))
		m.num, m.den = int64(num), int64(min(math.RoundToEven(num*seconds), 1<<62))
	}
	if _, err := loop.NewSimTime(0, m.num, m.den); err != nil { // no Loop has such a rate
		return fault.Field(fault.ErrCorrupt, "causal: seconds of a tick", dt)
	}
	return nil
}

// begin begins a step of a tick.
func (m *maker) begin(tick uint64, source uint32) (*Step, error) {
	t, err := loop.NewSimTime(tick, m.num, m.den)
	m.step = Step{Tick: tick, Time: t, Source: source}
	return &m.step, err
}

// ofInput returns the step of an input.
func (m *maker) ofInput(tick uint64, in *evertick.Input) (*Step, error) {
	s, err := m.begin(tick, in.Source)
	m.input = *in
	s.Input = &m.input
	return s, err
}

// ofRecord returns the step of a record of agents or skills, and nil for other records.
func (m *maker) ofRecord(tick uint64, rec *worldlog.Record) (*Step, error) {
	var s *Step
	var err error
	switch {
	case rec.Type == worldlog.Intent && rec.Source == skill.LogKind:
		if m.event, err = skill.ParseEvent(rec.Data); err != nil || m.event.Seq == 0 {
			return nil, err
		}
		s, err = m.begin(tick, rec.Source)
		s.Event = &m.event
	case rec.Type == worldlog.Decision || rec.Type == worldlog.Intent:
		if m.record, err = agent.ParseRecord(rec); err != nil {
			return nil, err
		}
		s, err = m.begin(tick, rec.Source)
		s.Record = &m.record
	default:
		return nil, nil
	}
	return s, err
}

// Read passes the steps of a log of package replay to a sink, from its first tick on. It runs no tick, so it needs
// no scenario. If fsys is nil it is worldlog.OS. Read returns the error of the log if that is damaged or torn, or that
// of the sink.
func Read(dir string, fsys worldlog.FS, sink func(*Step) error) error {
	return ReadTicks(dir, fsys, 0, math.MaxUint64, sink)
}

// ReadTicks is Read for the steps of the ticks from up to, but not including, to. It reads the first tick of the log and
// these ticks only.
func ReadTicks(dir string, fsys worldlog.FS, from, to uint64, sink func(*Step) error) error {
	if sink == nil {
		panic("causal: Read: nil sink")
	}
	r, err := worldlog.OpenReader(dir, fsys)
	if err != nil {
		return err
	}
	defer r.Close()
	m := maker{sink: sink}
	if from > 0 { // the first tick has the rate
		for t, err := range r.Ticks(0) {
			if err == nil {
				err = m.configure(t)
			}
			if err != nil {
				return err
			}
			break
		}
	}
	for t, err := range r.Ticks(from) {
		if err == nil && t.Tick < to {
			err = m.tick(t)
		}
		if err != nil || t.Tick+1 >= to { // what comes next may be torn
			return err
		}
	}
	return nil
}

// pass passes a step to the sink, if there is one.
func (m *maker) pass(s *Step, err error) error {
	if s == nil || err != nil {
		return err
	}
	return m.sink(s)
}

// tick passes the steps of a tick of a log, unless it has failed: see replay.Recorder.CommitFailed.
func (m *maker) tick(t *worldlog.Tick) error {
	if t.Hash == 0 {
		return nil
	}
	if err := m.configure(t); err != nil {
		return err
	}
	for i := range t.Records {
		r := &t.Records[i]
		if r.Type != worldlog.Input {
			continue
		}
		in, err := replay.ParseInput(t.Tick, r)
		if err != nil {
			return err
		}
		if err := m.pass(m.ofInput(t.Tick, &in)); err != nil {
			return err
		}
	}
	for i := range t.Records {
		if err := m.pass(m.ofRecord(t.Tick, &t.Records[i])); err != nil {
			return err
		}
	}
	return nil
}

// configure takes the rate from a tick of a log that has it.
func (m *maker) configure(t *worldlog.Tick) error {
	for i := range t.Records {
		if r := &t.Records[i]; r.Type == worldlog.Config {
			dt, _, err := replay.ParseConfig(r.Data)
			if err == nil {
				err = m.setDt(dt)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
