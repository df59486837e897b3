package profile

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/evertick/evertick/internal/fault"
)

// Blocks into which writeBench divides the steps: benchstat needs at least ten samples, and longer
// blocks are less correlated.
const (
	benchBlocks     = 12
	benchQuantileOf = 20 // steps that a block needs for a p95 of its own
)

// writeBench writes the run in the format of Go's benchmarks
// (golang.org/design/14313-benchmark-format), which benchstat compares: for each of twelve blocks
// of steps that follow each other, or for each step if there are fewer, a line for the step and one
// for each phase. ns/op is the mean of the block, p50-ns/op and p95-ns/op are quantiles of the
// step. B/op and allocs/op, which are measured for the run as a whole, have a line of their own:
// benchstat would count copies on twelve lines as twelve samples, and find a difference significant
// that is not. Characters that a name may not contain become underscores.
func (run *Run) writeBench(w io.Writer) error {
	s := &run.Steps
	s.check()
	out := bufio.NewWriter(w)
	run.writeBenchHead(out)
	blocks := min(benchBlocks, s.Len())
	suffix := run.benchSuffix()
	for b := range blocks {
		from, to := b*s.Len()/blocks, (b+1)*s.Len()/blocks
		sorted := sortedCopy(s.Ns[from:to])
		fmt.Fprintf(out, "BenchmarkStep/%s\t%d\t%.1f ns/op\t%d p50-ns/op", suffix, to-from, meanOf(sorted), nearestRank(sorted, 0.50))
		if to-from >= benchQuantileOf {
			fmt.Fprintf(out, "\t%d p95-ns/op", nearestRank(sorted, 0.95))
		}
		fmt.Fprintln(out)
	}
	if s.Len() > 0 && (run.Allocs != 0 || run.Bytes != 0) && fault.Finite(run.Allocs) && fault.Finite(run.Bytes) {
		fmt.Fprintf(out, "BenchmarkStep/%s\t%d\t%g B/op\t%g allocs/op\n", suffix, s.Len(), run.Bytes, run.Allocs)
	}
	for j, phase := range s.Phases {
		for b := range blocks {
			from, to := b*s.Len()/blocks, (b+1)*s.Len()/blocks
			fmt.Fprintf(out, "BenchmarkPhase/phase=%s/%s\t%d\t%.1f ns/op\n", benchName(phase), suffix, to-from, meanOf(s.PhaseNs[j][from:to]))
		}
	}
	return out.Flush()
}

func meanOf(ns []int64) float64 {
	sum := 0.0
	for _, v := range ns {
		sum += float64(v)
	}
	return sum / float64(max(1, len(ns)))
}

// writeBenchHead writes the configuration as go test does, and nothing else: benchstat compares
// only results of equal configurations.
func (run *Run) writeBenchHead(w io.Writer) {
	goarch, _, _ := strings.Cut(run.Env.Arch, " ")
	for _, line := range [][2]string{
		{"goos", run.Env.OS}, {"goarch", goarch}, {"cpu", run.Env.CPU},
	} {
		if value := strings.TrimSpace(clean(line[1])); value != "" {
			fmt.Fprintf(w, "%s: %s\n", line[0], value)
		}
	}
}

// benchSuffix names scene, parameters, level and workers; at its end is, as in Go, the number of
// CPUs.
func (run *Run) benchSuffix() string {
	parts := []string{"scene=" + benchName(run.Scene)}
	for _, p := range run.Params {
		parts = append(parts, benchName(p.Name)+"="+benchName(p.Value))
	}
	if run.Level != "" {
		parts = append(parts, "level="+benchName(run.Level))
	}
	return fmt.Sprintf("%s/workers=%d-%d", strings.Join(parts, "/"), run.Workers, max(1, run.Env.CPUs))
}

// benchName replaces characters that a name may not contain. It is never empty.
func benchName(name string) string {
	if name == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '=' || r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, name)
}
