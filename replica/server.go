package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Server sends the state of a Sim to its clients, and their inputs to the Sim. See the documentation of
// the package.
type Server struct {
	sim     *evertick.Sim
	config  Config // with defaults
	clock   loop.Clock
	origin  int64 // time of New on the clock
	period  int64 // ns between two updates
	source  *source
	shape   Schema
	hash    uint64  // of shape
	welcome welcome // without what differs between clients
	signer  signer
	stream  inputStream
	remove  func() // removes the hooks

	tick      atomic.Uint64 // ticks of the Sim
	seed      atomic.Uint64 // of the Sim at that tick: a Restore can replace it
	simOrigin atomic.Pointer[[3]float64]
	deadline  atomic.Int64 // sweep has nothing to do before
	connected atomic.Int32

	mu       sync.Mutex
	closed   bool
	sessions []*session // by number
	byNumber map[uint32]*session
	places   map[string]int    // sessions of each address
	again    map[Conn]*Session // connections that are not ordered: their first Hello may come again
	leaving  []evertick.Input  // Left, where the Sim had no room yet
	numbers  numbers

	// For the goroutine of the Sim.
	moved   []*session // whose reached has changed since the last capture
	newest  uint64     // tick of the last capture
	ran     uint64     // ticks after the last one that did not run again
	stopped bool

	// What is handed over.
	sendTick bool // there is a state to send
	rewound  bool // its tick is not after the one before

	busy    atomic.Bool // broadcast runs, or will
	wake    chan struct{}
	done    chan struct{}
	sending delivery

	statsMu sync.Mutex
	stats   Stats
}

// New returns a Server of sim, and adds hooks to it: call it on the goroutine of the Sim, between ticks,
// and after sim has been restored. The error joins all faults of c.
//
// The Clock of the Sim measures all times. Several goroutines call its Now.
func New(sim *evertick.Sim, c Config) (*Server, error) {
	if sim == nil {
		panic("replica: New: nil Sim")
	}
	if err := c.Validate(); err != nil {
		names := Config{Columns: c.Columns, Owner: c.Owner, View: ViewConfig{Category: c.View.Category, Weight: c.View.Weight}}
		_, other := newSource(sim, &names) // without Tags, which it would add to the World
		return nil, errors.Join(err, other)
	}
	num, den := sim.Loop().Rate()
	c = c.withDefaults(float64(num) / float64(den))
	source, err := newSource(sim, &c)
	if err != nil {
		return nil, err
	}
	hooks := evertick.Hooks{}
	if c.Spectate {
		c.Joined, c.Left, source.columns.owner = 0, 0, nil
	}
	s := &Server{
		sim: sim, config: c, clock: sim.Config().Clock, source: source, shape: source.schema(), signer: newSigner(c.Secret, c.Spectate),
		period:   int64(float64(c.Every) * float64(den) * 1e9 / float64(num)),
		byNumber: make(map[uint32]*session), places: make(map[string]int), again: make(map[Conn]*Session),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	s.origin = s.clock.Now()
	s.hash = s.shape.Hash()
	s.welcome = welcome{schema: s.shape, scenario: c.Scenario, simVersion: evertick.SimVersion,
		every: uint64(c.Every), rateNum: uint64(num), rateDen: uint64(den)}
	s.tick.Store(sim.Ticks())
	s.seed.Store(sim.Seed())
	s.noteOrigin()
	s.ran = sim.Ticks()
	s.numbers = newNumbers(sim, &c)
	s.setDeadline()
	if hooks.AfterTick = s.afterTick; !c.Spectate {
		hooks.BeforeTick = s.beforeTick
	}
	s.remove = sim.AddHooks(hooks)
	go s.run()
	return s, nil
}

// now returns the ns since New.
func (s *Server) now() int64 { return max(0, s.clock.Now()-s.origin) }

// Schema returns the description of what is sent.
func (s *Server) Schema() Schema { return s.shape }

// Serves returns an error that wraps evertick.ErrStale unless sim is the Sim of the Server. A replay.Player that goes back with Seek or
// Rewind can replace its Sim, and the ticks of the new one do not reach the Server: close it then, and make another one with
// the same Secret, where the clients resume.
func (s *Server) Serves(sim *evertick.Sim) error {
	if sim != s.sim {
		return fmt.Errorf("replica: Server.Serves: the Sim was replaced: %w", fault.ErrStale)
	}
	return nil
}

// Close ends all connections with the Error Closing, and removes the hooks. Call it on the goroutine of
// the Sim, or while no tick runs. It does not end the sessions: there are no inputs Left, and a later
// Server with the same Secret lets clients resume. The error is always nil.
func (s *Server) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	var open []*Session
	for _, ses := range s.sessions {
		ses.mu.Lock()
		if c := ses.current; c != nil {
			ses.current, c.ended = nil, Closing
			open = append(open, c)
		}
		ses.mu.Unlock()
	}
	s.mu.Unlock()
	if closed {
		return nil
	}
	for _, c := range open {
		c.hangUp(Closing, "")
	}
	s.connected.Store(0)
	s.remove()
	s.stopped = true
	close(s.wake)
	<-s.done
	return nil
}

