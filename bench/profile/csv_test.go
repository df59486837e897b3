package profile

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/evertick/evertick/internal/fault"
	"pgregory.net/rapid"
)

func stepsText(t interface{ Fatal(...any) }, run *Run) string {
	var b bytes.Buffer
	if err := run.writeSteps(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// renamed gives a run names that a file can hold: printable, no two alike.
func renamed(t *rapid.T, run *Run) {
	name := rapid.StringOf(rapid.RuneFrom([]rune{'a', 'é', '日', ',', '"', ' ', ':', '_', '\u202e'}))
	for i := range run.Steps.Phases {
		run.Steps.Phases[i] = fmt.Sprint(name.Draw(t, "phase"), i)
	}
	for i := range run.Steps.Counters {
		run.Steps.Counters[i] = fmt.Sprint(name.Draw(t, "counter"), i)
	}
}

// equalSteps distinguishes a column without steps from a missing column.
func equalSteps(a, b *Steps) bool {
	same := func(x, y []int64) bool {
		return slices.Equal(x, y) && (len(x) > 0 || len(a.Ns) == 0 || (x == nil) == (y == nil))
	}
	ok := slices.Equal(a.Phases, b.Phases) && slices.Equal(a.Counters, b.Counters) && slices.Equal(a.Tick, b.Tick) &&
		same(a.StartNs, b.StartNs) && same(a.DueNs, b.DueNs) && same(a.Ns, b.Ns) &&
		same(a.GCs, b.GCs) && same(a.GCPauseNs, b.GCPauseNs) && same(a.GCAssistNs, b.GCAssistNs) &&
		len(a.PhaseNs) == len(b.PhaseNs) && len(a.Counts) == len(b.Counts)
	for i := range a.PhaseNs {
		ok = ok && same(a.PhaseNs[i], b.PhaseNs[i])
	}
	for i := range a.Counts {
		ok = ok && same(a.Counts[i], b.Counts[i])
	}
	return ok
}

func TestStepsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := drawnRun(t)
		renamed(t, run)
		if rapid.Bool().Draw(t, "no schedule") {
			run.Steps.DueNs, run.Steps.StartNs, run.Steps.Tick = nil, nil, nil
		}
		text := stepsText(t, run)
		got, err := readSteps(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !equalSteps(&run.Steps, got) {
			t.Fatalf("got %+v\nof %+v", got, run.Steps)
		}
		windows, err := readSteps(strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n")))
		if err != nil || !equalSteps(&run.Steps, windows) {
			t.Fatalf("with \\r\\n: %v", err)
		}
		if lines := strings.Count(text, "\n"); lines != run.Steps.Len()+1 {
			t.Fatalf("%d lines of %d steps", lines, run.Steps.Len())
		}
	})
}

// The format of the file, so that it does not change unnoticed.
func TestGoldenSteps(t *testing.T) {
	golden(t, "steps.csv", []byte(stepsText(t, synthetic(planted{seed: 7, steps: 8, cause: byCollections, every: 4}))))
}

func TestStepsWithNamesThatNoLineHolds(t *testing.T) {
	for _, name := range []string{"a\nb", "a\rb", "\xff", "\x00", "perceive"} {
		run := synthetic(planted{seed: 1, steps: 3})
		run.Steps.Phases = append([]string{name}, run.Steps.Phases[1:]...)
		var b bytes.Buffer
		if err := run.writeSteps(&b); !errors.Is(err, fault.ErrRange) || b.Len() > 0 {
			t.Errorf("%q: %v, %d bytes written", name, err, b.Len())
		}
	}
}

func TestStepsErrorsNameTheirPlace(t *testing.T) {
	const head = "step,tick,due_ns,start_ns,total_ns,phase_ns:a,count:hits,gcs,gc_pause_ns,gc_assist_ns\n"
	const row = "0,300,0,5,100,60,7,0,0,0\n"
	for text, want := range map[string]string{
		"":                                       "line 1: nothing",
		"tick\n":                                 `line 1, column "tick": not step`,
		"step,tick\n":                            `line 1, column "total_ns": missing`,
		"step,total_ns,x\n":                      `line 1, column "x": unknown`,
		"step,phase_ns:a\n":                      `line 1, column "phase_ns:a": before total_ns`,
		"step,\"total_ns\n":                      "line 1: ",
		"step,step\n":                            "which occurs twice",
		"step,total_ns,due_ns\n":                 `line 1, column "due_ns": unknown, or not in its place`,
		head + "1,300,0,5,100,60,7,0,0,0\n":      `line 2, column "step": "1", not 0`,
		head + row + "1,301,0,5,x,60,7,0,0,0\n":  `line 3, column "total_ns": "x" is no integer`,
		head + row + "1,-1,0,5,100,60,7,0,0,0\n": `line 3, column "tick": "-1" is no tick`,
		head + row + "1,301,0,5,-1,60,7,0,0,0\n": `line 3, column "total_ns": -1: out of range`,
		head + row + "1,301,0,5,1,4503599627370497,9,0,0,0\n": `line 3, column "phase_ns:a": 4503599627370497: out of range`,
		head + row + "1,301,0,5,1,60,7,0,0\n":                 `line 3, column "gc_assist_ns": missing`,
		head + row + "1,301,0,5,1,60,7,0,0,0,0\n":             "line 3: more than 10 columns",
		head + row + "\n": `line 3, column "step": "", not 1`,
		head + row + "1," + strings.Repeat("9", 1<<20): "line 3: ",
	} {
		got, err := readSteps(strings.NewReader(text))
		if !errors.Is(err, fault.ErrCorrupt) || got != nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.80q: %v, want %q in it", text, err, want)
		}
	}
	wide := "step,total_ns"
	for i := range 5_000 {
		wide += fmt.Sprintf(",count:%d", i)
	}
	if _, err := readSteps(strings.NewReader(wide)); !errors.Is(err, fault.ErrCorrupt) {
		t.Errorf("5,000 columns: %v", err)
	}
}

// Accepted input can be analyzed and shown, and stays the same when written and read again.
func FuzzReadSteps(f *testing.F) {
	f.Add([]byte(stepsText(f, synthetic(planted{seed: 7, steps: 30, cause: byCollections}))))
	f.Add([]byte("step,total_ns\n0,1\n1,4503599627370496\n"))
	f.Add([]byte("step,tick,total_ns,phase_ns:\"a,b\",count:hits\r\n0,1,2,3,-4\r\n"))
	f.Add([]byte("step,total_ns,phase_ns:,gcs\n0,0,0,0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := readSteps(bytes.NewReader(data))
		if err != nil {
			return
		}
		run := &Run{Steps: *s, RateHz: 60, BudgetNs: 1_000}
		rep := Analyze(run)
		for _, line := range strings.Split(textOf(t, rep, Text{}), "\n") {
			if cells(line) > 80 || strings.ContainsFunc(line, unicode.IsControl) {
				t.Fatalf("%q", line)
			}
		}
		again, err := readSteps(strings.NewReader(stepsText(t, run)))
		if err != nil {
			t.Fatal(err)
		}
		if !equalSteps(s, again) || !reflect.DeepEqual(Analyze(&Run{Steps: *again, RateHz: 60, BudgetNs: 1_000}).Phases, rep.Phases) {
			t.Fatalf("read again it differs: %+v, %+v", s, again)
		}
	})
}
