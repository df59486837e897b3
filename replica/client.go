package replica

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// ErrNoSession is returned by methods of a Client that need a session, before the first Welcome.
var ErrNoSession = errors.New("no session")

const (
	keptStates    = 32 // that a server may use as a base if the transport is not ordered
	defaultStates = 8
	// missedMessages is the number of messages in a row whose base the client lacks after which it sends a
	// Resync, on a transport that is not ordered. There a base may be missing because messages overtake
	// each other, and the next message has another base.
	missedMessages = 4
	// resyncMessages is the number of ignored messages after which a client repeats its Resync.
	resyncMessages = 16
)

// ClientConfig of a Client. Send is needed; the zero value of all else works.
type ClientConfig struct {
	// Send sends a message to the server, or returns false if the connection does not take it. It must
	// neither wait nor keep the slice. The transport may call Receive for the answer only after Send has
	// returned.
	Send func(frame []byte) bool
	// Ordered says that the transport delivers all messages, once, in order.
	Ordered bool
	// Reliable sends each input until it is acknowledged, on a transport that is not Ordered: every message of inputs begins with the
	// oldest that was not reported as applied, so none is lost as long as the session lives. While 64 inputs or 48 KiB
	// of them wait, later ones are not sent. Without it a message repeats at most 1 KiB of the inputs before, and
	// IntentStats.Lost of the session counts those that never came.
	Reliable bool
	// Mode, SimVersion, Schema and Credentials are for the Hello.
	Mode        Mode
	SimVersion  uint32
	Schema      uint64 // another schema of the server is evertick.ErrUnsupported; 0: any
	Credentials []byte // at most 4,096 bytes
	// Simulator runs the Sim in mode Simulate, and only in that. SimVersion is then this module's.
	Simulator *Simulator
	// Predictor predicts what the inputs do in mode View. nil: there is no prediction.
	Predictor *Predictor
	// Token of an earlier Client, to resume its session: see Welcome.Token. At most 256 bytes.
	Token []byte
	// Clock measures the delay of messages. nil: the system's.
	Clock loop.Clock
	// States is the number of states that are kept, 2 to 32, for drawing between them: see Playback. 0: 8.
	// On a transport that is not ordered it is always 32.
	States int
}

// Validate returns every fault of the configuration.
func (c *ClientConfig) Validate() error {
	faults := fault.List{Package: "replica"}
	if c.Send == nil {
		faults.Add(fault.ErrRange, "ClientConfig.Send", nil)
	}
	faults.Range("ClientConfig.Mode", int(c.Mode), int(View), int(Simulate))
	if (c.Mode == Simulate) != (c.Simulator != nil) {
		faults.Add(fault.ErrRange, fmt.Sprintf("ClientConfig.Simulator in mode %d: there is one", c.Mode), c.Simulator != nil)
	}
	if c.Mode == Simulate && c.Predictor != nil {
		faults.Add(fault.ErrRange, "ClientConfig.Predictor in mode Simulate: there is one", true)
	}
	if n := len(c.Credentials); n > mostCredentials {
		faults.Add(fault.ErrRange, "ClientConfig.Credentials: bytes", n)
	}
	if n := len(c.Token); n > mostToken {
		faults.Add(fault.ErrRange, "ClientConfig.Token: bytes", n)
	}
	if c.States != 0 {
		faults.Range("ClientConfig.States", c.States, 2, keptStates)
	}
	return faults.Err()
}

// Welcome is what the server has said about itself and the session.
type Welcome struct {
	Session    uint32 // also the Source of its inputs
	Spectates  bool   // the session only watches: see Config.Spectate
	Resumed    bool   // the session existed before
	Token      []byte // to resume it
	RateNum    uint64 // ticks a second: RateNum / RateDen
	RateDen    uint64
	Every      uint64 // ticks between two updates
	Seed       uint64 // of the Sim in mode Simulate; otherwise 0: it foretells all random numbers
	SimVersion uint32
	Scenario   string
	Schema     Schema
}

// ParseWelcome reads a Welcome message, for a host that builds the Sim of a Simulator by the Seed and the
// Scenario of the server. Token is a part of the message. ok is false for a message of another kind; the error
// wraps evertick.ErrCorrupt.
func ParseWelcome(frame []byte) (welcome Welcome, ok bool, err error) {
	if len(frame) == 0 || frame[0] != kindWelcome {
		return Welcome{}, false, nil
	}
	w, err := parseWelcome(frame)
	return w.public(), err == nil, err
}

func (w *welcome) public() Welcome {
	return Welcome{Session: w.session, Spectates: w.session >= FirstSpectator, Resumed: w.resumed, Token: w.token, RateNum: w.rateNum, RateDen: w.rateDen,
		Every: w.every, Seed: w.seed, SimVersion: w.simVersion, Scenario: w.scenario, Schema: w.schema}
}