// Join makes a session of a connection whose first message is hello, or resumes one, and sends the
// Welcome. Any goroutine may call it. After an error, which wraps a Code, an Error message has been sent,
// and the transport closes the connection. hello is not kept.
//
// On a transport that is not ordered a Hello may come again: pass it to Session.Receive, as all further messages, or to Join,
// which returns the Session that the connection has. Another message that comes first there belongs to an earlier connection: its
// error wraps BadFrame, but no Error message is sent, which a client that connects again could take for the answer.
//
// The newest token of a client resumes its session. A Welcome can be lost, so an older token works until the
// client has sent a message on a connection with a newer one. After that it begins a new session, as a forged
// one does. If the old connection is still open, it ends with the Error Replaced.
func (s *Server) Join(ctx context.Context, conn Conn, hello []byte) (*Session, error) {
	if conn == nil {
		panic("replica: Join: nil Conn")
	}
	c := s.sessionOf(conn)
	if c == nil {
		var err error
		if c, err = s.join(ctx, conn, hello); err == nil {
			return c, nil
		}
		if c = s.sessionOf(conn); err != errTwice || c == nil {
			s.refuse(conn, hello, err)
			return nil, err
		}
	}
	if err := c.Receive(hello); err != nil {
		return nil, err
	}
	return c, nil
}

// errTwice is for a Hello that came twice, if both are in Join at the same time.
var errTwice = fmt.Errorf("%w: the Hello came twice", Closing)

// refuse answers a client that is not admitted.
func (s *Server) refuse(conn Conn, hello []byte, err error) {
	s.count(func(st *Stats) { st.Refused++ })
	if !conn.Ordered() && len(hello) > 0 && hello[0] != kindHello {
		return
	}
	code := codeOf(err, InternalFault)
	text := ""
	if code == BadFrame || code == WrongVersion {
		text = err.Error()
	}
	conn.Send(appendError(nil, code, text))
}

// sessionOf returns the Session of a connection that is not ordered, or nil.
func (s *Server) sessionOf(conn Conn) *Session {
	if !comesAgain(conn) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again[conn]
}

// comesAgain reports whether the Server looks for a Hello that comes again on a connection.
func comesAgain(conn Conn) bool { return !conn.Ordered() && reflect.ValueOf(conn).Comparable() }

// forget is for the end of a connection. mu is locked.
func (s *Server) forget(c *Session) {
	if c.again && s.again[c.conn] == c {
		delete(s.again, c.conn)
	}
}

// codeOf returns the Code that an error wraps, or another one.
func codeOf(err error, other Code) Code {
	code := other
	errors.As(err, &code)
	return code
}

func (s *Server) join(ctx context.Context, conn Conn, hello []byte) (*Session, error) {
	h, err := s.checkHello(hello, conn.Ordered())
	if err != nil {
		return nil, err
	}
	grant, err := s.authorize(ctx, h)
	if err != nil {
		return nil, err
	}
	if h.Mode == Simulate && !grant.Simulate {
		return nil, fmt.Errorf("%w: Hello.Mode = %d, which needs Grant.Simulate", Unauthorized, h.Mode)
	}
	old, valid := s.signer.parse(h.Token)
	c := &Session{conn: conn, mode: h.Mode, ordered: conn.Ordered()}
	if c.again = comesAgain(conn); !c.ordered {
		c.hello = h
		c.hello.Token, c.hello.Credentials = bytes.Clone(h.Token), bytes.Clone(h.Credentials)
	}
	w, over, err := s.admit(c, old, valid, &grant)
	sent := err != nil
	defer func() {
		if !sent { // also after a panic of a Conn: a session must not stay for good
			s.giveUp(c)
		}
	}()
	if over != nil {
		over.hangUp(codeOf(over.ended, InternalFault), "")
	}
	if err != nil {
		return nil, err
	}
	if c.resumed && !c.unsure {
		c.held = h.Held
	}
	if sent = conn.Send(w.append(nil)); !sent {
		return nil, TooSlow
	}
	return c, s.attach(c)
}

