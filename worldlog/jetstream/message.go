package jetstream

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/worldlog"
)

const (
	magic   = "\x89evtjet\n"
	version = 1

	sumSize   = sha256.Size
	ownerSize = 16
	claimSize = 16
	maxTick   = 1<<63 - 1
	// maxHeader is the size of a message without a body.
	maxHeader = 8 + 2 + 1 + 1 + 8 + ownerSize + 4 + 8 + 8 + 32 + 1 + 255 + 8 + 4 + 4 + 4 + 2*sumSize + sumSize
)

// kind says what a message is.
type kind uint8

const (
	kindTerm     kind = 1 + iota // a master begins: no ticks
	kindTicks                    // whole ticks
	kindPart                     // a part of a tick that is larger than a message
	kindSnapshot                 // a snapshot follows; in the object store only
	kindBeat                     // a master lives; never in the stream
	kindEnd
)

// sum is a rolling checksum, or the checksum of a message.
type sum [sumSize]byte

// owner names a log that ships: random, and the same as long as the log exists.
type owner [ownerSize]byte

// message is the unit of a stream. Ticks first to first+count-1 are whole in it, or end in it.
type message struct {
	kind        kind
	term        uint64
	owner       owner
	id          worldlog.Identity
	first       uint64
	count       uint32
	part, parts uint32 // of a kindPart: which, counted from 0, and how many
	before      sum    // rolling checksum before tick first
	after       sum    // after tick first+count-1
	body        []byte
}

// next returns the tick that comes after the message.
func (m *message) next() uint64 { return m.first + uint64(m.count) }

// sums computes checksums, with a key or without.
type sums struct{ h hash.Hash }

func newSums(key []byte) *sums {
	if len(key) == 0 {
		return &sums{sha256.New()}
	}
	return &sums{hmac.New(sha256.New, key)}
}

// of returns the checksum of all parts one after another.
func (s *sums) of(parts ...[]byte) (out sum) {
	s.h.Reset()
	for _, p := range parts {
		s.h.Write(p)
	}
	s.h.Sum(out[:0])
	return out
}

// start returns the rolling checksum before the first tick of a run.
func (s *sums) start(id *worldlog.Identity) sum { return s.of([]byte(magic), appendIdentity(nil, id)) }

// tick continues the rolling checksum with an encoded tick.
func (s *sums) tick(before sum, tick uint64, encoded []byte) sum {
	return s.of(before[:], wire.AppendU64s(nil, tick), encoded)
}

func appendIdentity(dst []byte, id *worldlog.Identity) []byte {
	dst = wire.AppendU32s(dst, id.SimVersion)
	dst = wire.AppendU64s(dst, id.Seed, id.FirstTick)
	dst = append(dst, id.Parent[:]...)
	return wire.AppendName(dst, id.Scenario)
}

// append appends the message with its checksum.
func (m *message) append(dst []byte, s *sums) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = append(dst, version, version>>8, byte(m.kind), 0)
	dst = wire.AppendU64s(dst, m.term)
	dst = append(dst, m.owner[:]...)
	dst = appendIdentity(dst, &m.id)
	dst = wire.AppendU64s(dst, m.first)
	dst = wire.AppendU32s(dst, m.count, m.part, m.parts)
	dst = append(dst, m.before[:]...)
	dst = append(dst, m.after[:]...)
	dst = append(dst, m.body...)
	check := s.of(dst[start:])
	return append(dst, check[:]...)
}

// decode reads a message, whose body is part of b. The error wraps ErrForged if the checksum is wrong,
// ErrUnsupported for another version, and ErrCorrupt.
func (m *message) decode(b []byte, s *sums) error {
	at := max(0, len(b)-sumSize)
	r := wire.NewReader(b[:at])
	begin, v := r.Bytes(len(magic)), r.U16()
	if r.Err() != nil || string(begin) != magic {
		return fmt.Errorf("no message of a log: %w", ErrForged)
	}
	if v != version {
		return fmt.Errorf("%w, known is %d", fault.Field(ErrUnsupported, "format version", v), version)
	}
	check := s.of(b[:at])
	if subtle.ConstantTimeCompare(check[:], b[at:]) != 1 {
		return fmt.Errorf("checksum of the message: %w", ErrForged)
	}
	m.kind = kind(r.U8())
	if flags := r.U8(); flags != 0 {
		r.Fail("flags", flags)
	}
	m.term = r.U64()
	copy(m.owner[:], r.Bytes(ownerSize))
	m.id.SimVersion, m.id.Seed, m.id.FirstTick = r.U32(), r.U64(), r.U64()
	copy(m.id.Parent[:], r.Bytes(len(m.id.Parent)))
	m.id.Scenario = string(r.Name())
	m.first, m.count, m.part, m.parts = r.U64(), r.U32(), r.U32(), r.U32()
	copy(m.before[:], r.Bytes(sumSize))
	copy(m.after[:], r.Bytes(sumSize))
	m.body = r.Rest()
	if r.Err() != nil {
		return fmt.Errorf("message: %w", r.Err())
	}
	return m.check()
}

