package otel_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/causal/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// The trace of a decision, in the order in which its spans end.
func Example() {
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	if err != nil {
		panic(err)
	}
	wave := agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
		return agent.Decision{Actions: []agent.Action{{Name: "wave"}}}, nil
	})
	agents, err := agent.New(sim, agent.Config{Actions: []agent.ActionDef{{Name: "wave"}}, Providers: []agent.ProviderConfig{{Provider: wave}}})
	if err != nil {
		panic(err)
	}
	exporter := tracetest.NewInMemoryExporter() // a program has one that sends the spans
	spans := otel.New(otel.Config{
		Processor: sdktrace.NewSimpleSpanProcessor(exporter), // for a Sim in real time: sdktrace.NewBatchSpanProcessor
		Run:       "example/0", Epoch: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC),
	})
	agents.LogTo(causal.Attach(sim, nil, spans.Step))

	id, err := sim.World.Spawn()
	if err != nil {
		panic(err)
	}
	if err := agents.Add(id, agent.Spec{IntervalTicks: 1000, LatencyTicks: 30}); err != nil {
		panic(err)
	}
	if err := sim.Step(); err != nil {
		panic(err)
	}
	for agents.Live().Returned == 0 { // a program would go on with its ticks
		time.Sleep(time.Millisecond)
	}
	if err := sim.StepN(40); err != nil {
		panic(err)
	}
	spans.Close()
	for _, s := range exporter.GetSpans() {
		fmt.Println(s.SpanContext.TraceID(), s.SpanContext.SpanID(), s.StartTime.Format("05.000"), s.EndTime.Format("05.000"), s.Name)
	}
	// Output:
	// f1fd747e534592406b45ef2b7f7d63b3 4570e7e3dad647ac 00.000 00.016 perceive
	// f1fd747e534592406b45ef2b7f7d63b3 2b134815582c1e93 00.000 00.016 request
	// f1fd747e534592406b45ef2b7f7d63b3 3f72839edf4660f5 00.016 00.033 accept
	// f1fd747e534592406b45ef2b7f7d63b3 135ab02ce48776a1 00.500 00.516 act
	// f1fd747e534592406b45ef2b7f7d63b3 65585805ae1408b4 00.000 00.516 decision
}