// checkHello parses a Hello and checks that the Server can serve the client.
func (s *Server) checkHello(hello []byte, ordered bool) (Hello, error) {
	h, err := parseHello(hello)
	switch {
	case errors.Is(err, fault.ErrUnsupported):
		return h, fmt.Errorf("%w: %w", WrongVersion, err)
	case err != nil:
		return h, bad(err)
	case h.Schema != 0 && h.Schema != s.hash:
		return h, fmt.Errorf("%w: Hello.Schema = %#x, that of the server is %#x", WrongVersion, h.Schema, s.hash)
	}
	return h, checkSimulate(&h, ordered)
}

func (s *Server) authorize(ctx context.Context, h Hello) (Grant, error) {
	if s.config.Authorize == nil {
		return Grant{}, nil
	}
	grant, err := s.config.Authorize(ctx, h)
	if err != nil && codeOf(err, 0) == 0 {
		err = fmt.Errorf("%w: %w", Unauthorized, err)
	}
	return grant, err
}

// admit finds or makes the session of a connection, and its next token. A connection that the session
// had until now is over, and is returned, or one that makes room.
func (s *Server) admit(c *Session, old token, valid bool, grant *Grant) (w welcome, over *Session, err error) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return w, nil, Closing
	}
	if c.again && s.again[c.conn] != nil {
		return w, nil, errTwice
	}
	ses, address := s.byNumber[old.session], addressOf(c.conn)
	if valid && ses != nil && ses.accepts(old) {
		if !ses.mayResume(now) {
			return w, nil, TooFast
		}
		c.resumed = true
	} else {
		over = s.makeRoom(address, now)
		if c.resumed = valid && s.honours(&old, now); c.resumed {
			ses, err = s.takeOver(&old, grant, now)
		} else {
			ses, err = s.beginSession(grant, now)
		}
		if err != nil {
			return w, over, err
		}
	}
	s.place(ses, address)
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if replaced := ses.leave(Replaced); replaced != nil {
		s.connected.Add(-1)
		over = replaced
	}
	c.session = ses
	ses.permit(grant)
	ses.until = math.MaxInt64 // also while the Welcome is sent
	ses.count++
	c.count = ses.count
	c.unsure = old.server != s.signer.server || c.mode == View && old.count <= ses.rewound
	if c.again {
		s.again[c.conn] = c
	}
	return c.welcome(), over, nil
}

// welcome returns the Welcome of a connection. Server.mu and the mutex of the session are locked.
func (c *Session) welcome() welcome {
	ses := c.session
	s := ses.server
	w := s.welcome
	w.session, w.resumed, w.received = ses.number, c.resumed, ses.window.greatest
	w.token = s.signer.append(nil, token{ses.number, c.count, s.signer.server, ses.began})
	w.tick = s.tick.Load()
	if c.mode == Simulate {
		w.seed = s.seed.Load()
	}
	return w
}

// accepts reports whether a signed token resumes the session. Server.mu is locked.
func (ses *session) accepts(t token) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if t.server == ses.server.signer.server {
		return t.count >= ses.confirmed && t.count <= ses.count && t.count>>32 == ses.count>>32
	}
	return t == ses.before && ses.confirmed == 0
}

// honours reports whether a token of an earlier Server, or of another one whose sessions only watch, resumes its session
// here. mu is locked.
func (s *Server) honours(t *token, now int64) bool {
	n := &s.numbers
	switch {
	case t.server == s.signer.server:
		return false
	case s.config.Spectate:
		return t.session >= FirstSpectator && s.byNumber[t.session] == nil
	case now > n.until || n.taken(t.session):
		return false
	}
	return s.config.Joined == 0 || s.config.Owner != "" || t.began+1 != n.ticks
}

