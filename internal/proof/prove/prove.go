package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evertick/evertick/internal/proof"
)

const self = "github.com/evertick/evertick/internal/proof/prove"

// prover is one run of the command.
type prover struct {
	*options
	lock   sync.Mutex // of stdout and the counts
	failed int
	agreed int

	reference  string // the file with its recording
	explaining sync.Mutex
	explained  int
}

// maxExplained is the number of differing runs that are run again: all of them usually have the same
// cause.
const maxExplained = 2

func (p *prover) say(format string, args ...any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	fmt.Fprintf(p.stdout, format+"\n", args...)
}

func (p *prover) fail(format string, args ...any) {
	p.say("FAIL: "+format, args...)
	p.lock.Lock()
	p.failed++
	p.lock.Unlock()
}

// prove builds, runs and compares everything.
func (o *options) prove(stdout io.Writer) error {
	start := time.Now()
	if o.dir = o.keep; o.dir == "" {
		dir, err := os.MkdirTemp("", "evertick-prove")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	} else if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	var err error
	if o.dir, err = filepath.Abs(o.dir); err != nil { // a program in wazero has no working directory
		return err
	}
	o.stdout = stdout
	p := &prover{options: o}
	p.say("scene %s, seed %d: %d ticks on this machine, %d under emulators and in WebAssembly; %d run(s) at a time", proof.SceneName, o.seed, o.ticks, o.emulated, o.jobs)
	tasks := p.plan()
	if len(tasks) == 0 {
		return fmt.Errorf("the reference was not built: %w", errDiffer)
	}
	reference, rest := tasks[0], tasks[1:]
	from, took, err := p.record(reference)
	if err != nil {
		return fmt.Errorf("the reference, %v: %w", reference, err)
	}
	p.say("%6d ticks %7.1f s  %s: the reference: %s", len(from.Hashes), took.Seconds(), reference, from.Build)
	p.each(rest, func(t *task) { p.check(t, reference, from) })
	if err := p.apart(tasks); err != nil {
		p.fail("bodies of physics/box2d: %v", err)
	}
	p.say("%d of %d runs agree with the reference after every tick, in %.0f s", p.agreed, len(rest), time.Since(start).Seconds())
	switch {
	case p.failed > 0:
		return errDiffer
	case p.agreed == 0:
		return fmt.Errorf("%w: -only %q: nothing could run here, so nothing is proved", errUsage, o.only)
	}
	return nil
}

// plan makes the builds that are possible here and returns the runs; the first is the reference.
func (p *prover) plan() []*task {
	all := builds()
	only := regexp.MustCompile(p.only)
	ready := make([][]*task, len(all))
	var group sync.WaitGroup
	slots := make(chan struct{}, p.jobs)
	for i := range all {
		b := &all[i]
		if i > 0 && !slices.ContainsFunc(b.tasks(1, b.levels), func(t *task) bool { return only.MatchString(t.String()) }) {
			continue
		}
		ticks := p.ticks
		if b.emulated() {
			if ticks = p.emulated; ticks == 0 {
				p.say("not run: %s: -emulated 0", b.name)
				continue
			}
		}
		if why := b.why(); why != "" {
			p.say("not run: %s: %s", b.name, why)
			continue
		}
		group.Add(1)
		go func() {
			defer group.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			levels, err := p.build(b)
			if err != nil {
				p.fail("%s: %v", b.name, err)
				return
			}
			ready[i] = b.tasks(ticks, levels)
		}()
	}
	group.Wait()
	if len(ready[0]) == 0 {
		return nil
	}
	reference := *ready[0][0]
	reference.workers, reference.procs, reference.ticks = 1, 1, max(p.ticks, p.emulated)
	tasks := slices.DeleteFunc(slices.Concat(ready...), func(t *task) bool { return !only.MatchString(t.String()) })
	return append([]*task{&reference}, tasks...)
}

func (p *prover) path(b *build, what string) string {
	name := regexp.MustCompile(`\W+`).ReplaceAllString(b.name+" "+what, "_")
	return filepath.Join(p.dir, name)
}

// build compiles this command and returns the levels to be run that the result supports.
func (p *prover) build(b *build) ([]string, error) {
	args := []string{"build", "-buildvcs=false", "-o", p.path(b, "exe")}
	if p.overlay != "" {
		args = append(args, "-overlay", p.overlay)
	}
	if _, err := execute(environ(b.env...), "go", append(args, self)...); err != nil {
		return nil, err
	}
	if b.prepare != nil {
		if why, err := b.prepare(b, p); err != nil || why != "" {
			if err == nil {
				p.say("not run: %s: %s", b.name, why)
			}
			return nil, err
		}
	}
	out, err := p.start(b, environ(), "-child", "info")
	if err != nil {
		return nil, err
	}
	var there info
	if err := json.Unmarshal([]byte(out), &there); err != nil {
		return nil, err
	}
	for _, level := range there.Refused {
		p.fail("%s: refused: %s", b.name, level)
	}
	var levels []string
	for _, l := range b.levels {
		if slices.Contains(there.Levels, l) {
			levels = append(levels, l)
		} else {
			p.say("not run: %s, level %s: this machine can run %s", b.name, l, strings.Join(there.Levels, ", "))
		}
	}
	return levels, nil
}

