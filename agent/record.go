package agent

import (
	"encoding/binary"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/worldlog"
)

// RecordType says what happened to a decision.
type RecordType uint8

const (
	// Perceived: the perception of an agent that is asked. Hash is the hash of the Perception.
	Perceived RecordType = 1 + iota
	// Issued: the decision was requested. Cause is Perceived.
	Issued
	// Accepted: the decision has arrived and is valid; its actions wait for their tick. Cause is
	// Issued, Actions their number, Hash the hash of their encoding.
	Accepted
	// Applied: actions were applied in this tick. Cause is Accepted, Index is the first of
	// them, Actions their number. A decision without actions is applied when it is accepted.
	Applied
	// Rejected: a decision was refused, for Reason, and none of it was applied; Cause is Issued, or 0 if it
	// was not requested. Or one action of a decision was refused: Index is that of the action, Cause is
	// Accepted, Actions is 1.
	Rejected
	// Expired: no answer came in time, in ticks or in wall time.
	Expired
	// Cancelled: the answer is not needed any more.
	Cancelled
	recordEnd
)

var recordNames = [recordEnd]string{"invalid", "Perceived", "Issued", "Accepted", "Applied", "Rejected", "Expired", "Cancelled"}

// String returns the name of the constant.
func (r RecordType) String() string { return enum.Name(recordNames[:], r, "RecordType") }

// Reason says why something was rejected, expired or cancelled.
type Reason uint8

const (
	NoReason Reason = iota
	// Of decisions that were rejected.
	Malformed      // not the encoding of a decision
	TooManyActions // Config.MaxActions
	TooLarge       // Config.MaxBytes, or ActionDef.MaxData
	UnknownAction
	BadArgs       // number of arguments, or one out of its bounds
	NotFinite     // an argument is NaN or infinite
	BadTarget     // a target where there must be none, or none where there must be one
	BadDelay      // After is more than MaxAfter
	ProviderError // the provider returned an error
	ProviderPanic // it panicked
	QueueFull     // Config.Queue or AgentQueue
	Duplicate     // the decision has been answered
	Late          // it has expired or was cancelled
	StaleAnswer   // for another perception: from a run that took another course
	Unasked       // a decision that was not requested
	Abandoned     // ProviderConfig.Abandoned calls have not returned
	// Of actions that were rejected.
	StaleTarget  // the target is gone
	HandlerError // Config.Apply returned an error
	// Of decisions that expired.
	DeadlinePassed // Spec.DeadlineTicks
	TimedOut       // Spec.Timeout
	// Of decisions that were cancelled.
	Removed   // the agent was removed
	Despawned // its entity is gone
	Withdrawn // Agents.Cancel
	Closed    // Agents.Close
	Orphaned  // restored from a snapshot, which has no perception for the provider
	// Of decisions that were issued.
	ByFallback // Config.Fallback decided
	// Of decisions that were rejected, again.
	ProviderBusy // the provider returned a RetryError, or was not called because of one
	reasonEnd
)

var reasonNames = [reasonEnd]string{"none", "malformed", "too_many_actions", "too_large", "unknown_action", "bad_args", "not_finite",
	"bad_target", "bad_delay", "provider_error", "provider_panic", "queue_full", "duplicate", "late", "stale_answer", "unasked",
	"abandoned", "stale_target", "handler_error", "deadline", "timeout", "removed", "despawned", "withdrawn", "closed", "orphaned", "fallback", "provider_busy"}

// String returns the reason in small letters, as in reports.
func (r Reason) String() string { return enum.Name(reasonNames[:], r, "Reason") }

// Record is a step in the life of a decision. Records are numbered from 1 in the order in which they happen,
// and a replay repeats that order. Cause leads from an action back to the perception.
type Record struct {
	Seq, Cause uint64
	Tick       uint64
	Type       RecordType
	Reason     Reason
	Provider   int // index into Config.Providers; of Issued
	Agent      ecs.ID
	Decision   uint64
	Hash       uint64
	Index      int
	Actions    int
}

// String returns the record as a line.
func (r *Record) String() string {
	s := fmt.Sprintf("%d: tick %d: %v decision %d %v", r.Seq, r.Tick, r.Agent, r.Decision, r.Type)
	if r.Reason != NoReason {
		s += " (" + r.Reason.String() + ")"
	}
	return fmt.Sprintf("%s, %d actions from %d, hash %016x, caused by %d", s, r.Actions, r.Index, r.Hash, r.Cause)
}

// The encoding of a record, all little-endian: bytes version, type and reason; uint16
// provider; uint32 index, actions; uint64 cause, tick, agent, decision, hash.
const (
	recordVersion = 1
	recordBytes   = 1 + 1 + 1 + 2 + 4 + 4 + 5*8
)

// appendRecord encodes all but Seq.
func appendRecord(dst []byte, r *Record) []byte {
	dst = append(dst, recordVersion, byte(r.Type), byte(r.Reason))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(r.Provider))
	dst = wire.AppendU32s(dst, uint32(r.Index), uint32(r.Actions))
	return wire.AppendU64s(dst, r.Cause, r.Tick, uint64(r.Agent), r.Decision, r.Hash)
}

