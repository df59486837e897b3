package inspect_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/replica"
)

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*`)
)

// exposition is what a scraper reads from a page of metrics.
type exposition struct {
	kinds  map[string]string
	values map[string]float64 // by name and labels, as they are written
}

// parse reads the text format of Prometheus, version 0.0.4, more strictly than a scraper: each family begins with HELP
// and TYPE, its samples follow, and no series comes twice. The label quantile is on the quantiles of summaries alone, which
// also have a sum and a count.
func parse(text string) (*exposition, error) {
	e := &exposition{map[string]string{}, map[string]float64{}}
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line does not end")
	}
	family, helped := "", ""
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		err := error(nil)
		switch {
		case !utf8.ValidString(line):
			err = fmt.Errorf("no UTF-8")
		case strings.HasPrefix(line, "# HELP "):
			name, help, ok := strings.Cut(line[len("# HELP "):], " ")
			if helped = name; !ok || help == "" || metricName.FindString(name) != name || e.kinds[name] != "" {
				err = fmt.Errorf("bad HELP")
			}
		case strings.HasPrefix(line, "# TYPE "):
			name, kind, _ := strings.Cut(line[len("# TYPE "):], " ")
			if family = name; name != helped || e.kinds[name] != "" || !slices.Contains([]string{"counter", "gauge", "summary"}, kind) {
				err = fmt.Errorf("bad TYPE")
			}
			if strings.HasSuffix(name, "_total") != (kind == "counter") {
				err = fmt.Errorf("the name of a %s", kind)
			}
			e.kinds[name] = kind
		default:
			err = e.sample(family, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w: %q", n+1, err, line)
		}
	}
	for series := range e.values {
		if err := e.checkSummary(series); err != nil {
			return nil, fmt.Errorf("%w: %q", err, series)
		}
	}
	return e, nil
}

// quantileLabel is the label quantile, which is the last one here, with what comes before it.
var quantileLabel = regexp.MustCompile(`[{,]quantile="([^"]*)"}$`)

// checkSummary requires that a quantile belongs to a summary, and that each quantile has its sum and its count.
func (e *exposition) checkSummary(series string) error {
	name := metricName.FindString(series)
	at := quantileLabel.FindStringSubmatchIndex(series)
	if at == nil {
		if e.kinds[name] == "summary" {
			return fmt.Errorf("no quantile on a sample of a summary")
		}
		return nil
	}
	if e.kinds[name] != "summary" {
		return fmt.Errorf("the label quantile on a %s", e.kinds[name])
	}
	if q, err := strconv.ParseFloat(series[at[2]:at[3]], 64); err != nil || !(q >= 0 && q <= 1) {
		return fmt.Errorf("a quantile that is not from 0 to 1")
	}
	rest := series[len(name):at[0]]
	if rest != "" {
		rest += "}"
	}
	for _, suffix := range []string{"_sum", "_count"} {
		if v, ok := e.values[name+suffix+rest]; !ok || !(v >= 0) {
			return fmt.Errorf("no %s%s%s", name, suffix, rest)
		}
	}
	return nil
}

func (e *exposition) sample(family, line string) error {
	name := metricName.FindString(line)
	part := name == family || e.kinds[family] == "summary" && (name == family+"_sum" || name == family+"_count")
	if name == "" || !part {
		return fmt.Errorf("a sample of %q among those of %q", name, family)
	}
	end, err := labels(line, len(name))
	if err != nil {
		return err
	}
	series, value := line[:end], line[end:]
	if name != family && strings.Contains(series, `quantile="`) {
		return fmt.Errorf("a quantile on a sum or a count")
	}
	if _, twice := e.values[series]; twice {
		return fmt.Errorf("the series comes twice")
	}
	if len(value) < 2 || value[0] != ' ' || strings.ContainsAny(value[1:], " \t") {
		return fmt.Errorf("bad value")
	}
	v, err := strconv.ParseFloat(value[1:], 64)
	if err != nil {
		return err
	}
	switch value[1:] {
	case "NaN", "+Inf", "-Inf":
	default:
		if math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(value, "_xX") {
			return fmt.Errorf("a form of number that scrapers do not know")
		}
	}
	if v < 0 && e.kinds[name] == "counter" {
		return fmt.Errorf("a counter below 0")
	}
	e.values[series] = v
	return nil
}

// labels returns where the labels of a line end.
func labels(line string, at int) (int, error) {
	if at == len(line) || line[at] != '{' {
		return at, nil
	}
	seen := map[string]bool{}
	for {
		name := labelName.FindString(line[at+1:])
		if at += 1 + len(name); name == "" || seen[name] || !strings.HasPrefix(line[at:], `="`) {
			return 0, fmt.Errorf("bad label")
		}
		seen[name] = true
		for at += 2; line[at] != '"'; at++ {
			if line[at] == '\\' {
				if at++; !strings.Contains(`\"n`, line[at:at+1]) {
					return 0, fmt.Errorf("bad escape")
				}
			}
			if at+2 >= len(line) {
				return 0, fmt.Errorf("a label that does not end")
			}
		}
		if at++; line[at] == '}' {
			return at + 1, nil
		} else if line[at] != ',' {
			return 0, fmt.Errorf("bad end of a label")
		}
	}
}

