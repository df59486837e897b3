package replica

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Session is a session of a client on one connection, as Join returns it. When the client resumes the
// session on another connection, Join returns another Session with the same ID. The methods Follow,
// LookAt, SetMask, Close and Stats act on the session, whichever connection it has; Receive and
// Disconnected act on the connection.
type Session struct {
	session *session
	conn    Conn
	mode    Mode
	held    uint64 // tick of the state that the client holds, 0: none
	resumed bool
	unsure  bool   // the client may hold a state that this Sim never had, or of a time that it has left: see session.rewound
	count   uint64 // of the token in its Welcome
	hello   Hello  // the first one, if the transport is not ordered
	again   bool   // Server.again has it until it is over
	ended   error  // why the connection is over; nil: it is not. session.mu guards it.

	// For the goroutine that calls Receive.
	intents []intent
	reply   []byte

	// For the goroutine that sends.
	started     bool
	ordered     bool
	cause       cause  // of the next Keyframe
	refusals    int    // in a row
	appliedSent uint64 // sequence number in the last message that the connection took
}

// session is what lasts from one connection to the next. Its mutex is locked after Server.mu and before
// Server.statsMu.
type session struct {
	server *Server
	number uint32

	// Server.mu guards these.
	count     uint64 // of the newest token
	before    token  // of another Server, that has made the session
	began     uint64 // for its tokens
	rewound   uint64 // count when the Sim went back last: the client of an older token may not know of that
	until     int64  // when it ends, if it waits; else math.MaxInt64
	following bool   // it counts in Server.stream
	address   string // of its connection, or of the last one

	// For the goroutine of the Sim.
	reached appliedInput
	moved   bool // reached has changed since the last capture
	// The goroutine of the Sim writes it when it hands a state over.
	captured appliedInput

	// For the goroutine that sends.
	viewer   *viewer
	follower follower

	mu              sync.Mutex
	current         *Session // nil: the client is away
	confirmed       uint64   // count of the newest token that the client is known to have
	over            bool
	messages, bytes bucket
	resumes         bucket
	window          window
	lastTick        uint64 // greatest of its inputs
	arrived         [64]arrival
	mask            uint32
	free            bool // Grant.Free
	centre          centre
	acked           uint64
	resync          bool
	stats           SessionStats
}

// arrival is when the input with a number arrived, in ns since New.
type arrival struct {
	seq uint64
	at  int64
}

// ID returns the number of the session, from 1, which is also the Source of its inputs. A Server never
// uses a number again.
func (c *Session) ID() uint32 { return c.session.number }

// Follow puts the view of the session at an entity, wherever that moves; ID 0: at the first entity that
// the session owns, which is also the default. Any goroutine may call it.
func (c *Session) Follow(id ecs.ID) { c.session.setCentre(centre{follow: id}) }

// LookAt puts the view of the session at a point, in metres from the origin that the Sim had after its last tick. A point that is not finite changes
// nothing. Any goroutine may call it.
func (c *Session) LookAt(x, y, z float32) {
	if fault.Finite(x) && fault.Finite(y) && fault.Finite(z) {
		c.session.setCentre(centre{point: true, x: x, y: y, z: z, origin: *c.session.server.simOrigin.Load()})
	}
}

// permit gives the session what a Grant allows. mu is locked.
func (ses *session) permit(g *Grant) {
	ses.mask, ses.free = g.Mask, g.Free
	if ses.centre.asked && !g.Free {
		ses.centre = centre{}
	}
}

func (ses *session) setCentre(to centre) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.centre = to
}

// SetMask sets the categories that the session sees, until it is resumed with another Grant: see ViewConfig.Category. 0:
// none. Any goroutine may call it.
func (c *Session) SetMask(mask uint32) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.mask = mask
}

// Close ends the session, and its connection with an Error message of that code. The client cannot resume
// it. Any goroutine may call it.
func (c *Session) Close(code Code) {
	ses := c.session
	ses.server.mu.Lock()
	ses.mu.Lock()
	current := ses.current
	ses.mu.Unlock()
	ses.server.endSession(ses, code)
	ses.server.mu.Unlock()
	if current != nil {
		current.hangUp(code, "")
	}
}

// Disconnected says that the connection is lost. The session waits for Limits.Resume for its client, and
// then ends. A second call does nothing, and so does one after the client has resumed the session on
// another connection. Any goroutine may call it.
func (c *Session) Disconnected() { c.session.server.detach(c, errLost) }

var (
	errLost  = errors.New("replica: the connection is lost")
	errEnded = errors.New("replica: the session has ended")
)

