package profile

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/fault"
)

// A steps.csv has a header, then a line for each step, of integers only. Its columns are
//
//	step                    from 0
//	tick                    of the simulation
//	due_ns, start_ns        on one clock
//	total_ns                duration of the step
//	phase_ns:NAME           for each phase, in the order of the run
//	count:NAME              for each counter
//	gcs, gc_pause_ns, gc_assist_ns
//
// A run without them lacks tick, due_ns, start_ns and the last three.
const (
	csvStep  = "step"
	csvTick  = "tick"
	csvDue   = "due_ns"
	csvStart = "start_ns"
	csvTotal = "total_ns"
	csvPhase = "phase_ns:"
	csvCount = "count:"
)

// Limits of readSteps, beside maxTimeNs.
const (
	maxReadSteps = 1 << 24
	maxColumns   = 1 << 12
	maxLineBytes = 1 << 20
)

// column is a column of integers of Steps.
type column struct {
	name  string // in the file
	field string // of Steps
	to    *[]int64
}

// columns lists all but the ticks, in the order of the file.
func (s *Steps) columns() []column {
	list := []column{{csvDue, "DueNs", &s.DueNs}, {csvStart, "StartNs", &s.StartNs}, {csvTotal, "Ns", &s.Ns}}
	for i := range s.PhaseNs {
		list = append(list, column{csvPhase + at(s.Phases, i), fmt.Sprintf("PhaseNs[%d]", i), &s.PhaseNs[i]})
	}
	for i := range s.Counts {
		list = append(list, column{csvCount + at(s.Counters, i), fmt.Sprintf("Counts[%d]", i), &s.Counts[i]})
	}
	return append(list, column{"gcs", "GCs", &s.GCs}, column{"gc_pause_ns", "GCPauseNs", &s.GCPauseNs},
		column{"gc_assist_ns", "GCAssistNs", &s.GCAssistNs})
}

// optional reports whether a run may lack the column.
func (c *column) optional() bool { return c.name != csvTotal && !strings.Contains(c.name, ":") }

