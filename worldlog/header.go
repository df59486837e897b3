package worldlog

import (
	"fmt"
	"strings"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// Identity says which run a log is of. Each segment and snapshot contains it.
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

	segmentVersion  = 1
	snapshotVersion = 2

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
	archiveName     = "archive"
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
	dst = appendPreamble(dst, segmentMagic, segmentVersion)
	dst = wire.AppendU32s(dst, h.id.SimVersion)
	dst = wire.AppendU64s(dst, h.index, h.first, h.id.Seed)
	dst = append(dst, h.id.Parent[:]...)
	dst = wire.AppendU32s(dst, h.crc)
	dst = wire.AppendName(dst, h.id.Scenario)
	return wire.AppendCRC(dst, start)
}

// appendPreamble appends what every file of a log begins with: magic, uint16 version, uint16
// flags.
func appendPreamble(dst []byte, magic string, version uint16) []byte {
	return append(append(dst, magic...), byte(version), byte(version>>8), 0, 0)
}

// readPreamble checks the preamble of a header, and the CRC at its end, and returns a Reader
// of what is between them, and the version, which is known up to latest. name says what the file should be.
func readPreamble(b []byte, magic, name string, latest uint16) (wire.Reader, uint16, error) {
	content, _, ok := wire.CutCRC(b)
	r := wire.NewReader(content)
	begin, v := r.Bytes(len(magic)), r.U16()
	if string(begin) != magic || r.Err() != nil {
		return r, 0, fmt.Errorf("no %s: %w", name, ErrCorrupt)
	}
	if v == 0 || v > latest {
		return r, v, fmt.Errorf("format version %d, known is %d: %w", v, latest, ErrUnsupported)
	}
	if !ok {
		return r, v, fmt.Errorf("altered header: %w", ErrCorrupt)
	}
	if flags := r.U16(); flags != 0 {
		return r, v, fmt.Errorf("header with unknown flags: %w", ErrCorrupt)
	}
	return r, v, nil
}

// seed sets the rolling CRC of the first segment of a log: the CRC of its own header.
func (h *header) seed() {
	h.crc = wire.CRC(0, h.append(nil)[:headerCRCAt])
}

// headerSize returns how long the header is that begins with fixed, of at least
// headerFixed bytes.
func headerSize(fixed []byte) int { return minHeader + int(fixed[headerFixed-1]) }

// decode reads a header of exactly headerSize bytes.
func (h *header) decode(b []byte) error {
	r, _, err := readPreamble(b, segmentMagic, "segment of a log", segmentVersion)
	if err != nil {
		return err
	}
	h.id.SimVersion = r.U32()
	h.index, h.first, h.id.Seed = r.U64(), r.U64(), r.U64()
	copy(h.id.Parent[:], r.Bytes(len(h.id.Parent)))
	h.crc = r.U32()
	h.id.Scenario = string(r.Name())
	h.id.FirstTick = h.first
	if r.Done() != nil || h.first > maxTickNumber {
		return fmt.Errorf("impossible header: %w", ErrCorrupt)
	}
	return nil
}

func segmentName(index uint64) string { return fmt.Sprintf(segmentPrefix+"%010d"+segmentSuffix, index) }
func packedName(index uint64) string  { return fmt.Sprintf(segmentPrefix+"%010d"+packedSuffix, index) }
func snapshotName(tick uint64) string {
	return fmt.Sprintf(snapshotPrefix+"%020d"+snapshotSuffix, tick)
}

// parseName returns the number in a name of the package, which must be written
// as the package writes it.
func parseName(name, prefix, suffix string, write func(uint64) string) (uint64, bool) {
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
