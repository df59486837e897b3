package twin

import (
	"errors"
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replica"
)

// dialer begins a connection to a URL. It does not wait, and calls the functions of to from any goroutine.
type dialer func(url string, to receiver) socket

// socket is a connection, also while it begins. Its methods do not wait.
type socket interface {
	send(message []byte) bool
	close()
}

// receiver is what happens to a socket. A message is passed on, and not used again.
type receiver struct {
	opened  func()
	message func(message []byte)
	closed  func(reason string)
}

// state of a connection, as the page shows it.
type state string

const (
	alone      state = "alone"      // not connected, and not asked to
	connecting state = "connecting" // until the Welcome
	joined     state = "joined"
	waiting    state = "waiting" // to try again
	refused    state = "refused" // trying again would not help
)

const (
	firstWait   = 250 * time.Millisecond // doubled after each failure
	longestWait = 8 * time.Second
	silence     = 5 * time.Second // without a message, after which a connection counts as lost
	pingEvery   = time.Second
	// mostWaiting is the most bytes of messages that may wait for the Sim. If more wait, the page joins anew.
	mostWaiting = 16 << 20
)

// connection is the client of a server, over one socket after the other.
type connection struct {
	machine *machine
	state   state
	url     string
	playing bool
	err     string // why it is not joined

	socket  socket
	number  int // of the socket: what older ones do is of no interest
	client  *replica.Client
	sim     *replica.Simulator
	shown   *evertick.Sim // what the page sees if it plays: a copy of the prediction
	heard   time.Duration // times of the clock
	pinged  time.Duration
	wait    time.Duration
	again   time.Duration // when to try
	joins   int           // Welcomes
	traffic traffic
	steer   steering
}

// traffic counts bytes.
type traffic struct {
	total, before uint64
	since         time.Duration
	perSecond     float64
	waiting       int // bytes of messages that wait; guarded by inbox.mu
}

// connect leaves the present server, and joins another one.
func (c *connection) connect(url string, playing bool) error {
	if playing && c.machine.config.Steer == nil {
		return fault.Field(fault.ErrUnsupported, "twin: playing without Config.Steer", playing)
	}
	c.hangUp()
	c.url, c.playing, c.err, c.wait = url, playing, "", 0
	c.machine.compare = comparison{}
	c.joins, c.traffic, c.client = 0, traffic{}, nil
	if err := c.build(c.machine.config.Seed, nil); err != nil {
		return err
	}
	c.try()
	return nil
}

// disconnect leaves the server. The page then sees a new Sim, as at first.
func (c *connection) disconnect() error {
	c.hangUp()
	c.state, c.err, c.client = alone, "", nil
	return c.machine.beAlone()
}

// hangUp ends the socket.
func (c *connection) hangUp() {
	c.number++
	if c.socket != nil {
		c.socket.close()
		c.socket = nil
	}
}

// build makes the client and its Sims for a seed. The client then takes a Welcome, if there is one already.
func (c *connection) build(seed uint64, welcome []byte) error {
	m := c.machine
	sim, err := m.config.Scenario.New(seed)
	if err != nil {
		return err
	}
	config := replica.SimulatorConfig{Scenario: m.config.Scenario.Name, Compared: m.compare.add}
	c.shown = nil
	credentials := m.config.Watch
	if c.playing {
		credentials = m.config.Play
		if config.Predicted, err = m.config.Scenario.New(seed); err != nil {
			return err
		}
		if c.shown, err = m.config.Scenario.New(seed); err != nil {
			return err
		}
	}
	if c.sim, err = replica.NewSimulator(sim, config); err != nil {
		return err
	}
	quiet := welcome != nil // the Hello has been sent
	c.client, err = replica.NewClient(replica.ClientConfig{
		Mode: replica.Simulate, Simulator: c.sim, Ordered: true, Credentials: credentials, Clock: c.machine.clock,
		Send: func(message []byte) bool { return quiet || c.socket != nil && c.socket.send(message) },
	})
	if err != nil || welcome == nil {
		return err
	}
	if err := c.client.Connect(); err != nil {
		return err
	}
	quiet = false
	return c.client.Receive(welcome)
}

