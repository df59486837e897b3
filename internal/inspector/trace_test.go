package inspector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

type traceAnswer struct {
	Seq, Lost uint64
	Steps     []json.RawMessage
}

// thinkers adds agents to a Sim.
func thinkers(t testing.TB, sim *evertick.Sim, n int) *agent.Agents {
	model := agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) { return agent.Decision{}, nil })
	a := must(agent.New(sim, agent.Config{
		Actions:   []agent.ActionDef{{Name: "move", MaxData: 16}},
		Providers: []agent.ProviderConfig{{Provider: model}},
		Apply:     func(*evertick.Tick, *agent.Queued) error { return nil },
	}))
	for i := range n {
		if err := a.Add(must(sim.World.Spawn()), agent.Spec{IntervalTicks: 4, Radius: 1, Priority: uint8(i % 2)}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = a.Close(context.Background()) })
	return a
}

// linesOf are the lines that causal.JSONLines has written.
func linesOf(b *bytes.Buffer) [][]byte {
	return bytes.Split(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\n"))
}

// checkSteps compares the steps of an answer, which have the given numbers, with lines.
func checkSteps(t *testing.T, steps []json.RawMessage, want [][]byte, seq func(i int) uint64) {
	t.Helper()
	if len(steps) != len(want) {
		t.Fatalf("%d steps, want %d", len(steps), len(want))
	}
	for i := range steps {
		if w := fmt.Sprintf(`{"seq":%d,%s`, seq(i), want[i][1:]); string(steps[i]) != w {
			t.Fatalf("step %d is %s, want %s", i, steps[i], w)
		}
	}
}

// The trace of a live Sim has the steps that another Tap yields, which still gets them, and after Close that one alone.
func TestTraceOfALiveSim(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 64}, 4)
	agents := thinkers(t, sim, 10)
	var lines bytes.Buffer
	own := causal.Attach(sim, nil, causal.JSONLines(&lines))
	in := newInspector(t, sim, Config{Trace: []interface{ LogTo(worldlog.Appender) }{agents}, TraceTo: own})
	step := func(inputs int) {
		for range inputs {
			if err := sim.Push(evertick.Input{Source: 1, Seq: sim.Ticks()*1000 + uint64(inputs)}); err != nil {
				t.Fatal(err)
			}
			inputs--
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if a := decode[traceAnswer](t, get(t, in, "trace")); a.Seq != 0 || a.Lost != 0 || a.Steps == nil || len(a.Steps) != 0 {
		t.Errorf("before all steps: %+v", a)
	}
	for range 30 {
		step(3)
	}
	all := linesOf(&lines)
	n := uint64(len(all))
	a := decode[traceAnswer](t, get(t, in, "trace?after=20"))
	if a.Seq != n || a.Lost != 0 || !bytes.Contains(lines.Bytes(), []byte(`"kind":"issued"`)) {
		t.Errorf("last number %d, want %d; %d lost", a.Seq, n, a.Lost)
	}
	checkSteps(t, a.Steps, all[20:], func(i int) uint64 { return 21 + uint64(i) })
	for len(linesOf(&lines)) <= recordedSteps {
		step(200)
	}
	all = linesOf(&lines)
	n = uint64(len(all))
	a = decode[traceAnswer](t, get(t, in, "trace?after=1"))
	if a.Seq != n || a.Lost != n-recordedSteps-1 {
		t.Errorf("last number %d, want %d; %d lost, want %d", a.Seq, n, a.Lost, n-recordedSteps-1)
	}
	checkSteps(t, a.Steps, all[n-recordedSteps:], func(i int) uint64 { return n - recordedSteps + 1 + uint64(i) })
	_ = in.Close()
	step(0)
	before := in.live.trace.ring.last
	step(5)
	for range 8 { // two turns of each agent
		step(0)
	}
	if in.live.trace.ring.last != before {
		t.Error("the trace goes on after Close")
	}
	if len(linesOf(&lines)) <= len(all)+5 {
		t.Error("the other Tap gets no records after Close")
	}
}

// The trace of a log has the last steps before its present tick.
func TestTraceOfALog(t *testing.T) {
	plain := replay.Scenario{Name: "plain", New: func(seed uint64) (*evertick.Sim, error) {
		return evertick.New(evertick.Config{Capacity: 1, Seed: seed})
	}}
	w := newWriter(t, plain, replay.Options{})
	w.input = func(tick uint64) (uint32, bool) { return uint32(tick), true }
	w.write(6000)
	w.close()
	var lines bytes.Buffer
	if err := causal.Read(w.dir, nil, causal.JSONLines(&lines)); err != nil {
		t.Fatal(err)
	}
	all := linesOf(&lines) // one input a tick
	in := newInspector(t, nil, Config{Scenario: plain, Log: w.dir})
	for _, c := range []struct{ ticks, after, first, lost uint64 }{
		{0, 0, 0, 0}, {1, 0, 0, 0}, {100, 0, 0, 0}, {4096, 0, 0, 0}, {4097, 0, 1, 0}, {6000, 0, 6000 - 4096, 0},
		{100, 60*stepsPerTick + 1, 61, 0}, {6000, 60*stepsPerTick + 1, 6000 - 4096, 6000 - 4096 - 61}, {100, 200 * stepsPerTick, 0, 0},
	} {
		a := decode[traceAnswer](t, in.logTrace(context.Background(), w.dir, c.ticks, c.after))
		if a.Lost != c.lost {
			t.Errorf("%+v: %d lost", c, a.Lost)
		}
		checkSteps(t, a.Steps, all[c.first:c.ticks], func(i int) uint64 { return (c.first+uint64(i))*stepsPerTick + 1 })
	}
	a := decode[traceAnswer](t, in.Answer(context.Background(), request(t, "trace?of=log")))
	if len(a.Steps) != 0 || a.Lost != 0 { // the log is at its beginning
		t.Errorf("%d steps, %d lost", len(a.Steps), a.Lost)
	}
}
