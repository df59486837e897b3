package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/pace"
)

// With -busy a loop competes meanwhile, and ends with the command. The report says so.
func TestStagesBusy(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	stop := startBusyLoop()
	if got := runtime.GOMAXPROCS(0); got != procs+1 {
		t.Errorf("GOMAXPROCS %d beside the loop, want %d", got, procs+1)
	}
	stop()
	var out bytes.Buffer
	if err := Run(strings.Fields("-scene arena -n 1100 -stages -busy -ticks 20 -warmup 4"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "A busy loop had one CPU meanwhile.") {
		t.Error(out.String())
	}
	if got := runtime.GOMAXPROCS(0); got != procs || !pace.Always {
		t.Errorf("GOMAXPROCS %d afterwards, before %d; pace.Always %v", got, procs, pace.Always)
	}
	if err := Run(strings.Fields("-scene arena -busy"), io.Discard, io.Discard); !errors.Is(err, ErrUsage) {
		t.Errorf("-busy without -stages: %v", err)
	}
}

func TestStagesOfScenes(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-scene arena -n 2200", []string{"physics.outOfRange", "broad.searchPart", "physics.updateContactChunks", "physics.solveContacts", "physics.storeStates"}},
		{"-scene swarm -n 3000 -bodies 100", []string{"spatial.sumTask", "physics.solveContacts"}},
	} {
		var out bytes.Buffer
		args := append(strings.Fields(c.args), "-stages", "-json", "-ticks", "36", "-warmup", "4")
		if err := Run(args, &out, io.Discard); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		var r struct {
			Workers int
			Facts   map[string]float64
			Figures []struct {
				Stage                              string
				One_us, Several_us, Calls, Chunks  float64
				Leader_us, Waited_us, Gain, Theirs float64
			}
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if r.Workers != 2 || r.Facts["rounds"] != 4 || r.Facts["rounds_counted"] != 2 || r.Facts["gain"] <= 0 || r.Facts["at_once"] <= 0 {
			t.Errorf("%v: %d workers, %v", args, r.Workers, r.Facts)
		}
		names := map[string]bool{}
		one, several := 0., 0.
		for _, s := range r.Figures {
			names[strings.TrimSuffix(s.Stage, ", 1 chunk")] = true
			one += s.One_us
			several += s.Several_us
			if s.Calls > 0 && math.Abs(s.Leader_us+s.Waited_us-s.Several_us) > 1e-6 || s.Theirs > 1 {
				t.Errorf("%v: %+v", args, s)
			}
		}
		for _, name := range c.want {
			if !names[name] || !names["before "+name] {
				t.Errorf("%v: no stage %s", args, name)
			}
		}
		// To read the clock before the first stage and after the last one is in no row.
		if w := r.Facts["watched_one_us"]; one > w || one < 0.98*w-5 {
			t.Errorf("%v: the rows of one worker add up to %g, not %g", args, one, w)
		}
		if w := r.Facts["watched_several_us"]; several > w || several < 0.98*w-5 {
			t.Errorf("%v: the rows of several workers add up to %g, not %g", args, several, w)
		}
		if pace.Watched != nil {
			t.Fatal("stages are still watched")
		}
	}
}

func TestStagesFlags(t *testing.T) {
	for args, want := range map[string]string{
		"-scene queries -stages":                        "-stages: not for the scene queries; for arena,",
		"-scene arena -stages -workers 1":               "-workers 1: at least 2 with -stages",
		"-scene arena -stages -ticks 20 -warmup 13":     "-ticks 20: at least 8 more than -warmup 13",
		"-scene arena -stages -budget 4ms":              "-budget: not with -stages of the scene arena",
		"-scene arena -stages -bodies 4":                "-bodies: not with -stages of the scene arena",
		"-scene swarm -stages -compare box2d":           "-compare: not with -stages of the scene swarm",
		"-scene arena -stages -scale":                   "-scale: not with -stages of the scene arena",
		"-scene arena -stages -view":                    "-stages: not with -view",
		"-scene arena -n 300 -stages -out x -ticks 100": "-out: not with -stages of the scene arena",
	} {
		err := Run(strings.Fields(args), io.Discard, io.Discard)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// Rounds that something has interrupted do not count, and all columns add up.
func TestStagesText(t *testing.T) {
	const us = time.Microsecond
	round := func(extra time.Duration) stagesRound {
		return stagesRound{
			plain: [2]time.Duration{8000*us + extra, 5000 * us}, both: 20000 * us, all: 40000*us + extra,
			watched: [2]watchedTurn{
				{after: 400 * us, took: 8400 * us, stages: []pace.Stage{
					{Name: "a.first", Calls: 4, Chunks: 4, Before: 800 * us, Worked: 4800 * us},
					{Name: "a.last", Alone: true, Calls: 8, Chunks: 8, Before: 8 * us, Worked: 2392 * us},
				}},
				{after: 400 * us, took: 5200 * us, stages: []pace.Stage{
					{Name: "a.first", Calls: 4, Chunks: 40, Theirs: 10, Before: 800 * us, Worked: 2400 * us, Waited: 600 * us, Helped: 3000 * us},
					{Name: "a.few", Calls: 4, Chunks: 8, Theirs: 4, Before: 80 * us, Worked: 80 * us, Waited: 40 * us, Helped: 80 * us},
					{Name: "a.last", Alone: true, Calls: 8, Chunks: 8, Before: 4 * us, Worked: 796 * us},
				}},
			},
		}
	}
	r := stagesReport{report: &report{Scene: "arena", Level: "go", Workers: 2}, workers: 2, tooFewCPUs: true}
	r.evaluate([]stagesRound{round(time.Second), round(0), round(time.Minute)}, 2)
	if r.kept != 2 || r.rounds != 3 {
		t.Errorf("%d of %d rounds", r.kept, r.rounds)
	}
	r = stagesReport{report: r.report, workers: 2, tooFewCPUs: true}
	r.evaluate([]stagesRound{round(time.Second), round(0)}, 2)
	r.fill()
	var b strings.Builder
	r.write(&b)
	var fields []string
	for _, line := range strings.Split(b.String(), "\n") {
		fields = append(fields, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{
		"µs a step one 2 workers gain calls chunks leader helpers waits inflation theirs",
		"before a.first 200.0 200.0 1.00 – – – – – – –",
		"a.first 1200.0 750.0 1.60 1.0 10.0 600.0 750.0 150.0 1.12 0.25",
		"before a.few 0.0 20.0 – – – – – – – –",
		"a.few 0.0 30.0 – 1.0 2.0 20.0 20.0 10.0 – 0.50",
		"a.last, 1 chunk 598.0 199.0 3.01 2.0 2.0 199.0 0.0 0.0 0.33 –",
		"after the last stage 100.0 100.0 1.00 – – – – – – –",
		"1 shorter rows 2.0 1.0 2.00 – – – – – – –",
		"all stages 1798.0 979.0 1.84 – – 819.0 770.0 160.0 0.88 –",
		"before and after 302.0 321.0 0.94 – – – – – – –",
		"sum 2100.0 1300.0 1.62 – – – – – – –",
		"Means of the faster 1 of 2 rounds of 4 watched steps. 2 barriers a step.",
		"Not watched, a step takes 2000 µs with one worker and 1250 µs with 2: it is 1.60 times as fast.",
		"Worlds with one worker each, one for each CPU in use, are 1.60 times as fast at the same time",
	} {
		if !slices.Contains(fields, want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
	if !strings.Contains(b.String(), "Outside this measurement a step has no more workers than that.") {
		t.Error("the report does not say that there are too few CPUs")
	}
}

// Stages keep their order, and one that few turns have follows the stage that it followed there.
func TestNamesOfAllStages(t *testing.T) {
	turn := func(names ...string) (t watchedTurn) {
		for _, n := range names {
			t.stages = append(t.stages, pace.Stage{Name: n})
		}
		return t
	}
	got := stageNames([]stagesRound{
		{watched: [2]watchedTurn{turn("a", "c", "e"), turn("a", "b", "c", "e")}},
		{watched: [2]watchedTurn{turn("a", "c", "d", "e"), turn("a", "b", "c", "e", "f")}},
	})
	var names []string
	for _, n := range got {
		names = append(names, n.name)
	}
	if want := []string{"a", "b", "c", "d", "e", "f"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
