package replica

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// stormClient is a hostile client, with the tokens of all of them.
type stormClient struct {
	t       testing.TB
	s       *Server
	r       *rand.Rand
	mu      *sync.Mutex
	tokens  *[][]byte
	conn    *recorder
	session *Session
}

// connect joins, or resumes a session: often that of another client, at the same time as that one.
func (c *stormClient) connect() bool {
	h := Hello{Held: c.r.Uint64() >> c.r.IntN(64)}
	if c.r.IntN(4) == 0 {
		h.Mode, h.SimVersion = Simulate, evertick.SimVersion
	}
	c.mu.Lock()
	if n := len(*c.tokens); n > 0 && c.r.IntN(3) > 0 {
		h.Token = (*c.tokens)[c.r.IntN(n)]
	}
	c.mu.Unlock()
	c.conn = &recorder{unordered: c.r.IntN(3) == 0, full: c.r.IntN(10) == 0}
	var err error
	if c.session, err = c.s.Join(c.t.Context(), c.conn, h.append(nil)); err != nil {
		return false
	}
	w, err := parseWelcome(c.conn.take()[0])
	check(c.t, err)
	c.mu.Lock()
	*c.tokens = append((*c.tokens)[max(0, len(*c.tokens)-50):], w.token)
	c.mu.Unlock()
	return true
}

// act does something at random. It returns an error if the connection is over.
func (c *stormClient) act() error {
	extreme := c.r.Uint64() >> 1 >> c.r.IntN(63)
	switch c.r.IntN(8) {
	case 0:
		return c.session.Receive(appendTick(nil, kindAck, c.r.Uint64()))
	case 1:
		return c.session.Receive(appendTick(nil, kindResync, extreme))
	case 2:
		return c.session.Receive(appendPing(nil, 1))
	case 3:
		return c.session.Receive((&look{follow: 1 + extreme}).append(nil))
	case 4:
		return c.session.Receive((&look{x: 1e38, y: -1e38}).append(nil))
	case 5:
		return c.session.Receive(appendIntents(nil, []intent{{seq: max(1, extreme), tick: c.r.Uint64() >> 1 >> c.r.IntN(63), kind: 1}}))
	case 6:
		c.conn.setFull(c.r.IntN(2) == 0)
	case 7:
		c.session.Stats()
		c.session.Follow(ecs.ID(extreme))
		c.conn.take()
	}
	return nil
}

func (c *stormClient) leave() {
	switch c.r.IntN(8) {
	case 0:
		c.session.Close(Code(c.r.IntN(12)))
		c.session.Close(Closing)
	case 1: // and is not heard of again
	default:
		c.session.Disconnected()
		c.session.Disconnected()
	}
}

// Hostile clients resume each other's sessions, send extremes, stall and vanish, while the Sim runs and goes back, and in the
// end the Server closes. Nothing panics or waits, and the counts agree.
func TestStorm(t *testing.T) {
	rounds := []int{0, 3} // of both kinds of sessions, and of both kinds of ends
	if full() {
		rounds = []int{0, 1, 2, 3}
	}
	for _, round := range rounds {
		c := notices
		c.Owner = "owner"
		c.View, c.Authorize = ViewConfig{Enter: 20, Leave: 25}, grants(Grant{Free: true, Simulate: true})
		if round%2 == 1 {
			c.View, c.Budget, c.Every = ViewConfig{}, leastBudget, 3
			c.Slow, c.SlowTicks = Disconnect, 5
		}
		c.Limits = Limits{Sessions: 20, Resume: 20 * time.Millisecond, FramesPerSecond: 1e5}
		sim, err := evertick.New(evertick.Config{Capacity: 200, History: evertick.HistoryConfig{Keep: 20}})
		check(t, err)
		_, err = ecs.AddColumn[uint32](sim.World, "owner")
		check(t, err)
		for range 200 {
			_, err := sim.World.Spawn()
			check(t, err)
		}
		sim.Add(evertick.BeforePhysics, "walk", func(tick *evertick.Tick) error {
			sim.World.Position.X[tick.N%200]++
			sim.World.Position.Touch()
			return nil
		})
		s, err := New(sim, c)
		check(t, err)
		storm(t, s, sim, round)
		var st Stats
		s.Stats(&st)
		if st.Connected != 0 || st.Fault != nil || st.Waiting > 20 || st.Resumed == 0 || st.Ended == 0 || st.Joined > st.Ended+uint64(st.Waiting) {
			t.Errorf("after the storm %+v", st)
		}
	}
}

func storm(t *testing.T, s *Server, sim *evertick.Sim, round int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var tokens [][]byte
	end := make(chan struct{})
	for k := range 8 {
		wg.Go(func() {
			c := stormClient{t: t, s: s, r: rand.New(rand.NewPCG(uint64(round), uint64(k))), mu: &mu, tokens: &tokens}
			for open := true; open; {
				select {
				case <-end:
					open = false
				default:
				}
				if !c.connect() {
					continue
				}
				for range c.r.IntN(40) {
					if c.act() != nil {
						break
					}
				}
				c.leave()
			}
		})
	}
	state, err := sim.Snapshot(nil)
	check(t, err)
	ticks := casesOf(62, 200)
	for i := range ticks {
		check(t, sim.Step())
		switch {
		case i%60 == 59:
			check(t, sim.Restore(state))
		case i%25 == 24:
			check(t, sim.StepBack(3))
		case i%40 == 17:
			sim.DropInputs()
		}
		time.Sleep(200 * time.Microsecond)
	}
	if round < 2 { // otherwise it closes while they come
		close(end)
		wg.Wait()
	}
	check(t, s.Close())
	if round >= 2 {
		close(end)
		wg.Wait()
	}
}
