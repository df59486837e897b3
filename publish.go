package evertick

import (
	"slices"
	"sync/atomic"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/publish"
	"github.com/evertick/evertick/loop"
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
// other, and the reader never gets half of a view. Sim.Publish makes a Publisher.
//
// Three views take turns: the Sim fills one, the reader holds one, and the third is the latest. A
// slow reader misses views, a fast one gets a view several times. A Publisher serves one reader;
// each reader has its own. It takes up to six times the memory of its columns below World.HighWater,
// and up to twice that after HighWater has grown step by step.
type Publisher struct {
	sim    *Sim
	clock  loop.Clock
	closed atomic.Bool
	copies *publish.Copies
	views  [3]View // of copies
}

// Publish returns a new Publisher, which publishes after the ticks of each frame of Advance, Run and
// RunFrames. If Publish is called within a frame, that frame is the first. A host that calls Step
// also calls Publisher.Publish. The state does not depend on it.
//
// ErrRange is returned for a name that no column has, a name that is listed twice, a name in
// Transforms that is none of the ten, and a tag of another World. The transforms of the tick before
// need Config.Previous.
func (s *Sim) Publish(c PublishConfig) (*Publisher, error) {
	copies, err := publish.New(s.World, s.level, publish.Config(c))
	if err != nil {
		return nil, err
	}
	p := &Publisher{sim: s, clock: s.clock, copies: copies}
	for i := range p.views {
		p.views[i].set(copies.Copy(i))
	}
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
func (p *Publisher) Acquire() *View { return &p.views[p.copies.Acquire()] }

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
	s := p.sim
	s.jumpWritten()
	i, f := p.copies.Fill(publish.State{Tick: s.ticks, Shifts: s.shifts, OnlyTicks: onlyTicks})
	v := &p.views[i]
	v.set(f)
	v.AtNs = at
	v.setFrame(s)
	p.copies.Publish()
}

// View is a copy of the state that a Publisher has published, so no tick changes it. Only read it,
// on the goroutine that called Acquire, until the next Acquire. Rows are slots of the World.
type View struct {
	// Seq counts the publications of the Publisher, from 1: views with equal Seq are the same one. 0:
	// nothing was published yet.
	Seq uint64
	// Tick is Sim.Ticks: the completed ticks.
	Tick uint64
	// Frame is Sim.Frame.
	Frame loop.Frame
	// AtNs is the time at which Frame.Alpha was right, in nanoseconds on the clock of the Sim: when the
	// first tick of the frame began, or when the frame was published if it had no tick. If the only
	// Publisher was made within the frame, it is the time at which it was made.
	AtNs int64
	// Rows is World.HighWater, the length of all columns.
	Rows int
	// IDs are the entities by slot, 0 for a free slot. If an entity was spawned or despawned since an
	// earlier view, its row has another ID.
	IDs []ecs.ID
	// Live is World.LiveMask: bit s%64 of word s/64 is set if there is an entity in slot s.
	Live []uint64
	// Version and Generation are those of the World. While both stay the same, so do IDs and Live.
	Version, Generation uint64
	// Now holds the transforms after the last tick, Previous those after the tick before. For entities
	// that teleported (see Sim.Interpolate) Previous is Now, so linear interpolation is right in every
	// row. Without Config.Previous both are the same. Columns that are not published have their initial
	// values: 0, or 1 for Rotation.W and Scale. Rows without an entity may hold anything.
	Now, Previous ecs.Transforms

	copy       *publish.Copy
	alpha      float64 // at AtNs
	alphaPerNs float64
}

// ColumnOf returns a published column, one of the transforms or another, with Rows rows of type T: a
// number, or an array of them. It is false if no column of that name and type is published.
func ColumnOf[T any](v *View, name string) ([]T, bool) { return publish.ColumnOf[T](v.copy, name) }

// Tag returns the bitmap of the entities that had the tag, in the form of Live, or nil if the tag is
// not published.
func (v *View) Tag(t ecs.Tag) []uint64 { return v.copy.Tag(t) }

// Alpha returns how far to draw between Previous, 0, and Now, 1, for a time in nanoseconds on the
// clock of the Sim: v.Alpha(p.Now()). It continues Frame.Alpha at the pace of simulated time, up to 1
// until the next tick is published. While the loop stops time it does not change. If the host has
// called Step since the last frame, and under loop.Config.Batch, it counts from 0 at AtNs.
func (v *View) Alpha(ns int64) float32 {
	a := v.alpha + float64(float64(ns-v.AtNs)*v.alphaPerNs)
	return float32(max(0, min(a, 1)))
}

// Interpolate computes where to draw the entities, as Sim.Interpolate does, into the rows of out. out
// has at least Rows rows. An alpha that is not finite is ErrNotFinite. It allocates nothing.
func (v *View) Interpolate(alpha float32, out *ecs.Transforms) error {
	return v.copy.Interpolate(alpha, out)
}

// set sets the fields that are copies of columns, and those that say of what.
func (v *View) set(f *publish.Copy) {
	v.Seq, v.Tick, v.Rows, v.IDs, v.Live, v.Version, v.Generation = f.Seq, f.Tick, f.Rows, f.IDs, f.Live, f.Version, f.Generation
	v.Now, v.Previous, v.copy = f.Now, f.Previous, f
}

// setFrame sets Frame and what Alpha computes with.
func (v *View) setFrame(s *Sim) {
	v.Frame = s.frame
	scale := uint64(1e6)
	switch f := &v.Frame; {
	case s.ticks != s.frameTicks || s.config.Loop.Batch:
		v.alpha = 0
	case f.Menu || f.Paused || f.Gated || f.Frozen || f.Halted:
		v.alpha, scale = f.Alpha, 0
	default:
		v.alpha, scale = f.Alpha, f.ScaleMillionths
	}
	num, den := s.loop.Rate()
	v.alphaPerNs = float64(num) / float64(den) * float64(scale) / 1e15
}
