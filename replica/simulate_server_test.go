package replica

import (
	"testing"
	"time"

	"github.com/evertick/evertick"
)

// A client in mode Simulate gets a Snapshot and then all inputs from a Server, and has the same hash
// after every tick, also after it was away.
func TestServerSendsInputs(t *testing.T) {
	d := newDuel(t, duelSeed, 4)
	s, err := New(d.sim, Config{Inline: true, Every: 3, Joined: 100, Authorize: grants(Grant{Simulate: true}), Limits: Limits{FramesPerSecond: 1e6}})
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
		Send: func(message []byte) bool { return p.ToServer(message) }})
	check(t, err)
	viewer := w.mustJoin(Hello{})
	var session *Session
	now, equal := int64(0), 0
	deliver := func() {
		now++
		p.Deliver(now, func(message []byte) { check(t, client.Receive(message)) }, func(message []byte) {
			if session == nil {
				session, err = s.Join(t.Context(), p, message)
				check(t, err)
			} else {
				check(t, session.Receive(message))
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

// The Sim does not wait for a connection that takes an Inputs message, and a transport in memory may pass messages of the
// client on within Send.
func TestFollowersDoNotDelayTheSim(t *testing.T) {
	w := newThreaded(t, 3, Config{Authorize: grants(Grant{Simulate: true}), Limits: Limits{FramesPerSecond: 1e6}})
	p := w.mustJoin(Hello{Mode: Simulate, SimVersion: evertick.SimVersion})
	for range 3 {
		w.step(1)
		w.idle()
	}
	expect(t, "frames", kinds(p.conn.take()), "SII")
	entered, open := make(chan struct{}), make(chan struct{})
	calls := 0
	p.conn.onSend = func([]byte) {
		if calls++; calls > 1 {
			return
		}
		close(entered)
		<-open
		check(t, p.Receive(appendTick(nil, kindResync, 3)))
	}
	w.step(1)
	<-entered
	done := make(chan error)
	go func() { done <- w.sim.StepN(5) }()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(20 * time.Second):
		t.Error("the Sim waits for a connection")
	}
	close(open)
	w.idle()
	w.step(1)
	w.idle()
	expect(t, "frames", kinds(p.conn.take()), "IIIIIII")
}
