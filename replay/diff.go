package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// LogDifference is where two logs a and b diverge.
type LogDifference struct {
	// Tick is the first tick whose hashes differ, or that one of the logs lacks.
	Tick         uint64
	HashA, HashB uint64
	// EndsA or EndsB is set if that log ends before Tick.
	EndsA, EndsB bool
	// Inputs is set if inputs differ in InputTick, which is Tick or earlier.
	Inputs    bool
	InputTick uint64
	// Columns names those whose hashes differ, if both logs have them for this tick.
	Columns []string
	// Where is the first difference of the two states; nil if one of them could not be
	// reached.
	Where *evertick.Difference
}

// String describes the difference in one line.
func (d *LogDifference) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "tick %d: ", d.Tick)
	switch {
	case d.EndsA:
		text.WriteString("a has ended")
	case d.EndsB:
		text.WriteString("b has ended")
	default:
		fmt.Fprintf(&text, "hash %016x and %016x", d.HashA, d.HashB)
	}
	if d.Inputs {
		fmt.Fprintf(&text, "; inputs differ from tick %d on", d.InputTick)
	}
	if len(d.Columns) > 0 {
		text.WriteString("; columns " + strings.Join(d.Columns, ", "))
	}
	if d.Where != nil {
		text.WriteString("; " + d.Where.String())
	}
	return text.String()
}

// Diff returns where two logs of one scenario diverge, or nil if they are equal in hashes,
// inputs and length. It compares the logs first and then runs both up to the tick at which
// they diverge. If a run does not repeat its log, Diff returns the error of Seek together
// with the difference found in the logs.
func Diff(dirA, dirB string, sc Scenario, fsys worldlog.FS) (*LogDifference, error) {
	return DiffContext(context.Background(), dirA, dirB, sc, fsys, nil)
}

// DiffContext is Diff that ends early, with the error of ctx, once ctx is done. It calls progress, if that is
// not nil, after every tick that it compares or runs, with the number of that tick.
func DiffContext(ctx context.Context, dirA, dirB string, sc Scenario, fsys worldlog.FS, progress func(tick uint64)) (*LogDifference, error) {
	if progress == nil {
		progress = func(uint64) {}
	}
	d, err := diffLogs(ctx, dirA, dirB, sc, fsys, progress)
	if d == nil || err != nil || d.EndsA || d.EndsB || d.HashA == d.HashB {
		return d, err
	}
	to := func(p *Player, tick uint64) error { return p.SeekContext(ctx, tick, progress) }
	a, errA := seek(dirA, sc, d.Tick, fsys, to)
	b, errB := seek(dirB, sc, d.Tick, fsys, to)
	if err := errors.Join(errA, errB); err != nil {
		return d, fmt.Errorf("replay: Diff: %w", err)
	}
	if where, found := evertick.Diff(a, b); found {
		d.Where = &where
	}
	return d, nil
}

func diffLogs(ctx context.Context, dirA, dirB string, sc Scenario, fsys worldlog.FS, progress func(uint64)) (*LogDifference, error) {
	a, err := worldlog.OpenReader(dirA, fsys)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := worldlog.OpenReader(dirB, fsys)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := errors.Join(checkIdentity(sc, a.Identity()), checkIdentity(sc, b.Identity())); err != nil {
		return nil, err
	}
	return diffReaders(ctx, a, b, progress)
}

func diffReaders(ctx context.Context, a, b *worldlog.Reader, progress func(uint64)) (*LogDifference, error) {
	d := new(LogDifference)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, errA := a.Next()
		y, errB := b.Next()
		if ended(errA) && ended(errB) {
			if d.Inputs { // which changed nothing
				return d, nil
			}
			return nil, nil
		}
		d.EndsA, d.EndsB = ended(errA), ended(errB)
		switch {
		case errA != nil && !d.EndsA:
			return nil, errA
		case errB != nil && !d.EndsB:
			return nil, errB
		case d.EndsA:
			d.Tick = y.Tick
			return d, nil
		case d.EndsB:
			d.Tick = x.Tick
			return d, nil
		case x.Tick != y.Tick:
			return nil, fault.Field(fault.ErrCorrupt, fmt.Sprintf("replay: Diff: tick where the other log has %d", y.Tick), x.Tick)
		}
		if !d.Inputs && !sameInputs(x, y) {
			d.Inputs, d.InputTick, d.Tick, d.HashA, d.HashB = true, x.Tick, x.Tick, x.Hash, y.Hash
		}
		if x.Hash != y.Hash {
			d.Tick, d.HashA, d.HashB = x.Tick, x.Hash, y.Hash
			d.Columns = differingColumns(x, y)
			return d, nil
		}
		progress(x.Tick)
	}
}

// ended reports whether err is the end of a log, torn or not.
func ended(err error) bool { return err == io.EOF || errors.Is(err, worldlog.ErrTorn) }

func sameInputs(x, y *worldlog.Tick) bool {
	return slices.EqualFunc(inputRecords(x), inputRecords(y), func(a, b worldlog.Record) bool {
		return a.Source == b.Source && a.Seq == b.Seq && a.Kind == b.Kind && bytes.Equal(a.Data, b.Data)
	})
}

func inputRecords(t *worldlog.Tick) []worldlog.Record {
	return slices.DeleteFunc(slices.Clone(t.Records), func(r worldlog.Record) bool { return r.Type != worldlog.Input })
}

func differingColumns(x, y *worldlog.Tick) []string {
	a, errA := columnsOf(x)
	b, errB := columnsOf(y)
	if a == nil || b == nil || errA != nil || errB != nil {
		return nil
	}
	return differing(a, b)
}

// columnsOf returns the column hashes that a log has for a tick, or nil.
func columnsOf(t *worldlog.Tick) ([]ecs.ColumnHash, error) {
	i := slices.IndexFunc(t.Records, func(r worldlog.Record) bool { return r.Type == worldlog.Columns })
	if i < 0 {
		return nil, nil
	}
	return parseColumns(t.Records[i].Data)
}
