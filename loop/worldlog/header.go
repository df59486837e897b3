package worldlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/evertick/evertick/internal/fault"
)

// Identity says which run a log is of. It stands in each of its segments and
// snapshots.
type Identity struct {
	Scenario   string // name of what builds the world at the first tick; at most 255 bytes
	SimVersion uint32 // logs of different versions are not expected to replay alike
	Seed       uint64
	FirstTick  uint64   // no tick is below it; at most 2^63-1
	Parent     [32]byte // chain hash of the log from which this one branches, or zeros
}

func (id *Identity) validate() error {
	if len(id.Scenario) > maxScenario {
		return fault.Field(ErrRange, "worldlog: len(Identity.Scenario)", len(id.Scenario))
	}
	if id.FirstTick > maxTickNumber {
		return fault.Field(ErrRange, "worldlog: Identity.FirstTick", id.FirstTick)
	}
	return nil
}

const (
	segmentMagic  = "\x89evtlog\n" // the first byte is no ASCII, the last one shows a line-end conversion
	snapshotMagic = "\x89evtsnp\n"
	version       = 1

	maxScenario     = 255
	headerCRCAt     = 72 // where the rolling CRC stands
	headerFixed     = 77
	minHeader       = headerFixed + crcSize
	segmentPrefix   = "segment-"
	segmentSuffix   = ".evlog"
	packedSuffix    = ".evlog.zst"
	snapshotPrefix  = "snapshot-"
	snapshotSuffix  = ".evsnap"
	temporarySuffix = ".tmp"
	cutSuffix       = ".cut"
	lockName        = "LOCK"
)

// header is the beginning of a segment.
type header struct {
	id    Identity // Parent: the chain hash of the segment before
	index uint64   // of the segment, counted from 0
	first uint64   // no tick of the segment is below it
	crc   uint32   // rolling CRC after the segment before
}

func (h *header) size() int64 { return int64(minHeader + len(h.id.Scenario)) }

func (h *header) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, segmentMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, version)
	dst = binary.LittleEndian.AppendUint16(dst, 0) // flags
	dst = binary.LittleEndian.AppendUint32(dst, h.id.SimVersion)
	dst = binary.LittleEndian.AppendUint64(dst, h.index)
	dst = binary.LittleEndian.AppendUint64(dst, h.first)
	dst = binary.LittleEndian.AppendUint64(dst, h.id.Seed)
	dst = append(dst, h.id.Parent[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, h.crc)
	dst = append(dst, byte(len(h.id.Scenario)))
	dst = append(dst, h.id.Scenario...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// seed gives the first segment of a log its rolling CRC: that of its own header.
func (h *header) seed() {
	h.crc = crc32.Checksum(h.append(nil)[:headerCRCAt], castagnoli)
}

// headerSize returns how long the header is that begins with fixed, of at least
// headerFixed bytes.
func headerSize(fixed []byte) int { return minHeader + int(fixed[headerFixed-1]) }

// decode reads a header of exactly the length that headerSize tells.
func (h *header) decode(b []byte) error {
	p := parser{b: b}
	if string(p.take(len(segmentMagic))) != segmentMagic {
		return fmt.Errorf("no segment of a log: %w", ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint16(p.take(2)); v != version {
		return fmt.Errorf("format version %d, known is %d: %w", v, version, ErrUnsupported)
	}
	if crc32.Checksum(b[:len(b)-crcSize], castagnoli) != binary.LittleEndian.Uint32(b[len(b)-crcSize:]) {
		return fmt.Errorf("altered header: %w", ErrCorrupt)
	}
	flags := binary.LittleEndian.Uint16(p.take(2))
	h.id.SimVersion = p.uint32()
	h.index = p.uint64()
	h.first = p.uint64()
	h.id.Seed = p.uint64()
	copy(h.id.Parent[:], p.take(len(h.id.Parent)))
	h.crc = p.uint32()
	h.id.Scenario = string(p.take(len(b) - minHeader + 1)[1:])
	h.id.FirstTick = h.first
	if flags != 0 || h.first > maxTickNumber {
		return fmt.Errorf("header with unknown flags: %w", ErrCorrupt)
	}
	return nil
}

func segmentName(index uint64) string {
	return fmt.Sprintf("%s%010d%s", segmentPrefix, index, segmentSuffix)
}
func packedName(index uint64) string {
	return fmt.Sprintf("%s%010d%s", segmentPrefix, index, packedSuffix)
}
func snapshotName(tick uint64) string {
	return fmt.Sprintf("%s%020d%s", snapshotPrefix, tick, snapshotSuffix)
}

// numbered returns the number in a name of the package, which must be written
// as the package writes it.
func numbered(name, prefix, suffix string, write func(uint64) string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	digits, cut := strings.CutSuffix(digits, suffix)
	var n uint64
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' || n > maxTickNumber/10 {
			return 0, false
		}
		n = n*10 + uint64(d-'0')
	}
	return n, ok && cut && write(n) == name
}
