package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/native"
)

// errBudget is the verdict that a step takes too long.
type errBudget struct{ p95, budget int64 }

func (e errBudget) Error() string {
	return fmt.Sprintf("over the budget: p95 of a step is %s µs of %s µs", micros(e.p95), micros(e.budget))
}

// outNone is the value of -out that writes no files.
const outNone = "none"

// job is a run from the first comparison of levels to the report.
type job struct {
	*options
	progress   *progress
	levels     []native.Level
	was        *profile.Run // of -baseline; nil: none
	parity     *profile.Parity
	comparison *comparison // with a rival; nil: none
	unpin      func()
}

// readBaseline reads the run in a folder, which may be named by a file in it.
func readBaseline(path string) (*profile.Run, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	return profile.ReadDir(path)
}

// newJob reads the baseline, before minutes are spent and before its files are written anew, and pins
// the thread.
func (o *options) newJob(level native.Level, stderr io.Writer) (*job, error) {
	j := &job{options: o, levels: native.Levels(), unpin: func() {}}
	if o.baseline != "" {
		was, err := readBaseline(o.baseline)
		if err != nil {
			return nil, err
		}
		if was.Scene != o.scene {
			return nil, fmt.Errorf("%w: -baseline %s: a run of the scene %q, not %q", errUsage, o.baseline, was.Scene, o.scene)
		}
		j.was = was
	}
	if o.pin >= 0 {
		runtime.LockOSThread()
		undo, err := profile.Pin(o.pin)
		if err != nil {
			runtime.UnlockOSThread()
			return nil, err
		}
		j.unpin = func() { undo(); runtime.UnlockOSThread() }
	}
	j.progress = newProgress(stderr)
	return j, nil
}

func (j *job) close() {
	j.progress.clear()
	j.unpin()
}

// preflight compares the levels; no times are told of kernels that differ.
func (j *job) preflight(ticks int, open opener) error {
	j.progress.show("comparing the levels")
	p, err := preflight(j.levels, ticks, j.seed, open)
	if err != nil {
		return err
	}
	j.parity = p
	if !p.OK {
		return errParity{p.Err}
	}
	return nil
}

// ladder has the levels take turns, if that was asked for or does not take long.
func (j *job) ladder(run *profile.Run, buildNs int64, open opener) (err error) {
	plan := longLadder
	if run.Steps.Len() < 100 {
		plan = shortLadder
	}
	takes := plan.takes(len(j.levels), quantilesOf(run.Steps.Ns).P50, buildNs)
	switch {
	case j.options.ladder == ladderOff || len(j.levels) < 2:
		return nil
	case j.options.ladder == ladderAuto && takes > ladderPatience:
		run.Unwatched = append(run.Unwatched, fmt.Sprintf("the levels by turns: about %.0f s; -ladder on", takes.Seconds()))
		return nil
	}
	run.Ladder, err = ladder(j.levels, plan, j.seed, open, func(round int) { j.progress.show("the levels by turns: %d", round) })
	return err
}

// tell writes report and files, and returns the verdict on the budget.
func (j *job) tell(run *profile.Run, stdout io.Writer) error {
	j.progress.clear()
	run.Parity = j.parity
	if j.comparison != nil {
		run.Rivals = append(run.Rivals, j.comparison.told())
	}
	var unlike error // what was measured is told all the same
	if j.was != nil {
		if err := profile.Compare(run, j.was, j.baseline); err != nil {
			unlike = fmt.Errorf("%w: -baseline: %w", errUsage, err)
		}
	}
	rep := profile.Analyze(run)
	dir, err := j.writeFiles(rep)
	if err != nil {
		return err
	}
	rep.Next = j.next(dir)
	if j.json {
		err = rep.WriteSummary(stdout)
	} else {
		err = rep.WriteText(stdout, profile.TextFor(stdout))
	}
	if err == nil && j.comparison != nil && !j.json {
		err = j.comparison.print(stdout)
	}
	if err == nil && j.budget > 0 && rep.Step.P95.Ns > int64(j.budget) {
		err = errBudget{rep.Step.P95.Ns, int64(j.budget)}
	}
	return errors.Join(unlike, err)
}

// writeFiles writes the files of a run: into out/SCENE, unless -out or -json say otherwise.
func (j *job) writeFiles(rep *profile.Report) (dir string, err error) {
	dir = j.out
	switch {
	case dir == outNone || dir == "" && j.json:
		return "", nil
	case dir == "":
		dir = filepath.Join("out", j.scene)
	}
	_, err = rep.WriteDir(dir)
	return dir, err
}

// next is what to run next: the same against this run, or what it costs at other sizes.
func (j *job) next(dir string) string {
	switch {
	case dir != "" && j.baseline == "":
		return j.command + " -baseline " + quotedArg(dir)
	case slices.Contains(sizableScenes, j.scene) && len(j.ns) == 0:
		return "go run ./bench -scene " + j.scene + " -scale"
	}
	return j.command
}

// commandOf is the command line that repeats a run.
func commandOf(args []string) string {
	command := "go run ./bench"
	for _, a := range args {
		command += " " + quotedArg(a)
	}
	return command
}

// quotedArg is an argument as a POSIX shell takes it.
func quotedArg(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:+@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
