package inspector

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replica"
)

// usualInputs is evertick.InputConfig.Capacity where that is 0.
const usualInputs = 4096

// queuesView is the answer without "clients": the replica.Stats, null without a server. Each count has the name of its field in the package of its owner, in snake case.
type queuesView struct {
	Tick   uint64         `json:"tick"`
	Inputs map[string]any `json:"inputs"`
	Frames framesView     `json:"frames"`
	Agents []agentsView   `json:"agents"`
}

type framesView struct {
	Steps        int    `json:"steps"`
	DroppedTotal uint64 `json:"dropped_total"`
	BacklogNs    int64  `json:"backlog_ns"`
}

// agentsView holds the counts of an agent.Agents. The counts of Stats and of the classes belong to the state of the Sim, and
// the counts of Live to the process.
type agentsView struct {
	Agents  int               `json:"agents"`
	Waiting int               `json:"waiting"` // actions
	Stats   map[string]any    `json:"stats"`
	Reasons map[string]uint64 `json:"reasons"`
	Classes []map[string]any  `json:"classes"`
	Live    map[string]any    `json:"live"`
}

// readQueues reads what belongs to the goroutine of the Sim.
func readQueues(sim *evertick.Sim, c *Config) *queuesView {
	f := sim.Frame()
	v := &queuesView{Tick: sim.Ticks(), Frames: framesView{f.Steps, f.DroppedTotal, f.LagNs}, Agents: []agentsView{}}
	stats := sim.InputStats()
	v.Inputs = counts(&stats)
	v.Inputs["capacity"] = cmp.Or(sim.Config().Inputs.Capacity, usualInputs)
	for _, t := range c.Trace {
		if a, ok := t.(*agent.Agents); ok && a != nil {
			v.Agents = append(v.Agents, viewAgents(a))
		}
	}
	return v
}

func viewAgents(a *agent.Agents) agentsView {
	s, live := a.Stats(), a.Live()
	v := agentsView{Agents: a.Len(), Waiting: a.Waiting(), Stats: counts(&s), Live: counts(&live),
		Reasons: map[string]uint64{}, Classes: []map[string]any{}}
	for i, n := range s.Reasons {
		if n > 0 {
			v.Reasons[agent.Reason(i).String()] = n
		}
	}
	for _, c := range a.Classes(nil) {
		v.Classes = append(v.Classes, counts(&c))
	}
	return v
}

// counts returns the fields of a struct, given by a pointer, by their names in snake case: numbers, structs of numbers,
// histograms as quantiles, errors as text. It leaves out other fields.
func counts(of any) map[string]any {
	if h, ok := of.(*loop.Histogram); ok {
		return map[string]any{"count": h.Count(), "p50": h.Quantile(0.5), "p95": h.Quantile(0.95), "p99": h.Quantile(0.99), "max": h.Max()}
	}
	all := map[string]any{}
	s := reflect.ValueOf(of).Elem()
	for i := range s.NumField() {
		name, f := snakeCase(s.Type().Field(i).Name), s.Field(i)
		switch {
		case f.CanInt() || f.CanUint():
			all[name] = f.Interface()
		case f.Kind() == reflect.Struct:
			all[name] = counts(f.Addr().Interface())
		case f.Type() == reflect.TypeFor[error]():
			all[name] = nil
			if err, ok := f.Interface().(error); ok {
				all[name] = err.Error()
			}
		}
	}
	return all
}

// snakeCase makes "high_water_bytes" of "HighWaterBytes".
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// queues answers GET queues.
func (in *Inspector) queues(ctx context.Context, r *Request, s subject) Answer {
	c, clients := new(Config), []byte("null")
	if s.name() == "live" {
		c = &in.config
	}
	a := askJSON(ctx, s, r.key(), func(sim *evertick.Sim) (*queuesView, error) { return readQueues(sim, c), nil })
	if a.Status != 200 {
		return a
	}
	if c.Replica != nil { // not on the goroutine of the Sim: the histograms are large
		stats := new(replica.Stats)
		c.Replica.Stats(stats)
		clients = encode(counts(stats))
	}
	a.Body = slices.Concat(a.Body[:len(a.Body)-1], []byte(`,"clients":`), clients, []byte("}"))
	return a
}
