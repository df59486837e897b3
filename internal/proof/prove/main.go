// Command prove shows that the scene of package proof computes the same bits in every build,
// on every level, with any number of workers and on every available machine:
//
//	go run ./internal/proof/prove -ticks 10000 -emulated 2000
//
// It builds itself for each machine, runs the scene there, and compares the hash of every
// tick. For builds that cannot run here it prints "not run" and the reason. Where two runs differ it runs
// both again up to that tick, and names the tick, the system, the columns and the first
// entity and body that differ, with both values.
//
// The exit status is 0 if all runs agree, 1 if not, or 2 if a flag is wrong.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"

	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/native"
)

// errUsage is for wrong flags, errDiffer for runs that differ.
var (
	errUsage  = errors.New("bad usage")
	errDiffer = errors.New("not all runs have the same hashes")
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

// options are the flags. Those from "child" on are for the copies of itself that the command builds.
type options struct {
	ticks, emulated int
	seed            uint64
	only            string
	jobs            int
	keep            string
	overlay         string

	child            string // record, apart, photo, difference, snapshot or info
	level            string
	workers          int
	tick             uint64
	restore          int
	against, out     string
	from             string
	left, right, dir string
	stdout           io.Writer
}

func run(args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("prove", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the error, once
	f.IntVar(&o.ticks, "ticks", 10000, "ticks of runs on this machine")
	f.IntVar(&o.emulated, "emulated", 2000, "ticks of runs under an emulator or in WebAssembly; 0: none of them")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the scene")
	f.StringVar(&o.only, "only", "", "run only what this `expression` matches, and the reference")
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "runs at a time")
	f.StringVar(&o.keep, "keep", "", "keep recordings and photos in this `folder`")
	f.StringVar(&o.overlay, "overlay", "", "build with the files that this `file` replaces, as go build -overlay")
	f.StringVar(&o.left, "a", "", "with -b: compare this `recording` with another, and run nothing")
	f.StringVar(&o.right, "b", "", "the other `recording`")
	f.StringVar(&o.child, "child", "", "record, apart, photo, difference, snapshot or info: be a single run")
	f.StringVar(&o.level, "level", "auto", "single run: level of the kernels")
	f.IntVar(&o.workers, "workers", 1, "single run: workers")
	f.Uint64Var(&o.tick, "tick", 0, "single run, photo and snapshot: the tick, from 1")
	f.StringVar(&o.from, "from", "", "single run, record: begin at the snapshot in this `file`")
	f.IntVar(&o.restore, "restore", 0, "single run, record: go on in another Sim, from a snapshot, after each so many `ticks`")
	f.StringVar(&o.against, "against", "", "single run, difference: the `recording` to follow")
	f.StringVar(&o.out, "o", "", "single run: the `file` to write; none: the standard output")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(stderr)
			f.Usage()
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err := o.check(f.Args()); err != nil {
		return err
	}
	switch {
	case o.child != "":
		return o.single(stdout)
	case o.left != "":
		return o.compare(stdout)
	}
	return o.prove(stdout)
}

func (o *options) check(rest []string) error {
	_, err := regexp.Compile(o.only)
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%w: argument %q: flags only", errUsage, rest[0])
	case o.ticks < 1 || o.emulated < 0:
		return fmt.Errorf("%w: -ticks %d, -emulated %d: at least 1, and 0", errUsage, o.ticks, o.emulated)
	case o.jobs < 1 || o.workers < 1 || o.workers > native.MaxWorkers:
		return fmt.Errorf("%w: -jobs %d, -workers %d: at least 1", errUsage, o.jobs, o.workers)
	case (o.left == "") != (o.right == ""):
		return fmt.Errorf("%w: -a and -b: both or none", errUsage)
	case err != nil:
		return fmt.Errorf("%w: -only: %w", errUsage, err)
	}
	return nil
}

// info lists the levels that a build can run on its machine.
type info struct {
	Levels  []string
	Refused []string // levels that compute wrong results
}

func thisInfo() info {
	i := info{Refused: native.Info().Refused}
	for _, l := range native.Levels() {
		i.Levels = append(i.Levels, l.String())
	}
	return i
}

// single does one run in this process.
func (o *options) single(stdout io.Writer) error {
	o.stdout = stdout
	if o.child == "info" {
		return json.NewEncoder(stdout).Encode(thisInfo())
	}
	level, err := native.ParseLevel(o.level)
	if err != nil {
		return fmt.Errorf("%w: -level: %w", errUsage, err)
	}
	c := proof.Config{Seed: o.seed, Level: level, Workers: o.workers, Extend: addHall}
	switch o.child {
	case "record":
		if o.from != "" {
			snapshot, err := os.ReadFile(o.from)
			if err != nil {
				return err
			}
			return o.writeRecording(proof.RecordFrom(c, snapshot, o.ticks))
		}
		return o.writeRecording(proof.Record(c, o.ticks, o.restore))
	case "apart":
		return o.writeRecording(recordApart(level, o.workers, o.seed))
	case "photo":
		return o.writePhoto(proof.PhotoAt(c, o.tick))
	case "snapshot":
		return o.write(proof.SnapshotAt(c, o.tick))
	case "difference":
		from, err := readRecording(o.against)
		if err != nil {
			return err
		}
		return o.writePhoto(proof.PhotoOfDifference(c, from))
	}
	return fmt.Errorf("%w: -child %q", errUsage, o.child)
}

func (o *options) writeRecording(r *proof.Recording, err error) error {
	if err != nil {
		return err
	}
	return o.write(r.MarshalBinary())
}

// writePhoto writes a photo, unless it is nil.
func (o *options) writePhoto(p *proof.Photo, err error) error {
	if err != nil || p == nil {
		return err
	}
	return o.write(json.Marshal(p))
}

func (o *options) write(b []byte, err error) error {
	if err != nil {
		return err
	}
	if o.out == "" {
		_, err = o.stdout.Write(b)
		return err
	}
	return os.WriteFile(o.out, b, 0o644)
}

func readRecording(name string) (*proof.Recording, error) {
	r := new(proof.Recording)
	return r, read(name, r.UnmarshalBinary)
}

func readPhoto(name string) (*proof.Photo, error) {
	p := new(proof.Photo)
	return p, read(name, func(b []byte) error { return json.Unmarshal(b, p) })
}

func read(name string, unmarshal func([]byte) error) error {
	b, err := os.ReadFile(name)
	if err == nil {
		err = unmarshal(b)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

// compare compares two existing recordings, say from two machines.
func (o *options) compare(stdout io.Writer) error {
	a, err := readRecording(o.left)
	if err != nil {
		return err
	}
	b, err := readRecording(o.right)
	if err != nil {
		return err
	}
	if err := proof.Comparable(a, b); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "a: %s\nb: %s\n", a.Build, b.Build)
	n := min(len(a.Hashes), len(b.Hashes))
	tick, differ := proof.FirstDifference(a, b)
	if !differ {
		_, err := fmt.Fprintf(stdout, "the same hash after each of %d ticks\n", n)
		return err
	}
	fmt.Fprintf(stdout, "after tick %d: %016x and %016x\n", tick, a.Hashes[tick-1], b.Hashes[tick-1])
	return errDiffer
}
