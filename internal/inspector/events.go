package inspector

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
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
	tick          uint64
	kind          string
	a, b          part
	point, normal [2]float32 // of a hit
	speed         float32
	column        string // of a body that was disabled
	value         float32
	joint         physics.Joint // that broke
	force         [2]float32
	torque        float32
}

// part is a shape or a body of an event, as it was at the end of the tick. Zero values are unknown.
type part struct {
	shape  physics.Shape
	body   physics.Body
	entity ecs.ID
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
	l.add(sim, tick, sim.Physics.Events())
}

func shapePart(sim *evertick.Sim, s physics.Shape) part {
	b, _ := sim.Physics.ShapeBody(s)
	id, _ := sim.BodyEntity(b)
	return part{s, b, id}
}

func (l *eventLog) add(sim *evertick.Sim, tick uint64, e *physics.Events) {
	put := func(kind string, a, b part) *event {
		n := l.ring.next(recordedEvents)
		*n = event{tick: tick, kind: kind, a: a, b: b}
		return n
	}
	shape := func(s physics.Shape) part { return shapePart(sim, s) }
	body := func(b physics.Body) part {
		id, _ := sim.BodyEntity(b)
		return part{body: b, entity: id}
	}
	row := func(i uint32) part {
		b, _ := sim.Physics.BodyAt(int(i))
		return body(b)
	}
	// Of more events than the log holds, those that would be lost at once are only counted.
	skip := len(e.Begin) + len(e.End) + len(e.SensorBegin) + len(e.SensorEnd) + len(e.Hit) + len(e.Disabled) + len(e.Broken) + len(e.JointLoads) +
		len(e.Slept) + len(e.Woke) - recordedEvents
	from := func(n int) int {
		lost := max(min(skip, n), 0)
		skip -= lost
		l.ring.skip(uint64(lost))
		return lost
	}
	for _, t := range e.Begin[from(len(e.Begin)):] {
		put("begin", shape(t.A), shape(t.B))
	}
	for _, t := range e.End[from(len(e.End)):] {
		put("end", shape(t.A), shape(t.B))
	}
	for _, s := range e.SensorBegin[from(len(e.SensorBegin)):] {
		put("sensor_begin", shape(s.Sensor), shape(s.Visitor))
	}
	for _, s := range e.SensorEnd[from(len(e.SensorEnd)):] {
		put("sensor_end", shape(s.Sensor), shape(s.Visitor))
	}
	for i := from(len(e.Hit)); i < len(e.Hit); i++ {
		h := &e.Hit[i]
		n := put("hit", shape(h.A), shape(h.B))
		n.point, n.normal, n.speed = h.Point, h.Normal, h.Speed
	}
	for i := from(len(e.Disabled)); i < len(e.Disabled); i++ {
		d := &e.Disabled[i]
		n := put("disabled", body(d.Body), part{})
		n.column, n.value = d.Column, d.Value
	}
	for i := from(len(e.Broken)); i < len(e.Broken); i++ {
		b := &e.Broken[i]
		n := put("broken", body(b.A), body(b.B))
		n.joint, n.force, n.torque = b.Joint, b.Force, b.Torque
	}
	for i := from(len(e.JointLoads)); i < len(e.JointLoads); i++ {
		l := &e.JointLoads[i]
		a, b, _ := sim.Physics.JointBodies(l.Joint)
		n := put("joint_load", body(a), body(b))
		n.joint, n.force, n.torque = l.Joint, l.Force, l.Torque
	}
	for _, i := range e.Slept[from(len(e.Slept)):] {
		put("slept", row(i), part{})
	}
	for _, i := range e.Woke[from(len(e.Woke)):] {
		put("woke", row(i), part{})
	}
}

// eventView is an event in an answer.
type eventView struct {
	Seq    uint64    `json:"seq"`
	Tick   uint64    `json:"tick"`
	Kind   string    `json:"kind"`
	A      *partView `json:"a"`
	B      *partView `json:"b"`
	Point  []value   `json:"point,omitempty"`
	Normal []value   `json:"normal,omitempty"`
	Speed  value     `json:"speed,omitempty"`
	Column string    `json:"column,omitempty"`
	Value  value     `json:"value,omitempty"`
	Joint  string    `json:"joint,omitempty"`
	Force  []value   `json:"force,omitempty"`
	Torque value     `json:"torque,omitempty"`
}

// partView names what took part. The entity is null if none has the body, or if the shape is destroyed.
type partView struct {
	Entity *ecs.ID `json:"entity"`
	Body   string  `json:"body,omitempty"`
	Shape  string  `json:"shape,omitempty"`
}

func (p *part) view() *partView {
	if p.shape == (physics.Shape{}) && p.body == (physics.Body{}) {
		return nil
	}
	v := new(partView)
	if p.shape != (physics.Shape{}) {
		v.Shape = p.shape.String()
	}
	if p.body != (physics.Body{}) {
		v.Body = p.body.String()
	}
	if p.entity != 0 {
		v.Entity = &p.entity
	}
	return v
}

func (e *event) view(seq uint64) eventView {
	v := eventView{Seq: seq, Tick: e.tick, Kind: e.kind, A: e.a.view(), B: e.b.view()}
	pair := func(p [2]float32) []value { return []value{single(p[0]), single(p[1])} }
	switch e.kind {
	case "hit":
		v.Point, v.Normal, v.Speed = pair(e.point), pair(e.normal), single(e.speed)
	case "disabled":
		v.Column, v.Value = e.column, single(e.value)
	case "broken", "joint_load":
		v.Joint, v.Force, v.Torque = e.joint.String(), pair(e.force), single(e.torque)
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
