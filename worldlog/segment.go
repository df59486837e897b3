package worldlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/evertick/evertick/internal/wire"
)

// Tick is all that a log holds of one tick.
type Tick struct {
	Tick    uint64
	Hash    uint64 // of the state after it
	Counts  Counts
	Records []Record // in the order of Append; SnapshotRefs may stand between them
}

// segmentReader reads one segment from its beginning, tick by tick.
type segmentReader struct {
	in     *bufio.Reader
	name   string
	head   header
	coder  coder
	sum    hash.Hash // of everything up to the last whole tick
	off    int64     // after the last whole tick
	next   uint64    // no tick is below it
	ticks  uint64    // read
	last   commit    // only if ticks > 0
	raw    []byte    // of the tick being read
	ended  bool      // the file ended within that tick: raw is all of it
	gotCRC uint32    // the computed checksum, if the stored one differs
}

const readBuffer = 64 << 10

func newSegmentReader(in io.Reader, name string) *segmentReader {
	return &segmentReader{in: bufio.NewReaderSize(in, readBuffer), name: name, sum: sha256.New()}
}

// reset makes s read another segment, keeping its memory.
func (s *segmentReader) reset(in io.Reader, name string) {
	s.in.Reset(in)
	s.sum.Reset()
	*s = segmentReader{in: s.in, name: name, sum: s.sum, raw: s.raw[:0]}
}

// errShort is the end of a file within its header.
var errShort = fmt.Errorf("file ends within the header: %w", ErrCorrupt)

// readHeader must come first. Errors name the file.
func (s *segmentReader) readHeader() error {
	fixed, err := s.in.Peek(headerFixed)
	if err == nil {
		fixed, err = s.in.Peek(headerSize(fixed))
	}
	if err == io.EOF {
		err = errShort
	}
	if err == nil {
		err = s.head.decode(fixed)
	}
	if err != nil {
		return fmt.Errorf("worldlog: %s: %w", s.name, corruptUnless(err))
	}
	s.sum.Write(fixed)
	s.off = int64(len(fixed))
	s.coder.crc, s.next = s.head.crc, s.head.first
	if _, err := s.in.Discard(len(fixed)); err != nil {
		return fmt.Errorf("worldlog: %s: %w", s.name, err)
	}
	return nil
}

// segmentLink is what a segment must match to follow another.
type segmentLink struct {
	name  string
	id    Identity
	chain [32]byte
	crc   uint32
	next  uint64
}

// link returns what the segment after s must match, if s has been read whole.
func (s *segmentReader) link() *segmentLink {
	return &segmentLink{name: s.name, id: s.head.id, chain: s.chain(), crc: s.coder.crc, next: s.next}
}

// follows checks that s is segment index and continues before; nil: unknown.
func (s *segmentReader) follows(before *segmentLink, index uint64) error {
	h := &s.head
	if h.index != index {
		return s.outOfPlace("this is segment %d", h.index)
	}
	if index == 0 {
		first := *h
		if first.seed(); first.crc != h.crc {
			return s.outOfPlace("its checksums do not begin with its header")
		}
	}
	if before == nil {
		return nil
	}
	if before.id.Scenario != h.id.Scenario || before.id.SimVersion != h.id.SimVersion || before.id.Seed != h.id.Seed {
		return s.outOfPlace("scenario %q, SimVersion %d, seed %d, where %s has %q, %d, %d", h.id.Scenario, h.id.SimVersion, h.id.Seed,
			before.name, before.id.Scenario, before.id.SimVersion, before.id.Seed)
	}
	if before.chain != h.id.Parent {
		return s.outOfPlace("it follows a segment of chain hash %x, and %s has %x", h.id.Parent[:8], before.name, before.chain[:8])
	}
	if h.crc != before.crc || h.first != before.next {
		return s.outOfPlace("it does not continue %s", before.name)
	}
	return nil
}

