package worldlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// listing is what a directory holds of a log, in order.
type listing struct {
	segments  []segmentFile
	snapshots []uint64 // ticks
	mark      bool     // there is a file markName
	leftovers []string // files of work that a crash interrupted
	cuts      []string // what recoveries have cut
}

// A listing holds each name that is there while it is made. Of names that appear or go meanwhile it may hold any, so
// it can miss both forms of a segment that is being packed. It says that a segment is there, and not that one is
// missing: openSegmentAt does.

// segmentFile is one segment. If both forms exist, a crash came after packing it
// and before removing the plain one. The plain one is read then.
type segmentFile struct {
	index  uint64
	packed bool
}

func (s segmentFile) name() string {
	if s.packed {
		return packedName(s.index)
	}
	return segmentName(s.index)
}

func listDir(fsys FS, dir string) (listing, error) {
	var l listing
	names, err := fsys.ReadDir(dir)
	if err != nil {
		return l, err
	}
	slices.Sort(names) // a plain segment comes before its packed twin
	for _, name := range names {
		if strings.HasSuffix(name, temporarySuffix) &&
			(strings.HasPrefix(name, segmentPrefix) || strings.HasPrefix(name, snapshotPrefix) || strings.HasPrefix(name, markName)) {
			l.leftovers = append(l.leftovers, name)
		} else if strings.HasSuffix(name, cutSuffix) {
			l.cuts = append(l.cuts, name)
		} else if name == markName {
			l.mark = true
		} else if n, ok := parseName(name, segmentPrefix, segmentSuffix, segmentName); ok {
			l.segments = append(l.segments, segmentFile{index: n})
		} else if n, ok := parseName(name, segmentPrefix, packedSuffix, packedName); ok {
			if k := len(l.segments); k > 0 && l.segments[k-1].index == n {
				l.leftovers = append(l.leftovers, name)
			} else {
				l.segments = append(l.segments, segmentFile{index: n, packed: true})
			}
		} else if n, ok := parseName(name, snapshotPrefix, snapshotSuffix, snapshotName); ok {
			l.snapshots = append(l.snapshots, n)
		}
	}
	slices.SortFunc(l.segments, func(a, b segmentFile) int { return cmp.Compare(a.index, b.index) })
	slices.Sort(l.snapshots)
	return l, nil
}

// begin returns the number of the first segment of the log. It is not 0 if segment 0 is missing and the newest snapshot says
// that those before another one may be. Then it also returns the run, of which that segment does not say all.
func (l *listing) begin(fsys FS, dir string) (first uint64, id Identity, err error) {
	if len(l.segments) == 0 || l.segments[0].index == 0 {
		return 0, id, nil
	}
	if _, found, err := hasSegment(fsys, dir, 0); found || err != nil {
		return 0, id, err
	}
	for _, tick := range slices.Backward(l.snapshots) {
		if h, err := readSnapshotHeader(fsys, dir, tick); err == nil && h.version > 1 {
			return h.first, h.Identity, nil
		}
	}
	return 0, id, nil
}

// complete makes the listing begin with segment first, adds the segments that it has missed, as openSegmentAt finds
// them, and names the first one that is missing.
func (l *listing) complete(fsys FS, dir string, first uint64) error {
	l.segments = slices.DeleteFunc(l.segments, func(s segmentFile) bool { return s.index < first })
	for i := 0; ; i++ {
		index := first + uint64(i)
		if i < len(l.segments) && l.segments[i].index == index {
			continue
		}
		s, ok, err := hasSegment(fsys, dir, index)
		switch {
		case err != nil:
			return err
		case ok:
			l.segments = slices.Insert(l.segments, i, s)
		case i < len(l.segments):
			return fmt.Errorf("%s is missing, %s is there: %w", segmentName(index), l.segments[i].name(), ErrCorrupt)
		default:
			return nil
		}
	}
}

// cutName returns the name of the n-th file that keeps a cut part of a file.
func cutName(file string, n int) string { return fmt.Sprintf("%s.%d%s", file, n, cutSuffix) }

// moveAside renames a file that is not part of the log, to the first name that is not among cuts.
func moveAside(fsys FS, dir string, cuts []string, file string) (string, error) {
	name := cutName(file, 1)
	for n := 2; slices.Contains(cuts, name); n++ {
		name = cutName(file, n)
	}
	return name, fsys.Rename(join(dir, file), join(dir, name))
}

// find returns where a segment is in the list.
func (l *listing) find(index uint64) (int, bool) {
	return slices.BinarySearchFunc(l.segments, index, func(s segmentFile, index uint64) int { return cmp.Compare(s.index, index) })
}

// Windows larger than this are refused: a frame of a few bytes may ask for any.
const maxWindow = 8 << 20

// diskError marks an error of the file system, as opposed to one of the data.
type diskError struct{ error }

func (e diskError) Unwrap() error { return e.error }

// diskReader marks the errors of a file below a decoder.
type diskReader struct{ f File }

func (t diskReader) Read(p []byte) (int, error) {
	n, err := t.f.Read(p)
	if err != nil && err != io.EOF {
		err = diskError{err}
	}
	return n, err
}

// corruptUnless wraps ErrCorrupt around err, unless err is of the disk or wraps a
// sentinel already.
func corruptUnless(err error) error {
	var disk diskError
	if errors.As(err, &disk) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// source is a segment open for reading as if it were not packed.
type source struct {
	io.Reader
	file    File
	decoder *zstd.Decoder // nil: not packed
}

func openSegment(fsys FS, dir string, s segmentFile) (*source, error) {
	f, err := fsys.Open(join(dir, s.name()))
	if err != nil {
		return nil, err
	}
	src := &source{Reader: diskReader{f}, file: f}
	if !s.packed {
		return src, nil
	}
	if src.decoder, err = newDecoder(src.Reader); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	src.Reader = src.decoder
	return src, nil
}

// openSegmentAt opens a segment by its number, in the form that it has. The plain form goes only once the packed one
// is there for good. So a segment of which first the plain form and then the packed one is not found does not exist,
// whatever a writer does meanwhile. Then the error wraps fs.ErrNotExist.
func openSegmentAt(fsys FS, dir string, index uint64) (*source, segmentFile, error) {
	s := segmentFile{index: index}
	src, err := openSegment(fsys, dir, s)
	if errors.Is(err, fs.ErrNotExist) {
		s.packed = true
		src, err = openSegment(fsys, dir, s)
	}
	return src, s, err
}

// hasSegment reports whether a segment exists, in the way of openSegmentAt. What is no regular file exists too.
func hasSegment(fsys FS, dir string, index uint64) (s segmentFile, found bool, err error) {
	for _, packed := range []bool{false, true} {
		s = segmentFile{index: index, packed: packed}
		f, err := fsys.Open(join(dir, s.name()))
		if err == nil {
			return s, true, f.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			if errors.Is(err, ErrCorrupt) {
				return s, true, nil
			}
			return s, false, err
		}
	}
	return s, false, nil
}

func (s *source) close() error {
	if s.decoder != nil {
		s.decoder.Close()
	}
	return s.file.Close()
}

func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}
