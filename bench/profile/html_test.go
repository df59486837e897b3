package profile

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"pgregory.net/rapid"
)

// oddRuns are those at the limits of what a page has to show.
func oddRuns() map[string]*Run {
	hostile := `</script><script>globalThis.hostile=1</script><img src=x onerror="globalThis.hostile=1">"'&` + "\x00\xff\u2028é漢字" + strings.Repeat("long", 40)
	named := withBaseline(furnish(synthetic(planted{seed: 5, steps: 60, cause: byMachine})), 110)
	named.Scene, named.Command, named.Hash, named.Baseline.Name, named.Started = hostile, hostile, hostile, hostile, hostile
	named.Params = []Param{{hostile, hostile}}
	named.Env.CPU, named.Env.Kernels, named.Ladder[1].Level, named.Rivals[0].Name = hostile, hostile, hostile, hostile
	named.Warnings, named.Unwatched = []string{hostile}, []string{hostile}
	named.Parity = &Parity{Err: hostile}
	named.Steps.Phases = []string{hostile, hostile + "2", "c", "d", "e", "f"}
	named.Steps.Counters = []string{hostile, "b", "c"}
	many := synthetic(planted{seed: 6, steps: 300})
	for range 30 {
		many.Steps.Phases = append(many.Steps.Phases[:len(many.Steps.Phases):len(many.Steps.Phases)], "another phase")
		many.Steps.PhaseNs = append(many.Steps.PhaseNs, many.Steps.PhaseNs[0])
	}
	bare := &Run{Steps: Steps{Ns: []int64{5, 7, 3, 9}}}
	still := &Run{Steps: Steps{Ns: make([]int64, 50), Phases: []string{"nothing"}, PhaseNs: [][]int64{make([]int64, 50)}}, BudgetNs: 1}
	return map[string]*Run{
		"no steps": furnish(synthetic(planted{steps: 0})), "one step": furnish(synthetic(planted{steps: 1})), "two steps": synthetic(planted{steps: 2}),
		"many steps": synthetic(planted{seed: 4, steps: 20_000, cause: byCollections}), "hostile names": named, "many phases": many,
		"nothing but times": bare, "times of zero": still, "an empty run": {},
	}
}

