package proof

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
	"github.com/zeebo/xxh3"
)

// Recording has the hashes of a run, after each tick, and the build that made it.
type Recording struct {
	Build      string // see Build
	SimVersion uint32
	Seed       uint64
	Hashes     []uint64 // after tick 1, 2, …
}

// Build describes this build in one line: machine, compilers, level, workers.
func Build(level native.Level, workers int) string {
	info := native.Info()
	arch, tags := runtime.GOARCH, []string{runtime.Version()}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "GOAMD64" || s.Key == "GOARM64" {
				arch += " " + s.Value
			}
		}
	}
	if info.Compiler == "" {
		tags = append(tags, "no cgo")
	} else {
		tags = append(tags, info.Compiler)
	}
	tags = append(tags, "level "+level.String(), fmt.Sprintf("%d worker(s), GOMAXPROCS %d", workers, runtime.GOMAXPROCS(0)))
	return runtime.GOOS + "/" + arch + ", " + strings.Join(tags, ", ")
}

// The file: magic, the length of the line and the line, version, seed, the number of
// ticks, eight bytes a tick, and XXH3 of all that. Numbers are little-endian.
const (
	magic     = "evertick hashes 1\n"
	maxBuild  = 4096
	fixedSize = len(magic) + 4 + 4 + 8 + 4 + 8
)

// MarshalBinary returns the recording as a file. A line of more than 4096 bytes, and 2^31
// ticks, are fault.ErrRange.
func (r *Recording) MarshalBinary() ([]byte, error) {
	if len(r.Build) > maxBuild {
		return nil, fault.Field(fault.ErrRange, "proof: Recording.Build: length", len(r.Build))
	}
	if len(r.Hashes) > 1<<31-1 {
		return nil, fault.Field(fault.ErrRange, "proof: Recording.Hashes: length", len(r.Hashes))
	}
	b := make([]byte, 0, fixedSize+len(r.Build)+8*len(r.Hashes))
	b = wire.AppendU32s(append(b, magic...), uint32(len(r.Build)))
	b = wire.AppendU32s(append(b, r.Build...), r.SimVersion)
	b = wire.AppendU32s(wire.AppendU64s(b, r.Seed), uint32(len(r.Hashes)))
	b = wire.AppendU64s(b, r.Hashes...)
	return wire.AppendU64s(b, xxh3.Hash(b)), nil
}

// UnmarshalBinary reads what MarshalBinary wrote. Anything else is fault.ErrCorrupt, and
// leaves r as it was.
func (r *Recording) UnmarshalBinary(b []byte) error {
	if len(b) < fixedSize || string(b[:len(magic)]) != magic {
		return fmt.Errorf("proof: no recording of hashes: %w", fault.ErrCorrupt)
	}
	body := b[:len(b)-8]
	if xxh3.Hash(body) != wire.U64At(b[len(body):], 0) {
		return fmt.Errorf("proof: recording: checksum: %w", fault.ErrCorrupt)
	}
	in := wire.NewReader(body[len(magic):])
	line := in.U32()
	got := Recording{Build: string(in.Bytes(in.Count(uint64(line), maxBuild, 1)))}
	got.SimVersion, got.Seed = in.U32(), in.U64()
	ticks := in.U32()
	if in.Err() != nil {
		return fault.Field(fault.ErrCorrupt, "proof: recording: length of the line", line)
	}
	if uint64(in.Len()) != 8*uint64(ticks) {
		return fault.Field(fault.ErrCorrupt, "proof: recording: ticks", ticks)
	}
	got.Hashes = make([]uint64, ticks)
	in.U64s(got.Hashes)
	*r = got
	return nil
}

// Record runs the scene. If restoreEvery is not 0 it goes on in a new scene, restored from a
// snapshot of the old one, each time after that many ticks.
func Record(c Config, ticks, restoreEvery int) (*Recording, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	return s.record(c, ticks, restoreEvery)
}

// RecordFrom runs the scene from a snapshot of SnapshotAt: the first hash is of the tick after it.
func RecordFrom(c Config, snapshot []byte, ticks int) (*Recording, error) {
	s, err := New(c)
	if err == nil {
		err = s.Sim.Restore(snapshot)
	}
	if err != nil {
		return nil, err
	}
	return s.record(c, ticks, 0)
}

// SnapshotAt runs the scene for so many ticks and returns the snapshot of its Sim.
func SnapshotAt(c Config, ticks uint64) ([]byte, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	for range ticks {
		if err := s.Step(); err != nil {
			return nil, err
		}
	}
	return s.Sim.Snapshot(nil)
}

func (s *Scene) record(c Config, ticks, restoreEvery int) (*Recording, error) {
	r := &Recording{Build: s.build(c), SimVersion: evertick.SimVersion, Seed: c.Seed, Hashes: make([]uint64, 0, ticks)}
	for i := range ticks {
		if restoreEvery > 0 && i > 0 && i%restoreEvery == 0 {
			var err error
			if s, err = s.restored(c); err != nil {
				return nil, err
			}
		}
		if err := s.Step(); err != nil {
			return nil, err
		}
		r.Hashes = append(r.Hashes, s.Sim.Hash())
	}
	return r, nil
}

// restored returns a new scene in the state of s.
func (s *Scene) restored(c Config) (*Scene, error) {
	b, err := s.Sim.Snapshot(nil)
	if err != nil {
		return nil, err
	}
	next, err := New(c)
	if err != nil {
		return nil, err
	}
	return next, next.Sim.Restore(b)
}

func (s *Scene) build(c Config) string { return Build(s.Sim.Level(), max(c.Workers, 1)) }

// FirstDifference returns the first tick, counted from 1, after which the hashes of two runs differ,
// and false if there is none among the ticks that both have.
func FirstDifference(a, b *Recording) (tick uint64, differ bool) {
	for i := range min(len(a.Hashes), len(b.Hashes)) {
		if a.Hashes[i] != b.Hashes[i] {
			return uint64(i + 1), true
		}
	}
	return 0, false
}

// Comparable returns why two recordings cannot be compared: fault.ErrUnsupported if they are of
// different seeds or versions, or if one has no ticks.
func Comparable(a, b *Recording) error {
	switch {
	case a.Seed != b.Seed:
		return fmt.Errorf("proof: seeds %d and %d: %w", a.Seed, b.Seed, fault.ErrUnsupported)
	case a.SimVersion != b.SimVersion:
		return fmt.Errorf("proof: SimVersion %d and %d: %w", a.SimVersion, b.SimVersion, fault.ErrUnsupported)
	case len(a.Hashes) == 0 || len(b.Hashes) == 0:
		return fmt.Errorf("proof: a recording of no ticks: %w", fault.ErrUnsupported)
	}
	return nil
}