// takeOver makes the session of a token of another Server. If the state does not know it, because the tick that applied its
// Joined was lost with the earlier Server, it pushes Joined again. With Config.Owner the state knows the sessions that own an
// entity, and otherwise those that began early enough. mu is locked.
func (s *Server) takeOver(t *token, grant *Grant, now int64) (*session, error) {
	ses, err := s.newSession(t.session, now)
	if err != nil {
		return nil, err
	}
	ses.before, ses.began = *t, t.began
	known := t.began < s.numbers.ticks
	if s.config.Owner != "" {
		_, known = slices.BinarySearch(s.numbers.owners, t.session)
	}
	if known || s.config.Joined == 0 {
		return ses, nil
	}
	ses.began = s.tick.Load()
	if err := s.pushJoined(ses, grant.Data); err != nil && !errors.Is(err, loop.ErrDuplicate) { // that one waits in the restored Sim
		s.removeSession(ses)
		s.numbers.giveBack(ses.number)
		return nil, noRoom(err)
	}
	return ses, nil
}

// noRoom returns the error for a Joined that was not pushed.
func noRoom(err error) error {
	if errors.Is(err, loop.ErrFull) {
		return fmt.Errorf("%w: %w", TooMany, err)
	}
	return fmt.Errorf("%w: %w", InternalFault, err)
}

// mayResume limits how often a session is resumed, as Resync messages are limited: each time costs a Keyframe.
// Server.mu is locked.
func (ses *session) mayResume(now int64) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.resumes.take(now, ses.server.config.Limits.FramesPerSecond/resyncsPerSecond)
}

// leave ends the connection of a session, and returns it. Server.mu and mu are locked.
func (ses *session) leave(why error) *Session {
	c := ses.current
	if c != nil {
		ses.current, c.ended = nil, why
		ses.server.forget(c)
	}
	return c
}

// beginSession adds a new session, and pushes Joined. If the Joined of an earlier Server waits in a Sim that was
// restored, its number belongs to a session that can come back. mu is locked.
func (s *Server) beginSession(grant *Grant, now int64) (*session, error) {
	for {
		ses, err := s.newSession(0, now)
		if err != nil {
			return nil, err
		}
		if err = s.pushJoined(ses, grant.Data); err == nil {
			return ses, nil
		}
		s.removeSession(ses)
		if !errors.Is(err, loop.ErrDuplicate) {
			return nil, noRoom(err)
		}
		s.numbers.giveBack(ses.number)
	}
}

// newSession adds a session with a number; 0: a new one. mu is locked.
func (s *Server) newSession(number uint32, now int64) (*session, error) {
	limits := &s.config.Limits
	if len(s.sessions) >= limits.Sessions || len(s.leaving) >= limits.Sessions {
		return nil, TooMany
	}
	number, ok := s.takeNumber(number)
	if !ok {
		return nil, TooMany
	}
	ses := &session{server: s, number: number, began: s.tick.Load()}
	if s.config.Spectate { // another session can have had the number, on another Server
		ses.count = uint64(rand.Uint32()) << 32
	}
	ses.messages.perSecond, ses.bytes.perSecond, ses.resumes.perSecond = limits.FramesPerSecond, limits.BytesPerSecond, limits.FramesPerSecond
	s.byNumber[number] = ses
	s.places[ses.address]++
	at, _ := slices.BinarySearchFunc(s.sessions, number, func(a *session, n uint32) int { return int(int64(a.number) - int64(n)) })
	s.sessions = slices.Insert(s.sessions, at, ses)
	return ses, nil
}

// takeNumber takes a number for a session; 0: the next one. mu is locked.
func (s *Server) takeNumber(number uint32) (uint32, bool) {
	n := &s.numbers
	if !s.config.Spectate {
		return n.take(number)
	}
	for number == 0 {
		if s.byNumber[uint32(n.next)] == nil {
			number = uint32(n.next)
		}
		if n.next++; n.next > n.most {
			n.next = FirstSpectator
		}
	}
	return number, true
}

// pushJoined pushes the input Joined. Its tick and its number are before all inputs of the client.
func (s *Server) pushJoined(ses *session, data []byte) error {
	if s.config.Joined == 0 {
		return nil
	}
	return s.sim.Push(evertick.Input{Source: ses.number, Kind: s.config.Joined, Data: data})
}