func pageOf(t *testing.T, run *Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Analyze(run).writeHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page is readable without its script, and requests no other file.
func TestReportPage(t *testing.T) {
	page := pageOf(t, withBaseline(furnish(synthetic(planted{seed: 3, steps: 3_600, cause: byPhase, phase: 2})), 90))
	if len(page) >= 400_000 {
		t.Errorf("%d bytes", len(page))
	}
	t.Logf("%d bytes", len(page))
	static := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(page, "")
	for _, want := range []string{"Within budget", "perceive", "slowest 5 %", "avx512", "box2d", "2c45341cdbdf3e12", "AMD EPYC", "earlier-90",
		"go run ./bench -scene capstone", "powersave", "branch misses: the CPU", "How to read", "412 cases"} {
		if !strings.Contains(static, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if n := strings.Count(static, "data-step="); n != 20 {
		t.Errorf("%d of the slowest steps", n)
	}
	for _, bad := range []string{"http:", "https:", "//cdn", "url(", "@import", "ZgotmplZ"} {
		if strings.Contains(strings.NewReplacer("http://www.w3.org/2000/svg", "", "url(#t", "").Replace(page), bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
}

func TestReportPageOfLongRun(t *testing.T) {
	steps := 1_000_000
	if testing.Short() || paritytest.Instrumented {
		steps = 50_000
	}
	run := &Run{Steps: Steps{Ns: make([]int64, steps), Phases: []string{"a"}, PhaseNs: [][]int64{make([]int64, steps)}}}
	for i := range steps {
		run.Steps.Ns[i] = 300_000 + int64(i%1_000)*7
		run.Steps.PhaseNs[0][i] = run.Steps.Ns[i] - 20_000
	}
	run.Steps.Ns[steps/3] = 9_000_000
	rep := Analyze(run)
	var b bytes.Buffer
	if err := rep.writeHTML(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() >= 400_000 {
		t.Errorf("%d bytes", b.Len())
	}
	d := rep.data()
	ns := unpack(t, d.Ns)
	if d.Bucket < 2 || len(ns) != (steps+d.Bucket-1)/d.Bucket || ns[steps/3/d.Bucket] != 9_000_000 {
		t.Errorf("%d places of %d steps; the slowest is %d", len(ns), d.Bucket, ns[steps/3/d.Bucket])
	}
}

func TestReportPageOfOddRuns(t *testing.T) {
	for name, run := range oddRuns() {
		page := pageOf(t, run)
		if n := strings.Count(page, "</script"); n != 2 {
			t.Errorf("%s: %d script elements end in the page, not 2", name, n)
		}
		if strings.Contains(page, "<img") || strings.Contains(page, "ZgotmplZ") {
			t.Errorf("%s: a name became an element, or was refused", name)
		}
		if len(page) > 400_000 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
	}
}

// The policy admits the script that is in the page: its hash is that of the bytes between
// the tags, which the template has left as they were.
func TestReportPagePolicy(t *testing.T) {
	page := pageOf(t, synthetic(planted{steps: 3}))
	if !strings.Contains(page, "<script>"+string(htmlScript)+"</script>") {
		t.Error("the template changes the script")
	}
	sum := sha256.Sum256([]byte(htmlScript))
	if want := base64.StdEncoding.EncodeToString(sum[:]); want != htmlScriptSum {
		t.Errorf("htmlScriptSum is %q, want %q", htmlScriptSum, want)
	}
	if m := regexp.MustCompile(`script-src &#39;sha256-([^;]+;?[^;]*)&#39;`).FindStringSubmatch(page); m == nil || html.UnescapeString(m[1]) != htmlScriptSum ||
		!strings.Contains(page, "default-src &#39;none&#39;") {
		t.Error("no policy")
	}
}

func TestReportPageTellsThatItCannotBeWritten(t *testing.T) {
	room := fullAfter(3_000)
	if err := Analyze(synthetic(planted{steps: 10})).writeHTML(&room); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
}

func TestReportPageVerdict(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter func(*Run)
		want  string
	}{
		{"within", func(*Run) {}, "✓ Within budget"},
		{"some over", func(r *Run) { r.Steps.Ns[3] = r.BudgetNs + 1 }, "✓ p95 within budget"},
		{"late", func(r *Run) { r.Steps.StartNs[9] = r.Steps.DueNs[9] + 1_000_000_000/60 + 1000 }, "! Within budget, but late"},
		{"late and some over", func(r *Run) {
			r.Steps.Ns[3] = r.BudgetNs + 1
			r.Steps.StartNs[9] = r.Steps.DueNs[9] + 1_000_000_000/60 + 1000
		}, "! Within budget, but late"},
		{"almost late", func(r *Run) { r.Steps.StartNs[9] = r.Steps.DueNs[9] + 1_000_000_000/60 - 1000 }, "✓ Within budget"},
		{"never run", func(r *Run) { r.Dropped = 1 }, "! Within budget, but late"},
		{"over and late", func(r *Run) {
			r.BudgetNs = 1000
			r.Steps.StartNs[9] = r.Steps.DueNs[9] + 1_000_000_000/60 + 1000
		}, "✗ Over budget"},
		{"over", func(r *Run) { r.BudgetNs = 1000 }, "✗ Over budget"},
		{"parity", func(r *Run) { r.Parity = &Parity{Err: "row 7"} }, "✗ Parity failed"},
		{"no budget", func(r *Run) { r.BudgetNs = 0 }, "No budget"},
		{"no steps", func(r *Run) { r.Steps = Steps{} }, "Nothing measured"},
	} {
		run := synthetic(planted{seed: 1, steps: 200})
		c.alter(run)
		v := (&htmlPage{Report: Analyze(run)}).Verdict()
		if v.Word != c.want {
			t.Errorf("%s: %q", c.name, v.Word)
		}
		if late := strings.Contains(v.Word, "late"); late && v.Class != "warn" || strings.HasPrefix(v.Word, "✓") != (v.Class == "good") {
			t.Errorf("%s: %q is shown as %s", c.name, v.Word, v.Class)
		}
	}
}

// unpack is the inverse of pack, as report.js has it.
func unpack(t interface{ Fatal(...any) }, p packed) (values []int64) {
	data, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil {
		t.Fatal(err)
	}
	was := int64(0)
	for len(data) > 0 {
		n := 0
		v := int64(0)
		if p.Delta {
			v, n = binary.Varint(data)
			v += was
			was = v
		} else {
			var u uint64
			u, n = binary.Uvarint(data)
			v = int64(u)
		}
		if n <= 0 {
			t.Fatal("a varint is cut off")
		}
		data = data[n:]
		values = append(values, v*int64(p.Unit))
	}
	return values
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(0, 1<<40), rapid.Int64())).Draw(rt, "values")
		for _, p := range []packed{pack(values, 1), packCounts(values), packTimes(values)} {
			got := unpack(rt, p)
			if len(got) != len(values) {
				rt.Fatalf("%d of %d values", len(got), len(values))
			}
			for i, v := range values {
				v = min(max(v, -1<<52), 1<<52)
				if off := math.Abs(float64(got[i]) - float64(v)); off > p.Unit/2 {
					rt.Fatalf("value %d: %d for %d in units of %g", i, got[i], v, p.Unit)
				}
			}
		}
	})
}

func TestQuantum(t *testing.T) {
	for median, want := range map[int64]int64{0: 1, 1: 1, 499: 1, 4_999: 1, 5_000: 10, 311_432: 100, 16_666_667: 10_000, math.MaxInt64: 1e16, -311_432: 100, math.MinInt64: 1} {
		if got := quantum([]int64{0, median, 0}); got != want {
			t.Errorf("of a median of %d: %d, not %d", median, got, want)
		}
	}
}

// The curve takes the values of the nearest rank, at the places of the quantiles, and ends
// with the longest.
func TestPercentileCurve(t *testing.T) {
	var sorted []int64
	for i := range 1_000 {
		sorted = append(sorted, int64(i+1)*10)
	}
	curve := percentileCurve(sorted)
	for i, p := range curve {
		q := 1 - math.Pow(10, -p[0])
		if want := 10 * math.Max(1, math.Ceil(q*1_000)); math.Abs(p[1]-want) > 10 { // x is rounded
			t.Errorf("at %.4f: %g, not %g", p[0], p[1], want)
		}
		if i > 0 && (p[0] <= curve[i-1][0] || p[1] < curve[i-1][1]) {
			t.Errorf("at %.4f the curve turns back", p[0])
		}
	}
	if last := curve[len(curve)-1]; last[1] != 10_000 {
		t.Errorf("it ends at %v", last)
	}
	if level := percentileCurve([]int64{7, 7, 7, 7}); len(level) != 2 || level[0] != [2]float64{0, 7} || level[1][1] != 7 {
		t.Errorf("of equal values: %v", level)
	}
	if none := percentileCurve(nil); len(none) != 0 {
		t.Errorf("of none: %v", none)
	}
}

func TestPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(0, 100), 0, 300).Draw(rt, "ns")
		p := &place{steps: len(ns), bucket: rapid.IntRange(1, 7).Draw(rt, "bucket")}
		p.slowest(ns)
		slow, mean, above := p.pick(ns), p.mean(ns), p.above(ns, 50)
		total := 0.0
		for k := range slow {
			part := ns[k*p.bucket : min((k+1)*p.bucket, len(ns))]
			over := int64(0)
			for _, v := range part {
				if v > slow[k] {
					rt.Fatalf("place %d: %d is slower than %d", k, v, slow[k])
				}
				if v > 50 {
					over++
				}
			}
			if over != above[k] {
				rt.Fatalf("place %d: %d above, not %d", k, above[k], over)
			}
			total += float64(mean[k]) * float64(len(part))
		}
		if want := float64(sumOf(ns)); math.Abs(total-want) > 0.5*float64(len(ns)) {
			rt.Fatalf("means add up to %g, not %g", total, want)
		}
	})
}

