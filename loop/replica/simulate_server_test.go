package replica

import (
	"testing"

	"github.com/evertick/evertick"
)

// A client in mode Simulate gets a Snapshot and then all inputs from a Server, and has the same hash
// after every tick, also after it was away.
func TestServerSendsInputs(t *testing.T) {
	d := newDuel(t, duelSeed, 4)
	s, err := New(d.sim, Config{Inline: true, Every: 3, Joined: 100, Limits: Limits{FramesPerSecond: 1e6}})
	check(t, err)
	defer s.Close()
	w := &world{t: t, sim: d.sim, Server: s}
	pipe := func() *Pipe {
		p, err := NewPipe(PipeConfig{Ordered: true, QueueBytes: 1 << 20})
		check(t, err)
		return p
	}
	p := pipe()
	simulator := newSimulator(t, newDuel(t, duelSeed, 4), SimulatorConfig{})
	client, err := NewClient(ClientConfig{Mode: Simulate, SimVersion: evertick.SimVersion, Ordered: true, Simulator: simulator,
		Send: func(frame []byte) bool { return p.ToServer(frame) }})
	check(t, err)
	viewer := w.mustJoin(Hello{})
	var session *Session
	now, equal := int64(0), 0
	deliver := func() {
		now++
		p.Deliver(now, func(frame []byte) { check(t, client.Receive(frame)) }, func(frame []byte) {
			if session == nil {
				session, err = s.Join(t.Context(), p, frame)
				check(t, err)
			} else {
				check(t, session.Receive(frame))
			}
		})
	}
	check(t, client.Connect())
	for tick := range 300 {
		deliver()
		if tick%7 == 3 && session != nil {
			_, err := client.Input(duelPush, []byte{1, 2}, 0)
			check(t, err)
		}
		if tick == 100 || tick == 200 { // away for some ticks
			p.Cut()
			session.Disconnected()
			w.step(20)
			p, session = pipe(), nil
			check(t, client.Connect())
			deliver()
		}
		w.step(1)
		deliver()
		if simulator.Sim().Ticks() == d.sim.Ticks() {
			equal++
			expect(t, "hash", simulator.Sim().Hash(), d.sim.Hash())
		}
	}
	if equal < 290 || simulator.Stats().Snapshots != 1 || simulator.Stats().Diverged != 0 {
		t.Errorf("in step after %d ticks of 300, %+v", equal, simulator.Stats())
	}
	st := w.stats()
	if st.Inputs.Frames < 300 || st.Snapshot.Frames != 1 || st.Resumed != 2 {
		t.Errorf("%+v Inputs, %+v Snapshots, %d resumed", st.Inputs, st.Snapshot, st.Resumed)
	}
	if k := kinds(viewer.conn.take()); len(k) != 113 { // 340 ticks, every third
		t.Errorf("the other client got %d frames", len(k))
	}
	session.Close(Closing)
	expect(t, "followers", s.stream.count.Load(), 0)
}