func (s *segmentReader) outOfPlace(format string, args ...any) error {
	return fmt.Errorf("worldlog: %s: %s: %w", s.name, fmt.Sprintf(format, args...), ErrCorrupt)
}

// chain returns the chain hash of everything up to the last whole tick.
func (s *segmentReader) chain() (sum [32]byte) {
	s.sum.Sum(sum[:0])
	return sum
}

// readTick reads a whole tick into t, whose Data is valid until the next call.
// io.EOF: the segment ends with the tick before. A *CorruptError says that what
// follows is no whole tick; its Torn is set if the file simply ends.
func (s *segmentReader) readTick(t *Tick) error {
	t.Records = t.Records[:0]
	s.raw = s.raw[:0]
	c := s.coder
	for {
		start := len(s.raw)
		body, err := s.readBody(&c)
		if err == io.EOF && start == 0 {
			return io.EOF
		}
		if err != nil {
			return s.fault(start, err)
		}
		if body[0] == byte(TickCommit) {
			if err := s.endTick(t, body, &c); err != nil {
				return s.fault(start, err)
			}
			return nil
		}
		var r Record
		if !c.decode(body, &r) {
			return s.fault(start, errMalformed)
		}
		if len(t.Records) == MaxRecords {
			return s.fault(start, errTooMany)
		}
		t.Records = append(grow(t.Records, 1), r)
	}
}

func (s *segmentReader) endTick(t *Tick, body []byte, c *coder) error {
	var m commit
	if !m.decode(body) {
		return errMalformed
	}
	if m.tick < s.next {
		return errOrder
	}
	if m.records != uint64(len(t.Records)) {
		return errCount
	}
	t.Tick, t.Hash, t.Counts = m.tick, m.hash, m.counts
	for i := range t.Records {
		t.Records[i].Tick = m.tick
	}
	s.coder, s.last, s.next = *c, m, m.tick+1
	s.ticks++
	s.sum.Write(s.raw)
	s.off += int64(len(s.raw))
	return nil
}

var (
	errMalformed = errors.New("a record that cannot be read")
	errLength    = errors.New("an impossible length")
	errCRC       = errors.New("the checksum does not continue that of the record before")
	errTooMany   = errors.New("too many records in a tick")
	errTooLong   = errors.New("a tick that is too long")
	errOrder     = errors.New("ticks in the wrong order")
	errCount     = errors.New("not the number of records that the commit counts")
)

// readBody appends one record to raw and returns its body. io.EOF: there is no
// further byte; io.ErrUnexpectedEOF: there is no whole record.
func (s *segmentReader) readBody(c *coder) ([]byte, error) {
	start := len(s.raw)
	n, err := s.readLength()
	if err != nil {
		return nil, err
	}
	if len(s.raw)-start+n+crcSize > MaxTick-start {
		return nil, errTooLong
	}
	at := len(s.raw)
	if err := s.fill(n + crcSize); err != nil {
		return nil, err
	}
	end := len(s.raw) - crcSize
	c.crc = wire.CRC(c.crc, s.raw[start:end])
	if c.crc != wire.U32At(s.raw[end:], 0) {
		s.gotCRC = c.crc
		return nil, errCRC
	}
	return s.raw[at:end:end], nil
}

func (s *segmentReader) readLength() (int, error) {
	n := 0
	for shift := 0; ; shift += 7 {
		b, err := s.in.ReadByte()
		if err == io.EOF && shift > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		s.raw = append(s.raw, b)
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			if n == 0 || b == 0 || n > maxBody {
				return 0, errLength
			}
			return n, nil
		}
		if shift == 21 {
			return 0, errLength
		}
	}
}

