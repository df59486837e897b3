package otel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/skill"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// Config of Spans.
type Config struct {
	// Processor gets each span when it ends, by OnEnd, on the goroutine that passes the step. For a running Sim use
	// a processor that does not wait, such as sdktrace.NewBatchSpanProcessor; for a log use one that loses nothing,
	// such as sdktrace.NewSimpleSpanProcessor. Close does not shut it down.
	Processor sdktrace.SpanProcessor
	// Run is a name of the run, which is part of all ids: for example its scenario and seed.
	Run string
	// Epoch is the time of a span at simulated time 0. The zero Time: the Unix epoch.
	Epoch time.Time
	// Resource of the spans. nil: one with service.name evertick.
	Resource *resource.Resource
}

// Spans makes spans of steps. Only one goroutine may call its methods, except for Timed.
type Spans struct {
	config Config
	open   map[decisionKey]*decision
	held   map[uint64]trace.SpanContext // calls that wait for approval, by number
	last   call                         // the last call

	mu    sync.Mutex
	walls map[wallKey]wall
}

type decisionKey struct {
	source uint32
	number uint64
}

// decision is a decision that has not ended.
type decision struct {
	root    tracetest.SpanStub
	request tracetest.SpanStub // zero until there is a request
	issued  uint64             // number of its record; 0: there is none, or the request has ended
	left    int                // actions that were neither applied nor refused
}

type call struct {
	seq     uint64
	context trace.SpanContext
}

// New returns a Spans.
func New(c Config) *Spans {
	if c.Processor == nil {
		panic("otel: New: nil Processor")
	}
	if c.Epoch.IsZero() {
		c.Epoch = time.Unix(0, 0).UTC()
	}
	if c.Resource == nil {
		c.Resource = resource.NewSchemaless(attribute.String("service.name", "evertick"))
	}
	return &Spans{config: c, open: map[decisionKey]*decision{}, held: map[uint64]trace.SpanContext{}, walls: map[wallKey]wall{}}
}

// Step is the sink for causal.Attach and causal.Read. It returns nil.
func (x *Spans) Step(s *causal.Step) error {
	switch {
	case s.Record != nil:
		x.record(s, s.Record)
	case s.Event != nil:
		x.event(s, s.Event)
	}
	return nil
}

// Close ends the spans of decisions that have not ended, in the order of their numbers. Call it after the last step.
func (x *Spans) Close() {
	keys := make([]decisionKey, 0, len(x.open))
	for key := range x.open {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b decisionKey) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.number, b.number))
	})
	for _, key := range keys {
		d := x.open[key]
		if d.issued != 0 {
			d.request.Attributes = append(d.request.Attributes, attribute.Bool("evertick.open", true))
			x.end(&d.request)
		}
		d.root.Attributes = append(d.root.Attributes, attribute.Bool("evertick.open", true))
		x.end(&d.root)
	}
	clear(x.open)
}

// hash returns bytes that are unique for a run, a kind of thing, and the numbers that identify the thing. The first
// byte is not 0, so ids made of the first 8 or 16 bytes are valid.
func (x *Spans) hash(kind string, numbers ...uint64) (sum [sha256.Size]byte) {
	data := binary.AppendUvarint(nil, uint64(len(x.config.Run)))
	data = append(append(data, x.config.Run...), kind...)
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	sum = sha256.Sum256(data)
	sum[0] |= 1 // an id of zeros is invalid
	return sum
}

func (x *Spans) traceID(kind string, numbers ...uint64) trace.TraceID {
	sum := x.hash("trace of "+kind, numbers...)
	return trace.TraceID(sum[:16])
}

func (x *Spans) spanID(kind string, numbers ...uint64) trace.SpanID {
	sum := x.hash(kind, numbers...)
	return trace.SpanID(sum[:8])
}

func contextOf(t trace.TraceID, s trace.SpanID) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled})
}

// rootOf returns the span of a decision.
func (x *Spans) rootOf(source uint32, number uint64) trace.SpanContext {
	return contextOf(x.traceID("decision", uint64(source), number), x.spanID("decision", uint64(source), number))
}