func TestParserIsStrict(t *testing.T) {
	const head = "# HELP a_total b\n# TYPE a_total counter\n"
	for _, bad := range []string{
		head + "a_total 1", head + "a_total\n", head + "a_total 1 2\n", head + "b 1\n", head + "a_total 1\na_total 2\n", head + "a_total -1\n",
		head + `a_total{x="\q"} 1` + "\n", head + `a_total{x="1",x="2"} 1` + "\n", head + `a_total{x="1} 1` + "\n", head + "a_total{} 1\n",
		head + "a_total 0x1p4\n", head + "a_total Inf\n", head + "a_total{x=\"\xff\"} 1\n", "a_total 1\n", head + head, "# HELP g \n# TYPE g gauge\n",
		"# HELP g x\n# TYPE g gauge\ng{quantile=\"0.5\"} 1\n", "# HELP s x\n# TYPE s summary\ns 1\n", "# HELP s x\n# TYPE s summary\ns{quantile=\"0.5\"} 1\ns_sum 1\n",
		"# HELP s x\n# TYPE s summary\ns{a=\"b\",quantile=\"0.5\"} 1\ns_sum 1\ns_count 1\n", "# HELP s x\n# TYPE s summary\ns{quantile=\"2\"} 1\ns_sum 1\ns_count 1\n",
		"# HELP g x\n# TYPE h gauge\n", "# HELP g x\n# TYPE g counter\n", "# HELP g_total x\n# TYPE g_total gauge\n",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("accepted: %q", bad)
		}
	}
	for _, good := range []string{
		head + `a_total{x="\\\"\n",y=""} +Inf` + "\n" + "a_total NaN\n",
		"# HELP s x\n# TYPE s summary\ns{a=\"b\",quantile=\"0.5\"} NaN\ns_sum{a=\"b\"} 0\ns_count{a=\"b\"} 0\n",
	} {
		if _, err := parse(good); err != nil {
			t.Error(err)
		}
	}
}

// awkward is a name of a system that a label must not be confused by.
const awkward = "a \"b\" \\n\n{c=\"d\"} 7"

func scrape(t testing.TB, h *inspect.Handler) *exposition {
	t.Helper()
	w := do(h, request{path: "/metrics"})
	if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatalf("status %d, type %q", w.Code, got)
	}
	e, err := parse(w.Body.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, w.Body)
	}
	return e
}

func TestMetrics(t *testing.T) {
	sim := newSim(t)
	check(t, sim.Add(evertick.AfterPhysics, awkward, func(*evertick.Tick) error { return nil }))
	check(t, sim.Add(evertick.AfterPhysics, "bad\xff", func(*evertick.Tick) error { return nil }))
	check(t, sim.Add(evertick.AfterPhysics, "bad\xfe", func(*evertick.Tick) error { return nil }))
	server, err := replica.New(sim, replica.Config{Columns: []replica.Column{{Name: "hp"}}})
	check(t, err)
	defer server.Close()
	h, err := inspect.NewHandler(sim, inspect.Config{Name: "new\nline", Replica: server})
	check(t, err)
	defer h.Close()

	before := scrape(t, h)
	if v := before.values[`evertick_step_seconds{quantile="0.5"}`]; !math.IsNaN(v) {
		t.Errorf("the median of no step is %v", v)
	}
	check(t, sim.Push(evertick.Input{Source: 1, Seq: 1, Tick: 1000}))
	if sim.Push(evertick.Input{Source: 1, Seq: 1, Tick: 1000}) == nil {
		t.Fatal("a duplicate input is accepted")
	}
	check(t, sim.StepN(5))
	e := scrape(t, h)
	for series, want := range map[string]float64{
		"evertick_tick":                                               5,
		"evertick_steps_total":                                        5,
		"evertick_entities":                                           20,
		"evertick_entity_capacity":                                    64,
		"evertick_bodies":                                             10,
		"evertick_contacts":                                           float64(sim.Physics.ContactCount()),
		"evertick_budget_seconds":                                     0.004,
		"evertick_steps_dropped_total":                                0,
		"evertick_backlog_steps":                                      0,
		"evertick_step_seconds_count":                                 5,
		`evertick_phase_seconds_count{phase="wear"}`:                  5,
		`evertick_inputs_total{outcome="accepted"}`:                   1,
		`evertick_inputs_total{outcome="duplicate"}`:                  1,
		`evertick_inputs_total{outcome="full"}`:                       0,
		"evertick_inputs_waiting":                                     1,
		`evertick_phase_runs_total{phase="wear"}`:                     5,
		`evertick_replica_sessions{state="connected"}`:                0,
		`evertick_replica_frames_total{kind="update"}`:                0,
		`evertick_state{state="failed"}`:                              0,
		"evertick_failed":                                             0,
		`evertick_phase_runs_total{phase="a \"b\" \\n\n{c=\"d\"} 7"}`: 5,
		`evertick_phase_runs_total{phase="bad` + "\uFFFD" + `"}`:      5,
	} {
		if got, ok := e.values[series]; !ok || got != want {
			t.Errorf("%s is %v, %t, want %v", series, got, ok, want)
		}
	}
	for _, series := range []string{`evertick_step_seconds{quantile="0.99"}`, "evertick_step_seconds_sum", `evertick_phase_seconds{phase="physics.step",quantile="1"}`, "evertick_step_last_seconds", "evertick_go_heap_bytes"} {
		if v := e.values[series]; !(v > 0) {
			t.Errorf("%s is %v", series, v)
		}
	}
	page, err := os.ReadFile("../docs/operations.md")
	check(t, err)
	named := regexp.MustCompile("`(evertick_[a-z_]+(\\{[^}]*\\})?)`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 10 {
		t.Errorf("docs/operations.md names %d figures", len(named))
	}
	for _, m := range named {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(e.values)), func(series string) bool {
			name, _, _ := strings.Cut(series, "{")
			return name == m[1] || m[2] != "" && strings.HasPrefix(series, strings.TrimSuffix(m[1], "}"))
		}) {
			t.Errorf("docs/operations.md names %s, which is no figure", m[1])
		}
	}
}