func TestUnitOf(t *testing.T) {
	for ns, want := range map[int64]unit{
		0: {"ns", 1, 0}, 999: {"ns", 1, 0}, 1_000: {"µs", 1e3, 3}, 31_200: {"µs", 1e3, 2}, 312_400: {"µs", 1e3, 1},
		1_000_000: {"ms", 1e6, 3}, 16_666_667: {"ms", 1e6, 2}, 5_000_000_000: {"s", 1e9, 3}, 5_000_000_000_000: {"s", 1e9, 1},
	} {
		if got := unitOf(ns); got != want {
			t.Errorf("%d ns: %v, not %v", ns, got, want)
		}
	}
	u := unit{"µs", 1e3, 1}
	for ns, want := range map[float64]string{0: "0.0", -20: "0.0", 1_234_567_800: "1,234,567.8", -1_250: "−1.2", 49: "0.0", 51: "0.1"} {
		if got := u.bare(ns); got != want {
			t.Errorf("%g ns: %q, not %q", ns, got, want)
		}
	}
}

func TestNoiseInWords(t *testing.T) {
	unknown := unknownNoise()
	for want, n := range map[string]*Noise{
		"": nil,
		"load 0.50; taken off its CPU 1 time; 30.0 ms of the CPUs given to other guests; 2 pages read from disk; governor performance; pinned to CPU 0": {
			Switches: 1, StealNs: 30e6, Faults: 2, Load: 0.5, Governor: "performance"},
		"load 0; taken off its CPU 0 times": {Pinned: -1},
	} {
		if got := strings.Join(n.words(), "; "); got != want {
			t.Errorf("%+v: %q, not %q", n, got, want)
		}
	}
	if got := unknown.words(); got != nil {
		t.Errorf("nothing is known: %q", got)
	}
}