// begin returns a span that lasts for the tick of a step.
func (x *Spans) begin(s *causal.Step, name string, seq uint64, c, parent trace.SpanContext) tracetest.SpanStub {
	return tracetest.SpanStub{
		Name: name, SpanContext: c, Parent: parent, SpanKind: trace.SpanKindInternal,
		StartTime: x.config.Epoch.Add(s.Time.Duration()), EndTime: x.endOf(s),
		Attributes: []attribute.KeyValue{attribute.Int64("evertick.tick", int64(s.Tick)), attribute.Int64("evertick.seq", int64(seq))},
		Resource:   x.config.Resource, InstrumentationScope: instrumentation.Scope{Name: "github.com/evertick/evertick/causal/otel"},
	}
}

// endOf returns the time at which the tick of a step ends.
func (x *Spans) endOf(s *causal.Step) time.Time { return x.config.Epoch.Add(s.Time.Add(1).Duration()) }

func (x *Spans) end(s *tracetest.SpanStub) { x.config.Processor.OnEnd(s.Snapshot()) }

// record makes the span of a record, and begins or ends those of its decision and request.
func (x *Spans) record(s *causal.Step, r *agent.Record) {
	key := decisionKey{s.Source, r.Decision}
	var parent trace.SpanContext
	c := contextOf(x.traceID("record", uint64(s.Source), r.Seq), x.spanID("record", uint64(s.Source), r.Seq))
	if r.Decision != 0 {
		parent = x.rootOf(s.Source, r.Decision)
		c = c.WithTraceID(parent.TraceID())
	}
	span := x.begin(s, nameOf(r), r.Seq, c, parent)
	span.Attributes = append(span.Attributes, ofRecord(r)...)
	if r.Cause != 0 {
		span.Links = []sdktrace.Link{{SpanContext: c.WithSpanID(x.spanID("record", uint64(s.Source), r.Cause))}}
	}
	if failed(r.Type) {
		span.Status = sdktrace.Status{Code: codes.Error, Description: r.Reason.String()}
	}
	d := x.open[key]
	if r.Type == agent.Perceived && d == nil {
		d = &decision{root: x.begin(s, "decision", r.Seq, parent, trace.SpanContext{})}
		d.root.Attributes = append(d.root.Attributes, ofDecision(r)...)
		x.open[key] = d
	}
	if d != nil && r.Type == agent.Issued {
		d.request, d.issued = span, r.Seq
		d.root.EndTime = span.EndTime
		return
	}
	over := d != nil && x.follow(d, r, &span)
	x.end(&span)
	if over {
		x.end(&d.root)
		delete(x.open, key)
	}
}

// follow ends the request of a decision with the record that answers it, and reports whether the record is the
// last one of the decision.
func (x *Spans) follow(d *decision, r *agent.Record, span *tracetest.SpanStub) bool {
	d.root.EndTime = span.EndTime
	answered := d.issued != 0 && r.Cause == d.issued && r.Reason != agent.StaleAnswer // a stale answer changes nothing
	if answered {
		d.issued = 0
		d.request.EndTime = span.StartTime
		d.request.Status = span.Status
		if ns, ok := x.takeWall(r); ok {
			d.request.Attributes = append(d.request.Attributes, attribute.Int64("evertick.wall_ns", ns))
		}
		x.end(&d.request)
	}
	switch {
	case answered && failed(r.Type):
		d.root.Status = span.Status
		return true
	case r.Type == agent.Accepted:
		d.left = r.Actions
		return false
	case r.Type == agent.Applied, failed(r.Type) && r.Cause != 0 && r.Reason != agent.StaleAnswer:
		d.left -= r.Actions
		return d.left <= 0
	}
	return false
}

func failed(t agent.RecordType) bool {
	return t == agent.Rejected || t == agent.Expired || t == agent.Cancelled
}

func nameOf(r *agent.Record) string {
	switch r.Type {
	case agent.Perceived:
		return "perceive"
	case agent.Issued:
		if r.Reason == agent.ByFallback {
			return "fallback"
		}
		return "request"
	case agent.Accepted:
		return "accept"
	case agent.Applied:
		return "act"
	case agent.Rejected:
		return "reject"
	case agent.Expired:
		return "expire"
	}
	return "cancel"
}

