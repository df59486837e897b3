package worldlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// retained writes 60 ticks and many snapshots, of which two are kept, and returns disks after power cuts on the way.
func retained(t *testing.T, opt Options) (m *memFS, images []image) {
	t.Helper()
	m = newMemFS()
	rng := rand.New(rand.NewPCG(3, uint64(opt.Retention)))
	var log atomic.Pointer[Log]
	ops, every := 0, 11
	if testing.Short() {
		every = 29
	}
	m.fault = func(string, string) error {
		if ops++; log.Load() != nil && (long || ops%every == 0) {
			images = append(images, image{disk: m.cut(rng), durable: log.Load().durable.Load()})
		}
		return nil
	}
	opt.FS = m
	l, err := Create("log", testID, opt)
	if err != nil {
		t.Fatal(err)
	}
	log.Store(l)
	if err := play(l, 0, 60); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if s := l.Stats(); s.SnapshotErr != nil || s.PackErr != nil || (s.Retired > 0) != (opt.Retention != KeepAll) {
		t.Fatalf("%+v", s)
	}
	m.fault = nil
	return m, images
}

// readFrom reads a log from where it begins, checks every tick, and returns the first one and the one after the last.
func readFrom(m *memFS) (first, next uint64, err error) {
	r, err := OpenReader("log", m)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	if r.Identity() != testID {
		return 0, 0, fmt.Errorf("identity %+v", r.Identity())
	}
	for {
		t, err := r.Next()
		if err == io.EOF {
			return first, next, nil
		}
		if err != nil {
			return first, next, err
		}
		if next == 0 {
			first, next = t.Tick, t.Tick
		}
		if t.Tick != next {
			return first, next, fmt.Errorf("tick %d where %d comes next", t.Tick, next)
		}
		if err := sameTick(t); err != nil {
			return first, next, err
		}
		next++
	}
}

// goesOnFrom recovers a log, checks that its kept snapshots and all ticks after the oldest are there, and adds ticks.
func goesOnFrom(m *memFS, opt Options, durable uint64) error {
	opt.FS = m
	l, report, err := Recover("log", opt)
	if err != nil {
		return err
	}
	next := uint64(0)
	if report.Ticks > 0 {
		next = report.Tick + 1
	}
	if next < durable || report.Ticks != next || report.Identity != testID || l.Identity() != testID {
		err = fmt.Errorf("%d ticks are left, %d were durable: %+v", next, durable, report)
	}
	first, read, rerr := readFrom(m)
	if err = errors.Join(err, rerr); err == nil && read != next {
		err = fmt.Errorf("%d ticks are read, of %d", read, next)
	}
	bases := slices.DeleteFunc(slices.Clone(report.Snapshots), func(tick uint64) bool { return tick+1 < first }) // others were to be removed
	if err == nil && first > 0 && len(bases) < opt.KeepSnapshots {
		err = fmt.Errorf("the log begins with tick %d, its snapshots are %d", first, report.Snapshots)
	}
	r, rerr := OpenReader("log", m)
	err = errors.Join(err, rerr)
	for _, tick := range bases {
		s, lerr := LoadSnapshot("log", m, tick)
		if err = errors.Join(err, lerr); err == nil {
			err = r.SeekAfter(s)
		}
	}
	if rerr == nil {
		err = errors.Join(err, r.Close())
	}
	err = errors.Join(err, play(l, next, next+20), l.Close())
	if err == nil {
		if first, read, err = readFrom(m); err == nil && (read != next+20 || (opt.Retention == KeepAll) && first > 0) {
			err = fmt.Errorf("ticks %d to %d are read, of %d", first, read, next+20)
		}
	}
	return err
}

