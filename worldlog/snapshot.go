package worldlog

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/klauspost/compress/zstd"
)

// Limits of a snapshot's data, in bytes: what the format allows, and what
// LoadSnapshot takes.
const (
	MaxSnapshot     = 1 << 30
	DefaultSnapshot = 64 << 20
)

// Snapshot is the header of a snapshot file, and its data if it was loaded.
type Snapshot struct {
	Identity Identity // Parent and FirstTick are zero in a file of version 1
	Tick     uint64
	Hash     uint64 // of the state, to be checked after a restore
	Size     int    // bytes of data
	Data     []byte

	first uint64     // the first segment that must be there: those before may have been removed
	at    checkpoint // where the log stands after Tick, if at.offset > 0
}

// snapshotRef is the data of a SnapshotRef record.
type snapshotRef struct {
	tick, hash uint64
	size       uint64
	crc        uint32 // of the data, as in the file
}

const maxRef = 10 + 8 + 10 + 4

func (r *snapshotRef) append(dst []byte) []byte {
	dst = wire.AppendUvarints(dst, r.tick)
	dst = wire.AppendU64s(dst, r.hash)
	dst = wire.AppendUvarints(dst, r.size)
	return wire.AppendU32s(dst, r.crc)
}

// ParseSnapshotRef reads the data of a SnapshotRef record: the tick, state hash
// and size in bytes of a snapshot that was on disk when the record was written.
// It may have been removed since. Errors wrap ErrCorrupt.
func ParseSnapshotRef(data []byte) (tick, hash uint64, size int, err error) {
	r := wire.NewReader(data)
	tick, hash, size = r.Canonical(0, maxTickNumber), r.U64(), int(r.Canonical(0, MaxSnapshot))
	r.U32() // the checksum
	if r.Done() != nil {
		return 0, 0, 0, fmt.Errorf("worldlog: reference to a snapshot: %w", ErrCorrupt)
	}
	return tick, hash, size, nil
}

// Where fields stand in the header of a snapshot file.
const (
	snapshotFixed     = 53
	minSnapshotHeader = snapshotFixed + crcSize
)

// appendSnapshotHeader appends the header of a file; crc is the checksum of the data, first and at are as in Snapshot.
func appendSnapshotHeader(dst []byte, id *Identity, ref *snapshotRef, packed int, first uint64, at *checkpoint) []byte {
	start := len(dst)
	dst = appendPreamble(dst, snapshotMagic, snapshotVersion)
	dst = wire.AppendU32s(dst, id.SimVersion)
	dst = wire.AppendU64s(dst, id.Seed, ref.tick, ref.hash)
	dst = wire.AppendU32s(dst, uint32(ref.size), uint32(packed), ref.crc)
	dst = wire.AppendName(dst, id.Scenario)
	dst = wire.AppendU64s(dst, id.FirstTick)
	dst = append(dst, id.Parent[:]...)
	dst = at.append(wire.AppendU64s(dst, first))
	return wire.AppendCRC(dst, start)
}

// snapshotHead is a decoded header.
type snapshotHead struct {
	Snapshot
	version uint16
	packed  int
	crc     uint32
}

// snapshotHeaderSize returns how long the header is that begins with fixed, of snapshotFixed bytes.
func snapshotHeaderSize(fixed []byte) int {
	size := minSnapshotHeader + int(fixed[snapshotFixed-1])
	if fixed[len(snapshotMagic)] > 1 {
		size += extraSize
	}
	return size
}

func (h *snapshotHead) decode(b []byte) error {
	r, version, err := readPreamble(b, snapshotMagic, "snapshot", snapshotVersion)
	if err != nil {
		return err
	}
	h.version = version
	h.Identity.SimVersion = r.U32()
	h.Identity.Seed, h.Tick, h.Hash = r.U64(), r.U64(), r.U64()
	size, packed := r.U32(), r.U32()
	h.crc = r.U32()
	h.Identity.Scenario = string(r.Name())
	ok := true
	if version > 1 {
		h.Identity.FirstTick = r.U64()
		copy(h.Identity.Parent[:], r.Bytes(len(h.Identity.Parent)))
		h.first = r.U64()
		ok = h.at.read(&r) && h.Identity.FirstTick <= maxTickNumber && h.first <= maxSegment &&
			(h.at.offset == 0 || h.Identity.FirstTick <= h.Tick && h.first <= h.at.segment)
	}
	if !ok || r.Done() != nil || size > MaxSnapshot || h.Tick > maxTickNumber || packed > MaxSnapshot+MaxSnapshot/2 {
		return fmt.Errorf("impossible header: %w", ErrCorrupt)
	}
	h.Size, h.packed = int(size), int(packed)
	return nil
}

