package otel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/causal/otel"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// town is a world whose agents act through skills; the calls of the first one need approval.
type town struct {
	sim    *evertick.Sim
	agents *agent.Agents
	skills *skill.Registry
}

func provider(delay time.Duration) agent.Provider {
	return agent.Func(func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
		r := loop.NewRand(7, p.Turn, uint64(p.Agent), 1)
		select {
		case <-time.After(delay * time.Duration(1+r.IntN(5))):
		case <-ctx.Done():
			return agent.Decision{}, ctx.Err()
		}
		var d agent.Decision
		for i := range r.IntN(3) {
			d.Actions = append(d.Actions, agent.Action{
				Name: "ecs_updateComponent", After: uint32(2 * i), Data: fmt.Appendf(nil, `{"id":"ent_%d","position":[%d,0,0]}`, 1+r.IntN(3), r.IntN(9)),
			})
		}
		if r.IntN(6) == 0 {
			return d, errors.New("no idea")
		}
		return d, nil
	})
}

func build(seed uint64, p agent.Provider) (*town, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 16, Seed: seed})
	if err != nil {
		return nil, err
	}
	y := &town{sim: sim}
	if y.skills, err = skill.New(sim, skill.Config{HeldTicks: 30}); err != nil {
		return nil, err
	}
	y.agents, err = agent.New(sim, agent.Config{
		Actions:   []agent.ActionDef{{Name: "ecs_updateComponent", MaxData: 256}},
		Providers: []agent.ProviderConfig{{Provider: p, InFlight: 2}},
		Fallback:  func(_ *agent.Perception, dst []agent.Action) []agent.Action { return dst },
		Apply: func(t *evertick.Tick, q *agent.Queued) error {
			return y.skills.Apply(t, q.Agent.String(), q.Name, q.Data, q.Decision)
		},
	})
	if err != nil {
		return nil, err
	}
	err = errors.Join(skill.Standard(y.skills), skill.Approvals(y.skills),
		y.skills.AddProfile(skill.Profile{Name: "watched", Permissions: []string{"ecs.write"}, OwnEntity: true, Approval: []string{"ecs.write"}}))
	for i := range 3 {
		id, spawnErr := sim.World.Spawn()
		profile, shed := skill.Player, agent.Coalesce
		if i == 0 {
			profile, shed = "watched", agent.Fallback
		}
		err = errors.Join(err, spawnErr,
			y.skills.AddActor(skill.Actor{Name: id.String(), Profile: profile, Entity: id}),
			y.agents.Add(id, agent.Spec{IntervalTicks: 7, Phase: uint32(i), Shed: shed, DeadlineTicks: 11}))
	}
	return y, err
}

// collect returns Spans, and the exporter that has what they made.
func collect(c otel.Config) (*otel.Spans, *tracetest.InMemoryExporter) {
	e := tracetest.NewInMemoryExporter()
	c.Processor = sdktrace.NewSimpleSpanProcessor(e)
	return otel.New(c), e
}

// record runs and records a town whose agents answer slowly, with an approver, and returns its spans.
func record(t *testing.T, dir string, timed bool) tracetest.SpanStubs {
	t.Helper()
	spans, exporter := collect(otel.Config{Run: "town/3"})
	synctest.Test(t, func(t *testing.T) {
		p := provider(50 * time.Millisecond)
		if timed {
			p = spans.Timed(p)
		}
		y, err := build(3, p)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := replay.Record(dir, "town", y.sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
		if err != nil {
			t.Fatal(err)
		}
		y.tap(rec.Log(), spans)
		boss, err := y.skills.Caller(skill.Actor{Name: "ada", Profile: skill.Admin})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 500 {
			if i%10 == 9 {
				events, _ := y.skills.Trace(nil, "ent_1")
				if at := slices.IndexFunc(events, func(e skill.Event) bool { return e.Code == skill.PendingApproval && e.Tick+20 > uint64(i) }); at >= 0 {
					if _, err := boss.Submit([]string{"skills.approve", "skills.reject"}[i/10%2], fmt.Appendf(nil, `{"call":%d}`, events[at].Seq), 0); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := y.sim.Step(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second / 60)
			synctest.Wait()
		}
		if err := errors.Join(rec.Close(), y.agents.Close(context.Background())); err != nil {
			t.Fatal(err)
		}
	})
	spans.Close()
	return exporter.GetSpans()
}

func (y *town) tap(next worldlog.Appender, spans *otel.Spans) {
	tap := causal.Attach(y.sim, next, spans.Step)
	y.agents.LogTo(tap)
	y.skills.LogTo(tap)
}

// read returns the spans of a log.
func read(t *testing.T, dir string, c otel.Config) tracetest.SpanStubs {
	t.Helper()
	spans, exporter := collect(c)
	if err := causal.Read(dir, nil, spans.Step); err != nil {
		t.Fatal(err)
	}
	spans.Close()
	return exporter.GetSpans()
}

// compare compares spans by their JSON, which has all of them.
func compare(t *testing.T, what string, want, got tracetest.SpanStubs) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: %d spans, want %d", what, len(got), len(want))
	}
	for i := range want {
		a, errA := json.Marshal(want[i])
		b, errB := json.Marshal(got[i])
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s: span %d is\n%s, not\n%s: %v %v", what, i, b, a, errA, errB)
		}
	}
}

