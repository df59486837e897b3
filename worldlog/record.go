package worldlog

import (
	"encoding/binary"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/wire"
)

// Type says what a record is. The log interprets only the data of SnapshotRef and
// TickCommit, which it writes itself.
type Type uint8

// The types of records, as stored.
const (
	Config      Type = 1 + iota // how the run was set up
	Schema                      // names and types of the columns
	Input                       // an input from outside, in the order of application
	Intent                      // a request of an agent or a player
	Decision                    // a decision made elsewhere, which a replay does not make again
	Command                     // a change of the world
	Marker                      // a note for people and tools
	SnapshotRef                 // a snapshot is on disk; written by the log
	TickCommit                  // the end of a tick; written by the log, see Tick
	Columns                     // state hashes, column by column
	Query                       // the hash of a query's results, for checking
	typeEnd
)

var typeNames = [typeEnd]string{"invalid", "Config", "Schema", "Input", "Intent", "Decision", "Command",
	"Marker", "SnapshotRef", "TickCommit", "Columns", "Query"}

// String returns the name of the constant.
func (t Type) String() string { return enum.Name(typeNames[:], t, "Type") }

// own reports whether the log writes records of the type itself.
func (t Type) own() bool { return t == SnapshotRef || t == TickCommit }

// Record is one entry of a tick.
type Record struct {
	Tick   uint64 // of the commit that ends its tick; Append ignores it
	Seq    uint64 // the writer's number; numbers that rise by one cost nothing
	Source uint32 // 0 costs nothing
	Kind   uint32 // 0 costs nothing
	Type   Type
	Data   []byte
}

// Appender takes records: a *Log is one.
type Appender interface {
	Append(*Record) error
}

// Counts are figures that the writer reports with a tick; the log only keeps them.
type Counts struct {
	Dropped uint64 // inputs, steps or other things dropped in this tick
	Live    uint64 // entities alive after it
}

// Limits of the format, which writers and readers enforce, so that no length in a
// damaged file makes a reader allocate more than the limit.
const (
	MaxData    = 16<<20 - 64 // bytes of data in a record
	MaxTick    = 64 << 20    // encoded bytes in a tick
	MaxRecords = 1 << 20     // records in a tick

	maxTickNumber = 1<<63 - 1
)

// The byte before the fields of a record: the type, and which fields follow.
const (
	typeMask  = 0x0f
	hasSource = 0x10
	hasKind   = 0x20
	hasSeq    = 0x40
)

const (
	maxBody     = 16 << 20       // so that the length takes four bytes at most
	maxFields   = 1 + 5 + 5 + 10 // type, Source, Kind, Seq
	maxOverhead = 4 + maxFields + 4
	maxCommit   = 1 + 1 + 9 + 8 + 3 + 10 + 10 + 10 + 4 // length, type, tick, hash, records, dropped, live, lag, CRC
	crcSize     = wire.CRCSize
)

// coder is what both directions remember from one record of a segment to the
// next.
type coder struct {
	crc uint32
	seq uint64
}

// appendBody appends a record whose body is fields and data, with its length and the CRC
// that continues from the record before.
func (c *coder) appendBody(dst, fields, data []byte) []byte {
	start := len(dst)
	dst = wire.AppendUvarints(dst, uint64(len(fields)+len(data)))
	dst = append(dst, fields...)
	dst = append(dst, data...)
	c.crc = wire.CRC(c.crc, dst[start:])
	return wire.AppendU32s(dst, c.crc)
}

// append appends r to dst. The types that the log writes itself have no fields
// and do not change the numbering.
func (c *coder) append(dst []byte, r *Record) []byte {
	var fields [maxFields]byte
	f := append(fields[:0], byte(r.Type))
	if !r.Type.own() {
		if r.Source != 0 {
			f[0] |= hasSource
			f = wire.AppendUvarints(f, uint64(r.Source))
		}
		if r.Kind != 0 {
			f[0] |= hasKind
			f = wire.AppendUvarints(f, uint64(r.Kind))
		}
		if r.Seq != c.seq+1 {
			f[0] |= hasSeq
			f = binary.AppendVarint(f, int64(r.Seq-c.seq-1))
		}
		c.seq = r.Seq
	}
	return c.appendBody(dst, f, r.Data)
}

// commit is the payload of TickCommit.
type commit struct {
	tick, hash uint64
	records    uint64 // in this tick, without the commit
	counts     Counts
	lag        uint64 // ticks from the durable one to this one when it was encoded; 0: none was durable
}

// durable returns the tick that was on disk when c was written.
func (c *commit) durable() (uint64, bool) { return c.tick - c.lag, c.lag > 0 }

func (c *coder) appendCommit(dst []byte, m *commit) []byte {
	var body [maxCommit]byte
	b := wire.AppendUvarints(append(body[:0], byte(TickCommit)), m.tick)
	b = wire.AppendU64s(b, m.hash)
	b = wire.AppendUvarints(b, m.records, m.counts.Dropped, m.counts.Live, m.lag)
	return c.appendBody(dst, b, nil)
}

// decode reads the body of a record that is no commit; Data is part of body.
func (c *coder) decode(body []byte, r *Record) bool {
	*r = Record{Type: Type(body[0] & typeMask)}
	p := wire.NewReader(body[1:])
	if r.Type == 0 || r.Type >= typeEnd || r.Type == TickCommit || body[0]&^typeMask != 0 && r.Type.own() ||
		body[0] > typeMask|hasSource|hasKind|hasSeq {
		return false
	}
	if body[0]&hasSource != 0 {
		r.Source = uint32(p.Canonical(1, 1<<32-1))
	}
	if body[0]&hasKind != 0 {
		r.Kind = uint32(p.Canonical(1, 1<<32-1))
	}
	if !r.Type.own() {
		var step uint64
		if body[0]&hasSeq != 0 {
			u := p.Canonical(1, 1<<64-1)
			step = u>>1 ^ -(u & 1)
		}
		c.seq += 1 + step
		r.Seq = c.seq
	}
	r.Data = p.Rest()
	return p.Err() == nil
}

func (m *commit) decode(body []byte) bool {
	if body[0] != byte(TickCommit) {
		return false
	}
	p := wire.NewReader(body[1:])
	m.tick, m.hash, m.records = p.Canonical(0, maxTickNumber), p.U64(), p.Canonical(0, MaxRecords)
	m.counts.Dropped, m.counts.Live = p.Canonical(0, 1<<64-1), p.Canonical(0, 1<<64-1)
	m.lag = p.Canonical(0, m.tick)
	return p.Done() == nil
}