// Client is one client of a Server: it keeps the state that the server sends it, sends its inputs, and
// estimates the time of the server. The host owns the connection: it calls Connect when there is a new
// one, and Receive for each message that comes. A Client is for one goroutine at a time. After warm-up it
// allocates nothing, except for a Welcome and for errors.
type Client struct {
	config  ClientConfig
	clock   loop.Clock
	welcome Welcome
	joined  bool   // a Welcome has come, on this connection or an earlier one
	live    bool   // it has come on this connection
	former  []byte // token of the Welcome before

	layout *layout
	empty  *State
	states []*State // oldest first
	spare  *State   // for the next one
	dec    decoder
	lost   bool // a Check has differed, so the server has another base, until there is a Keyframe
	missed int  // messages ignored in a row because their base is gone
	asked  int  // ignored messages since the first Resync; 0: none was needed

	queue inputQueue
	sync  clockSync
	play  Playback
	stats ClientStats
	out   []byte // message to send
}

// ClientStats are counts since NewClient.
type ClientStats struct {
	Frames    uint64 // states that were applied
	Keyframes uint64 // of these, the ones that were whole views
	Bytes     uint64 // of these messages
	Old       uint64 // messages ignored because the client had the tick already, or a later one
	Baseless  uint64 // messages ignored because their base is gone
	Early     uint64 // messages ignored because they came before the Welcome
	Refused   uint64 // messages with an error
	Mismatch  uint64 // messages whose Check differs: 0 unless there is a fault in a client or server
	Resyncs   uint64 // sent
	// Latency is the time from the end of the tick to the arrival of its message, in ns, once a Ping was
	// answered. Its error is at most half the least round trip.
	Latency loop.Histogram
}

// NewClient returns a client without a connection. The error is that of ClientConfig.Validate.
func NewClient(c ClientConfig) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	switch {
	case !c.Ordered:
		c.States = keptStates
	case c.States == 0:
		c.States = defaultStates
	}
	if c.Clock == nil {
		c.Clock = new(loop.SystemClock)
	}
	if c.Mode == Simulate {
		c.SimVersion = evertick.SimVersion
	}
	c.Credentials = slices.Clone(c.Credentials)
	client := &Client{config: c, clock: c.Clock}
	client.welcome.Token = slices.Clone(c.Token)
	client.forget(newLayout(Schema{}))
	client.play.client = client
	return client, nil
}

// forget drops all states.
func (c *Client) forget(l *layout) {
	if l != c.layout {
		c.layout, c.empty, c.spare, c.states = l, l.newState(), nil, nil
	}
	for _, s := range c.states {
		s.clear()
		c.spare = s
	}
	c.states, c.lost, c.missed, c.asked = c.states[:0], false, 0, 0
	c.play.reset()
}

// Connect begins a connection with a Hello: to resume the session if there was one. It returns
// evertick.ErrCapacity if Send does not take the message. Messages that come before the Welcome are ignored. On a
// transport that loses messages the host calls Connect again if no Welcome comes: the server answers each time, and
// begins one session.
func (c *Client) Connect() error {
	h := Hello{Mode: c.config.Mode, SimVersion: c.config.SimVersion, Schema: c.config.Schema,
		Credentials: c.config.Credentials, Token: c.welcome.Token, Held: c.held()}
	c.live = false
	c.out = h.append(c.out[:0])
	return c.send("Hello")
}

// held returns the tick of the state that the client has, 0: none.
func (c *Client) held() uint64 {
	if sim := c.config.Simulator; sim != nil {
		return sim.held()
	}
	if c.lost { // the same tick may be of another state, if the simulation has gone back
		return 0
	}
	return c.State().Tick()
}

// send sends c.out.
func (c *Client) send(what string) error {
	if !c.config.Send(c.out) {
		return fmt.Errorf("replica: the connection does not take a frame: %s: %w", what, fault.ErrCapacity)
	}
	return nil
}

// Welcome returns what the server has said last, and false before it has. Only read its slices.
func (c *Client) Welcome() (Welcome, bool) { return c.welcome, c.joined }

// State returns the newest state, which is empty and of tick 0 before the first message. It is valid until
// ClientConfig.States further messages have been applied.
func (c *Client) State() *State {
	if n := len(c.states); n > 0 {
		return c.states[n-1]
	}
	return c.empty
}

// Stats fills dst.
func (c *Client) Stats(dst *ClientStats) { *dst = c.stats }