// fill appends n bytes to raw, which grows with what is really there.
func (s *segmentReader) fill(n int) error {
	for n > 0 {
		k := min(n, 64<<10)
		at := len(s.raw)
		s.raw = grow(s.raw, k)[:at+k]
		if got, err := io.ReadFull(s.in, s.raw[at:]); err != nil {
			s.raw = s.raw[:at+got]
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		n -= k
	}
	return nil
}

// grow makes room for k more elements of s. If it must allocate, it doubles the
// length: append takes smaller steps, whose sum would be five times the final size.
func grow[T any](s []T, k int) []T {
	if len(s)+k <= cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+max(k, len(s))), s...)
}

// fault turns err, of the record that begins at start of raw, into the error of
// readTick.
func (s *segmentReader) fault(start int, err error) error {
	var disk diskError
	if errors.As(err, &disk) {
		return fmt.Errorf("worldlog: %s: %w", s.name, err)
	}
	e := &CorruptError{File: s.name, Offset: s.off + int64(start), Tick: s.last.tick, HasTick: s.ticks > 0, Reason: err.Error()}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		e.Torn, e.Reason = true, "the file ends within a tick"
		s.ended = true
	}
	return e
}

// tailScan searches the bytes after the first tick that is not whole, number next, for
// something that a crash would not have left there. That is a commit of that tick or a
// later one
//
//   - that calls such a tick durable, or
//   - before which nothing is missing. A process that dies leaves the beginning of
//     what it wrote. A power cut can leave sectors out, which then read as zeros, so a
//     sector that ends with a zero between the fault and the commit may be a missing
//     one.
//
// A commit is recognised by its CRC, which continues from the four bytes before it,
// or, if those are damaged, from crc.
type tailScan struct {
	next  uint64
	crc   uint32
	fault int64 // offset of the record that cannot be read
	off   int64 // of the bytes in the buffer
}

// sectorSize is the smallest unit that disks write.
const sectorSize = 512

// scan searches what follows the last whole tick.
func (s *tailScan) scan(in io.Reader) (bool, error) {
	const window, keep = 64 << 10, maxCommit + crcSize
	buf := make([]byte, 0, window)
	hole := int64(math.MaxInt64) // the end of the first sector that may be missing
	for {
		n, err := io.ReadFull(in, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if hole = min(hole, s.firstHole(buf)); s.scanBuffer(buf, hole) {
			return true, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		s.off += int64(len(buf) - keep)
		buf = buf[:copy(buf, buf[len(buf)-keep:])]
	}
}

// firstHole returns the end of the first sector in buf that may be missing.
func (s *tailScan) firstHole(buf []byte) int64 {
	for end := (s.off/sectorSize + 1) * sectorSize; end <= s.off+int64(len(buf)); end += sectorSize {
		if end > s.fault && buf[end-s.off-1] == 0 {
			return end
		}
	}
	return math.MaxInt64
}

func (s *tailScan) scanBuffer(buf []byte, hole int64) bool {
	for at := crcSize + 1; at < len(buf); at++ {
		i := bytes.IndexByte(buf[at:], byte(TickCommit))
		if i < 0 {
			return false
		}
		at += i
		m, ok, from := s.commitAt(buf, at-1)
		if !ok || m.tick < s.next {
			continue
		}
		if durable, any := m.durable(); any && durable >= s.next || s.off+int64(from) < hole {
			return true
		}
	}
	return false
}

// commitAt decodes the commit whose length is at buf[start]. It is whole from the
// byte from on, which includes the CRC before it that it continues, if that is intact.
func (s *tailScan) commitAt(buf []byte, start int) (m commit, ok bool, from int) {
	n := int(buf[start])
	end := start + 1 + n
	if n > maxCommit || end+crcSize > len(buf) {
		return m, false, 0
	}
	from = start - crcSize
	for _, before := range []uint32{wire.U32At(buf[from:], 0), s.crc} {
		if wire.CRC(before, buf[start:end]) == wire.U32At(buf[end:], 0) {
			return m, n > 0 && m.decode(buf[start+1:end]), from
		}
		from = start
	}
	return m, false, 0
}
