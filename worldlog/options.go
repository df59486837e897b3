package worldlog

import (
	"cmp"
	"errors"
	"time"

	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
)

// Durability says when a committed tick is synced to the disk. Under each of them
// the writer passes a tick to the operating system as soon as it is free, so that
// the death of the process alone loses little; see the package comment.
type Durability uint8

const (
	// Interval syncs at most Options.Interval after the first tick that waits.
	Interval Durability = iota
	// EveryTick syncs as soon as a tick is committed. Ticks that are committed
	// while the disk is busy share the next sync.
	EveryTick
	// None syncs only when a segment is full, for a snapshot, at Sync and at Close.
	None
	durabilityEnd
)

// String returns the name of the constant.
func (d Durability) String() string {
	return enum.Name([]string{"Interval", "EveryTick", "None"}, d, "Durability")
}

// FullPolicy says what Append and Commit do when the disk is slower than the
// world and the buffer is full.
type FullPolicy uint8

const (
	// Block waits for the disk.
	Block FullPolicy = iota
	// Stop ends the log at the last committed tick, with ErrFull.
	Stop
	fullPolicyEnd
)

// String returns the name of the constant.
func (p FullPolicy) String() string { return enum.Name([]string{"Block", "Stop"}, p, "FullPolicy") }

// Retention decides what happens to old segments. A segment is old if all its ticks come before the segment in which the
// oldest kept snapshot lies: no start reads it. Only Archive and Drop move or remove segments.
type Retention uint8

const (
	// KeepAll keeps every segment.
	KeepAll Retention = iota
	// Archive moves them into the directory "archive" in the directory of the log. Moved back, all of them, they are part of the log
	// again.
	Archive
	// Drop removes them.
	Drop
	retentionEnd
)

// String returns the name of the constant.
func (r Retention) String() string {
	return enum.Name([]string{"KeepAll", "Archive", "Drop"}, r, "Retention")
}

// Options set up a log; the zero value works. They are not stored in the log
// and may differ from one opening to the next.
type Options struct {
	Durability Durability
	Interval   time.Duration // with Durability Interval; 0: 100 ms

	// Buffer is the memory for data that is not written yet, in bytes, 4,096 to
	// 2^31-1; 0: 8 MiB. One half is filled while the other is written, so a
	// record must fit into a half.
	Buffer int
	Full   FullPolicy

	SegmentBytes int64  // a segment ends with the tick that reaches them; 0: 64 MiB
	SegmentTicks uint64 // or with this many ticks; 0: any number
	Compress     bool   // pack closed segments with zstd

	KeepSnapshots int // the newest so many of the run stay; 0: 8, -1: all

	// Retention of old segments: see Checkpoints in the package comment. Before a segment goes, each snapshot that is kept is
	// read back whole. With KeepSnapshots -1 all stay. A log that package jetstream ships or follows needs KeepAll: a stream
	// that has lost messages is filled again from its first tick.
	Retention Retention

	FS FS // nil: OS
}

const (
	defaultInterval     = 100 * time.Millisecond
	defaultBuffer       = 8 << 20
	minBuffer           = 4096
	maxBuffer           = 1<<31 - 1
	defaultSegmentBytes = 64 << 20
	defaultKeep         = 8
)

// Validate reports every field that is out of range.
func (o Options) Validate() error {
	var errs []error
	bad := func(field string, value any) {
		errs = append(errs, fault.Field(ErrRange, "worldlog: Options."+field, value))
	}
	if o.Durability >= durabilityEnd {
		bad("Durability", o.Durability)
	}
	if o.Interval < 0 {
		bad("Interval", o.Interval)
	}
	if o.Buffer != 0 && (o.Buffer < minBuffer || o.Buffer > maxBuffer) {
		bad("Buffer", o.Buffer)
	}
	if o.Full >= fullPolicyEnd {
		bad("Full", o.Full)
	}
	if o.SegmentBytes < 0 {
		bad("SegmentBytes", o.SegmentBytes)
	}
	if o.KeepSnapshots < -1 {
		bad("KeepSnapshots", o.KeepSnapshots)
	}
	if o.Retention >= retentionEnd {
		bad("Retention", o.Retention)
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.Buffer = cmp.Or(o.Buffer, defaultBuffer)
	o.SegmentBytes = cmp.Or(o.SegmentBytes, defaultSegmentBytes)
	o.KeepSnapshots = cmp.Or(o.KeepSnapshots, defaultKeep)
	o.FS = cmp.Or(o.FS, OS)
	return o
}
