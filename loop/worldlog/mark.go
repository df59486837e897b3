package worldlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/evertick/evertick/internal/wire"
)

// markName is the file that says how far a log was durable when it was closed or
// synced last. It is a file of its own, so that neither the format of segments nor
// their chain depends on it: a version of this package without marks ignores it, and
// a log without one is read as a log that was never closed.
const (
	markName  = "DURABLE"
	markMagic = "\x89evtdur\n"
	markSize  = 8 + 2 + 2 + 8 + crcSize
)

// encodeMark returns the content of the file. ticks is 1 + the last durable tick.
func encodeMark(ticks uint64) []byte {
	b := appendPreamble(make([]byte, 0, markSize), markMagic)
	return wire.AppendCRC(wire.AppendU64s(b, ticks-1), 0)
}

func decodeMark(b []byte) (ticks uint64, err error) {
	r, err := readPreamble(b, markMagic, "mark of a log")
	if err != nil {
		return 0, err
	}
	tick := r.U64()
	if r.Done() != nil || tick > maxTickNumber {
		return 0, fmt.Errorf("no mark of a log: %w", ErrCorrupt)
	}
	return tick + 1, nil
}

// readMark returns 1 + the last tick that the mark of the log in dir calls durable;
// 0: there is no mark.
func readMark(fsys FS, dir string) (ticks uint64, err error) {
	f, err := fsys.Open(filepath.Join(dir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("worldlog: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(diskReader{f}, markSize+1))
	if err == nil {
		ticks, err = decodeMark(b)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("worldlog: %s: %w", markName, err)
	}
	return ticks, nil
}

// removeMark removes the mark of a log whose segments were removed.
func removeMark(fsys FS, dir string) error {
	err := fsys.Remove(filepath.Join(dir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

// lostError says that a log ends before a tick that was durable.
func lostError(dir string, ticks, mark uint64) error {
	return fmt.Errorf("worldlog: %s: the log ends with tick %s, but %s says that tick %s was on disk: %w",
		dir, tickText(ticks), markName, tickText(mark), ErrCorrupt)
}