// try begins a socket.
func (c *connection) try() {
	c.hangUp()
	c.state, c.heard = connecting, c.machine.now()
	n, box := c.number, &c.machine.inbox
	mine := func(f func()) {
		box.post(func() {
			if c.number == n {
				f()
			}
		})
	}
	c.socket = c.machine.dial(c.url, receiver{
		opened: func() { mine(func() { c.note(c.client.Connect()) }) },
		message: func(message []byte) {
			box.mu.Lock()
			c.traffic.waiting += len(message)
			far := c.traffic.waiting > mostWaiting
			box.mu.Unlock()
			box.post(func() { // also if the socket is an old one: the bytes no longer wait
				box.mu.Lock()
				c.traffic.waiting -= len(message)
				box.mu.Unlock()
				switch {
				case c.number != n:
				case far:
					c.lose(fmt.Sprintf("frames of %d MB wait for the page", mostWaiting>>20))
				default:
					c.receive(message)
				}
			})
		},
		closed: func(reason string) { mine(func() { c.lose(reason) }) },
	})
}

// lose is for a connection that has ended without being asked to. It tries again later.
func (c *connection) lose(reason string) {
	c.hangUp()
	if c.state == refused {
		return
	}
	c.wait = min(max(firstWait, 2*c.wait), longestWait)
	c.state, c.err, c.again = waiting, reason, c.machine.now()+c.wait
}

// refuse is for a server that this page cannot join.
func (c *connection) refuse(err error) {
	c.hangUp()
	c.state, c.err = refused, err.Error()
}

// note keeps an error of the client.
func (c *connection) note(err error) {
	if err == nil {
		return
	}
	var code replica.Code
	switch {
	case errors.Is(err, evertick.ErrUnsupported):
		c.refuse(err)
	case errors.As(err, &code) && (code == replica.WrongVersion || code == replica.Unauthorized || code == replica.Replaced):
		c.refuse(err)
	case errors.As(err, &code), errors.Is(err, evertick.ErrCorrupt):
		c.lose(err.Error())
	default: // the client has asked the server for what it lacks
		c.err = err.Error()
	}
}

// receive takes a message of the server.
func (c *connection) receive(message []byte) {
	c.heard = c.machine.now()
	c.traffic.total += uint64(len(message))
	if w, ok, _ := replica.ParseWelcome(message); ok {
		c.welcome(&w, message)
		return
	}
	before := c.machine.compare.next
	err := c.client.Receive(message)
	c.note(err)
	if err == nil && c.machine.compare.next != before {
		c.err, c.wait = "", 0
	}
}

// welcome begins a session, in Sims of the seed of the server.
func (c *connection) welcome(w *replica.Welcome, message []byte) {
	var err error
	if own := c.machine.config.Scenario.Name; w.Seed != c.sim.Sim().Seed() && w.Scenario == own && w.SimVersion == evertick.SimVersion {
		err = c.build(w.Seed, message)
	} else {
		err = c.client.Receive(message)
	}
	if err != nil {
		c.note(err)
		return
	}
	c.state, c.err, c.pinged = joined, "", -pingEvery
	c.joins++
	if !w.Resumed {
		c.steer.begin()
	}
	if c.seen() != c.machine.sim {
		if err := c.machine.show(c.seen(), false); err != nil {
			c.refuse(err)
		}
	}
}

// seen returns the Sim that the page sees.
func (c *connection) seen() *evertick.Sim {
	if c.shown != nil {
		return c.shown
	}
	return c.sim.Sim()
}

// poll does what is due.
func (c *connection) poll(now time.Duration) {
	switch c.state {
	case waiting:
		if now >= c.again {
			c.try()
		}
	case connecting, joined:
		if now-c.heard > silence {
			c.lose(fmt.Sprintf("nothing has come for %v", silence))
		}
	}
	if c.state != joined {
		return
	}
	if now-c.pinged >= pingEvery {
		c.pinged = now
		_ = c.client.Ping() // if the socket does not take it, the next one may
		c.measure(now)
	}
	if c.playing {
		if err := c.play(); err != nil {
			c.err = err.Error()
		}
	}
}

// measure notes how many bytes a second have come.
func (c *connection) measure(now time.Duration) {
	t := &c.traffic
	if passed := (now - t.since).Seconds(); t.since > 0 && passed > 0 {
		t.perSecond = float64(t.total-t.before) / passed
	}
	t.before, t.since = t.total, now
}