// attach gives a session its connection, after the Welcome: no message may be before that.
func (s *Server) attach(c *Session) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err != nil {
			s.forget(c)
		}
	}()
	ses := c.session
	ses.mu.Lock()
	defer ses.mu.Unlock()
	switch {
	case s.closed:
		return Closing
	case ses.over:
		return fmt.Errorf("%w: %w", Closing, errEnded)
	case ses.count != c.count: // resumed with the token of the Welcome already
		return Replaced
	}
	if c.mode == Simulate && !ses.following {
		ses.following = true
		s.stream.join(&ses.follower, 0)
	}
	ses.current = c
	ses.acked, ses.resync = 0, false
	s.connected.Add(1)
	s.count(func(st *Stats) {
		if c.resumed {
			st.Resumed++
		} else {
			st.Joined++
		}
	})
	return nil
}

// giveUp is for a connection that did not take its Welcome: a new session ends, and one that was to be
// resumed waits.
func (s *Server) giveUp(c *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(c)
	switch {
	case !c.resumed:
		s.endSession(c.session, TooSlow)
	case c.session.count == c.count: // it was not resumed meanwhile
		s.wait(c.session)
	}
}

// detach ends a connection; its session waits, or ends. It reports whether the connection was not over
// before.
func (s *Server) detach(c *Session, why error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses := c.session
	ses.mu.Lock()
	current := ses.current == c
	if current {
		ses.leave(why)
	}
	ses.mu.Unlock()
	if current {
		s.connected.Add(-1)
		s.wait(ses)
	}
	return current
}

// wait lets a session wait for its client. mu is locked.
func (s *Server) wait(ses *session) {
	if s.config.Limits.Resume < 0 {
		s.endSession(ses, errEnded)
		return
	}
	ses.until = s.now() + int64(s.config.Limits.Resume)
	s.deadline.Store(min(s.deadline.Load(), ses.until))
}

// endSession ends a session, and pushes the input Left. mu is locked.
func (s *Server) endSession(ses *session, why error) {
	ses.mu.Lock()
	over := ses.over
	ses.over = true
	if ses.leave(why) != nil {
		s.connected.Add(-1)
	}
	lastTick := ses.lastTick
	ses.mu.Unlock()
	if over {
		return
	}
	s.removeSession(ses)
	s.pushLeft(ses.number, lastTick)
	s.count(func(st *Stats) { st.Ended++ })
}

func (s *Server) removeSession(ses *session) {
	delete(s.byNumber, ses.number)
	s.leavePlace(ses.address)
	if i := slices.Index(s.sessions, ses); i >= 0 {
		s.sessions = slices.Delete(s.sessions, i, i+1)
	}
	if ses.following {
		s.stream.leave()
	}
}

// pushLeft pushes the input Left, which a tick applies after all inputs of the session. If there is no
// room, sweep tries again.
func (s *Server) pushLeft(number uint32, lastTick uint64) {
	if s.config.Left == 0 {
		return
	}
	in := evertick.Input{Tick: max(lastTick, s.tick.Load()), Source: number, Seq: math.MaxUint64, Kind: s.config.Left}
	if err := s.sim.Push(in); err != nil {
		s.leaving = append(s.leaving, in)
		s.deadline.Store(0)
	}
}

// goneBack is for a Sim that was restored, or has stepped back, to so many ticks: the inputs of a session can
// be for ticks that are far away now, and Left must not wait for them.
func (s *Server) goneBack(ticks uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lead := min(s.config.Limits.Lead, math.MaxUint64-ticks)
	for _, ses := range s.sessions {
		ses.mu.Lock()
		ses.lastTick = min(ses.lastTick, ticks+lead)
		ses.mu.Unlock()
	}
	for i := range s.leaving {
		s.leaving[i].Tick = min(s.leaving[i].Tick, ticks+lead)
	}
}

// sweep ends the sessions that have waited for long enough.
func (s *Server) sweep(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := &s.numbers; n.used != nil && now > n.until {
		for _, number := range owners(s.sim, s.config.Owner) {
			if _, used := n.used[number]; !used {
				s.pushLeft(number, 0)
			}
		}
		n.used, n.owners = nil, nil
	}
	s.sweepLocked(now)
}

// mostSwept is how many sessions a tick ends at most: if a failure of the network cuts thousands at once, their
// end is spread over several ticks.
const mostSwept = 256

