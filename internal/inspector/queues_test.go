package inspector

import (
	"bytes"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/worldlog"
)

type queuesAnswer struct {
	Tick    uint64
	Inputs  map[string]int64
	Frames  framesView
	Agents  []agentsView
	Clients map[string]any
}

func TestQueues(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 64, Inputs: evertick.InputConfig{Capacity: 7}}, 4)
	agents := thinkers(t, sim, 3)
	server := newServer(t, sim)
	in := newInspector(t, sim, Config{Trace: []interface{ LogTo(worldlog.Appender) }{agents}, Replica: server})
	for i := range 9 {
		_ = sim.Push(evertick.Input{Tick: 1000, Source: uint32(i), Seq: 1, Data: []byte("abc")})
	}
	if _, err := sim.Advance(1e8); err != nil {
		t.Fatal(err)
	}
	var a queuesAnswer
	before, s := sim.InputStats(), evertick.InputStats{}
	for tries := 0; before != s && tries < 100; tries++ { // agents answer meanwhile
		before = sim.InputStats()
		a = decode[queuesAnswer](t, get(t, in, "queues"))
		s = sim.InputStats()
	}
	for name, want := range map[string]int64{
		"pushed": int64(s.Pushed), "full": int64(s.Full), "share": int64(s.Share), "duplicate": int64(s.Duplicate), "ignored": int64(s.Ignored),
		"late": int64(s.Late), "waiting": int64(s.Waiting), "waiting_bytes": s.WaitingBytes, "high_water": int64(s.HighWater),
		"high_water_bytes": s.HighWaterBytes, "capacity": 7,
	} {
		if got, ok := a.Inputs[name]; !ok || got != want {
			t.Errorf("inputs: %s is %d, want %d", name, got, want)
		}
	}
	if s.Waiting == 0 || s.Full == 0 {
		t.Errorf("the test shows nothing: %+v", s)
	}
	f := sim.Frame()
	if a.Tick != sim.Ticks() || a.Frames != (framesView{f.Steps, f.DroppedTotal, f.LagNs}) {
		t.Errorf("frames %+v, want %+v", a.Frames, f)
	}
	st := agents.Stats()
	if len(a.Agents) != 1 || a.Agents[0].Agents != 3 || a.Agents[0].Stats["perceived"] != float64(st.Perceived) || st.Perceived == 0 || len(a.Agents[0].Classes) != 2 {
		t.Errorf("agents %+v, want %+v", a.Agents, st)
	}
	for _, name := range []string{"connected", "joined", "slow", "updates"} {
		if _, ok := a.Clients[name].(float64); !ok {
			t.Errorf("clients: no %s", name)
		}
	}
	for _, name := range []string{"tick_to_sent", "input_to_applied"} {
		if h, ok := a.Clients[name].(map[string]any); !ok || h["p50"] == nil || h["p99"] == nil {
			t.Errorf("clients: %s is %v", name, a.Clients[name])
		}
	}
	if c, ok := a.Clients["capture"].(map[string]any); !ok || c["times"].(map[string]any)["p95"] == nil {
		t.Errorf("clients: capture is %v", a.Clients["capture"])
	}
	if a := get(t, newInspector(t, newSim(t, evertick.Config{}, 1), Config{}), "queues"); !bytes.Contains(a.Body, []byte(`"agents":[],"clients":null}`)) || !bytes.Contains(a.Body, []byte(`"capacity":4096`)) {
		t.Errorf("without agents and clients: %s", a.Body)
	}
}

func newServer(t testing.TB, sim *evertick.Sim) *replica.Server {
	must(ecs.AddColumn[uint32](sim.World, "owner"))
	s := must(replica.New(sim, replica.Config{Owner: "owner", Joined: 1, Left: 2, Inline: true}))
	t.Cleanup(func() { _ = s.Close() })
	return s
}
