package replica

import (
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/netcode"
)

// viewer is what the server keeps of a client that gets the state of what it sees: what the client has
// in each of the last messages, and where its view is.
type viewer struct {
	session uint32
	ordered bool   // messages of the connection arrive in order
	mask    uint32 // categories that it sees
	centre  centre

	x, y, z float32    // the centre as it was last
	origin  [3]float64 // of these
	placed  bool       // x, y, z have been set
	slot    uint32     // of centre.follow, if it is found
	// The entity that was searched for, and the generation of the World in which it was.
	sought     ecs.ID
	generation uint64

	base     *sentState   // one of flight, which the next message changes; nil: none
	next     *sentState   // made by append, until sent or refused
	flight   []*sentState // the last messages that were sent, oldest first
	free     []*sentState
	messages uint64 // sent on this connection
	check    uint64 // number of messages after which the next has a checksum
	wait     uint64 // no Keyframe before this capture, on a connection that is not ordered

	// It sees all entities, or those in the slots of seen, as of the capture seenAt. departed are those that have left since the
	// oldest message in flight.
	all      bool
	seen     []uint32
	seenAt   uint64
	departed []departure
	away     bool     // the client was away since then
	own      []uint32 // slots of the entities that the session owns
}

// departure is an entity that has left a view, found by a capture.
type departure struct {
	slot    uint32
	dead    bool // it died in the view
	capture uint64
}

// centre is where the view of a client is: at the entity follow; if that is 0, at a point; and if
// there is none, as in the zero centre, at the first entity that the session owns. A view stays where
// it is when the entity has died, or its position is not finite. A client that asks for a view may only
// follow what its session owns: while it does not own the entity, owned makes it the zero centre.
type centre struct {
	follow  ecs.ID
	owned   bool
	asked   bool // the client asked for it, by Grant.Free: an entity must be of the categories that it sees
	point   bool
	x, y, z float32
	origin  [3]float64 // of the point
}

// sentState describes the state that a client has after a message.
type sentState struct {
	capture  uint64
	tick     uint64
	key      bool   // of a Keyframe
	checked  bool   // the message has a checksum
	previous uint64 // the capture of its base, if client and server agree about the velocities of all entities; else 0

	// The client has all entities of the capture, or the ones in a list. An entry of the list is a slot
	// with netcode.Young if the entity came into view with this message.
	all  bool
	list []uint32
	own  []uint32 // slots of the owned entities

	// Of each entity in the list: the capture whose values the client has, that of the values it had before the message that
	// brought them or, if the last message added nothing, the same, both modulo 2^32; and the priority with which it waits for newer ones.
	// All are empty if the client has the values of this capture, and had the values of previous, except of young entities.
	since, before []uint32
	waited        []float32
}

const (
	slotBits      = netcode.Young - 1 // of an entry of a list
	mostFlight    = 32                // messages that a client keeps: see docs/replica-wire.md
	orderedFlight = 8                 // messages from which a session can be resumed, where all arrive
	keyframePause = 8                 // captures between two Keyframes, until one is acknowledged
)

// newViewer returns a viewer whose first message is a Keyframe.
func newViewer(session uint32, ordered bool) *viewer {
	return &viewer{session: session, ordered: ordered}
}

// sent notes that the connection took the message that append has made: the client has it, or may have it.
func (v *viewer) sent() {
	f := v.next
	if f == nil {
		return
	}
	v.next = nil
	v.messages++
	switch {
	case f.checked && v.messages == 1:
		v.check = 1 + uint64(v.session%checkEvery) // so that not all clients get theirs at once
	case f.checked:
		v.check = v.messages - 1 + checkEvery
	}
	if f.key && !v.ordered {
		v.wait = f.capture + keyframePause
	}
	most := mostFlight
	if v.ordered {
		v.base = f
		most = orderedFlight
	}
	v.flight = append(v.flight, f)
	if len(v.flight) > most {
		v.drop(1)
	}
}

// drop forgets the n oldest messages in flight. If the base is one of them there is none.
func (v *viewer) drop(n int) {
	for _, f := range v.flight[:n] {
		if f == v.base {
			v.base = nil
		}
		v.free = append(v.free, f)
	}
	v.flight = v.flight[:copy(v.flight, v.flight[n:])]
}

// refused forgets the message that append has made: the connection did not take it.
func (v *viewer) refused() {
	if v.next != nil {
		v.free = append(v.free, v.next)
		v.next = nil
	}
}

// acked notes that the client has got the message of a tick: on a connection that is not ordered it is
// the base of the next messages. It returns false if the viewer does not know the message any more.
func (v *viewer) acked(tick uint64) bool {
	i := v.find(tick)
	if i >= 0 && !v.ordered {
		v.base = v.flight[i]
		v.drop(i)
	}
	return i >= 0
}

// find returns the place in flight of the last message of a tick, or -1.
func (v *viewer) find(tick uint64) int {
	i := len(v.flight) - 1
	for i >= 0 && v.flight[i].tick != tick {
		i--
	}
	return i
}

// reset makes the next message a Keyframe.
func (v *viewer) reset() {
	v.refused()
	v.drop(len(v.flight))
	v.messages, v.check, v.wait = 0, 0, 0
}

// resume makes the state that a client holds after the message of a tick the base for a new connection, and
// returns true. If the viewer does not know that message any more the next one is a Keyframe.
func (v *viewer) resume(held uint64, ordered bool) bool {
	v.refused()
	v.ordered = ordered
	i := v.find(held)
	if i < 0 {
		v.reset()
		return false
	}
	v.messages, v.check, v.wait = 0, 0, 0
	v.base = v.flight[i]
	v.base.previous, v.base.before = 0, v.base.before[:0] // the client has no velocities
	v.free = append(v.free, v.flight[i+1:]...)
	v.flight = v.flight[:i+1]
	return true
}

// bytes returns the memory that the viewer takes.
func (v *viewer) bytes() (n int) {
	n = 4*(cap(v.own)+cap(v.seen)) + 16*cap(v.departed)
	for _, list := range [...][]*sentState{v.flight, v.free, {v.next}} {
		for _, f := range list {
			if f != nil {
				n += 128 + 4*(cap(f.list)+cap(f.own)+cap(f.since)+cap(f.before)+cap(f.waited))
			}
		}
	}
	return n
}

// newSentState returns a sentState without contents.
func (v *viewer) newSentState() *sentState {
	n := len(v.free)
	if n == 0 {
		return new(sentState)
	}
	f := v.free[n-1]
	v.free = v.free[:n-1]
	*f = sentState{list: f.list[:0], own: f.own[:0], since: f.since[:0], before: f.before[:0], waited: f.waited[:0]}
	return f
}
