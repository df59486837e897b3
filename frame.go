package evertick

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/publish"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// Advance runs the ticks that have become due after elapsedNs nanoseconds of the host's time, by
// the rules of Config.Loop. It returns the frame: how many ticks were due, how many were dropped,
// and how far to interpolate. It returns the error of Step; the ticks that did not run stay due. Frames
// count the ticks of Advance and Run, not those of Step.
//
// If the ticks of the frame took longer than Config.BudgetNs each, Frame.Overrun holds by how much,
// and which phase exceeded its own median the most.
//
// Ticks is not Frame.Tick: Step, Restore and StepBack change only Ticks. Under loop.Realtime
// Frame.Tick also counts the ticks that were skipped. Ticks, Tick.N and Tick.Time have no gaps, as
// each tick that runs is the next one of the Sim: if only Advance is used, Ticks is Frame.Tick -
// Frame.DroppedTotal.
//
// A call of Advance from within a step, or from the function of RunFrames, returns an error, and no
// time passes.
func (s *Sim) Advance(elapsedNs int64) (loop.Frame, error) {
	if err := s.mayAdvance(); err != nil {
		return s.frame, err
	}
	s.beginFrame()
	f, err := s.loop.Drive(elapsedNs, s.step)
	s.endFrame(f)
	if err == nil {
		s.callFrameHooks()
	}
	s.publishFrame(false)
	return s.frame, err
}

// Run paces the simulation until ctx is done or a step fails, as loop.Loop.Run does. It waits by
// Config.Clock, or else as the Pacing of Config.Loop says. A panic ends it even under loop.Resume:
// the ticks that are then due stay due for the next Run or Advance, after a Restore or StepBack. It
// is an error to call Run from within a step, or from the function of RunFrames.
func (s *Sim) Run(ctx context.Context) error { return s.RunFrames(ctx, nil) }

// RunFrames is Run with a function that draws, or does other work of the host once a frame. RunFrames
// calls frame after the ticks of each frame, on its own goroutine, with Sim.Frame. While time is slow
// or stopped, frames without ticks follow each other in the time of a tick, and frame is called for
// these too. It is not called for a frame that an error or loop.ErrStop ends early.
//
// The function may read the Sim, call Interpolate, push inputs, pause by Loop, and cancel ctx to end
// the run. It must not write to the state, nor call Step: no log has such changes, so a replay lacks
// them; Config.CheckRender finds them. If it calls Advance, Run or RunFrames, they return an error
// and do nothing. The next ticks wait until it returns: a slow renderer should run on another
// goroutine, and read the views of a Publisher.
func (s *Sim) RunFrames(ctx context.Context, frame func(loop.Frame)) error {
	if err := s.mayAdvance(); err != nil {
		return err
	}
	s.beginFrame()
	onlyTicks := false // only ticks have changed the state since the last frame
	err := s.runWith(ctx, loop.Runner{Clock: s.runClock, Step: s.step, Rehearse: s.config.Rehearse, Frame: func(f loop.Frame) {
		s.endFrame(f)
		s.callFrameHooks()
		s.publishFrame(onlyTicks)
		onlyTicks = true
		if frame != nil {
			s.callFrame(frame)
		}
		s.beginFrame()
	}}, frame)
	if s.ticks != s.frameTicks { // loop.ErrStop has ended the last frame early
		s.publishFrame(onlyTicks)
	}
	return err
}

// callFrameHooks calls the AfterFrame hooks. If CheckRender finds that one has changed the state, every
// later step returns the error.
func (s *Sim) callFrameHooks() {
	for _, h := range s.hooks {
		if h.AfterFrame == nil {
			continue
		}
		s.hashBeforeHooks()
		s.callFrame(h.AfterFrame)
		if err := s.checkHook(h.AfterFrame); err != nil && s.failed == nil {
			s.failed = fmt.Errorf("evertick: after tick %d: %w", s.ticks, err)
		}
	}
}

// callFrame calls an AfterFrame hook, or the function of RunFrames.
func (s *Sim) callFrame(frame func(loop.Frame)) {
	s.inFrame = true
	defer func() { s.inFrame = false }() // also if there is a panic
	frame(s.frame)
}

// mayAdvance returns an error within a step and within the function of RunFrames.
func (s *Sim) mayAdvance() error {
	switch {
	case s.stepping:
		return errInterrupted
	case s.inFrame:
		return errInFrame
	}
	return nil
}

// Loop returns the loop that decides how many ticks a frame runs: for time scales, freezes, pauses,
// timers, and Resume after a fault. Advance it only through Advance and Run.
func (s *Sim) Loop() *loop.Loop { return s.loop }

// Frame returns the last frame of Advance or Run, with the total of dropped ticks so far. A system
// that calls it during Run gets the previous frame.
func (s *Sim) Frame() loop.Frame { return s.frame }

