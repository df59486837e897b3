// Package train steps many small worlds together, to train agents in them.
//
// # Model
//
//	Definition ── New ──▶ Batch of N worlds
//	                        ▲   │
//	               actions  │   │  observations, rewards, flags: rows of the caller's buffers
//	                        │   ▼
//	                      Reset, Step
//
// A [Definition] has the spaces of observations and actions of a kind of worlds, and makes them. A [Batch]
// holds N of them, numbered from 0, and one call steps them all: workers take chunks of a fixed
// size, one after the other. [Buffers] belong to the caller; nothing is copied elsewhere, and
// a step allocates nothing after warm-up.
//
// There are two kinds of [Worlds]. Those of a [SimDefinition] are an evertick.Sim each, with
// its systems: everything that a simulation can do, at a few microseconds a step. The same
// function makes the Sim for a demonstration: see [SimDefinition.ReplayScenario]. Worlds of a
// few numbers implement Worlds themselves, in columns, and take some nanoseconds. Package
// worlds has examples of both.
//
// [Register] makes a definition known by its name. Package clib makes a shared library of those that a program has
// registered, for C and Python.
//
// # Agents
//
// A world may have several agents: Definition.Agents has their names. With n agents world i has the
// rows from i*n to i*n+n-1 of all buffers. An agent ends when a step has terminated it, and is then skipped:
// its action is ignored, its reward is 0, its flags are false, and Buffers.Live is false. It is still
// observed. The world ends with the last of its agents. When its time is up, all agents that are left are
// truncated. A game of several agents is a [Team].
//
// # Episodes
//
// An episode ends because a step has ended it (terminated), or because its time is up
// (truncated, after Config.MaxSteps), or for both reasons. The [Autoreset] mode says what happens
// then, as Gymnasium defines it:
//
//	step                    t (the end)                    t+1
//	NextStep   observation  the last                       first of the next episode
//	           reward       that of the step               0; the action was ignored
//	           terminated   true                           false
//	SameStep   observation  first of the next episode      second
//	           final        the last, Final true           Final false
//	           reward       that of the step               that of the step
//	           terminated   true                           as it comes
//	Disabled   observation  the last                       ErrStale, until Reset with Only
//
// # Guarantees
//
// World i of a batch does the same, bit for bit, in a batch of any size, with any number of
// workers and on every machine: its random numbers come from [Seed] of the seed, its number
// and the episode, and it has no other input. [Batch.Hash] proves it, step by step.
//
// A step that is refused, for a wrong length, an action that is NaN or beyond its space, has
// stepped no world. [Batch.Save], [Batch.Load] and [Batch.Fork] copy the whole state of a world, and an
// altered file is refused. [Batch.Export] writes an episode as a log that package replay
// verifies.
//
// # Use
//
//	b, err := train.New(worlds.CartPole(), train.Config{Worlds: 4096, Seed: 1, Workers: 2})
//	buf := b.NewBuffers()
//	err = b.Reset(train.Options{}, buf)
//	for {
//		// read buf.Obs, write buf.Choices
//		err = b.Step(buf)
//		// read buf.Reward, buf.Terminated, buf.Truncated
//	}
//
// [Batch.StepAsync] and [Batch.StepWait] are the two halves of a Step, as step_async and step_wait of Gymnasium: between
// them the caller does something else, such as learning from another batch.
package train