// hangUp sends an Error message and closes the connection.
func (c *Session) hangUp(code Code, text string) {
	c.conn.Send(appendError(nil, code, text))
	c.conn.Close()
}

// Receive takes a message of the client. Any goroutine may call it, but one at a time for each connection.
// It does not keep the slice. After an error, which wraps a Code, the connection is over: an Error message has
// been sent, and the transport closes the connection. The session waits, as after Disconnected. No
// message, whatever is in it, does more harm than that.
//
// Inputs that the Sim refuses, that are for a tick beyond Limits.Lead, or whose number has arrived
// before, are dropped and counted: see Stats.
func (c *Session) Receive(frame []byte) error {
	s := c.session.server
	now := s.now()
	err := c.admit(frame, now)
	if err == nil {
		err = c.receive(frame, now)
	}
	if err != nil && s.detach(c, err) {
		code := codeOf(err, InternalFault)
		s.count(func(st *Stats) {
			switch code {
			case BadFrame:
				st.Bad++
			case TooFast:
				st.Fast++
			}
		})
		c.conn.Send(appendError(nil, code, err.Error()))
	}
	return err
}

// admit checks the size of a message, and the limits of the session.
func (c *Session) admit(message []byte, now int64) error {
	ses := c.session
	limits := &ses.server.config.Limits
	ses.mu.Lock()
	defer ses.mu.Unlock()
	switch {
	case c.ended != nil:
		return c.ended
	case len(message) == 0 || len(message) > limits.FrameBytes:
		return fmt.Errorf("%w: %d bytes", BadFrame, len(message))
	case !ses.messages.take(now, 1) || !ses.bytes.take(now, len(message)):
		return TooFast
	}
	if message[0] != kindHello { // which the client also sends if the Welcome is lost
		ses.confirmed = c.count
	}
	ses.stats.Received.add(len(message))
	ses.server.count(func(st *Stats) { st.Received.add(len(message)) })
	return nil
}

func (c *Session) receive(message []byte, now int64) error {
	switch kind := message[0]; kind {
	case kindInput:
		return c.receiveInput(message, now)
	case kindAck:
		return c.receiveAck(message)
	case kindLook:
		return c.receiveLook(message)
	case kindPing:
		return c.receivePing(message, now)
	case kindResync:
		return c.receiveResync(message, now)
	case kindHello:
		return c.receiveHello(message, now)
	case kindError:
		return bad(parseError(message))
	default:
		return fmt.Errorf("%w: kind %d", BadFrame, kind)
	}
}

// receiveHello is for a Hello after the first one. On a transport that is not ordered it comes twice, too late, or again because no
// Welcome has arrived. The client gets the Welcome again if this is the first Hello again, or if it has the token of that Welcome.
// Any other is one of an earlier connection, and is ignored.
func (c *Session) receiveHello(message []byte, now int64) error {
	h, err := parseHello(message)
	switch {
	case err != nil:
		return bad(err)
	case c.ordered:
		return fmt.Errorf("%w: a second Hello", BadFrame)
	}
	s := c.session.server
	t, signed := s.signer.parse(h.Token)
	s.mu.Lock()
	current := signed && t.server == s.signer.server && t.session == c.session.number && t.count == c.count
	first := bytes.Equal(h.Token, c.hello.Token) && bytes.Equal(h.Credentials, c.hello.Credentials) && h.Mode == c.hello.Mode
	if !current && !first || !c.session.mayResume(now) {
		s.mu.Unlock()
		return nil
	}
	c.session.mu.Lock()
	w := c.welcome()
	c.session.mu.Unlock()
	s.mu.Unlock()
	w.resumed = c.resumed || current
	c.conn.Send(w.append(nil)) // if it does not take it, the client asks again
	return nil
}

// bad wraps the error of a parser in BadFrame.
func bad(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", BadFrame, err)
}

func (c *Session) receiveInput(message []byte, now int64) (err error) {
	if c.intents, err = parseIntents(c.intents, message); err != nil {
		return bad(err)
	}
	s := c.session.server
	if s.config.Spectate {
		c.session.refuse(len(c.intents))
		return nil
	}
	for i := range c.intents {
		if kind := c.intents[i].kind; kind != 0 && (kind == s.config.Joined || kind == s.config.Left) {
			return fmt.Errorf("%w: input of kind %d, which only the server pushes", BadFrame, kind)
		}
	}
	var counts IntentStats
	for i := range c.intents {
		c.session.push(&c.intents[i], now, &counts)
	}
	s.count(func(st *Stats) { st.Intents.add(&counts) })
	return nil
}

// refuse counts inputs of a session that only watches.
func (ses *session) refuse(inputs int) {
	n := IntentStats{Refused: uint64(inputs)}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.stats.Intents.add(&n)
	ses.server.count(func(st *Stats) { st.Intents.add(&n) })
}