// Receive takes a message of the server. It does not keep the slice. A message that is refused changes
// nothing: its error wraps evertick.ErrCorrupt if it is malformed, and evertick.ErrUnsupported if the server has another
// schema than ClientConfig.Schema, or a message is for the other mode. The host then ends the connection.
// The error for an Error message of the server wraps its Code: the connection has ended.
//
// A message that comes twice or too late, or whose base is gone, is ignored. If the Check of a message
// differs from the state that it leads to, the client keeps the state that it had, and asks for a
// Keyframe.
//
// In mode Simulate an error that wraps ErrDiverged, evertick.ErrRange or an error of the Sim means that the state was
// not that of the server. The client has then asked for what it lacks, and the connection may go on.
// Errors of ClientConfig.Predictor are returned after the state was taken.
func (c *Client) Receive(frame []byte) error {
	err := c.receive(frame, c.clock.Now())
	if err != nil {
		c.stats.Refused++
	}
	return err
}

func (c *Client) receive(message []byte, now int64) error {
	if len(message) == 0 {
		return fault.Field(fault.ErrCorrupt, "replica: bytes of a frame", 0)
	}
	kind := message[0]
	switch kind {
	case kindWelcome:
		return c.receiveWelcome(message, now)
	case kindError:
		c.live = false
		return parseError(message)
	case kindKeyframe, kindUpdate, kindSnapshot, kindInputs, kindPong:
	default:
		return fault.Field(fault.ErrCorrupt, "replica: kind of frame", kind)
	}
	switch {
	case !c.live:
		c.stats.Early++
		return nil
	case kind == kindPong:
		return c.receivePong(message, now)
	case (kind == kindSnapshot || kind == kindInputs) != (c.config.Mode == Simulate):
		return fault.Field(fault.ErrUnsupported, "replica: frame of the other mode: kind", kind)
	case c.config.Mode == Simulate:
		return c.simulate(message, now)
	}
	if err := c.receiveState(message, now); err != nil {
		return err
	}
	c.queue.idle++
	c.flush()
	return nil
}

// simulate is for the messages of mode Simulate.
func (c *Client) simulate(message []byte, now int64) error {
	sim := c.config.Simulator
	err := sim.receive(message)
	switch {
	case !sim.waits():
		c.asked = 0
	case err != nil:
		c.asked = 0
		c.resync(sim.held())
	case c.asked == 0: // the connection did not take it when it was due
		c.resync(sim.held())
	}
	if err != nil {
		return err
	}
	c.stats.Frames++
	c.stats.Bytes += uint64(len(message))
	if sim.ran {
		t := &sim.tick
		c.ended(t.tick+1, t.at, now)
		c.queue.applied(sim.acted(), -1, t.tick+1, 1, &c.sync)
	}
	c.flush()
	return nil
}

// receiveWelcome begins the session, or goes on with it.
func (c *Client) receiveWelcome(message []byte, now int64) error {
	w, err := parseWelcome(message)
	switch {
	case err != nil:
		return err
	case c.live && c.config.Ordered:
		return nil // the same again
	}
	same := c.repeats(&w, c.welcome.Token)
	if c.live && same || c.repeats(&w, c.former) {
		return nil
	}
	w.resumed = w.resumed || same
	if err := c.suits(&w); err != nil {
		c.out = appendError(c.out[:0], WrongVersion, err.Error())
		c.config.Send(c.out)
		return err
	}
	known := w.schema.Hash() == c.layout.Hash()
	if l := c.layout; !known || !w.resumed || w.tick < c.State().Tick() && !same {
		if !known {
			l = newLayout(w.schema)
		}
		c.forget(l)
	}
	c.queue.welcome(&w)
	if c.config.Predictor != nil {
		c.config.Predictor.welcome(&w)
	}
	c.sync.welcome(&w, now)
	c.play.reset()
	if !same {
		c.former = append(c.former[:0], c.welcome.Token...)
	}
	w.token = append(c.welcome.Token[:0], w.token...)
	c.welcome = w.public()
	c.joined, c.live, c.missed, c.asked = true, true, 0, 0
	c.flush()
	return nil
}

// repeats reports whether a Welcome is one that has come before, with a token. On a transport that is not ordered a Welcome can come
// twice, and the answer to a Hello on a connection that has a session is the Welcome of that session again.
func (c *Client) repeats(w *welcome, token []byte) bool {
	return !c.config.Ordered && len(token) > 0 && bytes.Equal(w.token, token)
}

// suits returns evertick.ErrUnsupported unless the client understands the server.
func (c *Client) suits(w *welcome) error {
	if hash := w.schema.Hash(); c.config.Schema != 0 && hash != c.config.Schema {
		return fault.Field(fault.ErrUnsupported, "replica: Welcome: hash of the schema", fmt.Sprintf("%#x", hash))
	}
	if sim := c.config.Simulator; sim != nil {
		return sim.welcome(w)
	}
	return nil
}

