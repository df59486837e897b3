package profile

import (
	"bytes"
	"flag"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/report.txt and others anew")

func textOf(t interface{ Fatal(...any) }, rep *Report, how Text) string {
	var b bytes.Buffer
	if err := rep.WriteText(&b, how); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it anew); got\n%s", path, got)
	}
}

// goldenReport is one that has every section.
func goldenReport() *Report {
	rep := Analyze(withBaseline(furnish(synthetic(planted{seed: 7, steps: 3_600, cause: byPhase, phase: 2})), 97))
	rep.Files = []string{"out/summary.json", "out/steps.csv", "out/bench.txt", "out/trace.json", "out/report.html"}
	return rep
}

func TestGoldenReports(t *testing.T) {
	rep := goldenReport()
	golden(t, "report.txt", []byte(textOf(t, rep, Text{})))
	golden(t, "report-color.txt", []byte(textOf(t, rep, Text{Color: true})))
	run := synthetic(planted{seed: 8, steps: 60, cause: byMachine, budget: 1_000_000})
	run.Parity = &Parity{Err: "avx2: radius[17] = 0x3f800001, the oracle has 0x3f800000", Cases: 99, Seed: 5}
	run.Baseline = &Baseline{Name: "elsewhere", Env: Environment{CPU: "Neoverse-N1", OS: "linux", Arch: "arm64", Go: "go1.26.8"}}
	golden(t, "report-bad.txt", []byte(textOf(t, Analyze(run), Text{})))
	golden(t, "report-least.txt", []byte(textOf(t, Analyze(&Run{Steps: Steps{Ns: []int64{1_500, 2_500, 900}}}), Text{})))
	golden(t, "report-none.txt", []byte(textOf(t, Analyze(&Run{Scene: "nothing yet"}), Text{})))
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// columns counts those of a line by a rule of its own: Latin, Greek and box drawing take one,
// ideographs and pictographs two, combining marks none.
func columns(line string) (n int) {
	for _, r := range line {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case r >= 0x4e00 && r < 0xa000, r >= 0xac00 && r < 0xd7a4, r >= 0x1f300 && r < 0x1fa00, r >= 0xff01 && r <= 0xff60:
			n += 2
		default:
			n++
		}
	}
	return n
}

// nasty are names that would break a table.
var nasty = []string{
	"", "perceive", strings.Repeat("long.", 60), "日本語の位相名はとても広いので注意が必要", strings.Repeat("👾", 50), "e\u0301\u0302combining",
	"tab\tnew\nline\rreturn", "\x1b[31mred\x1b[0m", "\xff\xfe", "\u202eright to left", "zero\u200bwidth", " ", "a b c", strings.Repeat("한글", 45),
}

// No line is wider than its limit, none has a control character or invalid UTF-8, and colour
// changes nothing else.
func TestEveryLineFits(t *testing.T) {
	name := rapid.OneOf(rapid.SampledFrom(nasty), rapid.String())
	number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, math.NaN(), math.Inf(1), math.MaxFloat64, 1e-300}))
	check := func(t *rapid.T, run *Run) {
		rep := Analyze(run)
		rep.Files = []string{name.Draw(t, "file")}
		rep.Next = name.Draw(t, "next")
		width := rapid.SampledFrom([]int{0, 10, 72, 80, 133}).Draw(t, "width")
		text := textOf(t, rep, Text{Width: width})
		limit := max(72, width)
		if width == 0 {
			limit = 80
		}
		for _, line := range strings.Split(text, "\n") {
			if n := columns(line); n > limit {
				t.Fatalf("%d columns: %q", n, line)
			}
			if strings.TrimRight(line, " ") != line || !utf8.ValidString(line) || strings.ContainsAny(line, "\x1b\t\r\x00\u202e\u200b") {
				t.Fatalf("%q", line)
			}
		}
		colored := textOf(t, rep, Text{Width: width, Color: true})
		if got := escapes.ReplaceAllString(colored, ""); got != text {
			t.Fatalf("without its colours:\n%s\nwant\n%s", got, text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		run := drawnRun(t)
		s := &run.Steps
		for i := range s.Phases {
			s.Phases[i] = name.Draw(t, "phase")
		}
		for i := range s.Counters {
			s.Counters[i] = name.Draw(t, "counter")
		}
		run.Scene, run.Level, run.Hash, run.Started = name.Draw(t, "scene"), name.Draw(t, "level"), name.Draw(t, "hash"), name.Draw(t, "started")
		run.Params = []Param{{name.Draw(t, "param"), name.Draw(t, "value")}}
		run.Env = Environment{CPU: name.Draw(t, "cpu"), CPUs: math.MaxInt, OS: name.Draw(t, "os"), Go: name.Draw(t, "go"), Levels: []string{name.Draw(t, "best")}}
		run.Workers, run.Seed, run.Warmup, run.Dropped = math.MaxInt, math.MaxUint64, math.MaxInt, math.MaxUint64
		run.Allocs, run.Bytes, run.Overhead = number.Draw(t, "allocs"), number.Draw(t, "bytes"), number.Draw(t, "overhead")
		hw := Count{number.Draw(t, "instructions"), number.Draw(t, "cycles"), number.Draw(t, "misses"), number.Draw(t, "branches")}
		run.Hardware = &Hardware{Total: hw, Phases: []Count{hw, hw, hw, hw}}
		ratio := Ratio{name.Draw(t, "rival"), number.Draw(t, "median"), number.Draw(t, "low"), number.Draw(t, "high")}
		run.Ladder = []Rung{{Level: name.Draw(t, "rung"), StepNs: math.MaxInt64, Speedup: ratio}, {Hash: "other"}}
		run.Rivals = []Ratio{ratio}
		run.Noise = &Noise{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, number.Draw(t, "load"), name.Draw(t, "governor"), math.MaxInt}
		run.Parity = &Parity{OK: rapid.Bool().Draw(t, "ok"), Cases: math.MaxInt, Levels: []string{name.Draw(t, "compared")}, Err: name.Draw(t, "err")}
		run.Baseline = &Baseline{Name: name.Draw(t, "baseline"), SameHost: rapid.Bool().Draw(t, "same"), P50: Change{Was: math.MaxInt64, Is: 1, Ratio: ratio, Significant: true}}
		run.Warnings, run.Unwatched = []string{name.Draw(t, "warning")}, []string{name.Draw(t, "unwatched")}
		check(t, run)
	})
}