// Snapshots lists the snapshots beside a log whose headers are whole, oldest
// first, without their data. fsys may be nil: OS. Files that are not whole are
// left out; LoadSnapshot says what is wrong with them.
func Snapshots(dir string, fsys FS) ([]Snapshot, error) {
	fsys = cmp.Or(fsys, OS)
	l, err := listDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("worldlog: %w", err)
	}
	var found []Snapshot
	for _, tick := range l.snapshots {
		h, err := readSnapshotHeader(fsys, dir, tick)
		if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return found, err
		}
		found = append(found, h.Snapshot)
	}
	return found, nil
}

func readSnapshotHeader(fsys FS, dir string, tick uint64) (*snapshotHead, error) {
	h, f, err := openSnapshot(fsys, dir, tick)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("worldlog: %w", err)
	}
	return h, nil
}

// isOf reports whether the snapshot says that it is of the run that id describes.
func (h *snapshotHead) isOf(id *Identity) bool {
	if h.version > 1 {
		return h.Identity == *id
	}
	return h.Identity.Scenario == id.Scenario && h.Identity.SimVersion == id.SimVersion && h.Identity.Seed == id.Seed
}

// openSnapshot reads the header and leaves the file open after it.
func openSnapshot(fsys FS, dir string, tick uint64) (*snapshotHead, File, error) {
	name := snapshotName(tick)
	f, err := fsys.Open(join(dir, name))
	if err != nil {
		return nil, nil, fmt.Errorf("worldlog: %w", err)
	}
	h := new(snapshotHead)
	err = h.read(diskReader{f})
	if err == nil && h.Tick != tick {
		err = fmt.Errorf("it holds tick %d: %w", h.Tick, ErrCorrupt)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("worldlog: %s: %w", name, errors.Join(err, f.Close()))
	}
	return h, f, nil
}

func (h *snapshotHead) read(r io.Reader) error {
	var buf [minSnapshotHeader + maxScenario + extraSize]byte
	_, err := io.ReadFull(r, buf[:snapshotFixed])
	if err != nil {
		return corruptUnless(err)
	}
	b := buf[:snapshotHeaderSize(buf[:snapshotFixed])]
	if _, err := io.ReadFull(r, b[snapshotFixed:]); err != nil {
		return corruptUnless(err)
	}
	return h.decode(b)
}

// LoadSnapshot reads the snapshot of a tick and checks that its data are what
// was written. That the state they restore has Hash is for the caller to check.
// fsys may be nil: OS. Data of more than DefaultSnapshot bytes are refused; see
// LoadSnapshotUpTo. Errors wrap fs.ErrNotExist, ErrCorrupt, ErrUnsupported,
// ErrCapacity (too large), or are those of the file system.
func LoadSnapshot(dir string, fsys FS, tick uint64) (*Snapshot, error) {
	return LoadSnapshotUpTo(dir, fsys, tick, DefaultSnapshot)
}

// LoadSnapshotUpTo is LoadSnapshot for data of up to limit bytes, but at most
// MaxSnapshot. The data are allocated once, and only if the header and what is packed
// say the same size: a small file can hold data of any size, so the limit is what
// bounds the memory that a file from elsewhere takes. With it come at most 12 MiB
// for unpacking.
func LoadSnapshotUpTo(dir string, fsys FS, tick uint64, limit int) (*Snapshot, error) {
	fsys = cmp.Or(fsys, OS)
	h, f, err := openSnapshot(fsys, dir, tick)
	if err != nil {
		return nil, err
	}
	err = h.loadUpTo(diskReader{f}, limit)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("worldlog: %s: %w", snapshotName(tick), err)
	}
	return &h.Snapshot, nil
}

