package evertick

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
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