// A live run, its log read twice, and a replay have equal spans.
func TestSameSpans(t *testing.T) {
	dir := t.TempDir()
	live := record(t, dir, false)
	compare(t, "log", live, read(t, dir, otel.Config{Run: "town/3"}))
	compare(t, "log again", live, read(t, dir, otel.Config{Run: "town/3"}))
	spans, exporter := collect(otel.Config{Run: "town/3"})
	if _, err := replay.Verify(dir, replay.Scenario{Name: "town", New: func(seed uint64) (*evertick.Sim, error) {
		y, err := build(seed, provider(0))
		if err != nil {
			return nil, err
		}
		y.tap(nil, spans)
		return y.sim, nil
	}}, replay.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	spans.Close()
	compare(t, "replay", live, exporter.GetSpans())
}

// Ids are valid and unique. Parents and links are spans, parents of the same trace. Each decision is a trace with one
// root, which lasts from its perception to its last record.
func TestSpans(t *testing.T) {
	all := record(t, t.TempDir(), false)
	byID := map[trace.SpanID]*tracetest.SpanStub{}
	for i := range all {
		s := &all[i]
		if byID[s.SpanContext.SpanID()] != nil || !s.SpanContext.IsValid() || !s.SpanContext.IsSampled() {
			t.Fatalf("%s: %v", s.Name, s.SpanContext)
		}
		byID[s.SpanContext.SpanID()] = s
	}
	names, roots := map[string]int{}, map[trace.TraceID]*tracetest.SpanStub{}
	for i := range all {
		s := &all[i]
		names[s.Name]++
		if !s.EndTime.After(s.StartTime) && s.Name != "fallback" {
			t.Errorf("%s from %v to %v", s.Name, s.StartTime, s.EndTime)
		}
		if s.Parent.IsValid() {
			if p := byID[s.Parent.SpanID()]; p == nil || p.SpanContext.TraceID() != s.SpanContext.TraceID() || s.Parent.TraceID() != s.SpanContext.TraceID() {
				t.Fatalf("%s: parent %v", s.Name, s.Parent)
			}
		} else if roots[s.SpanContext.TraceID()] == nil {
			roots[s.SpanContext.TraceID()] = s
		} else {
			t.Fatalf("two roots: %s", s.Name)
		}
		for _, l := range s.Links {
			if to := byID[l.SpanContext.SpanID()]; to == nil || to.SpanContext.TraceID() != l.SpanContext.TraceID() {
				t.Fatalf("%s: link to %v", s.Name, l.SpanContext)
			}
		}
		if refused := s.Status.Code == codes.Error; refused != (s.Status.Description != "") || refused && s.Name == "act" {
			t.Errorf("%s: %+v", s.Name, s.Status)
		}
	}
	for _, want := range []string{"decision", "perceive", "request", "fallback", "accept", "act", "reject", "expire", "ecs.updateComponent@1", "skills.approve@1"} {
		if names[want] < 3 {
			t.Errorf("%d spans %s: %v", names[want], want, names)
		}
	}
	chains(t, all, byID, roots)
}

// chains checks the way from actions back to perceptions, and from the ends of held calls to their approvers.
func chains(t *testing.T, all tracetest.SpanStubs, byID map[trace.SpanID]*tracetest.SpanStub, roots map[trace.TraceID]*tracetest.SpanStub) {
	t.Helper()
	cause := func(s *tracetest.SpanStub) *tracetest.SpanStub {
		if len(s.Links) != 1 {
			t.Fatalf("%s: %d links", s.Name, len(s.Links))
		}
		return byID[s.Links[0].SpanContext.SpanID()]
	}
	acts, calls, ends := 0, 0, 0
	for i := range all {
		s := &all[i]
		root := roots[s.SpanContext.TraceID()]
		if s.StartTime.Before(root.StartTime) || s.EndTime.After(root.EndTime) && !strings.HasPrefix(s.Name, "ecs.") {
			t.Errorf("%s from %v to %v, its root from %v to %v", s.Name, s.StartTime, s.EndTime, root.StartTime, root.EndTime)
		}
		switch {
		case s.Name == "act":
			acts++
			request := cause(cause(s))
			if root.Name != "decision" || cause(s).Name != "accept" || request.Name != "request" && request.Name != "fallback" || cause(request).Name != "perceive" ||
				!cause(request).StartTime.Equal(root.StartTime) {
				t.Fatalf("act <- %s <- %s <- %s", cause(s).Name, request.Name, cause(request).Name)
			}
		case s.Name == "ecs.updateComponent@1" && len(s.Links) > 0:
			ends++
			if p := byID[s.Parent.SpanID()]; p.Name != s.Name || !strings.HasPrefix(cause(s).Name, "skills.") || root.Name != "decision" {
				t.Fatalf("the end of a held call in %s, after %s", root.Name, cause(s).Name)
			}
		case s.Name == "ecs.updateComponent@1":
			calls++
			if root.Name != "decision" {
				t.Fatalf("a call of an agent in %s", root.Name)
			}
		}
	}
	if acts < 20 || calls < 20 || ends < 3 {
		t.Errorf("%d spans act, %d calls, %d ends of held ones", acts, calls, ends)
	}
}

// Another run has other ids, another epoch other times, and nothing else differs.
func TestRunAndEpoch(t *testing.T) {
	dir := t.TempDir()
	a := record(t, dir, false)
	epoch := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	b := read(t, dir, otel.Config{Run: "town/4", Epoch: epoch})
	if len(a) != len(b) {
		t.Fatalf("%d and %d spans", len(a), len(b))
	}
	for i := range a {
		if a[i].SpanContext.TraceID() == b[i].SpanContext.TraceID() || a[i].SpanContext.SpanID() == b[i].SpanContext.SpanID() {
			t.Fatalf("span %d has the same ids in two runs", i)
		}
		if a[i].Name != b[i].Name || b[i].StartTime.Sub(epoch) != a[i].StartTime.Sub(time.Unix(0, 0)) || !slices.Equal(a[i].Attributes, b[i].Attributes) {
			t.Fatalf("%+v\n%+v", a[i], b[i])
		}
	}
}

// The requests of a timed provider have the time that it took, and nothing else differs.
func TestTimed(t *testing.T) {
	dir := t.TempDir()
	live, timed := record(t, dir, false), 0
	for i, s := range record(t, t.TempDir(), true) {
		at := slices.IndexFunc(s.Attributes, func(a attribute.KeyValue) bool { return a.Key == "evertick.wall_ns" })
		if at >= 0 {
			timed++
			if ns := s.Attributes[at].Value.AsInt64(); s.Name != "request" || ns%5e7 != 0 || ns < 5e7 || ns > 25e7 {
				t.Errorf("%s took %d ns", s.Name, ns)
			}
			s.Attributes = slices.Delete(s.Attributes, at, at+1)
		}
		if !slices.Equal(s.Attributes, live[i].Attributes) || s.SpanContext.SpanID() != live[i].SpanContext.SpanID() {
			t.Fatalf("span %d differs", i)
		}
	}
	if timed < 20 {
		t.Errorf("%d requests are timed", timed)
	}
}

// Close ends what is open.
func TestClose(t *testing.T) {
	spans, exporter := collect(otel.Config{})
	y, err := build(3, provider(0))
	if err != nil {
		t.Fatal(err)
	}
	y.agents.SetMode(agent.Replay) // nobody answers
	y.tap(nil, spans)
	if err := y.sim.StepN(3); err != nil {
		t.Fatal(err)
	}
	spans.Close()
	spans.Close()
	var got []string
	for _, s := range exporter.GetSpans() {
		got = append(got, fmt.Sprint(s.Name, slices.Contains(s.Attributes, attribute.Bool("evertick.open", true))))
	}
	want := "perceivefalse perceivefalse requesttrue decisiontrue requesttrue decisiontrue"
	if strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
