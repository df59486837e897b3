package causal

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/worldlog"
)

// Tap yields the steps of a running Sim. Pass it to the methods LogTo of agents and skills. Only the goroutine that
// steps the Sim may use it.
type Tap struct {
	maker
	next    worldlog.Appender
	records []worldlog.Record // of the running tick
	data    []byte            // of all of them
	remove  func()
}

// Attach adds a Tap to a Sim. The Tap passes the steps of each complete tick to the sink; an error of the sink fails
// the step, see evertick.Hooks.AfterTick. It passes the records that it gets on to next, such as the log of a
// replay.Recorder, unless next is nil.
func Attach(sim *evertick.Sim, next worldlog.Appender, sink func(*Step) error) *Tap {
	if sim == nil || sink == nil {
		panic("causal: Attach: nil Sim or sink")
	}
	t := &Tap{maker: maker{sink: sink}, next: next}
	if err := t.setDt(sim.Dt()); err != nil {
		panic("causal: Attach: the Sim has no rate")
	}
	t.remove = sim.AddHooks(evertick.Hooks{BeforeTick: t.begin, AfterTick: t.end})
	return t
}

// Detach removes the Tap from its Sim: it yields no more steps. Pass the log that came after the Tap, or nil, to LogTo of
// its agents and skills first.
func (t *Tap) Detach() { t.remove() }

// Append implements worldlog.Appender: it keeps the record until the tick is complete.
func (t *Tap) Append(r *worldlog.Record) error {
	from := len(t.data)
	t.data = append(t.data, r.Data...)
	t.records = append(t.records, *r)
	t.records[len(t.records)-1].Data = t.data[from:len(t.data):len(t.data)]
	if t.next == nil {
		return nil
	}
	return t.next.Append(r)
}

// begin discards the records of a tick that has failed.
func (t *Tap) begin(*evertick.Tick) error {
	clear(t.records)
	t.records, t.data = t.records[:0], t.data[:0]
	return nil
}

func (t *Tap) end(tick *evertick.Tick) error {
	if tick.Again() {
		return nil
	}
	for i := range tick.Inputs() {
		if err := t.pass(t.ofInput(tick.N, &tick.Inputs()[i])); err != nil {
			return fmt.Errorf("causal: %w", err)
		}
	}
	for i := range t.records {
		if err := t.pass(t.ofRecord(tick.N, &t.records[i])); err != nil {
			return fmt.Errorf("causal: %w", err)
		}
	}
	return nil
}
