package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
)

// Paced steps of both worlds are those of the same ticks, and reports have their figures.
func TestStagesPaced(t *testing.T) {
	var out bytes.Buffer
	if err := Run(strings.Fields("-scene arena -n 1100 -stages -paced -json -ticks 22 -warmup 4"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var r struct {
		Facts   map[string]float64
		Figures []struct{ Workers, Step_ns_p50, Step_ns_p95 float64 }
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if r.Facts["steps"] != 18-stagesPacedSkip || r.Facts["gain"] <= 0 || r.Facts["gain_low"] > r.Facts["gain_high"] || len(r.Figures) != 2 ||
		r.Figures[0].Workers != 1 || r.Figures[1].Workers != 2 || r.Figures[0].Step_ns_p50 <= 0 || !pace.Always {
		t.Errorf("%+v", r)
	}
	for args, want := range map[string]string{
		"-scene arena -first":                            "-first: only with -stages",
		"-scene arena -stages -first -paced":             "-first: not with -paced",
		"-scene arena -stages -first -busy":              "-busy: not with -first",
		"-scene arena -stages -paced -ticks 9 -warmup 3": "-ticks 9: at least 8 more than -warmup 3",
		"-scene arena -stages -paced -causes -ticks 300": "-causes: not with -stages of the scene arena",
		"-scene queries -stages -first":                  "-stages: not for the scene queries",
	} {
		if err := Run(strings.Fields(args), io.Discard, io.Discard); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestStagesFirst(t *testing.T) {
	defer func(openings [2]int) { firstOpenings = openings }(firstOpenings)
	firstOpenings = [2]int{1, 2}
	var out bytes.Buffer
	if err := Run(strings.Fields("-scene arena -n 1100 -stages -first"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1–5", "36–40", "as they decide", "Medians of 2 fresh worlds"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if !pace.Always {
		t.Error("helpers no longer take part in all that tests compute")
	}
}

// Helpers are in use from the step on after which all windows are about as fast as the better way.
func TestDecidedAt(t *testing.T) {
	for _, c := range []struct {
		one, always, before, after float64 // µs; before and after the change of what they decide
		change, want               int
	}{
		{1000, 600, 1000, 610, 12, 12}, // the windows that begin before it are too slow
		{1000, 600, 600, 1000, 20, -1},
		{600, 900, 600, 605, 7, 1},
		{600, 900, 900, 605, 7, 7},
		{1000, 600, 610, 610, 0, 1},
	} {
		var median [firstWorlds][firstSteps]float64
		for step := range firstSteps {
			median[withOne][step], median[withAlways][step], median[withSeveral][step] = c.one, c.always, c.before
			if step+1 >= c.change {
				median[withSeveral][step] = c.after
			}
		}
		if got := decidedAt(&median); got != c.want {
			t.Errorf("%+v: decided at %d", c, got)
		}
	}
}

// A line of the caches takes some time, and one CPU has none to send it to.
func TestLinePing(t *testing.T) {
	if ns := linePing(); runtime.GOMAXPROCS(0) > 1 && !(ns > 0 && ns <= float64(time.Second)) {
		t.Errorf("%g ns", ns)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if ns := linePing(); ns != 0 {
		t.Errorf("%g ns with one CPU", ns)
	}
}