func (s *Server) sweepLocked(now int64) {
	for _, in := range s.leaving {
		if s.sim.Push(in) == nil {
			s.leaving = s.leaving[1:]
			continue
		}
		break
	}
	for i, most := 0, mostSwept; i < len(s.sessions) && most > 0; {
		ses := s.sessions[i]
		if ses.until > now {
			i++
			continue
		}
		s.endSession(ses, errEnded)
		most--
	}
	s.setDeadline()
}

// setDeadline sets when sweep has something to do. mu is locked.
func (s *Server) setDeadline() {
	at := s.numbers.deadline()
	for _, ses := range s.sessions {
		at = min(at, ses.until)
	}
	if len(s.leaving) > 0 {
		at = 0
	}
	s.deadline.Store(at)
}

// numbers gives sessions their numbers, and keeps the numbers of sessions of earlier Servers: a restored
// world has entities of sessions whose clients come back with tokens. Such tokens are honoured until a
// deadline. A token of an earlier Server is refused if this Server has used its number. New sessions get
// numbers above all that are known. If they have 32 bits these are also above the tick, and lostNumbers above: otherwise the
// number of a session that left before the restart, or that began in a tick that was lost with the earlier Server, could be
// given to another, which its token would replace.
//
// The numbers of a Server with Config.Spectate begin at random, so that two Servers most likely have different ones.
type numbers struct {
	next   uint64              // above all numbers that are known
	most   uint64              // the greatest that there is
	until  int64               // tokens of earlier Servers are honoured
	used   map[uint32]struct{} // numbers that this Server has used; nil: no token of an earlier one is honoured, as after until
	ticks  uint64              // of the Sim at first
	owners []uint32            // at first, ascending; nil after until
}

const (
	// FirstSpectator is the least number of a session that only watches: see Config.Spectate. Players have smaller ones.
	FirstSpectator = 0xf0000000
	// lostNumbers bounds the sessions that begin in the ticks that are lost with a Server.
	lostNumbers = 1 << 16
)

// newNumbers finds the owners in the world.
func newNumbers(sim *evertick.Sim, c *Config) numbers {
	if c.Spectate {
		return numbers{next: FirstSpectator + uint64(rand.Uint32N(math.MaxUint32-FirstSpectator)), most: math.MaxUint32}
	}
	n := numbers{next: 1, most: FirstSpectator - 1, until: int64(c.Limits.Resume), ticks: sim.Ticks()}
	if n.ticks > 0 {
		n.used = make(map[uint32]struct{}) // otherwise no session can have begun
	}
	if c.Owner != "" {
		column, _ := sim.World.ColumnNamed(c.Owner)
		n.most = min(n.most, 1<<(8*column.Kind().Size())-1)
		n.owners = owners(sim, c.Owner)
		known, _ := slices.BinarySearch(n.owners, FirstSpectator) // the numbers above are of no session
		if known > 0 {
			n.next = uint64(n.owners[known-1]) + 1
		}
	}
	if n.ticks > 0 && n.most == FirstSpectator-1 {
		n.next = lostNumbers + max(n.next, 1+min(n.ticks, math.MaxUint32/2))
	}
	return n
}

// owners returns the sessions that own an entity, ascending.
func owners(sim *evertick.Sim, owner string) (numbers []uint32) {
	column, ok := sim.World.ColumnNamed(owner)
	if !ok || column.Len() == 0 {
		return nil
	}
	for _, slot := range sim.World.LiveSlots(nil) {
		if v := uint32(column.Float64(slot, 0)); v != 0 {
			numbers = append(numbers, v)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// taken reports whether a token of an earlier Server for a number is refused.
func (n *numbers) taken(number uint32) bool {
	_, used := n.used[number]
	return used || n.used == nil || number == 0 || uint64(number) > n.most
}

// take takes a number; 0: the next one.
func (n *numbers) take(number uint32) (uint32, bool) {
	if number == 0 {
		if n.next > n.most {
			return 0, false
		}
		number = uint32(n.next)
	}
	n.next = max(n.next, uint64(number)+1)
	if n.used != nil {
		n.used[number] = struct{}{}
	}
	return number, true
}

// giveBack is for a number that take has returned, and that is one of an earlier Server.
func (n *numbers) giveBack(number uint32) { delete(n.used, number) }

// deadline returns when tokens of earlier Servers are no longer honoured.
func (n *numbers) deadline() int64 {
	if n.used == nil {
		return math.MaxInt64
	}
	return n.until + 1
}
