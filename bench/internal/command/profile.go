package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

type errBudget struct{ p95, budget int64 }

func (e errBudget) Error() string {
	return fmt.Sprintf("over the budget: p95 of a step is %s µs of %s µs", micros(e.p95), micros(e.budget))
}

// outNone is the value of -out that writes no files.
const outNone = "none"

// subject is a scene whose steps are profiled.
type subject struct {
	small, full opener // for the comparison of the levels, and for the ladder
	// measure runs the scene. It returns the run, the time of building the scene, and the
	// comparison with another engine, nil without one.
	measure func(progress *Progress) (run *profile.Run, buildNs int64, c *comparison, err error)
}

// profile compares the levels, measures the subject, and writes report and files. It reads the
// baseline first: before minutes of measuring, and before the files of the baseline are
// overwritten.
func (o *Options) profile(s subject, stdout, stderr io.Writer) error {
	was, err := o.readBaseline()
	if err != nil {
		return err
	}
	if o.pin >= 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		undo, err := profile.Pin(o.pin)
		if err != nil {
			return err
		}
		defer undo()
	}
	progress := NewProgress(stderr)
	defer progress.Clear()
	progress.Show("comparing the levels")
	parity, err := preflight(native.Levels(), min(preflightTicks, o.Ticks), o.Seed, s.small)
	if err != nil {
		return err
	}
	if !parity.OK {
		return errParity{parity.Err}
	}
	run, buildNs, c, err := s.measure(progress)
	if err != nil {
		return err
	}
	run.Parity = parity
	if err := o.addLadder(run, buildNs, s.full, progress); err != nil {
		return err
	}
	progress.Clear()
	return o.writeRun(run, was, c, stdout)
}

// readBaseline reads the run of -baseline: a folder, or a file in it. It returns nil without that
// flag.
func (o *Options) readBaseline() (*profile.Run, error) {
	if o.baseline == "" {
		return nil, nil
	}
	dir := o.baseline
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	was, err := profile.ReadDir(dir)
	if err == nil && was.Scene != o.Scene {
		err = fmt.Errorf("%w: -baseline %s: a run of the scene %q, not %q", ErrUsage, o.baseline, was.Scene, o.Scene)
	}
	return was, err
}

// writeRun writes report and files, and returns the verdict on the budget.
func (o *Options) writeRun(run, was *profile.Run, c *comparison, stdout io.Writer) error {
	if c != nil {
		run.Rivals = append(run.Rivals, c.Ratio)
	}
	var incomparable error // the report is written all the same
	if was != nil {
		if err := profile.Compare(run, was, o.baseline); err != nil {
			incomparable = fmt.Errorf("%w: -baseline: %w", ErrUsage, err)
		}
	}
	rep := profile.Analyze(run)
	dir := o.out
	if dir == "" && !o.json {
		dir = filepath.Join("out", o.Scene)
	}
	if dir != "" && dir != outNone {
		if _, err := rep.WriteDir(dir); err != nil {
			return err
		}
		rep.Next = o.next(dir)
	} else {
		rep.Next = o.next("")
	}
	var err error
	if o.json {
		err = rep.WriteSummary(stdout)
	} else if err = rep.WriteText(stdout, profile.TextFor(stdout)); err == nil && c != nil {
		_, err = io.WriteString(stdout, "\n"+c.text("steps"))
	}
	if err == nil && o.budget > 0 && rep.Step.P95.Ns > int64(o.budget) {
		err = errBudget{rep.Step.P95.Ns, int64(o.budget)}
	}
	return errors.Join(incomparable, err)
}

// next is the command to run next: the same compared with this run, or with other sizes.
func (o *Options) next(dir string) string {
	switch {
	case dir != "" && o.baseline == "":
		return o.command + " -baseline " + quotedArg(dir)
	case registered[o.Scene].size != nil && len(o.Ns) == 0:
		return "go run ./bench -scene " + o.Scene + " -scale"
	}
	return o.command
}

const profiler = "go run ./bench "

// commandOf returns the command line that repeats a run.
func commandOf(args []string) string {
	command := strings.TrimSpace(profiler)
	for _, a := range args {
		command += " " + quotedArg(a)
	}
	return command
}

// quotedArg quotes an argument for a POSIX shell.
func quotedArg(s string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:+@%", r))
	}
	if s != "" && !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
