package profile

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"pgregory.net/rapid"
)

func summaryText(t interface{ Fatal(...any) }, rep *Report) string {
	var b bytes.Buffer
	if err := rep.WriteSummary(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSummaryReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := drawnRun(t)
		run.Seed = rapid.Uint64().Draw(t, "seed")
		if rapid.Bool().Draw(t, "furnished") {
			full := furnish(synthetic(planted{seed: 1, steps: 40}))
			full.Steps, full.Seed, full.Scene = run.Steps, run.Seed, run.Scene
			run = full
		}
		rep := Analyze(run)
		got, err := ReadSummary(strings.NewReader(summaryText(t, rep)))
		if err != nil {
			t.Fatal(err)
		}
		if want := rep.summary(); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		back, want := got.Run(), *run
		want.Steps = Steps{}
		if !reflect.DeepEqual(back, &want) {
			t.Fatalf("got  %+v\nwant %+v", back, &want)
		}
	})
}

// The format of the file: a change that an earlier reader would misread needs another number in
// SummarySchema.
func TestGoldenSummary(t *testing.T) {
	text := summaryText(t, Analyze(withBaseline(furnish(synthetic(planted{seed: 7, steps: 240, cause: byPhase, phase: 2})), 97)))
	// The last digits depend on the machine: some fuse operations, some do not.
	text = regexp.MustCompile(`-?\d+\.\d+(e[-+]\d+)?`).ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatFloat(v, 'g', 5, 64)
	})
	golden(t, "summary.json", []byte(text))
}

func TestSummaryOfNumbersThatAreNone(t *testing.T) {
	run := furnish(synthetic(planted{seed: 1, steps: 40}))
	run.Allocs, run.Ladder[2].Speedup.High = math.NaN(), math.Inf(1)
	var b bytes.Buffer
	err := Analyze(run).WriteSummary(&b)
	if !errors.Is(err, fault.ErrNotFinite) || b.Len() > 0 || !strings.Contains(err.Error(), "Run.Allocs = NaN") || !strings.Contains(err.Error(), "Run.Ladder[2].Speedup.High = +Inf") {
		t.Errorf("%v, %d bytes written", err, b.Len())
	}
}

func TestSummaryErrorsNameTheirPlace(t *testing.T) {
	good := summaryText(t, Analyze(furnish(synthetic(planted{seed: 7, steps: 60}))))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in the summary", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct {
		text, want string
		is         error
	}{
		{"", "line 1", fault.ErrCorrupt},
		{good[:len(good)/2], "unexpected end", fault.ErrCorrupt},
		{good + "x", "line ", fault.ErrCorrupt},
		{`{"schema": 7}`, "line 1: field schema", fault.ErrCorrupt},
		{`{"schema": "other/1"}`, `schema = "other/1"`, fault.ErrCorrupt},
		{replace(summarySchema, "evertick.profile/2"), "evertick.profile/2", fault.ErrUnsupported},
		{replace(`"workers": 1`, `"workers": "one"`), "field workers", fault.ErrCorrupt},
		{replace(`"seed": "1"`, `"seed": "one"`), `summary: seed = "one"`, fault.ErrCorrupt},
		{replace(`"steps": 60`, `"steps": -1`), "summary: steps = -1", fault.ErrCorrupt},
		{replace(`"warmup": 300`, `"warmup": -300`), "summary: warmup = -300", fault.ErrCorrupt},
		{replace(`"median": 4.91`, `"median": 5.91`), "Rivals[0]", fault.ErrCorrupt},
	} {
		got, err := ReadSummary(strings.NewReader(c.text))
		if !errors.Is(err, c.is) || got != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q in it", c.text, err, c.want)
		}
	}
	if s, err := ReadSummary(strings.NewReader(replace(`"steps": 60`, `"later": [1, {}], "steps": 60`))); err != nil || s.Steps != 60 {
		t.Errorf("a field of a later version: %v", err)
	}
	if _, err := ReadSummary(strings.NewReader(strings.Repeat(" ", maxSummaryBytes+1))); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("17 MiB: %v", err)
	}
}

// Accepted input can be shown, and stays the same when written and read again.
func FuzzReadSummary(f *testing.F) {
	f.Add([]byte(summaryText(f, Analyze(withBaseline(furnish(synthetic(planted{seed: 7, steps: 60})), 90)))))
	f.Add([]byte(`{"schema": "evertick.profile/1", "seed": "1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSummary(bytes.NewReader(data))
		if err != nil {
			return
		}
		run := s.Run()
		text := textOf(t, Analyze(run), Text{})
		for _, line := range strings.Split(text, "\n") {
			if cells(line) > 80 {
				t.Fatalf("%q", line)
			}
		}
		again, err := ReadSummary(strings.NewReader(summaryText(t, Analyze(run))))
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(t, Analyze(again.Run()), Text{}); got != text {
			t.Fatalf("read again it differs:\n%s\n%s", text, got)
		}
	})
}

func TestDirHoldsTheRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	run := furnish(synthetic(planted{seed: 7, steps: 300, cause: byCollections}))
	rep := Analyze(run)
	files, err := rep.WriteDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"summary.json", "steps.csv", "bench.txt", "trace.json", "report.html"}
	if len(files) != len(want) || !slices.Equal(files, rep.Files) {
		t.Fatalf("%q", files)
	}
	for i, file := range files {
		if info, err := os.Stat(file); err != nil || file != filepath.Join(dir, want[i]) || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(want) {
		t.Errorf("%d files, %v", len(left), err)
	}
	back, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, run) {
		t.Errorf("got  %+v\nwant %+v", back, run)
	}
	if _, err := rep.WriteDir(dir); err != nil {
		t.Errorf("once more: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "steps.csv"), []byte("step,total_ns\n0,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(dir); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("steps of another run: %v", err)
	}
}

// A run that cannot be written leaves the earlier files as they were.
func TestDirKeepsWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	run := synthetic(planted{seed: 7, steps: 30})
	if _, err := Analyze(run).WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	run.Bytes = math.Inf(-1)
	rep := Analyze(run)
	if files, err := rep.WriteDir(dir); !errors.Is(err, fault.ErrNotFinite) || len(files) > 0 {
		t.Errorf("%q, %v", files, err)
	}
	is, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil || !bytes.Equal(is, was) {
		t.Errorf("the summary has changed: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 5 {
		t.Errorf("%d files, %v", len(left), err)
	}
}