// ParseRecord reads a record that Agents.LogTo has written, of type worldlog.Intent if it is
// Applied and worldlog.Decision otherwise. The error wraps ErrCorrupt, or ErrUnsupported for
// another version.
func ParseRecord(rec *worldlog.Record) (Record, error) {
	b := rec.Data
	if rec.Type != worldlog.Decision && rec.Type != worldlog.Intent || len(b) != recordBytes {
		return Record{}, fault.Field(fault.ErrCorrupt, "agent: record of "+rec.Type.String()+": bytes", len(b))
	}
	if b[0] != recordVersion {
		return Record{}, fault.Field(fault.ErrUnsupported, "agent: record: version", b[0])
	}
	p := wire.NewReader(b[1:])
	r := Record{
		Seq: rec.Seq, Type: RecordType(p.U8()), Reason: Reason(p.U8()), Provider: int(p.U16()), Index: int(p.U32()), Actions: int(p.U32()),
		Cause: p.U64(), Tick: p.U64(), Agent: ecs.ID(p.U64()), Decision: p.U64(), Hash: p.U64(),
	}
	intent := rec.Type == worldlog.Intent
	if r.Type == 0 || r.Type >= recordEnd || r.Reason >= reasonEnd || intent != (r.Type == Applied) || r.Cause >= r.Seq {
		return Record{}, fault.Field(fault.ErrCorrupt, "agent: record: type, reason, cause", [3]uint64{uint64(b[1]), uint64(b[2]), r.Cause})
	}
	return r, nil
}

// record adds a record of this tick, and returns its number.
func (a *Agents) record(t *evertick.Tick, r Record) uint64 {
	a.recorded++
	r.Seq, r.Tick = a.recorded, t.N
	a.chain = a.nextChain(a.chain, &r)
	a.ring[(r.Seq-1)%uint64(len(a.ring))] = r
	a.count(&r)
	if a.cfg.OnRecord != nil {
		a.cfg.OnRecord(t, &r)
	}
	if a.log != nil && !t.Again() && a.logErr == nil {
		a.logErr = a.appendToLog(&r)
	}
	return r.Seq
}

// nextChain adds a record to the hash of all records so far: two runs with equal chains had the same records.
func (a *Agents) nextChain(chain uint64, r *Record) uint64 {
	a.encoded = wire.AppendU64s(a.encoded[:0], chain)
	a.encoded = appendRecord(a.encoded, r)
	return hashOf(a.encoded)
}

// appendToLog writes a record to the log.
func (a *Agents) appendToLog(r *Record) error {
	a.encoded = appendRecord(a.encoded[:0], r)
	a.logRecord = worldlog.Record{Type: worldlog.Decision, Source: a.cfg.Source, Kind: uint32(r.Type), Seq: r.Seq, Data: a.encoded}
	if r.Type == Applied {
		a.logRecord.Type = worldlog.Intent
	}
	if err := a.log.Append(&a.logRecord); err != nil {
		return fmt.Errorf("agent: record %d: %w", r.Seq, err)
	}
	return nil
}

// LogTo writes every record from now on into a log too, within its tick: into the log of a
// replay.Recorder of the same Sim, see its method Log, or a causal.Tap. Ticks that run again are in the log
// already. An error of the log fails the step. nil stops logging.
func (a *Agents) LogTo(log worldlog.Appender) { a.log = log }

// Records appends to dst the records with numbers above since that are still kept: at most Config.Records,
// and none from before the last Restore. Pass the number of the last record that you have seen, and it
// returns the new ones.
func (a *Agents) Records(dst []Record, since uint64) []Record {
	first := max(since, a.ringFrom)
	if n := uint64(len(a.ring)); a.recorded > n {
		first = max(first, a.recorded-n)
	}
	for seq := first + 1; seq <= a.recorded; seq++ {
		dst = append(dst, a.ring[(seq-1)%uint64(len(a.ring))])
	}
	return dst
}

// Chain returns a hash chain over all records so far.
func (a *Agents) Chain() uint64 { return a.chain }

// Stats count since tick 0 of the Sim. They are part of its state, and a replay repeats them.
type Stats struct {
	Due       uint64 // turns of agents
	Perceived uint64 // perceptions built
	Issued    uint64 // decisions requested, from providers and from Config.Fallback
	Fallbacks uint64 // of these, from Config.Fallback
	Accepted  uint64 // decisions
	Applied   uint64 // actions
	Rejected  uint64 // decisions, and actions
	Expired   uint64 // decisions
	Cancelled uint64 // decisions, and actions

	ShedBusy  uint64 // turns lost because the last decision was in flight,
	ShedLimit uint64 // because a limit was reached or the provider has asked for time (RetryError),
	ShedQueue uint64 // or because too many actions waited
	Coalesced uint64 // of these turns, those that began a wait (see Coalesce)
	Deferred  uint64 // times that a due action had to wait for the next tick
	QueueHigh uint64 // largest number of waiting actions ever

	Reasons [reasonEnd]uint64 // records by reason; those with none are not counted
}

const plainStats = 15

// fields lists the counts.
func (s *Stats) fields() [plainStats]*uint64 {
	return [...]*uint64{&s.Due, &s.Perceived, &s.Issued, &s.Fallbacks, &s.Accepted, &s.Applied, &s.Rejected, &s.Expired, &s.Cancelled,
		&s.ShedBusy, &s.ShedLimit, &s.ShedQueue, &s.Coalesced, &s.Deferred, &s.QueueHigh}
}

// Stats returns the counts.
func (a *Agents) Stats() Stats { return a.stats }

// Reason returns how many records had a reason.
func (s *Stats) Reason(r Reason) uint64 {
	if r >= reasonEnd {
		return 0
	}
	return s.Reasons[r]
}

// count counts a record.
func (a *Agents) count(r *Record) {
	s := &a.stats
	switch r.Type {
	case Issued:
		s.Issued++
	case Accepted:
		s.Accepted++
	case Applied:
		s.Applied += uint64(r.Actions)
	case Rejected:
		s.Rejected++
	case Expired:
		s.Expired++
	case Cancelled:
		s.Cancelled++
	}
	if r.Reason != NoReason {
		s.Reasons[r.Reason]++
	}
}
