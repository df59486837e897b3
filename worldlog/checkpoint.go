package worldlog

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/evertick/evertick/internal/wire"
)

// position is where a log stands after a commit.
type position struct {
	segment  uint64
	offset   int64  // in the unpacked segment; 0: unknown
	segTicks uint64 // in the segment up to there
	ticks    uint64 // in the log
	records  uint64 // in them
	coder    coder
}

// checkpoint is all that it takes to read a log, and to write it, from a commit on, without what is before. It is part of
// the snapshot of that tick.
type checkpoint struct {
	position
	chain [32]byte      // chain hash up to there
	state [shaSize]byte // of SHA-256 after the bytes of the segment up to there
}

const (
	// shaSize is the eight words of the state of SHA-256, and the block that is not full yet, filled up with zeros.
	shaSize    = sha256.Size + sha256.BlockSize
	shaMagic   = "sha\x03" // of the encoding in crypto/sha256, which has the state after it, and then the length
	pointSize  = 6*8 + crcSize + 32 + shaSize
	runSize    = 8 + 32 + 8
	extraSize  = runSize + pointSize // of what version 2 of the snapshots has after the name
	maxSegment = 1 << 53
)

// setSum takes chain hash and state from h, and reports whether it could.
func (c *checkpoint) setSum(h hash.Hash) bool {
	h.Sum(c.chain[:0])
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return false
	}
	b, err := m.MarshalBinary()
	if err != nil || len(b) != len(shaMagic)+shaSize+8 || string(b[:len(shaMagic)]) != shaMagic {
		return false
	}
	copy(c.state[:], b[len(shaMagic):])
	return true
}

// sum returns a hash that continues, if state and chain hash agree.
func (c *checkpoint) sum() (hash.Hash, bool) {
	b := append([]byte(shaMagic), c.state[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.offset))
	h := sha256.New()
	u, ok := h.(encoding.BinaryUnmarshaler)
	if !ok || u.UnmarshalBinary(b) != nil {
		return nil, false
	}
	return h, [32]byte(h.Sum(nil)) == c.chain
}

func (c *checkpoint) append(dst []byte) []byte {
	dst = wire.AppendU64s(dst, c.segment, uint64(c.offset), c.segTicks, c.ticks, c.records, c.coder.seq)
	dst = wire.AppendU32s(dst, c.coder.crc)
	dst = append(dst, c.chain[:]...)
	return append(dst, c.state[:]...)
}

func (c *checkpoint) read(r *wire.Reader) bool {
	c.segment, c.offset, c.segTicks, c.ticks, c.records = r.U64(), int64(r.U64()), r.U64(), r.U64(), r.U64()
	c.coder.seq, c.coder.crc = r.U64(), r.U32()
	copy(c.chain[:], r.Bytes(len(c.chain)))
	copy(c.state[:], r.Bytes(len(c.state)))
	if c.offset == 0 {
		return *c == checkpoint{}
	}
	return c.segment <= maxSegment && c.offset > minHeader && c.segTicks > 0 && c.segTicks <= c.ticks && c.ticks <= maxTickNumber
}

// isOf reports whether the segment, whose header was read, is of the run that id describes.
func (s *segmentReader) isOf(id *Identity) bool {
	h := s.head.id
	if s.head.index > 0 { // where these two are those of the segment
		h.FirstTick, h.Parent = id.FirstTick, id.Parent
	}
	return h == *id
}

// errElsewhere: the log does not stand where the checkpoint says.
var errElsewhere = errors.New("the log does not have the tick of the snapshot there")

// resume moves s, which has read the header of the segment in src, to the checkpoint of a snapshot. It reads only the commit
// before it, which must be the snapshot's. Errors: errElsewhere, after which s must be reset; or those of the disk.
func (s *segmentReader) resume(src *source, snapshot *Snapshot) error {
	c := &snapshot.at
	sum, ok := c.sum()
	if !ok || s.head.index != c.segment {
		return errElsewhere
	}
	from := max(s.off, c.offset-maxCommit-crcSize)
	if c.offset <= from {
		return errElsewhere
	}
	err := s.skip(src, from)
	buf := make([]byte, crcSize+c.offset-from)
	binary.LittleEndian.PutUint32(buf, s.head.crc) // that the commit continues if it is the first record
	if err == nil {
		_, err = io.ReadFull(s.in, buf[crcSize:])
	}
	var disk diskError
	if errors.As(err, &disk) {
		return err
	}
	if err != nil || wire.U32At(buf[len(buf)-crcSize:], 0) != c.coder.crc {
		return errElsewhere
	}
	var known tailScan
	for start := crcSize; start < len(buf)-crcSize; start++ {
		if start+1+int(buf[start])+crcSize != len(buf) {
			continue
		}
		if m, ok, _ := known.commitAt(buf, start); ok && m.tick == snapshot.Tick && m.hash == snapshot.Hash {
			s.coder, s.sum, s.off, s.next, s.ticks, s.last = c.coder, sum, c.offset, m.tick+1, c.segTicks, m
			return nil
		}
	}
	return errElsewhere
}

// again makes s read the tick again within which its segment ended. It is false where only reading the segment from its
// beginning does that.
func (s *segmentReader) again(src *source) (bool, error) {
	if _, ok := src.file.(io.Seeker); !ok || src.decoder != nil || !s.ended {
		return false, nil
	}
	s.ended = false
	if err := s.skip(src, s.off); err != nil {
		return false, fmt.Errorf("worldlog: %s: %w", s.name, err)
	}
	return true, nil
}

// skip goes to an offset of the segment, from the end of its header.
func (s *segmentReader) skip(src *source, offset int64) error {
	if f, ok := src.file.(io.Seeker); ok && src.decoder == nil {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			return diskError{err}
		}
		s.in.Reset(src)
		return nil
	}
	_, err := io.CopyN(io.Discard, s.in, offset-s.off)
	return err
}
