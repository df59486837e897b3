package inspector

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodyview"
)

const (
	// recordedEvents and recordedSteps bound what a page that asks rarely can still get.
	recordedEvents = 4096
	recordedSteps  = 4096
	// recordFor is how long events are recorded after a page has asked for them.
	recordFor = 5 * time.Second
)

// ring holds the last values of a sequence that is numbered from 1.
type ring[T any] struct {
	rows []T
	last uint64 // number of the newest
}

// next returns the place of the next value. It has an old value, for its memory.
func (r *ring[T]) next(capacity int) *T {
	if r.rows == nil {
		r.rows = make([]T, capacity)
	}
	r.last++
	return &r.rows[r.last%uint64(len(r.rows))]
}

// skip counts values without keeping them.
func (r *ring[T]) skip(n uint64) { r.last += n }

// since returns the number of the first value after another one, and how many before it are lost. A number that does
// not exist yet is one of an earlier sequence: since then returns the oldest value.
func (r *ring[T]) since(after uint64) (first, lost uint64) {
	if after > r.last {
		after = 0
	}
	oldest := uint64(1)
	if n := uint64(len(r.rows)); r.last > n {
		oldest = r.last - n + 1
	}
	first = max(after+1, oldest)
	return first, first - after - 1
}

func (r *ring[T]) at(seq uint64) *T { return &r.rows[seq%uint64(len(r.rows))] }

// eventLog records the events of the physics while pages ask for them.
type eventLog struct {
	asked atomic.Int64 // when a page asked last, in ns of clock; 0: none has, or too long ago
	clock func() int64

	mu    sync.Mutex
	ring  ring[event]
	since uint64 // the tick from which on no event was missed, but for those that the ring has lost
	on    bool
}

// event is an event of a step.
type event struct {
	bodyview.Event
	tick   uint64
	solver string // of the bodies; "" for Sim.Physics
}

// record records the events of the tick that has just run, where Step may be called.
func (l *eventLog) record(sim *evertick.Sim) {
	asked := l.asked.Load()
	if asked == 0 {
		return
	}
	tick := sim.Ticks()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clock()-asked > int64(recordFor) {
		l.on = false
		l.asked.CompareAndSwap(asked, 0)
		return
	}
	if !l.on {
		l.on, l.since = true, tick
	}
	l.add(tick, bodiesOf(sim))
}

// add adds the events of some bodies. Of more events than the log holds, those that would be lost at once are only counted.
func (l *eventLog) add(tick uint64, all []bodies) {
	skip := -recordedEvents
	for _, b := range all {
		skip += b.view.EventCount()
	}
	for _, b := range all {
		n := b.view.EventCount()
		lost := max(min(skip, n), 0)
		skip -= lost
		l.ring.skip(uint64(lost))
		for i := lost; i < n; i++ {
			*l.ring.next(recordedEvents) = event{b.view.Event(i), tick, b.name}
		}
	}
}

// eventView is an event in an answer.
type eventView struct {
	Seq    uint64    `json:"seq"`
	Tick   uint64    `json:"tick"`
	Kind   string    `json:"kind"`
	Solver string    `json:"solver,omitempty"` // none: Sim.Physics
	A      *partView `json:"a"`
	B      *partView `json:"b"`
	Point  []value   `json:"point,omitempty"`
	Normal []value   `json:"normal,omitempty"`
	Speed  value     `json:"speed,omitempty"`
	Column string    `json:"column,omitempty"`
	Value  value     `json:"value,omitempty"`
	Joint  string    `json:"joint,omitempty"`
	Force  []value   `json:"force,omitempty"`
	Torque any       `json:"torque,omitempty"` // a value in a plane, three in space
}

// partView names what took part. The entity is null if none has the body, or if the shape is destroyed.
type partView struct {
	Entity *ecs.ID `json:"entity"`
	Body   string  `json:"body,omitempty"`
	Shape  string  `json:"shape,omitempty"`
}

func viewPart(p *bodyview.Part) *partView {
	if *p == (bodyview.Part{}) {
		return nil
	}
	v := new(partView)
	if p.Shape != 0 {
		v.Shape = bodyview.Name("shape", p.Shape)
	}
	if p.Body != 0 {
		v.Body = bodyview.Name("body", p.Body)
	}
	if p.Entity != 0 {
		v.Entity = &p.Entity
	}
	return v
}

func (e *event) view(seq uint64) eventView {
	v := eventView{Seq: seq, Tick: e.tick, Kind: bodyview.Kinds[e.Kind], Solver: e.solver, A: viewPart(&e.A), B: viewPart(&e.B)}
	vector := func(p [3]float32) []value { return singles(p[:e.Dims]) }
	switch e.Kind {
	case bodyview.Hit:
		v.Point, v.Normal, v.Speed = vector(e.Point), vector(e.Normal), single(e.Speed)
	case bodyview.Disabled:
		v.Column, v.Value = e.Column, single(e.Value)
	case bodyview.Broken, bodyview.JointLoad:
		v.Joint, v.Force, v.Torque = bodyview.Name("joint", e.Joint), vector(e.Force), single(e.Torque[2])
		if e.Dims == 3 {
			v.Torque = vector(e.Torque)
		}
	}
	return v
}

// eventsView is the answer. Events lists those after the number that was asked for; if Seq is less than that number,
// the page begins anew.
type eventsView struct {
	Seq   uint64      `json:"seq"`
	Lost  uint64      `json:"lost"`
	Since *uint64     `json:"recording_since"` // the first tick of this recording; null before it
	List  []eventView `json:"events"`
}

// after returns the events after a number, and makes the next ticks record theirs.
func (l *eventLog) after(seq uint64) eventsView {
	l.asked.Store(max(l.clock(), 1))
	l.mu.Lock()
	var copied []event
	first, lost := l.ring.since(seq)
	v := eventsView{Seq: l.ring.last, Lost: lost, List: []eventView{}}
	if l.on {
		since := l.since
		v.Since = &since
	}
	for n := first; n <= l.ring.last; n++ {
		copied = append(copied, *l.ring.at(n))
	}
	l.mu.Unlock() // the Sim waits for the copy only
	for i := range copied {
		v.List = append(v.List, copied[i].view(first+uint64(i)))
	}
	return v
}

// events answers GET events. It does not wait for the Sim.
func (in *Inspector) events(_ context.Context, r *Request, s subject) Answer {
	after, err := wholeNumber(r.Query, "after", 0)
	if err != nil {
		return errorAnswer(err)
	}
	return JSON(s.records().events.after(after))
}
