package profile

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/fault"
	"pgregory.net/rapid"
)

func benchText(t interface{ Fatal(...any) }, run *Run) string {
	var b bytes.Buffer
	if err := run.writeBench(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// benchLine is a result as the format has it.
type benchLine struct {
	name  string
	iters int
	units map[string]float64
}

// parseBench reads the format by the letter of golang.org/design/14313-benchmark-format, and
// refuses what it would pass over: every line has to be one of a configuration or a result.
func parseBench(text string) (config map[string]string, results []benchLine, err error) {
	config = map[string]string{}
	name := regexp.MustCompile(`^Benchmark[^\p{Ll}]`)
	for n, line := range strings.SplitAfter(text, "\n") {
		if line == "" {
			continue // behind the last
		}
		line, ended := strings.CutSuffix(line, "\n")
		if !ended || !utf8.ValidString(line) {
			return nil, nil, fmt.Errorf("line %d: %q", n+1, line)
		}
		if key, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "Benchmark") {
			first, _ := utf8.DecodeRuneInString(key)
			if !unicode.IsLower(first) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsUpper(r) }) || strings.Trim(value, " \t") == "" {
				return nil, nil, fmt.Errorf("line %d: configuration %q", n+1, line)
			}
			config[key] = strings.TrimSpace(value)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 4 || len(fields)%2 != 0 || !name.MatchString(fields[0]) {
			return nil, nil, fmt.Errorf("line %d: %q", n+1, line)
		}
		r := benchLine{name: fields[0], units: map[string]float64{}}
		if r.iters, err = strconv.Atoi(fields[1]); err != nil || r.iters < 1 {
			return nil, nil, fmt.Errorf("line %d: iterations %q", n+1, fields[1])
		}
		for i := 2; i < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if _, twice := r.units[fields[i+1]]; err != nil || twice || math.IsNaN(v) {
				return nil, nil, fmt.Errorf("line %d: %q", n+1, line)
			}
			r.units[fields[i+1]] = v
		}
		results = append(results, r)
	}
	return config, results, nil
}

func TestBenchIsTheFormatOfGoBenchmarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := drawnRun(t)
		name := rapid.OneOf(rapid.SampledFrom(nasty), rapid.String())
		for i := range run.Steps.Phases {
			run.Steps.Phases[i] = name.Draw(t, "phase")
		}
		run.Params = []Param{{name.Draw(t, "param"), name.Draw(t, "value")}}
		run.Env.CPU, run.Env.OS, run.Env.Arch, run.Level = name.Draw(t, "cpu"), name.Draw(t, "os"), name.Draw(t, "arch"), name.Draw(t, "level")
		run.Allocs = rapid.Float64().Draw(t, "allocs")
		_, results, err := parseBench(benchText(t, run))
		if err != nil {
			t.Fatal(err)
		}
		blocks := min(12, run.Steps.Len())
		whole := 0 // lines of the run as a whole
		if blocks > 0 && run.Allocs != 0 && fault.Finite(run.Allocs) {
			whole = 1
		}
		if len(results) != blocks*(1+len(run.Steps.Phases))+whole {
			t.Fatalf("%d results of %d blocks and %d phases", len(results), blocks, len(run.Steps.Phases))
		}
		steps, total := 0, 0.0
		for _, r := range results[:blocks] {
			steps += r.iters
			total += float64(r.iters) * r.units["ns/op"]
		}
		want := float64(meanOf(run.Steps.Ns) * float64(run.Steps.Len()))
		if steps != run.Steps.Len() || math.Abs(total-want) > 1e-9*want+0.05*float64(steps) {
			t.Fatalf("%d steps took %v, want %d and %v", steps, total, run.Steps.Len(), want)
		}
	})
}

func TestGoldenBench(t *testing.T) {
	run := furnish(synthetic(planted{seed: 7, steps: 480, cause: byPhase, phase: 2}))
	text := benchText(t, run)
	golden(t, "bench.txt", []byte(text))
	config, results, err := parseBench(text)
	if err != nil {
		t.Fatal(err)
	}
	if config["goos"] != "linux" || config["goarch"] != "amd64" || config["cpu"] != run.Env.CPU {
		t.Errorf("%v", config)
	}
	if len(config) != 3 { // benchstat would not compare runs that differ in any other
		t.Errorf("%v", config)
	}
	if want := "BenchmarkStep/scene=capstone/entities=2000/agents=200/bodies=256/level=avx512/workers=1-2"; results[0].name != want || results[0].iters != 40 {
		t.Errorf("%+v, want %s", results[0], want)
	}
	sorted := sortedCopy(run.Steps.Ns[:40])
	if u := results[0].units; u["p50-ns/op"] != float64(sorted[19]) || u["p95-ns/op"] != float64(sorted[37]) || len(u) != 3 {
		t.Errorf("%v", u)
	}
	if last := results[12]; last.units["allocs/op"] != run.Allocs || last.units["B/op"] != run.Bytes || len(last.units) != 2 || last.iters != 480 {
		t.Errorf("%+v", last)
	}
}

// No sample is a copy: each figure of a block is of that block alone, so to change the steps of one
// block changes its line, and to change what the run has but once changes one line.
func TestBenchHasNoSampleTwice(t *testing.T) {
	const blocks, each = 12, 40
	lines := func(run *Run) []string { return strings.SplitAfter(benchText(t, run), "\n") }
	make480 := func() *Run {
		return furnish(synthetic(planted{seed: 7, steps: blocks * each, cause: byPhase, phase: 2}))
	}
	was := lines(make480())
	differ := func(alter func(*Run)) (n int) {
		run := make480()
		alter(run)
		is := lines(run)
		if len(is) != len(was) {
			t.Fatalf("%d lines, not %d", len(is), len(was))
		}
		for i := range is {
			if is[i] != was[i] {
				n++
			}
		}
		return n
	}
	for b := range blocks {
		n := differ(func(run *Run) {
			for i := b * each; i < (b+1)*each; i++ {
				run.Steps.Ns[i] += 1000
			}
		})
		if n != 1 {
			t.Errorf("the steps of block %d are in %d lines", b, n)
		}
	}
	for name, alter := range map[string]func(*Run){
		"allocations": func(run *Run) { run.Allocs++ }, "bytes": func(run *Run) { run.Bytes++ },
	} {
		if n := differ(alter); n != 1 {
			t.Errorf("the %s of the run are in %d lines", name, n)
		}
	}
	units := map[string]int{} // samples that benchstat would see
	_, results, err := parseBench(strings.Join(was, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		for unit := range r.units {
			units[r.name+" "+unit]++
		}
	}
	for what, n := range units {
		if n != 1 && n != blocks {
			t.Errorf("%d samples of %s", n, what)
		}
	}
}

func TestParseBenchRefuses(t *testing.T) {
	for _, text := range []string{"\n", "benchmark", "Benchmarkstep 1 2 ns/op\n", "BenchmarkStep 0 2 ns/op\n", "BenchmarkStep 1 2\n", "BenchmarkStep 1 x ns/op\n", "Goos: linux\n", "BenchmarkStep 1 2 ns/op"} {
		if _, _, err := parseBench(text); err == nil {
			t.Errorf("%q passed", text)
		}
	}
}
