package worldlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/evertick/evertick/internal/wire"
)

// markName is the file that says how far a log was durable. It is a file of its own, so that neither the format of
// segments nor their chain depends on it, and so that what takes the end of a segment does not take it as well. A log
// without one is read as a log of which nothing was durable.
const (
	markName    = "DURABLE"
	markMagic   = "\x89evtdur\n"
	markVersion = 2
	markCopy    = 8 + 2 + 2 + 8 + crcSize
	// The two copies are in sectors of their own. They are written in turn, so one is whole whatever interrupts a write.
	markSize = sectorSize + markCopy
)

// appendMark appends one copy. ticks is 1 + the last durable tick.
func appendMark(dst []byte, ticks uint64) []byte {
	start := len(dst)
	return wire.AppendCRC(wire.AppendU64s(appendPreamble(dst, markMagic, markVersion), ticks-1), start)
}

// encodeMark returns the content of the file, with two equal copies.
func encodeMark(ticks uint64) []byte {
	b := appendMark(make([]byte, 0, markSize), ticks)
	return appendMark(append(b, make([]byte, sectorSize-markCopy)...), ticks)
}

// mark is the content of the file.
type mark struct {
	ticks uint64 // 1 + the last tick that it calls durable; 0: there is no file
	old   bool   // written by a version that replaced the file at each mark: one copy
	spare int    // the copy that may be overwritten
}

func (m *mark) decode(b []byte) error {
	first, version, err := decodeMarkCopy(b[:min(len(b), markCopy)])
	if version == 1 && len(b) == markCopy {
		*m = mark{ticks: first, old: true}
		return err
	}
	if errors.Is(err, ErrUnsupported) {
		return err
	}
	if len(b) != markSize {
		return fmt.Errorf("no mark of a log: %w", ErrCorrupt)
	}
	for _, x := range b[markCopy:sectorSize] {
		if x != 0 {
			return fmt.Errorf("no mark of a log: %w", ErrCorrupt)
		}
	}
	second, _, err2 := decodeMarkCopy(b[sectorSize:])
	if err != nil && err2 != nil {
		return err
	}
	*m = mark{ticks: max(first, second)} // 0, if a copy is not whole
	if first > second {
		m.spare = 1
	}
	return nil
}

func decodeMarkCopy(b []byte) (ticks uint64, version uint16, err error) {
	r, version, err := readPreamble(b, markMagic, "mark of a log", markVersion)
	if err != nil {
		return 0, version, err
	}
	tick := r.U64()
	if r.Done() != nil || tick > maxTickNumber {
		return 0, version, fmt.Errorf("no mark of a log: %w", ErrCorrupt)
	}
	return tick + 1, version, nil
}

// readMark reads the mark of the log in dir.
func readMark(fsys FS, dir string) (m mark, err error) {
	f, err := fsys.Open(join(dir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("worldlog: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(diskReader{f}, markSize+1))
	if err == nil {
		err = m.decode(b)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return mark{}, fmt.Errorf("worldlog: %s: %w", markName, err)
	}
	return m, nil
}

// marker writes the mark.
type marker struct {
	fs    FS
	dir   string
	file  File // nil: not open
	at    io.WriterAt
	spare int    // the copy that is written next
	ticks uint64 // that the file says
	buf   [markCopy]byte
	// replaces is set where files cannot be written in place: then only sync changes the mark.
	replaces bool
}

// begin continues the mark that is there, if any.
func (m *marker) begin(there mark) error {
	m.ticks, m.spare = there.ticks, there.spare
	if there.ticks == 0 || there.old {
		m.ticks = 0
		return nil
	}
	return m.open()
}

func (m *marker) open() error {
	f, err := m.fs.Append(join(m.dir, markName), markSize)
	if err != nil {
		return err
	}
	at, ok := f.(io.WriterAt)
	if !ok {
		m.replaces = true
		return f.Close()
	}
	m.file, m.at = f, at
	return nil
}

// create makes the file, on disk.
func (m *marker) create(ticks uint64) error {
	if err := m.close(); err != nil {
		return err
	}
	if err := writeNew(m.fs, m.dir, markName, func(f io.Writer) error { return writeAll(f, encodeMark(ticks)) }); err != nil {
		return err
	}
	m.ticks = ticks
	return m.open()
}

// write makes the mark say ticks, for readers after the death of the process. If that is the first mark, it is also on disk.
func (m *marker) write(ticks uint64) (onDisk bool, err error) {
	switch {
	case ticks <= m.ticks || m.replaces:
		return false, nil
	case m.file == nil:
		return true, m.create(ticks)
	}
	n, err := m.at.WriteAt(appendMark(m.buf[:0], ticks), int64(m.spare)*sectorSize)
	if err == nil && n != markCopy {
		err = io.ErrShortWrite
	}
	if err != nil {
		return false, err
	}
	m.ticks, m.spare = ticks, 1-m.spare
	return false, nil
}

// sync makes the mark say ticks, for readers after a power cut.
func (m *marker) sync(ticks uint64) error {
	if m.file != nil {
		has, err := hasName(m.file, join(m.dir, markName))
		if err != nil {
			return err
		}
		if !has { // somebody removed it
			return m.create(ticks)
		}
	}
	if m.file == nil {
		return m.create(ticks)
	}
	if _, err := m.write(ticks); err != nil {
		return err
	}
	return m.file.Sync()
}

func (m *marker) close() error {
	if m.file == nil {
		return nil
	}
	f := m.file
	m.file, m.at = nil, nil
	return f.Close()
}

// lostError says that a log ends before a tick that was durable.
func lostError(dir string, ticks, mark uint64) error {
	return fmt.Errorf("worldlog: %s: the log ends with tick %s, but %s says that tick %s was on disk: %w",
		dir, tickText(ticks), markName, tickText(mark), ErrCorrupt)
}

// noLogError says that there is no segment: that is no log, unless a mark says that there was one.
func noLogError(dir string, mark uint64) error {
	if mark > 0 {
		return lostError(dir, 0, mark)
	}
	return fmt.Errorf("worldlog: no log in %s: %w", dir, fs.ErrNotExist)
}