// writeSteps writes the steps as CSV (RFC 4180, lines ending in \n), which readSteps reads. It
// returns evertick.ErrRange, and writes nothing, if a name is not printable or occurs twice.
func (run *Run) writeSteps(w io.Writer) error {
	s := &run.Steps
	s.check()
	list := slices.DeleteFunc(s.columns(), func(c column) bool { return *c.to == nil && c.optional() })
	header := []string{csvStep}
	if s.Tick != nil {
		header = append(header, csvTick)
	}
	for _, c := range list {
		header = append(header, c.name)
	}
	if err := checkHeader(header); err != nil {
		return err
	}
	head := csv.NewWriter(w)
	if err := head.Write(header); err != nil {
		return err
	}
	head.Flush()
	if err := head.Error(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var line []byte
	for i := range s.Len() {
		line = strconv.AppendInt(line[:0], int64(i), 10)
		if s.Tick != nil {
			line = strconv.AppendUint(append(line, ','), s.Tick[i], 10)
		}
		for _, c := range list {
			line = strconv.AppendInt(append(line, ','), (*c.to)[i], 10)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

func checkHeader(header []string) error {
	seen := map[string]bool{}
	for i, name := range header {
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return fault.Element(fault.ErrRange, "profile: steps: column", i, strconv.Quote(name))
		}
		if seen[name] {
			return fault.Element(fault.ErrRange, "profile: steps: column", i, strconv.Quote(name)+", which occurs twice")
		}
		seen[name] = true
	}
	return nil
}

// readSteps reads the format of writeSteps; a line may also end in \r\n. Any other input is
// ErrCorrupt, and the error names line, column and value. It reads at most 2^24 steps, 4,096
// columns, lines of a megabyte and times up to 2^52 ns; only due_ns and start_ns may be negative.
func readSteps(r io.Reader) (*Steps, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLineBytes)
	if !in.Scan() {
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("profile: steps: line 1: %w", err)
		}
		return nil, corrupt(1, "", "nothing")
	}
	s := &Steps{}
	list, err := s.readHeader(in.Text())
	if err != nil {
		return nil, err
	}
	for line := 2; in.Scan(); line++ {
		if s.Len() == maxReadSteps {
			return nil, corrupt(line, "", "more than 2^24 steps")
		}
		if err := s.readLine(line, in.Text(), list); err != nil {
			return nil, err
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("profile: steps: line %d: %w: %w", s.Len()+2, err, fault.ErrCorrupt)
	}
	return s, nil
}

func shown(found string) string {
	const most = 40
	if len(found) > most {
		return strconv.Quote(found[:most]) + "…"
	}
	return strconv.Quote(found)
}

// corrupt returns an error with its position; found describes the input there.
func corrupt(line int, column, found string) error {
	if column != "" {
		column = ", column " + strconv.Quote(column)
	}
	return fmt.Errorf("profile: steps: line %d%s: %s: %w", line, column, found, fault.ErrCorrupt)
}

// readHeader creates the columns of the header, and returns them with a nil column in place of the
// ticks.
func (s *Steps) readHeader(line string) ([]column, error) {
	r := csv.NewReader(strings.NewReader(line))
	header, err := r.Read()
	if err != nil {
		return nil, corrupt(1, "", err.Error())
	}
	if r.InputOffset() < int64(len(line)) {
		return nil, corrupt(1, "", "more than one line")
	}
	if len(header) > maxColumns {
		return nil, corrupt(1, "", fmt.Sprintf("%d columns", len(header)))
	}
	if err := checkHeader(header); err != nil {
		return nil, fmt.Errorf("%w: %w", err, fault.ErrCorrupt)
	}
	if header[0] != csvStep {
		return nil, corrupt(1, header[0], "not "+csvStep)
	}
	for _, name := range header {
		if phase, ok := strings.CutPrefix(name, csvPhase); ok {
			s.Phases = append(s.Phases, phase)
		} else if counter, ok := strings.CutPrefix(name, csvCount); ok {
			s.Counters = append(s.Counters, counter)
		}
	}
	s.PhaseNs, s.Counts = make([][]int64, len(s.Phases)), make([][]int64, len(s.Counters))
	s.DueNs, s.StartNs, s.Ns = []int64{}, []int64{}, []int64{}
	s.GCs, s.GCPauseNs, s.GCAssistNs = []int64{}, []int64{}, []int64{}
	return s.match(header)
}

// match finds the columns of the header, which must have the order of the writer, and removes the
// others.
func (s *Steps) match(header []string) ([]column, error) {
	known := s.columns()
	var list []column
	for _, name := range header[1:] {
		if name == csvTick && len(list) == 0 && s.Tick == nil {
			s.Tick = []uint64{}
			list = append(list, column{name: csvTick})
			continue
		}
		at := slices.IndexFunc(known, func(c column) bool { return c.name == name })
		if at < 0 {
			return nil, corrupt(1, name, "unknown, or not in its place")
		}
		for _, c := range known[:at] {
			if !c.optional() {
				return nil, corrupt(1, name, "before "+c.name)
			}
			*c.to = nil
		}
		list = append(list, known[at])
		known = known[at+1:]
	}
	for _, c := range known {
		if !c.optional() {
			return nil, corrupt(1, c.name, "missing")
		}
		*c.to = nil
	}
	return list, nil
}

// readLine appends a step.
func (s *Steps) readLine(line int, text string, list []column) error {
	field, rest, more := strings.Cut(strings.TrimSuffix(text, "\r"), ",")
	if want := strconv.Itoa(s.Len()); field != want {
		return corrupt(line, csvStep, shown(field)+", not "+want)
	}
	for _, c := range list {
		if !more {
			return corrupt(line, c.name, "missing")
		}
		field, rest, more = strings.Cut(rest, ",")
		if c.to == nil {
			tick, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return corrupt(line, c.name, shown(field)+" is no tick")
			}
			s.Tick = append(s.Tick, tick)
			continue
		}
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return corrupt(line, c.name, shown(field)+" is no integer")
		}
		if least, most := limits(c.name); v < least || v > most {
			return corrupt(line, c.name, fmt.Sprintf("%d: out of range", v))
		}
		*c.to = append(*c.to, v)
	}
	if more {
		return corrupt(line, "", fmt.Sprintf("more than %d columns", len(list)+1))
	}
	return nil
}

// limits returns the smallest and the largest value of a column.
func limits(column string) (least, most int64) {
	switch {
	case strings.HasPrefix(column, csvCount):
		return math.MinInt64, math.MaxInt64
	case column == csvDue || column == csvStart:
		return -maxTimeNs, maxTimeNs
	}
	return 0, maxTimeNs
}
