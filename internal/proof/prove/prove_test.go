package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/proof"
)

func TestBadFlags(t *testing.T) {
	for _, args := range []string{
		"-ticks 0", "-emulated -1", "-jobs 0", "-workers 0", "-only (", "-a x", "-b x", "extra", "-speed 3",
		"-child dance", "-child record -level avx3",
	} {
		if err := run(strings.Fields(args), io.Discard, io.Discard); !errors.Is(err, errUsage) {
			t.Errorf("prove %s: %v, want bad usage", args, err)
		}
	}
	if err := run([]string{"-h"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

// write writes a recording and returns its file.
func write(t *testing.T, r *proof.Recording) string {
	t.Helper()
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "hashes")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// A run that compares nothing is an error.
func TestNothingIsNoProof(t *testing.T) {
	if testing.Short() {
		t.Skip("not run: a build of the command: -short")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("not run: a build of the command: the go command is not installed")
	}
	var out bytes.Buffer
	err := run(strings.Fields("-ticks 2 -emulated 0 -only no-such-run"), &out, io.Discard)
	if !errors.Is(err, errUsage) || !strings.Contains(out.String(), "0 of 0 runs") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Recordings of other machines can be compared without running anything.
func TestCompareRecordings(t *testing.T) {
	a := write(t, &proof.Recording{Build: "here", Hashes: []uint64{1, 2, 3}})
	for _, c := range []struct {
		other *proof.Recording
		err   error
		says  string
	}{
		{&proof.Recording{Build: "there", Hashes: []uint64{1, 2}}, nil, "each of 2 ticks"},
		{&proof.Recording{Build: "there", Hashes: []uint64{1, 4, 3}}, errDiffer, "after tick 2: 0000000000000002 and 0000000000000004"},
		{&proof.Recording{Build: "there", Hashes: []uint64{1}, Seed: 5}, fault.ErrUnsupported, ""},
	} {
		var out bytes.Buffer
		err := run([]string{"-a", a, "-b", write(t, c.other)}, &out, io.Discard)
		if !errors.Is(err, c.err) || !strings.Contains(out.String(), c.says) {
			t.Errorf("%v, want %v; %q", err, c.err, out.String())
		}
	}
}

// A single run writes what package proof records, and a photo where it differs.
func TestSingleRuns(t *testing.T) {
	dir := t.TempDir()
	hashes, photo := filepath.Join(dir, "hashes"), filepath.Join(dir, "photo")
	if err := run(strings.Fields("-child record -ticks 12 -seed 3 -o "+hashes), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	r, err := readRecording(hashes)
	if err != nil || len(r.Hashes) != 12 {
		t.Fatalf("%v, %v", r, err)
	}
	r.Hashes[6]++
	if err := run(strings.Fields("-child difference -seed 3 -against "+write(t, r)+" -o "+photo), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	p, err := readPhoto(photo)
	if err != nil || p.Tick != 7 {
		t.Fatalf("%v, %v", p, err)
	}
	if err := run(strings.Fields("-child photo -seed 3 -tick 7 -o "+photo), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	again, err := readPhoto(photo)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := proof.Diff(p, again, addHall); len(lines) > 0 || err != nil {
		t.Errorf("%q, %v", lines, err)
	}
}

// A run from a snapshot has the hashes of the run that saved it.
func TestRunFromASnapshot(t *testing.T) {
	dir := t.TempDir()
	saved, whole, rest := filepath.Join(dir, "saved"), filepath.Join(dir, "whole"), filepath.Join(dir, "rest")
	for _, args := range []string{
		"-child record -ticks 20 -o " + whole, "-child snapshot -tick 13 -o " + saved, "-child record -ticks 7 -from " + saved + " -o " + rest,
	} {
		if err := run(strings.Fields(args), io.Discard, io.Discard); err != nil {
			t.Fatalf("%s: %v", args, err)
		}
	}
	a, err := readRecording(whole)
	b, err2 := readRecording(rest)
	if err := errors.Join(err, err2); err != nil || len(b.Hashes) != 7 || !slices.Equal(a.Hashes[13:], b.Hashes) {
		t.Errorf("%v, %x, want %x", err, b.Hashes, a.Hashes[13:])
	}
	if err := run(strings.Fields("-child record -from "+whole+" -o "+rest), io.Discard, io.Discard); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("from a file that is no snapshot: %v", err)
	}
}

// js/wasm has little room for the environment.
func TestShortEnviron(t *testing.T) {
	got := shortEnviron([]string{"PATH=/bin", "SECRET=x", "GOMAXPROCS=1", "LONG=" + strings.Repeat("y", 1<<14)})
	if !slices.Equal(got, []string{"PATH=/bin", "GOMAXPROCS=1"}) {
		t.Errorf("%.80q", got)
	}
}

// Every build that is not possible here has a reason, and every run has its own name.
func TestBuilds(t *testing.T) {
	missing := build{tools: []string{"evertick-has-no-such-tool"}}
	if why := missing.why(); !strings.Contains(why, "evertick-has-no-such-tool is not installed") {
		t.Errorf("%q", why)
	}
	var names []string
	for _, b := range builds() {
		for _, task := range b.tasks(1, b.levels) {
			names = append(names, task.String())
		}
	}
	slices.Sort(names)
	if n := len(names); len(slices.Compact(names)) != n || n < 8 {
		t.Errorf("%d runs, not all of another name", n)
	}
	if first := builds()[0]; len(first.tools) > 0 || first.why() != "" || first.emulated() {
		t.Errorf("the reference cannot run everywhere: %+v", first)
	}
}