// check reports fields that contradict each other.
func (m *message) check() error {
	bad := func(field string, value any) error { return fault.Field(ErrCorrupt, "message: "+field, value) }
	last := m.kind == kindPart && m.part+1 == m.parts
	switch {
	case m.kind == 0 || m.kind >= kindEnd:
		return bad("kind", m.kind)
	case m.first > maxTick-uint64(m.count) || m.first < m.id.FirstTick:
		return bad("first tick", m.first)
	case m.kind == kindTicks && m.count == 0, m.kind == kindPart && m.count != 0 != last, m.kind != kindTicks && m.count > 1,
		m.kind != kindTicks && m.kind != kindPart && m.count != 0:
		return bad("ticks", m.count)
	case m.kind == kindPart && m.part >= m.parts, m.kind != kindPart && (m.part != 0 || m.parts != 0), m.parts > worldlog.MaxTick:
		return bad("part", m.part)
	case m.kind == kindTerm && len(m.body) != claimSize:
		return bad("bytes of the body", len(m.body))
	case m.count == 0 && m.before != m.after:
		return bad("rolling checksum without ticks", fmt.Sprintf("%x", m.after[:8]))
	}
	return nil
}

// An encoded tick has all that a log holds of a tick, but for references to snapshots, which each log has of its own.

// appendTick appends a tick.
func appendTick(dst []byte, t *worldlog.Tick) []byte {
	dst = wire.AppendU64s(dst, t.Hash)
	dst = wire.AppendUvarints(dst, t.Counts.Dropped, t.Counts.Live)
	n := 0
	for i := range t.Records {
		if t.Records[i].Type != worldlog.SnapshotRef {
			n++
		}
	}
	dst = wire.AppendUvarints(dst, uint64(n))
	for i := range t.Records {
		r := &t.Records[i]
		if r.Type == worldlog.SnapshotRef {
			continue
		}
		dst = wire.AppendUvarints(append(dst, byte(r.Type)), uint64(r.Source), uint64(r.Kind), r.Seq)
		dst = wire.AppendPrefixed(dst, r.Data)
	}
	return dst
}

// minRecord is the size of the smallest encoded record.
const minRecord = 5

// decodeTick reads a tick. The data of its records are part of b. t.Records is reused.
func decodeTick(b []byte, tick uint64, t *worldlog.Tick) error {
	r := wire.NewReader(b)
	t.Tick, t.Hash = tick, r.U64()
	t.Counts = worldlog.Counts{Dropped: r.Canonical(0, 1<<64-1), Live: r.Canonical(0, 1<<64-1)}
	n := r.Count(r.Canonical(0, worldlog.MaxRecords), worldlog.MaxRecords, minRecord)
	t.Records = t.Records[:0]
	for range n {
		rec := worldlog.Record{Tick: tick, Type: worldlog.Type(r.U8())}
		rec.Source, rec.Kind = uint32(r.Canonical(0, 1<<32-1)), uint32(r.Canonical(0, 1<<32-1))
		rec.Seq = r.Canonical(0, 1<<64-1)
		rec.Data = r.Bytes(int(r.Canonical(0, worldlog.MaxData)))
		if rec.Type == 0 || rec.Type > worldlog.Query || rec.Type == worldlog.SnapshotRef || rec.Type == worldlog.TickCommit {
			r.Fail("type of a record", uint8(rec.Type))
		}
		if r.Err() != nil {
			break
		}
		t.Records = append(t.Records, rec)
	}
	if err := r.Done(); err != nil {
		return fmt.Errorf("tick %d: %w", tick, err)
	}
	return nil
}

// appendToBody appends an encoded tick to the body of a message with whole ticks.
func appendToBody(dst, encoded []byte) []byte { return wire.AppendPrefixed(dst, encoded) }

// split returns the encoded ticks of a message with whole ticks, which must be as many as it says, and whose rolling
// checksum must be right.
func (m *message) split(s *sums, dst [][]byte) ([][]byte, error) {
	r := wire.NewReader(m.body)
	at := m.before
	for i := range uint64(m.count) {
		b := r.Bytes(int(r.Canonical(1, worldlog.MaxTick)))
		if r.Err() != nil {
			return dst, fmt.Errorf("tick %d: %w", m.first+i, r.Err())
		}
		at = s.tick(at, m.first+i, b)
		dst = append(dst, b)
	}
	if err := r.Done(); err != nil {
		return dst, fmt.Errorf("after tick %d: %w", m.next()-1, err)
	}
	if at != m.after {
		return dst, fmt.Errorf("rolling checksum after tick %d: %w", m.next()-1, ErrForged)
	}
	return dst, nil
}

// sumAt returns the rolling checksum before a tick, if the message has it; nil otherwise.
func (m *message) sumAt(s *sums, tick uint64) (*sum, error) {
	switch {
	case tick == m.first:
		return &m.before, nil
	case tick == m.next():
		return &m.after, nil
	case tick < m.first || tick > m.next():
		return nil, nil
	}
	encoded, err := m.split(s, nil)
	if err != nil {
		return nil, err
	}
	at := m.before
	for i, b := range encoded[:tick-m.first] {
		at = s.tick(at, m.first+uint64(i), b)
	}
	return &at, nil
}
