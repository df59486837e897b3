// Package skill lets agents, authors and programs from outside change a running world through
// typed, checked and recorded calls, and through nothing else.
//
// # Model
//
// A skill has a name, a version, an input and an output, which are Go structs and JSON Schemas
// for everybody else, a permission, a rate, and a handler. A Registry holds the skills of one
// evertick.Sim. Each call goes the same way:
//
//	resolve      the skill by name, or name@version         not_found
//	validate     size, JSON, schema, types                  invalid_input
//	permission   of the profile of the actor                forbidden
//	rate         a token bucket in ticks                    rate_limited, capacity_exceeded
//	handler      in the tick, on the goroutine of Step      stale_entity, handler_error, …
//	trace        an Event, whatever became of the call
//
// A call from outside is an input of the Sim. It runs at the beginning of a tick, behind those
// that were handed over before it, and its result is there when the tick is complete:
//
//	Caller.Submit ──▶ evertick.Sim.Push ──▶ system "skills" ──▶ AfterTick ──▶ Pending.Result
//	any goroutine                           BeforePhysics
//
// Systems call Registry.Call within their tick; agents do so by Registry.Apply, which takes plain
// types.
//
// Bodies live in a plane and entities in three dimensions: what becomes of the third axis is the rule of
// the section "The plane" in package physics, and Standard says how skills keep it. Scene gives a Sim the gravity
// that a scene has.
//
// Who calls is an Actor, which the host names: with the profile of a reader, player, builder or
// admin, or one that the host adds. A player changes its own entity and nothing else. Standard
// registers the skills for entities, tags, bodies, queries and snapshots; Register adds others.
//
// # Guarantees
//
//   - A call that is refused leaves the world as it was, bit for bit, and so does one whose
//     handler, of those of Standard, returns an error. What Register adds must keep that itself:
//     look first, then act. (With another engine than that of package physics, a shape that it
//     lacks uses up an id, and nothing else.)
//   - What waits for its tick is in the log of a recording as inputs, so a replay makes the same
//     calls, with the same refusals: rates and a hash over all events are in the state of
//     the Sim. Registry, skills and profiles are part of the scenario that the replay builds.
//   - Every call is an event with actor, skill, cause, tick, code and hashes of input and output,
//     in memory (Registry.Trace) and, with Registry.LogTo, in the log. Calls that were not even
//     let in, since too many waited, are counted, and stand in one event for each actor and tick.
//   - Ids name entities, never slots; one that is gone, or never was, is an error.
//   - NaN, infinities, numbers beyond Config.Extent, names that stand twice in an object, unknown
//     fields, bytes that are no UTF-8 and inputs of more than Config.InputBytes are refused.
//   - A tick in which nobody calls allocates nothing.
//
// # Limitations
//
// The side of the host is trusted: who can call evertick.Sim.Push, or can write to a log, can call as any actor.
// Names of tags stay registered in a World for ever, also those of lives before a Restore: where these and
// the names of the present life exceed ecs.MaxTags, a tag is refused that a new process would give. Keep Config.Tags
// well below it where worlds go back often. Results that a Restore has overtaken come as ErrClosed. What Registry.Trace and
// Registry.Snapshot keep is of this process, and in no snapshot.
package skill