// The figures of bodies count those in space.
func TestMetricsOfASpace(t *testing.T) {
	l, err := sims3.NewLife(4, evertick.Config{})
	check(t, err)
	h, err := inspect.NewHandler(l.Sim, inspect.Config{})
	check(t, err)
	defer h.Close()
	most := 0.0
	for range 4 {
		check(t, l.Sim.StepN(40))
		e, sp, plane := scrape(t, h), l.Bodies.World(), l.Sim.Physics
		for series, want := range map[string]int{
			"evertick_bodies":       sp.Len() + plane.Len(),
			"evertick_contacts":     sp.ContactCount() + plane.ContactCount(),
			"evertick_bodies_awake": sp.AwakeCount() + plane.AwakeCount(),
		} {
			if got, ok := e.values[series]; !ok || got != float64(want) {
				t.Errorf("%s is %v, %t, want %v", series, got, ok, want)
			}
		}
		if n, ok := e.values[`evertick_phase_runs_total{phase="physics3.step"}`]; !ok || n == 0 {
			t.Error("no figure of the step in space")
		}
		most = max(most, e.values["evertick_contacts"])
	}
	if most < 5 {
		t.Errorf("at most %v contacts", most)
	}
}

// The figures of a Sim that has failed say so.
func TestMetricsOfFailure(t *testing.T) {
	sim := newSim(t)
	h, err := inspect.NewHandler(sim, inspect.Config{})
	check(t, err)
	defer h.Close()
	check(t, sim.Add(evertick.AfterIndex, "broken", func(*evertick.Tick) error { return fmt.Errorf("broken") }))
	if sim.Step() == nil {
		t.Fatal("the step has not failed")
	}
	if e := scrape(t, h); e.values["evertick_failed"] != 1 {
		t.Errorf("failed: %v", e.values["evertick_failed"])
	}
	<-waitFor(t, "the state", func() bool { return scrape(t, h).values[`evertick_state{state="failed"}`] == 1 })
}

// The variables are those of expvar and the figures of /metrics, also with several handlers, and where a program
// publishes them.
func TestVars(t *testing.T) {
	h := newHandler(t, inspect.Config{})
	other := newHandler(t, inspect.Config{})
	var published map[string]any
	check(t, json.Unmarshal([]byte(expvar.Var(h.Var()).String()), &published))
	for _, h := range []*inspect.Handler{h, other} {
		w := do(h, request{path: "/debug/vars"})
		var vars struct {
			Cmdline  []string
			Memstats map[string]any
			Evertick map[string]any
		}
		check(t, json.Unmarshal(w.Body.Bytes(), &vars))
		if len(vars.Cmdline) == 0 || vars.Memstats["HeapAlloc"] == nil || vars.Evertick["entities"] != 20. {
			t.Errorf("%s", w.Body)
		}
		if q, _ := vars.Evertick["step_seconds"].(map[string]any); q["0.99"] != "NaN" {
			t.Errorf("quantiles of no step: %v", q)
		}
		for series := range scrape(t, h).values {
			name := strings.TrimPrefix(metricName.FindString(series), "evertick_")
			if vars.Evertick[name] == nil || published[name] == nil {
				t.Errorf("%s is in /metrics, but no variable", name)
			}
		}
	}
}
