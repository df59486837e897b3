package replica

import (
	"context"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
)

// strollers is a scenario in which each session owns an entity, which its inputs move.
var strollers = replay.Scenario{Name: "strollers", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 64, Seed: seed, Untimed: true})
	if err != nil {
		return nil, err
	}
	owner, err := ecs.AddColumn[uint32](sim.World, "owner")
	if err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "stroll", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			if in.Kind == 100 {
				_, slot, err := sim.World.SpawnSlot()
				if err != nil {
					return err
				}
				owner.Values()[slot] = in.Source
				continue
			}
			for slot := range sim.World.Query() {
				if owner.Values()[slot] == in.Source {
					sim.World.Position.X[slot]++
				}
			}
		}
		return nil
	})
}}

// A server is gone without a word. The next one continues its log, and the client goes on with its session, its entity and
// its inputs.
func TestRestartFromLog(t *testing.T) {
	dir, config := t.TempDir(), Config{Owner: "owner", Joined: 100, Left: 101, Secret: []byte("that of both servers"), Inline: true}
	var session *Session
	var messages [][]byte
	client, err := NewClient(ClientConfig{Ordered: true, Send: func(message []byte) bool {
		if session != nil && message[0] != kindHello {
			check(t, session.Receive(message))
			return true
		}
		messages = append(messages, slices.Clone(message))
		return true
	}})
	check(t, err)
	conn := &recorder{}
	connect := func(s *Server) {
		t.Helper()
		session, messages, conn = nil, nil, &recorder{}
		check(t, client.Connect())
		session, err = s.Join(context.Background(), conn, messages[0])
		check(t, err)
	}
	run := func(sim *evertick.Sim, ticks int) {
		t.Helper()
		for range ticks {
			for _, f := range conn.take() {
				check(t, client.Receive(f))
			}
			_, err := client.Input(1, nil, 0)
			check(t, err)
			check(t, sim.Step())
		}
		for _, f := range conn.take() {
			check(t, client.Receive(f))
		}
	}
	x := func() float32 {
		t.Helper()
		values, err := AppendValues[float32](nil, client.State(), "position.x", 0)
		check(t, err)
		if len(values) != 1 || len(client.State().Own()) != 1 {
			t.Fatalf("%d entities, %d of them owned", len(values), len(client.State().Own()))
		}
		return values[0]
	}

	sim, err := strollers.New(1)
	check(t, err)
	rec, err := replay.Record(dir, strollers.Name, sim, replay.Options{SnapshotTicks: 10})
	check(t, err)
	server, err := New(sim, config)
	check(t, err)
	connect(server)
	run(sim, 25)
	before, id, was := client.State().IDs()[0], session.ID(), x()
	if was < 20 {
		t.Errorf("x = %v after 25 ticks", was)
	}
	check(t, rec.Close()) // what a crash has written is tested with the log
	check(t, server.Close())

	rec, sim, _, err = replay.Resume(dir, strollers, replay.Options{})
	check(t, err)
	server, err = New(sim, config)
	check(t, err)
	connect(server)
	run(sim, 10)
	if w, _ := client.Welcome(); !w.Resumed || session.ID() != id || client.State().IDs()[0] != before {
		t.Errorf("session %d, resumed %t, entity %d; before: session %d, entity %d", session.ID(), w.Resumed, client.State().IDs()[0], id, before)
	}
	if now := x(); now < was+8 {
		t.Errorf("x = %v after 10 more ticks, before %v", now, was)
	}
	check(t, rec.Close())
	check(t, server.Close())
	if report, err := replay.Verify(dir, strollers, replay.VerifyOptions{}); err != nil || report.Ticks != 35 || report.Hash != sim.Hash() {
		t.Errorf("the log: %+v, %v", report, err)
	}
}