// ReadSnapshot is LoadSnapshotUpTo for the content of a snapshot file that comes from elsewhere. An error of
// r other than io.EOF counts as ErrCorrupt.
func ReadSnapshot(r io.Reader, limit int) (*Snapshot, error) {
	h := new(snapshotHead)
	err := h.read(r)
	if err == nil {
		err = h.loadUpTo(r, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("worldlog: snapshot: %w", err)
	}
	return &h.Snapshot, nil
}

// loadUpTo loads the data after a header, unless they are larger than limit.
func (h *snapshotHead) loadUpTo(r io.Reader, limit int) (err error) {
	if limit = min(limit, MaxSnapshot); h.Size > limit {
		return fmt.Errorf("%w, the limit is %d", fault.Field(ErrCapacity, "bytes of data", h.Size), limit)
	}
	h.Data, err = h.load(r)
	return err
}

var errMismatch = fmt.Errorf("data that do not match the header: %w", ErrCorrupt)

// load decodes the data after a header: one frame of zstd, which says how large its
// content is if that is minFrameSize or more; of no data, nothing.
func (h *snapshotHead) load(r io.Reader) ([]byte, error) {
	packed := bufio.NewReaderSize(&io.LimitedReader{R: r, N: int64(h.packed)}, zstd.HeaderMaxSize)
	if err := h.checkFrame(packed); err != nil {
		return nil, err
	}
	d, err := newDecoder(packed)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	data := make([]byte, h.Size)
	if _, err := io.ReadFull(d, data); err != nil {
		return nil, corruptUnless(err)
	}
	// Only now is there nothing left: a frame may be followed by another.
	n, err := d.Read(make([]byte, 1))
	if n == 0 && err != io.EOF {
		return nil, corruptUnless(err)
	}
	if n > 0 || wire.CRC(0, data) != h.crc {
		return nil, errMismatch
	}
	if more, err := r.Read(make([]byte, 1)); more > 0 || err != io.EOF {
		return nil, fmt.Errorf("bytes after the data: %w", corruptUnless(err))
	}
	return data, nil
}

// minFrameSize is the least content of which a frame says the size: below, the encoder leaves it out.
const minFrameSize = 256

// checkFrame compares what the frame says of its content with the header.
func (h *snapshotHead) checkFrame(packed *bufio.Reader) error {
	if h.Size == 0 && h.packed == 0 {
		return nil
	}
	begin, err := packed.Peek(min(h.packed, zstd.HeaderMaxSize))
	var head zstd.Header
	if err == nil {
		err = head.Decode(begin)
	}
	if err != nil {
		return corruptUnless(err)
	}
	if head.HasFCS && head.FrameContentSize != uint64(h.Size) || !head.HasFCS && h.Size >= minFrameSize {
		return errMismatch
	}
	return nil
}

// WriteSnapshot takes a copy of the state after tick, which has the given hash;
// another goroutine compresses and writes it. The file appears once it is whole and
// tick is durable; then a later commit refers to it with a SnapshotRef record. Two
// snapshots may be under way. data is not kept.
//
// Errors: ErrBusy (not taken); ErrRange wrapped: more than MaxSnapshot, a tick
// beyond the last committed one, or a hash that differs from its commit's; or
// why the log has ended. A later failure does not stop the log; Stats reports it.
func (l *Log) WriteSnapshot(tick, hash uint64, data []byte) error {
	return l.SnapshotWith(tick, hash, func(dst []byte) ([]byte, error) { return append(dst, data...), nil })
}

// SnapshotWith is WriteSnapshot with the data that write appends to an empty
// buffer, which is reused: one copy less. It also returns the error of write.
func (l *Log) SnapshotWith(tick, hash uint64, write func(dst []byte) ([]byte, error)) error {
	job, err := l.takeSlot(tick, hash)
	if err != nil {
		return err
	}
	job.data, err = write(job.data[:0])
	if err == nil && len(job.data) > MaxSnapshot {
		err = fault.Field(ErrRange, "worldlog: bytes of a snapshot", len(job.data))
	}
	if err != nil {
		l.keeper.free <- job
		return err
	}
	l.keeper.snapshots <- job
	return nil
}

func (l *Log) takeSlot(tick, hash uint64) (*snapshotJob, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	committed := l.committed.Load()
	switch {
	case l.err != nil:
		return nil, l.err
	case tick > maxTickNumber || tick+1 > max(committed, l.id.FirstTick+1):
		return nil, fault.Field(ErrRange, "worldlog: tick of a snapshot after "+tickText(committed), tick)
	case tick+1 == committed && hash != l.last.hash:
		return nil, fault.Field(ErrRange, fmt.Sprintf("worldlog: hash of a snapshot of tick %d, committed with %#x,", tick, l.last.hash), hash)
	}
	select {
	case job := <-l.keeper.free:
		job.tick, job.hash, job.at = tick, hash, nil
		if tick+1 == committed {
			l.askSum(job)
		}
		return job, nil
	default:
		l.stats.SnapshotsBusy++
		return nil, fmt.Errorf("worldlog: tick %d: %w", tick, ErrBusy)
	}
}

// newEncoder returns the encoder of segments and snapshots. The window bounds
// what a reader must hold.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(true))
}