// Segments go only by the policy, only those that no kept snapshot needs, and whatever interrupts that, every snapshot that is
// kept and every tick after it is there.
func TestRetention(t *testing.T) {
	t.Parallel()
	for policy := range retentionEnd {
		for _, compress := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				opt := Options{Durability: EveryTick, SegmentTicks: 6, Compress: compress, KeepSnapshots: 2, Buffer: 8192, Retention: policy}
				m, images := retained(t, opt)
				segments := segmentsOf(m)
				first, next, err := readFrom(m)
				if err != nil || next != 60 || (first > 0) != (policy != KeepAll) {
					t.Fatalf("%v: ticks %d to %d, %v", policy, first, next, err)
				}
				if want := map[Retention]int{KeepAll: 10, Archive: 2, Drop: 2}[policy]; len(segments) != want { // the oldest snapshot is of tick 49
					t.Errorf("%v: %d segments, want %d", policy, len(segments), want)
				}
				back := m.clone()
				for name, f := range m.names {
					if strings.HasPrefix(name, "log/archive/") {
						delete(back.names, name)
						back.names["log/"+strings.TrimPrefix(name, "log/archive/")] = f
					}
				}
				if next, err := readBack(back, "log", 0); policy != Drop && (next != 60 || err != nil) {
					t.Errorf("%v: %d ticks of the whole log, %v", policy, next, err)
				}
				if policy == Archive {
					if err := goesOnFrom(back, opt, 60); err != nil {
						t.Errorf("moved back: %v", err)
					}
				}
				for i, image := range images {
					if err := goesOnFrom(image.disk, opt, image.durable); err != nil {
						t.Fatalf("%v, compress=%v, image %d of %d: %v", policy, compress, i, len(images), err)
					}
				}
				for what, change := range map[string]func(c *memFS){
					"the first segment that is needed": func(c *memFS) { delete(c.names, slices.Min(namesOf(segmentsOf(c)))) },
					"the last segment":                 func(c *memFS) { delete(c.names, slices.Max(namesOf(segmentsOf(c)))) },
				} {
					c := m.clone()
					change(c)
					_, _, rerr := readFrom(c)
					_, _, err := Recover("log", Options{FS: c})
					for _, err := range []error{rerr, err} {
						if !errors.Is(err, ErrCorrupt) {
							t.Errorf("%v, without %s: %v", policy, what, err)
						}
					}
				}
				if policy == Drop {
					c := m.clone()
					for name := range c.names {
						if strings.HasSuffix(name, snapshotSuffix) {
							delete(c.names, name)
						}
					}
					if _, _, err := Recover("log", Options{FS: c}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), segmentName(0)) {
						t.Errorf("without snapshots: %v", err)
					}
				}
			})
		}
	}
}

func namesOf(files map[string]*memFile) (names []string) {
	for name := range files {
		names = append(names, name)
	}
	return names
}

// A kept snapshot that cannot be read back keeps the segments, and so does an archive that holds one of that name.
func TestRetentionKeepsWhatIsNeeded(t *testing.T) {
	for _, c := range []struct {
		what   string
		policy Retention
		change func(m *memFS)
		want   error
	}{
		{"a damaged snapshot", Drop, func(m *memFS) { d := m.names["log/"+snapshotName(7)].data; d[len(d)-3] ^= 1 }, ErrCorrupt},
		{"an archive of another run", Archive, func(m *memFS) { m.names["log/archive/"+segmentName(0)] = &memFile{} }, fs.ErrExist},
	} {
		synctest.Test(t, func(t *testing.T) {
			opt := Options{Durability: EveryTick, SegmentTicks: 6, KeepSnapshots: 2, Buffer: 8192, Retention: c.policy}
			m := newMemFS()
			l := create(t, m, "log", opt)
			if err := play(l, 0, 13); err != nil { // snapshots of 0 and 7
				t.Fatal(err)
			}
			closeLog(t, l)
			c.change(m)
			l, _ = recoverLog(t, m, opt)
			if err := play(l, 13, 20); err != nil { // and of 14
				t.Fatal(err)
			}
			closeLog(t, l)
			if s := l.Stats(); s.Retired > 0 || !errors.Is(s.SnapshotErr, c.want) {
				t.Errorf("%s: %+v", c.what, s)
			}
			if next, err := readBack(m, "log", 0); next != 20 || err != nil {
				t.Errorf("%s: %d ticks, %v", c.what, next, err)
			}
		})
	}
}
