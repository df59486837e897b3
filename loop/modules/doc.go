// Package modules runs a program as a list of named modules over one fixed-step
// loop: each is updated once a tick and rendered once a frame, in the order in
// which they were added.
//
// # Two kinds of time
//
// [Module.Update] sees simulated time and nothing else: its [UpdateContext] has
// the tick, the length of a tick, [loop.SimTime], random numbers that depend on
// seed, tick, entity and stream, and services. None of these gives access to wall time,
// nor to the frame in which the update happens to run, and [Provide] refuses a
// service that does. So the same modules with the same inputs go through the
// same states, however their ticks are spread over frames. A module that reads
// the clock of the operating system breaks this, which nothing can prevent.
//
// [Module.Render] sees both: its [RenderContext] has the [loop.Frame] with wall
// and UI time, a [TimeService], and further services. It must not change what
// Update reads; Config.CheckRender finds a Render that does.
//
// # The step token
//
// Either the engine steps: [Engine.Advance] grants the updates that are due by
// the rules of a [loop.Loop], at most Config.Loop.MaxSteps a frame. Or one
// coordinating module does, say one that runs in lockstep with other machines:
// it takes the [StepToken], and while it holds the token, only [StepToken.Step]
// runs ticks; the engine only renders. Another module that takes the token gets
// [ErrStepTaken], which names the holder.
//
// # Life of an engine
//
// Add, Provide, then Start, which starts the modules in order; Advance once per
// frame; Stop, which stops them in reverse order. Or Run, which does all of it.
// An [Engine] and everything that it returns are for one goroutine;
// other goroutines send their inputs through a [loop.Queue].
//
// An error or a panic of a module is returned as an [*Error], which names the
// module, the method, and the tick. After a failed update the tick is
// half done: the engine runs no other one, and can only be stopped.
package modules