// receiveState applies a Keyframe or an Update.
func (c *Client) receiveState(message []byte, now int64) error {
	r := wire.NewReader(message)
	h := readHeader(&r)
	if r.Err() != nil {
		return messageFault(&h, r.Err())
	}
	newest := c.State()
	if h.tick <= newest.tick && !c.config.Ordered {
		c.stats.Old++
		return nil
	}
	base := c.empty
	if !h.keyframe {
		if base = c.base(h.tick - h.age); base == nil {
			c.missBase()
			return nil
		}
	}
	if c.spare == nil {
		c.spare = c.layout.newState()
	}
	if err := c.dec.decode(&r, &h, base, c.spare); err != nil {
		return messageFault(&h, err)
	}
	if !c.dec.sum {
		c.lost = c.config.Ordered
		c.stats.Mismatch++
		c.resync(0)
		return nil
	}
	c.applied(&h, len(message), now)
	if c.config.Predictor != nil {
		return c.config.Predictor.update(c.State(), h.applied)
	}
	return nil
}

// applied makes the decoded state the newest one.
func (c *Client) applied(h *header, bytes int, now int64) {
	next := c.spare
	if h.tick <= c.State().tick {
		c.spare = nil
		c.forget(c.layout)
	} else if c.spare = nil; len(c.states) == c.config.States {
		c.spare = c.states[0]
		c.play.dropped(c.spare)
		c.states = append(c.states[:0], c.states[1:]...)
	}
	c.states = append(c.states, next)
	c.lost, c.missed, c.asked = false, 0, 0
	c.stats.Frames++
	c.stats.Bytes += uint64(bytes)
	if h.keyframe {
		c.stats.Keyframes++
	}
	c.ended(h.tick, h.at, now)
	if h.flags&flagApplied != 0 {
		c.queue.applied(h.applied, c.sync.ticks(float64(h.residence)*1000), h.tick, c.welcome.Every, &c.sync)
	} else {
		c.queue.notApplied(h.tick, &c.sync)
	}
	if !c.config.Ordered {
		c.out = appendTick(c.out[:0], kindAck, h.tick)
		c.config.Send(c.out) // the next one says more
	}
}

// ended is for a message of a tick that ended at a time of the server, in µs.
func (c *Client) ended(tick, at uint64, now int64) {
	c.sync.ended(tick, at)
	c.play.arrived(at, now)
	if latency, ok := c.sync.latency(at, now); ok {
		c.stats.Latency.Add(latency)
	}
}

// base returns the state of a tick, or nil.
func (c *Client) base(tick uint64) *State {
	if c.config.Ordered {
		if s := c.State(); s.tick == tick && !c.lost {
			return s
		}
		return nil
	}
	for _, s := range c.states {
		if s.tick == tick {
			return s
		}
	}
	return nil
}

// missBase is for an Update whose base the client lacks.
func (c *Client) missBase() {
	c.stats.Baseless++
	if c.missed++; c.config.Ordered || c.missed >= missedMessages {
		c.resync(c.State().tick)
	}
}

// resync asks for a Keyframe or Snapshot, unless the client has just done so.
func (c *Client) resync(held uint64) {
	if c.asked%resyncMessages == 0 {
		c.out = appendTick(c.out[:0], kindResync, held)
		if !c.config.Send(c.out) {
			return
		}
		c.stats.Resyncs++
	}
	c.asked++
}

// Follow asks the server to keep the view at an entity that the session owns. The error wraps evertick.ErrRange for
// id 0, ErrNoSession or evertick.ErrCapacity.
func (c *Client) Follow(id ecs.ID) error {
	if id == 0 {
		return fault.Field(fault.ErrRange, "replica: Client.Follow: id", id)
	}
	return c.look(look{follow: uint64(id)})
}

// LookAt asks the server to keep the view at a point, in metres from the Origin of State: see Grant.Free. The error wraps
// ErrNotFinite, ErrNoSession or evertick.ErrCapacity.
func (c *Client) LookAt(x, y, z float32) error {
	if !fault.Finite(x) || !fault.Finite(y) || !fault.Finite(z) {
		return fault.Field(fault.ErrNotFinite, "replica: Client.LookAt: point", [...]float32{x, y, z})
	}
	return c.look(look{x: x, y: y, z: z, origin: c.State().origin})
}

func (c *Client) look(l look) error {
	if !c.live {
		return fmt.Errorf("replica: Look: %w", ErrNoSession)
	}
	c.out = l.append(c.out[:0])
	return c.send("Look")
}