// start runs the program of a build, with its emulator if it has one.
func (p *prover) start(b *build, env []string, args ...string) (string, error) {
	command := append(slices.Clone(b.emulator), p.path(b, "exe"))
	if b.wasm {
		env = shortEnviron(env)
	}
	return execute(env, command[0], append(command[1:], args...)...)
}

// execute returns the output of a program; the error contains its error output.
func execute(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(complaint.String())
		if len(text) > 4000 {
			text = text[:4000] + "…"
		}
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, text)
	}
	return out.String(), nil
}

// run runs a task: record, apart, photo or difference.
func (p *prover) run(t *task, what string, args ...string) (string, error) {
	out := p.path(t.build, fmt.Sprintf("%s %d %d %d %s", t.level, t.workers, t.procs, t.restore, what))
	return out, p.runTo(out, t, what, args...)
}

// runTo runs a task and writes its output to a file.
func (p *prover) runTo(out string, t *task, what string, args ...string) error {
	args = append([]string{
		"-child", what, "-level", t.level, "-workers", fmt.Sprint(t.workers), "-seed", fmt.Sprint(p.seed), "-ticks", fmt.Sprint(t.ticks),
		"-restore", fmt.Sprint(t.restore), "-o", out,
	}, args...)
	env := environ("EVERTICK_LEVEL="+t.level, fmt.Sprintf("GOMAXPROCS=%d", t.procs))
	_, err := p.start(t.build, env, args...)
	return err
}

func (p *prover) record(t *task) (*proof.Recording, time.Duration, error) {
	start := time.Now()
	name, err := p.run(t, "record")
	if err != nil {
		return nil, 0, err
	}
	r, err := readRecording(name)
	took := time.Since(start)
	if p.reference == "" {
		p.reference = name // the first
	}
	return r, took, err
}

// each calls a function for all tasks, as many at a time as there are jobs, the longest first.
func (p *prover) each(tasks []*task, f func(*task)) {
	queue := slices.Clone(tasks)
	slices.SortStableFunc(queue, func(a, b *task) int {
		switch {
		case a.emulated() == b.emulated():
			return 0
		case a.emulated():
			return -1
		}
		return 1
	})
	next := make(chan *task)
	var group sync.WaitGroup
	for range p.jobs {
		group.Add(1)
		go func() {
			defer group.Done()
			for t := range next {
				f(t)
			}
		}()
	}
	for _, t := range queue {
		next <- t
	}
	close(next)
	group.Wait()
}

// check runs a task and compares it with the reference.
func (p *prover) check(t, reference *task, from *proof.Recording) {
	r, took, err := p.record(t)
	if err == nil {
		err = proof.Comparable(from, r)
	}
	if err == nil && len(r.Hashes) != t.ticks {
		err = fmt.Errorf("%d ticks recorded of %d", len(r.Hashes), t.ticks)
	}
	if err != nil {
		p.fail("%v: %v", t, err)
		return
	}
	tick, differ := proof.FirstDifference(from, r)
	if !differ {
		p.say("%6d ticks %7.1f s  %s", len(r.Hashes), took.Seconds(), t)
		p.lock.Lock()
		p.agreed++
		p.lock.Unlock()
		if t.wasm {
			p.cross(t, reference, from)
		}
		return
	}
	lines := []string{
		fmt.Sprintf("after tick %d: %016x and %016x", tick, from.Hashes[tick-1], r.Hashes[tick-1]),
		"a: " + from.Build,
		"b: " + r.Build,
	}
	more, err := p.explain(reference, t, tick)
	if lines = append(lines, more...); err != nil {
		lines = append(lines, "not explained: "+err.Error())
	}
	p.fail("%v: differs from the reference\n\t%s", t, strings.Join(lines, "\n\t"))
}

// explain runs both again and returns the differences at the first tick that differs.
func (p *prover) explain(a, b *task, tick uint64) ([]string, error) {
	p.explaining.Lock() // photos of a are one file
	defer p.explaining.Unlock()
	if p.explained++; p.explained > maxExplained {
		return []string{"not examined: other runs differ, too"}, nil
	}
	name, err := p.run(b, "difference", "-against", p.reference)
	if err != nil {
		return nil, err
	}
	theirs, err := readPhoto(name)
	if errors.Is(err, os.ErrNotExist) {
		return []string{"b, run again, agrees with a: its runs differ from each other"}, nil
	} else if err != nil {
		return nil, err
	}
	var lines []string
	if theirs.Tick != tick {
		lines = append(lines, fmt.Sprintf("b, run again, differs after tick %d: its runs differ from each other", theirs.Tick))
	}
	name, err = p.run(a, "photo", "-tick", fmt.Sprint(theirs.Tick))
	if err != nil {
		return lines, err
	}
	ours, err := readPhoto(name)
	if err != nil {
		return lines, err
	}
	more, err := proof.Diff(ours, theirs, addHall)
	if len(more) == 0 && err == nil {
		more = []string{fmt.Sprintf("the photos of tick %d are the same: runs of a differ from each other, too", theirs.Tick)}
	}
	return append(lines, more...), err
}
