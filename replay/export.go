package replay

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/worldlog"
)

// ExportCSV writes a log as comma-separated values: a line of names, and then for each tick
// a line of record "input" for each of its inputs and one of record "tick", with the hash and
// the counts. Data are in hexadecimal. It runs no tick, so it needs no scenario. The error is
// that of the log, where it is damaged or torn, or of w.
func ExportCSV(w io.Writer, dir string, fsys worldlog.FS) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "tick,record,hash,live,dropped,source,seq,kind,late,data,at,fraction")
	err := export(dir, fsys, func(t *worldlog.Tick) error {
		for in, err := range inputsOf(t) {
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%d,input,,,,%d,%d,%d,%d,%x,%d,%d\n", t.Tick, in.Source, in.Seq, in.Kind, t.Tick-in.Tick, in.Data, in.At, in.Fraction)
		}
		_, err := fmt.Fprintf(b, "%d,tick,%016x,%d,%d,,,,,,,\n", t.Tick, t.Hash, t.Counts.Live, t.Counts.Dropped)
		return err
	})
	return errors.Join(err, b.Flush())
}

// Inputs yields the inputs of a log as they were applied, each with the tick in which it was
// applied. It runs no tick, so it needs no scenario. Data is valid until the next input. An error
// of the log comes last.
func Inputs(dir string, fsys worldlog.FS) iter.Seq2[Applied, error] {
	return func(yield func(Applied, error) bool) {
		err := export(dir, fsys, func(t *worldlog.Tick) error {
			for in, err := range inputsOf(t) {
				if err != nil {
					return err
				}
				if !yield(Applied{t.Tick, in}, nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && err != errEnough {
			yield(Applied{}, err)
		}
	}
}

// Applied is an input, and the tick in which it was applied, which is not before Input.Tick.
type Applied struct {
	At    uint64
	Input evertick.Input
}

// errEnough ends the reading of a log early.
var errEnough = errors.New("enough")

// traceEvent is one of the format that chrome://tracing and Perfetto read. Times are
// microseconds of simulated time.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Ts    float64        `json:"ts"`
	Dur   float64        `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Rows of the trace.
const (
	ticksRow = iota + 1
	inputsRow
	notesRow
)

// ExportTrace writes a log in the trace event format, as a JSON array: ticks as spans of
// simulated time, inputs, snapshots and marks as instants in them, entities as a counter.
// Errors are those of ExportCSV.
func ExportTrace(w io.Writer, dir string, fsys worldlog.FS) error {
	x := &tracer{w: bufio.NewWriter(w), us: 1e6 / 60.0}
	for i, name := range []string{"ticks", "inputs", "snapshots and marks"} {
		x.event(traceEvent{Name: "thread_name", Phase: "M", Tid: ticksRow + i, Args: map[string]any{"name": name}})
	}
	err := export(dir, fsys, x.tick)
	if x.err == nil {
		_, x.err = x.w.WriteString("\n]\n")
	}
	return errors.Join(err, x.err, x.w.Flush())
}

type tracer struct {
	w      *bufio.Writer
	us     float64 // of a tick
	events int
	err    error // the first of writing
}

func (x *tracer) event(e traceEvent) {
	e.Pid = 1
	data, err := json.Marshal(e)
	before := ",\n"
	if x.events == 0 {
		before = "[\n"
	}
	x.events++
	if err == nil {
		_, err = x.w.WriteString(before)
	}
	if err == nil {
		_, err = x.w.Write(data)
	}
	if x.err == nil {
		x.err = err
	}
}

func (x *tracer) tick(t *worldlog.Tick) error {
	for i := range t.Records {
		if r := &t.Records[i]; r.Type == worldlog.Config {
			if dt, _, err := ParseConfig(r.Data); err == nil {
				x.us = float64(dt) * 1e6
			}
		}
	}
	ts := float64(t.Tick) * x.us
	x.event(traceEvent{Name: "tick " + strconv.FormatUint(t.Tick, 10), Phase: "X", Ts: ts, Dur: x.us, Tid: ticksRow,
		Args: map[string]any{"hash": fmt.Sprintf("%016x", t.Hash), "dropped": t.Counts.Dropped}})
	x.event(traceEvent{Name: "entities", Phase: "C", Ts: ts, Tid: ticksRow, Args: map[string]any{"live": t.Counts.Live}})
	for i := range t.Records {
		if err := x.record(t.Tick, ts, &t.Records[i]); err != nil {
			return err
		}
	}
	return x.err
}

func (x *tracer) record(tick uint64, ts float64, r *worldlog.Record) error {
	e := traceEvent{Phase: "i", Scope: "t", Ts: ts, Tid: notesRow}
	switch r.Type {
	case worldlog.Input:
		in, err := ParseInput(tick, r)
		if err != nil {
			return err
		}
		e.Tid, e.Name = inputsRow, "kind "+strconv.FormatUint(uint64(in.Kind), 10)
		e.Args = map[string]any{"source": in.Source, "seq": in.Seq, "late": tick - in.Tick, "data": hex.EncodeToString(in.Data)}
		if in.At > 0 || in.Fraction > 0 {
			e.Args["at"], e.Args["fraction"] = in.At, in.Fraction
		}
	case worldlog.SnapshotRef:
		at, _, size, err := worldlog.ParseSnapshotRef(r.Data)
		if err != nil {
			return err
		}
		e.Name, e.Args = "snapshot on disk", map[string]any{"tick": at, "bytes": size}
	case worldlog.Marker:
		e.Name, e.Args = "mark", map[string]any{"text": string(r.Data)}
	default:
		return nil
	}
	x.event(e)
	return x.err
}

// export calls f for every tick of a log.
func export(dir string, fsys worldlog.FS, f func(*worldlog.Tick) error) error {
	r, err := worldlog.OpenReader(dir, fsys)
	if err != nil {
		return err
	}
	defer r.Close()
	for t, err := range r.Ticks(0) {
		if err == nil {
			err = f(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