// push passes an input on to the Sim, or drops it.
func (ses *session) push(in *intent, now int64, total *IntentStats) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	var n IntentStats
	ticks := ses.server.tick.Load()
	switch {
	case ses.over:
	case ses.window.has(in.seq):
		n.Duplicate++
	case in.tick > ticks && in.tick-ticks > ses.server.config.Limits.Lead:
		n.Early++
	default:
		ses.arrived[in.seq%uint64(len(ses.arrived))] = arrival{in.seq, now} // first: the tick may begin at once
		err := ses.server.sim.Push(evertick.Input{Tick: in.tick, Source: ses.number, Seq: in.seq, Kind: in.kind, Data: in.data})
		switch {
		case err == nil:
			n.Pushed++
			n.Lost += ses.window.add(in.seq)
			ses.lastTick = max(ses.lastTick, in.tick)
		case errors.Is(err, loop.ErrDuplicate):
			n.Duplicate++
			n.Lost += ses.window.add(in.seq)
		default:
			n.Refused++
		}
	}
	ses.stats.Intents.add(&n)
	total.add(&n)
}

func (n *IntentStats) add(o *IntentStats) {
	n.Pushed += o.Pushed
	n.Duplicate += o.Duplicate
	n.Early += o.Early
	n.Refused += o.Refused
	n.Late += o.Late
	n.Lost += o.Lost
}

// receiveAck notes the newest tick that has arrived. One that the server has not reached is of a state
// from before a Restore, and does not count.
func (c *Session) receiveAck(message []byte) error {
	tick, err := parseTick(message, kindAck)
	if err != nil {
		return bad(err)
	}
	ses := c.session
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if tick <= ses.server.tick.Load() {
		ses.acked = max(ses.acked, tick)
	}
	return nil
}

// receiveLook notes where the client wants its view. Views follow an entity for as long as the session
// owns it. A point is ignored unless Grant.Free allows it, which also allows a session that only watches to follow an
// entity of others.
func (c *Session) receiveLook(message []byte) error {
	l, err := parseLook(message)
	if err != nil {
		return bad(err)
	}
	ses := c.session
	ses.mu.Lock()
	defer ses.mu.Unlock()
	switch {
	case l.follow == 0 && ses.free:
		ses.centre = centre{point: true, x: l.x, y: l.y, z: l.z, origin: l.origin, asked: true}
	case l.follow != 0 && ses.free && ses.server.config.Spectate:
		ses.centre = centre{follow: ecs.ID(l.follow), asked: true}
	case l.follow != 0:
		ses.centre = centre{follow: ecs.ID(l.follow), owned: true}
	}
	return nil
}

// receivePing answers at once, on this goroutine: what the answer takes is what the network takes.
func (c *Session) receivePing(message []byte, now int64) error {
	t0, err := parsePing(message)
	if err != nil {
		return bad(err)
	}
	c.reply = appendPong(c.reply[:0], t0, uint64(now), uint64(c.session.server.now()))
	c.conn.Send(c.reply)
	return nil
}

// receiveResync counts as many messages as make a client that sends nothing else send resyncsPerSecond.
func (c *Session) receiveResync(message []byte, now int64) error {
	held, err := parseTick(message, kindResync)
	if err != nil {
		return bad(err)
	}
	ses := c.session
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if !ses.messages.take(now, ses.server.config.Limits.FramesPerSecond/resyncsPerSecond) {
		return TooFast
	}
	if ses.resync = c.mode == View; !ses.resync {
		ses.server.stream.resync(&ses.follower, held)
	}
	return nil
}

// apply notes that a tick which began at now applies an input of the session. It is for the goroutine
// of the Sim. It returns the ns since the arrival of the input, or -1 if that is not known.
func (ses *session) apply(in *evertick.Input, tick uint64, now int64) (residence int64) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	residence = -1
	if a := &ses.arrived[in.Seq%uint64(len(ses.arrived))]; a.seq == in.Seq {
		residence = max(0, now-a.at)
	}
	if in.Tick != 0 && in.Tick < tick {
		ses.stats.Intents.Late++
	}
	if in.Seq > ses.reached.seq && in.Seq <= mostSeq {
		ses.reached = appliedInput{seq: in.Seq, residenceUs: uint64(max(0, residence)) / 1000, present: true}
		ses.stats.Applied, ses.stats.ResidenceUs = in.Seq, ses.reached.residenceUs
	}
	return residence
}

// mostSeq is the greatest sequence number that a client can use. The input Left has a greater one.
const mostSeq = math.MaxInt64