// Interpolate computes where to draw the entities in the last frame: between the last two ticks, as
// far as Frame says, by ecs.World.Interpolate, into the rows of out. Entities that teleported are
// drawn at their new position, not on the way: the ones that were spawned or given a body in the last
// tick, those of World.Jump, and those whose body was moved by Physics.SetTransform, or by a value written to
// their transform in a tick with physics or after it; after a
// Restore, all entities. An entity without a body that is written to moves, unless Jump says that it teleports.
// Interpolate does not change the state. It is ErrUnsupported unless Config.Previous
// is set.
func (s *Sim) Interpolate(out *ecs.Transforms) error {
	s.jumpWritten()
	return s.World.Interpolate(&s.ops, s.frame.Alpha32(), out)
}

// beginFrame resets the times of a frame.
func (s *Sim) beginFrame() {
	s.frameNs, s.frameSteps = 0, 0
	for _, p := range s.phases {
		p.frameNs = 0
	}
}

// endFrame stores the frame with the overrun of its steps.
func (s *Sim) endFrame(f loop.Frame) {
	hi, budget := bits.Mul64(uint64(s.config.BudgetNs), s.frameSteps)
	if hi == 0 && uint64(s.frameNs) > budget {
		f.Overrun = loop.Overrun{System: s.slowestPhase(), Ns: s.frameNs - int64(budget)}
	}
	s.frame, s.frameTicks = f, s.ticks
	s.publishMetrics()
	s.updateTimeline()
}

// slowestPhase names the phase that exceeded its median the most in this frame. Of phases that
// exceeded it equally, it names the one that took longest.
func (s *Sim) slowestPhase() string {
	var name string
	var most, took int64
	for _, p := range s.phases {
		excess := p.frameNs - int64(s.frameSteps)*p.times.Quantile(0.5)
		if name == "" || excess > most || excess == most && p.frameNs > took {
			name, most, took = p.Name, excess, p.frameNs
		}
	}
	return name
}

// DrawOptions selects what AppendDraw draws.
type DrawOptions struct {
	// Bodies selects what is drawn of bodies in addition to their shapes.
	Bodies physics.DrawOptions
	// Radius of the discs that entities without a body are drawn as, in metres; the first component of Scale
	// multiplies it. 0: 0.25.
	Radius float32
	// Tags colours entities without a body: an entity has the colour of the first of these tags that it has. Others have
	// ColorEntity.
	Tags []TagColor
}

// TagColor is the colour of entities with a tag.
type TagColor struct {
	Tag   ecs.Tag
	Color physics.Color
}

// ColorEntity is the colour of entities without a body and without a tag of DrawOptions.Tags.
const ColorEntity physics.Color = 0x3a6ea5

// AppendDraw adds a picture of the present state to dst: the bodies, as physics.World.AppendDraw draws them, and a disc for
// each entity that has none, in the order of slots, in the plane of the bodies. A radius of such a disc is along the first
// axis of the entity if it is turned. What is not finite is left out.
//
// It does not change the state, and allocates nothing once dst has enough capacity. A radius that is negative is ErrRange,
// one that is not finite ErrNotFinite; other errors are those of physics.World.AppendDraw. dst is then unchanged.
func (s *Sim) AppendDraw(dst *physics.Drawing, o DrawOptions) error {
	var err error
	switch {
	case !fault.Finite(o.Radius):
		err = fault.Field(ErrNotFinite, "evertick: DrawOptions.Radius", o.Radius)
	case o.Radius < 0:
		err = fault.Field(ErrRange, "evertick: DrawOptions.Radius", o.Radius)
	case o.Radius == 0:
		o.Radius = 0.25
	}
	if err := errors.Join(err, o.Bodies.Validate()); err != nil {
		return err
	}
	if err := s.Physics.AppendDraw(dst, o.Bodies); err != nil {
		return err
	}
	for slot := range ecs.Slot(s.World.HighWater()) {
		if id, alive := s.World.ID(slot); alive {
			if _, has := s.Body(id); !has {
				s.drawEntity(dst, &o, slot)
			}
		}
	}
	return nil
}

func (s *Sim) drawEntity(dst *physics.Drawing, o *DrawOptions, slot ecs.Slot) {
	pos, q, plane := &s.World.Position, &s.World.Rotation, s.Physics.Config().Plane
	at, _ := plane.Split([3]float32{pos.X[slot], pos.Y[slot], pos.Z[slot]})
	c := physics.DrawnCircle{Center: at, Radius: o.Radius * max(s.World.Scale.X[slot], -s.World.Scale.X[slot]), Color: ColorEntity}
	if !fault.Finite(at[0]) || !fault.Finite(at[1]) || !fault.Finite(c.Radius) {
		return
	}
	for _, t := range o.Tags {
		if mask := t.Tag.Mask(); uint(slot>>6) < uint(len(mask)) && mask[slot>>6]>>(slot&63)&1 != 0 {
			c.Color = t.Color
			break
		}
	}
	w, turn := q.W[slot], q.Z[slot] // half the angle, as cosine and sine
	if plane == physics.XZ {
		turn = -q.Y[slot]
	}
	if n2 := float32(w*w) + float32(turn*turn); turn != 0 && n2 > 0 && fault.Finite(n2) {
		c.Axis = [2]float32{(float32(w*w) - float32(turn*turn)) / n2, 2 * float32(w*turn) / n2}
	}
	dst.AddCircle(c, true)
}

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
