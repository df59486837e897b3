package skill

import (
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/worldlog"
)

// Event is the record of a call.
type Event struct {
	// Seq numbers calls from 1. It is 0 for calls that were rejected because too many
	// waited: these have one event for each actor and tick, with their number in Count, and
	// are not part of the state. A call that is held for approval has two events with different numbers: one
	// with PendingApproval, and one of its end.
	Seq     uint64
	Count   uint64 // 1 for all others
	Tick    uint64
	Actor   string
	Profile string
	Entity  ecs.ID // of the actor
	Skill   string // with its version; the name in the call if there is no such skill
	Cause   uint64 // what led to it: the Seq of another event, the number of Decision, or the value that the caller has set
	Held    uint64 // at the end of a held call: the Seq of its first event; Cause is then the Cause of the approver's call
	Code    Code
	Input   uint64 // hash of the input
	Output  uint64 // hash of the output, 0 if the call was refused
	// Decision is the decision of an agent that the call carries out, whatever the name of its actor. The end of a held
	// call has it too. Zero: none.
	Decision AgentDecision
}

// AgentDecision names a decision of agents, as the typed cause of calls. The zero AgentDecision: none.
type AgentDecision struct {
	// Source is agent.Config.Source of the agents. 0: agent.DefaultSource.
	Source uint32
	// Number is that of the decision, as in agent.Queued.Decision: not 0, unless there is none.
	Number uint64
}

// LogKind is the Source of the records that events make in a log, and the Kind of the inputs
// that bring calls into a tick: the letters "SKIL".
const LogKind = 0x534b494c

// Events are written in version 3. Versions 1 and 2 had no Decision; one of version 2 ended with Held, which was not 0.
const (
	eventVersion       = 3
	firstEventVersion  = 1
	secondEventVersion = 2
)

// appendEvent encodes an event in the form that ParseEvent reads.
func appendEvent(dst []byte, e *Event) []byte {
	dst = append(dst, eventVersion, byte(e.Code.number()))
	dst = wire.AppendUvarints(dst, e.Seq, e.Count, e.Tick, uint64(e.Entity), e.Cause, e.Held, uint64(e.Decision.Source), e.Decision.Number)
	dst = wire.AppendU64s(dst, e.Input, e.Output)
	dst = wire.AppendPrefixed(dst, e.Actor)
	dst = wire.AppendPrefixed(dst, e.Profile)
	return wire.AppendPrefixed(dst, e.Skill)
}

// ParseEvent reads the data of a record of type worldlog.Intent and Source LogKind, also of logs that earlier versions of
// this package have written. Their events do not say which causes are decisions: there a cause is taken for one if the
// name of the actor is the id of an entity. The error wraps evertick.ErrCorrupt.
func ParseEvent(data []byte) (Event, error) {
	p := wire.NewReader(data)
	v, code := p.U8(), p.U8()
	if v < firstEventVersion || v > eventVersion || int(code) >= len(codes) {
		return Event{}, fault.Field(fault.ErrCorrupt, "skill: event: version and code", [2]byte{v, code})
	}
	e := Event{Code: codes[code]}
	e.Seq, e.Count, e.Tick, e.Entity, e.Cause = p.Uvarint(), p.Uvarint(), p.Uvarint(), ecs.ID(p.Uvarint()), p.Uvarint()
	if v == eventVersion {
		e.Held = p.Uvarint()
		e.Decision = parseDecision(&p)
	}
	e.Input, e.Output = p.U64(), p.U64()
	e.Actor, e.Profile, e.Skill = p.String(maxActor), p.String(maxProfile), p.String(maxCalled)
	if v == secondEventVersion {
		e.Held = p.Uvarint()
	}
	if p.Done() != nil || e.Held == 0 && v == secondEventVersion || e.Held != 0 && e.Held >= e.Seq {
		return Event{}, fault.Field(fault.ErrCorrupt, "skill: event: bytes", len(data))
	}
	if _, err := ecs.ParseID(e.Actor); v == firstEventVersion && err == nil {
		e.Decision.Number = e.Cause
	}
	return e, nil
}

// parseDecision reads source and number of a decision, which are both 0 if there is none.
func parseDecision(p *wire.Reader) AgentDecision {
	source, number := p.Uvarint(), p.Uvarint()
	if source > math.MaxUint32 || source != 0 && number == 0 {
		p.Fail("source of a decision", source)
	}
	return AgentDecision{uint32(source), number}
}

// LogTo writes every event from now on into a log, as a record of type worldlog.Intent in the
// tick of the call, with LogKind as Source and its Seq. A replay does not need them: it makes the
// calls again, from the inputs, and their events are in the state hash. They are for people and tools that
// want to know which calls were made and which refused. An error of the log ends the Sim. nil stops logging.
func (r *Registry) LogTo(log worldlog.Appender) { r.log = log }

// record is the end of the pipeline.
func (r *Registry) record(t *evertick.Tick, e *Event) error {
	if e.Count == 0 {
		e.Count = 1
	}
	r.event = appendEvent(r.event[:0], e)
	if e.Seq != 0 {
		r.state.addEvent(r.event, e.Code)
	}
	if t.Again() {
		return nil
	}
	r.trace.add(e)
	if r.log == nil {
		return nil
	}
	return r.log.Append(&worldlog.Record{Type: worldlog.Intent, Source: LogKind, Seq: e.Seq, Kind: uint32(e.Code.number()), Data: r.event})
}

// ring keeps the last events. Other goroutines read it.
type ring struct {
	sync.Mutex
	events []Event
	first  int // the oldest, once the ring is full
	max    int
	lost   uint64
}

func (k *ring) add(e *Event) {
	k.Lock()
	defer k.Unlock()
	if len(k.events) < k.max {
		k.events = append(k.events, *e)
		return
	}
	k.events[k.first] = *e
	k.first = (k.first + 1) % k.max
	k.lost++
}

// keep removes the events for which want returns false.
func (k *ring) keep(want func(*Event) bool) {
	k.Lock()
	defer k.Unlock()
	kept := make([]Event, 0, cap(k.events))
	for i := range k.events {
		if e := &k.events[(k.first+i)%len(k.events)]; want(e) {
			kept = append(kept, *e)
		}
	}
	k.events, k.first = kept, 0
}

// Trace appends the kept events to dst, oldest first, only those of one actor if the name is
// not empty, and returns how many older ones were dropped. It may be called from any goroutine. The events
// belong to this registry: they are not part of a snapshot.
func (r *Registry) Trace(dst []Event, actor string) (events []Event, lost uint64) {
	k := &r.trace
	k.Lock()
	defer k.Unlock()
	for i := range k.events {
		if e := &k.events[(k.first+i)%len(k.events)]; actor == "" || e.Actor == actor {
			dst = append(dst, *e)
		}
	}
	return dst, k.lost
}

// truncate returns the beginning of a name, as UTF-8.
func truncate(s string, most int) string {
	if len(s) > most {
		s = s[:most]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
	}
	s = strings.ToValidUTF8(s, "?")
	if len(s) > most { // impossible: the replacement is not longer than the bytes that it replaces
		s = s[:most]
	}
	return s
}
