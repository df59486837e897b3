package evertick

import (
	"slices"
	"sync/atomic"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
)

// PublishConfig says what a Publisher publishes. The zero value: all transforms.
type PublishConfig struct {
	// Transforms names columns of Position, Rotation and Scale. They are published with their values
	// after the last tick and after the tick before. nil: all ten. In the plane XY four are enough:
	// "position.x", "position.y", "rotation.z" and "rotation.w".
	Transforms []string
	// Columns names other columns of the World. They are published with their present values only. A
	// column that a Restore drops is zero from then on.
	Columns []string
	// Tags are published as bitmaps of the entities that have them.
	Tags []ecs.Tag
}

// Publisher copies chosen columns of a Sim at the end of each frame, for a reader on another
// goroutine, such as a renderer that draws at its own rate while ticks run. Neither waits for the
// other, and the reader never gets half of a frame. Sim.Publish makes a Publisher.
//
// Three views take turns: the Sim fills one, the reader holds one, and the third is the latest. A
// slow reader misses frames, a fast one gets a frame several times. A Publisher serves one reader;
// each reader has its own. It takes up to six times the memory of its columns below World.HighWater,
// and up to twice that after HighWater has grown step by step.
type Publisher struct {
	sim        *Sim
	clock      loop.Clock
	ops        native.Ops // of the reader
	columns    []ecs.ColumnView
	transforms int // number of transforms among columns, which begin with them
	tags       []ecs.Tag
	closed     atomic.Bool

	seq    uint64
	latest uint32 // index of the view that was published last
	views  [3]View
	buffer tripleBuffer // of views

	pages       [6]page
	entitySets  [3]entitySet
	zeros, ones []float32 // for transforms that are not published
}

// Publish returns a new Publisher, which publishes after the ticks of each frame of Advance, Run and
// RunFrames. If Publish is called within a frame, that frame is the first. A host that calls Step
// also calls Publisher.Publish. The state does not depend on it.
//
// ErrRange is returned for a name that no column has, a name that is listed twice, a name in
// Transforms that is none of the ten, and a tag of another World. The transforms of the tick before
// need Config.Previous.
func (s *Sim) Publish(c PublishConfig) (*Publisher, error) {
	p := &Publisher{sim: s, clock: s.clock, ops: native.Ops{Level: s.level}, tags: slices.Clone(c.Tags)}
	if c.Transforms == nil {
		c.Transforms = transformNames[:]
	}
	for i, name := range c.Transforms {
		if !slices.Contains(transformNames[:], name) {
			return nil, fault.Element(ErrRange, "evertick: Publish: Transforms", i, name)
		}
		if err := p.add("evertick: Publish: Transforms", i, name); err != nil {
			return nil, err
		}
	}
	p.transforms = len(p.columns)
	for i, name := range c.Columns {
		if err := p.add("evertick: Publish: Columns", i, name); err != nil {
			return nil, err
		}
	}
	for i, t := range c.Tags {
		if !s.hasTag(t) {
			return nil, fault.Element(ErrRange, "evertick: Publish: Tags", i, t.Name())
		}
	}
	for i := range p.views {
		p.views[i] = View{publisher: p, now: p.freePage(0), previous: p.freePage(0), entities: &p.entitySets[i], tags: make([][]uint64, len(p.tags))}
		p.views[i].setSlices()
	}
	p.buffer.init()
	p.latest = p.buffer.front
	now := p.Now() // the first use of a SystemClock sets its origin, which two goroutines must not do at once
	if len(s.publishers) == 0 {
		s.frameAt = now // without publishers the running frame, if any, has not set it
	}
	s.dropClosed()
	s.publishers = append(s.publishers, p)
	return p, nil
}

// dropClosed drops the publishers that are closed.
func (s *Sim) dropClosed() {
	s.publishers = slices.DeleteFunc(s.publishers, func(p *Publisher) bool { return p.closed.Load() })
}

// hasTag reports whether a tag is one of the World.
func (s *Sim) hasTag(t ecs.Tag) bool {
	if !slices.ContainsFunc(s.World.Describe().Tags, func(d ecs.TagDescription) bool { return d.Name == t.Name() }) {
		return false // World.Tag would add it
	}
	own, err := s.World.Tag(t.Name())
	return err == nil && own == t
}

// Publish publishes the present state, for hosts that call Step or change the state between frames.
// Call it where Step may be called. Within a step, and if the Sim has failed, it publishes nothing
// and returns the error that Step would return. After Close it does nothing.
func (p *Publisher) Publish() error {
	switch {
	case p.sim.stepping:
		return errInterrupted
	case p.sim.failed != nil:
		return p.sim.failed
	case !p.closed.Load():
		p.publish(p.Now(), false)
	}
	return nil
}

// Close ends the publication. The Sim drops p at the end of the frame, or in the next Sim.Publish, and
// from then on p costs nothing. Any goroutine may call Close. The view that the reader holds does not
// change.
func (p *Publisher) Close() { p.closed.Store(true) }

// Now reads the clock of the Sim in nanoseconds, for View.Alpha. Any goroutine may call it.
func (p *Publisher) Now() int64 { return p.clock.Now() }

// Acquire returns the latest view. It never waits, and allocates nothing. The view is valid until
// the next Acquire. Only one goroutine may call it. Before the first publication the view has no
// rows.
func (p *Publisher) Acquire() *View {
	if p.buffer.fresh() {
		p.buffer.take()
		p.views[p.buffer.front].copyTeleported()
	}
	return &p.views[p.buffer.front]
}

// publishFrame publishes the state at the end of a frame, unless a tick has failed half-way.
// onlyTicks reports that only ticks have changed it since the frame before.
func (s *Sim) publishFrame(onlyTicks bool) {
	if len(s.publishers) == 0 || s.failed != nil {
		return
	}
	at := s.frameAt
	if s.frameSteps == 0 {
		at = s.clock.Now()
	}
	s.dropClosed()
	for _, p := range s.publishers {
		p.publish(at, onlyTicks)
	}
}

// publish fills the view that the Sim owns, and makes it the latest.
func (p *Publisher) publish(at int64, onlyTicks bool) {
	w, v, last := p.sim.World, &p.views[p.buffer.back], &p.views[p.latest]
	p.seq++
	v.Seq, v.AtNs = p.seq, at
	v.describe(p.sim)
	v.copyMasks(p.sim, p.tags)
	sameWorld := last.Seq > 0 && last.Generation == v.Generation && last.shifts == v.shifts
	onlyTicks = onlyTicks && sameWorld && last.Rows == v.Rows
	v.now, v.previous, v.entities = nil, nil, nil
	switch {
	case onlyTicks && last.Tick == v.Tick:
		v.now, v.previous = last.now, last.previous
	case w.Previous() == nil:
		v.now = p.copyNow(v.Rows)
		v.previous = v.now
	case onlyTicks && last.Tick+1 == v.Tick:
		v.now, v.previous = p.copyNow(v.Rows), last.now
	default:
		v.now = p.copyNow(v.Rows)
		v.previous = p.copyPrevious(v.Rows)
	}
	if v.entities = last.entities; !sameWorld || last.Version != v.Version {
		v.entities = p.copyEntities(w, v.Rows)
	}
	v.setSlices()
	p.latest = p.buffer.back
	p.buffer.publish()
}