func TestCells(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "µ·→█▏…": 6, "日本": 4, "e\u0301": 1, "👾": 2, "한글": 4, "ＡＢ": 4} {
		if got := cells(s); got != want {
			t.Errorf("%q takes %d, want %d", s, got, want)
		}
	}
	if got := left("日本語", 5) + "|" + right("日本語", 4) + "|" + cut("abc", 0); got != "日本…|  …|" && got != "日本…| 日…|" {
		t.Errorf("%q", got)
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0001: "1.0e-04", 0.0421: "0.042", 1.918: "1.92", 16.667: "16.7", 166.7: "167", 1234567: "1,234,567", 9.9e6: "9,900,000",
		1.5e15: "1.5e+15", -3.14159: "-3.14", -12345: "-12,345",
	} {
		if got := figure(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	for ns, want := range map[float64]string{0: "0 ns", 999: "999 ns", 1_500: "1.50 µs", 16_666_667: "16.7 ms", 2.5e9: "2.50 s"} {
		if got := duration(ns); got != want {
			t.Errorf("%v is %q, want %q", ns, got, want)
		}
	}
}

func TestColorIsForTerminalsThatWantIt(t *testing.T) {
	for _, c := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm-256color", true}, {"1", "xterm", false}, {"", "dumb", false}, {"", "", true}} {
		env := map[string]string{"NO_COLOR": c.noColor, "TERM": c.term}
		if got := allowsColor(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%v: %v", env, got)
		}
	}
	file, err := os.Create(t.TempDir() + "/report.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, w := range []*os.File{file, null} {
		if got := TextFor(w); got != (Text{Width: 80}) {
			t.Errorf("%s: %+v", w.Name(), got)
		}
	}
	if got := TextFor(&bytes.Buffer{}); got != (Text{Width: 80}) {
		t.Errorf("a buffer: %+v", got)
	}
}

// A shell reads a command on several lines as one.
func TestCommandsWrap(t *testing.T) {
	command := "go run ./bench -scene arena " + strings.Repeat("-flag value ", 12) + "-end"
	text := textOf(t, &Report{Run: &Run{}, Next: command}, Text{})
	_, text, _ = strings.Cut(text, "next ")
	if got := strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " "); got != command {
		t.Errorf("got %q", got)
	}
}

// The advice on a noisy machine includes the values of the system.
func TestAdviceOnTheMachine(t *testing.T) {
	run := synthetic(planted{seed: 3, steps: 2_000})
	run.Noise = &Noise{Switches: 700, StealNs: 5_000_000_000, Faults: 3, Load: 9.5, Governor: "powersave", Pinned: -1}
	rep := Analyze(run)
	text := strings.Join(strings.Fields(textOf(t, rep, Text{})), " ")
	for _, want := range []string{
		"taken off its CPU 700 times: close other programs", "gave 5.00 s of the CPUs' time to others", "3 pages had to be read from disk",
		"9.50 processes competed for 2 CPUs", "governed by powersave", "while load 9.50 · taken off its CPU 700 times · 5.00 s of the CPUs given to other guests · 3 pages read from disk · governor powersave",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "pinned") || !rep.Stability.Noisy {
		t.Errorf("noisy is %v: %s", rep.Stability.Noisy, text)
	}
	run.Noise = &Noise{Switches: 3, StealNs: 1_000, Load: 9.5, Governor: "powersave", Pinned: 1}
	if st := Analyze(run).Stability; st.Noisy || st.Advice != nil {
		t.Errorf("of a quiet machine: %+v", st)
	}
	run.Noise = &Noise{Switches: -1, StealNs: -1, Faults: -1, Load: -1, Pinned: -1}
	if st := Analyze(run).Stability; st.Noisy || run.Noise.words() != nil {
		t.Errorf("of a machine that reports nothing: %+v, %q", st, run.Noise.words())
	}
}

// The unit follows p95 unless the longest step would lose its digits.
func TestUnitOfLateness(t *testing.T) {
	run := synthetic(planted{seed: 3, steps: 400})
	copy(run.Steps.StartNs, run.Steps.DueNs)
	run.Steps.StartNs[7] += 49_000_000
	if text := textOf(t, Analyze(run), Text{}); !strings.Contains(text, "lateness  µs           0         0   0 … 0                         0    49,000\n") {
		t.Error(text)
	}
}