func TestMinus(t *testing.T) {
	for text, want := range map[string]string{
		"+0.0 pts": "0.0 pts", "-0.0 %": "0.0 %", "-1.5 %": "−1.5 %", "+2.0 pts": "+2.0 pts", "0.0 %": "0.0 %", "10 %": "10 %",
	} {
		if got := minus(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

// Each phase has a look of its own, as far as there are any; that of what no phase accounts for
// is no other's.
func TestLooksDiffer(t *testing.T) {
	for _, n := range []int{1, 8, 9, 12, 20, 40, 45} {
		run := &Run{Steps: Steps{Ns: []int64{1000, 2000}}}
		for j := range n {
			run.Steps.Phases = append(run.Steps.Phases, strings.Repeat("p", j+1))
			run.Steps.PhaseNs = append(run.Steps.PhaseNs, []int64{int64(j * 7 % 11), int64(j * 5 % 13)})
		}
		looks := Analyze(run).looks()
		seen := map[string]int{}
		for _, look := range looks {
			seen[look]++
		}
		if len(looks) != n+1 || looks[n] != "c9" || seen["c9"] != 1 || seen["c0"] != max(0, n-paletteSize*textures) {
			t.Errorf("%d phases: %q", n, looks)
		}
		for look, times := range seen {
			if look != "c0" && times > 1 {
				t.Errorf("%d phases: %d of them are %s", n, times, look)
			}
		}
	}
}