func ofDecision(r *agent.Record) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("evertick.agent", r.Agent.String()), attribute.Int64("evertick.decision", int64(r.Decision))}
}

func ofRecord(r *agent.Record) []attribute.KeyValue {
	list := ofDecision(r)
	if r.Type == agent.Issued && r.Reason != agent.ByFallback {
		list = append(list, attribute.Int("evertick.provider", r.Provider))
	}
	if r.Reason != agent.NoReason {
		list = append(list, attribute.String("evertick.reason", r.Reason.String()))
	}
	if r.Actions > 0 {
		list = append(list, attribute.Int("evertick.index", r.Index), attribute.Int("evertick.actions", r.Actions))
	}
	return append(list, hashes("evertick.hash", r.Hash)...)
}

func hashes(key string, v uint64) []attribute.KeyValue {
	if v == 0 {
		return nil
	}
	return []attribute.KeyValue{attribute.String(key, fmt.Sprintf("%016x", v))}
}

// event makes the span of a call.
func (x *Spans) event(s *causal.Step, e *skill.Event) {
	c := contextOf(x.traceID("call", e.Seq), x.spanID("call", e.Seq))
	var parent trace.SpanContext
	var links []sdktrace.Link
	if source, number, ok := s.Decision(); ok {
		parent = x.rootOf(source, number)
	}
	if e.Held != 0 {
		var known bool
		if parent, known = x.held[e.Held]; !known { // the call was held before the first step
			parent = contextOf(x.traceID("call", e.Held), x.spanID("call", e.Held))
		}
		delete(x.held, e.Held)
		if x.last.seq == e.Cause && e.Cause != e.Held {
			links = []sdktrace.Link{{SpanContext: x.last.context}}
		}
	}
	if parent.IsValid() {
		c = c.WithTraceID(parent.TraceID())
	}
	span := x.begin(s, e.Skill, e.Seq, c, parent)
	span.Links = links
	span.Attributes = append(span.Attributes, ofEvent(e)...)
	switch e.Code {
	case skill.PendingApproval:
		x.held[e.Seq] = c
	case skill.OK:
	default:
		span.Status = sdktrace.Status{Code: codes.Error, Description: string(e.Code)}
	}
	x.last = call{e.Seq, c}
	x.end(&span)
}

func ofEvent(e *skill.Event) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("evertick.actor", e.Actor), attribute.String("evertick.profile", e.Profile)}
	if e.Entity != 0 {
		list = append(list, attribute.String("evertick.entity", e.Entity.String()))
	}
	if e.Code != skill.OK {
		list = append(list, attribute.String("evertick.code", string(e.Code)))
	}
	if e.Cause != 0 {
		list = append(list, attribute.Int64("evertick.cause", int64(e.Cause)))
	}
	return append(append(list, hashes("evertick.input", e.Input)...), hashes("evertick.output", e.Output)...)
}

// wallKey identifies a call of a provider.
type wallKey struct {
	agent    ecs.ID
	decision uint64
}

// wall is the time that a call of a provider has taken.
type wall struct {
	ns       int64
	returned bool
}

// Timed wraps a provider, so that the request spans of its calls have the wall time of the call, as the attribute
// evertick.wall_ns. A replay makes no calls, so its spans do not have it. Any goroutine may call Timed.
func (x *Spans) Timed(p agent.Provider) agent.Provider {
	if p == nil {
		panic("otel: Timed: nil provider")
	}
	return agent.Func(func(ctx context.Context, in *agent.Perception) (agent.Decision, error) {
		key, began := wallKey{in.Agent, in.Decision}, time.Now()
		x.mu.Lock()
		x.walls[key] = wall{}
		x.mu.Unlock()
		defer func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			if _, wanted := x.walls[key]; wanted {
				x.walls[key] = wall{time.Since(began).Nanoseconds(), true}
			}
		}()
		return p.Decide(ctx, in)
	})
}

// takeWall returns the wall time of the call that r answers, and false if r answers no call of a timed provider.
func (x *Spans) takeWall(r *agent.Record) (ns int64, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := wallKey{r.Agent, r.Decision}
	w := x.walls[key]
	delete(x.walls, key)
	return w.ns, w.returned && (r.Type == agent.Accepted || r.Type == agent.Rejected)
}
