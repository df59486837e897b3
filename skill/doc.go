// Package skill lets agents, authors and other programs change a running world, only through
// typed, checked and recorded calls.
//
// # Model
//
// A skill has a name, a version, an input and an output, which are structs in Go and have JSON Schemas
// outside of Go, a permission, a rate, and a handler. A Registry holds the skills of one
// evertick.Sim. Each call passes the same steps:
//
//	resolve      the skill by name, or name@version         not_found
//	validate     size, JSON, schema, types                  invalid_input
//	permission   of the profile of the actor                forbidden
//	rate         a token bucket in ticks                    rate_limited, capacity_exceeded
//	approval     of another actor, where it is asked for    pending_approval; not_approved, approval_expired
//	before       the hooks of the host, in order            refused, or another code
//	handler      in the tick, on the goroutine of Step      stale_entity, handler_error, …
//	after        the hooks, in reverse order
//	trace        an Event, also for a refused call
//
// A call needs approval because of its skill (Def.Approval) or of the profile of its actor (Profile.Approval). The
// registry then holds it: the call is part of the state, and waits until another actor calls skills.approve or
// skills.reject, which Approvals registers. After Config.HeldTicks it expires. An approved call passes the steps
// from validate on again, except for rate and approval, in the tick of the approval. The first Event of the call
// has the code pending_approval. The Event of its end names the first one (Held) and the decision's (Cause).
//
// A call from outside is an input of the Sim. It runs at the beginning of a tick, after the calls
// that were submitted before it, and its result is ready when the tick is complete:
//
//	Caller.Submit ──▶ evertick.Sim.Push ──▶ system "skills" ──▶ AfterTick ──▶ Pending.Result
//	any goroutine                           BeforePhysics
//
// Systems call Registry.Call within their tick; agents do so by Registry.Apply, which takes plain
// types.
//
// Bodies live in a plane and entities in three dimensions: the section "The plane" of package physics has the
// rule for the third axis, and Standard says how skills apply it. Scene gives a Sim the gravity of a scene.
//
// The caller is an Actor, which the host names: with the profile of a reader, player, builder or
// admin, or one that the host adds. A player changes its own entity and nothing else. Standard
// registers the skills for entities, tags, bodies, queries and snapshots; Register adds others.
//
// # Guarantees
//
//   - A call that is refused leaves the world as it was, bit for bit, and so does one whose
//     handler, of those of Standard, returns an error. Handlers of Register must do the same:
//     check first, then act. (With another engine than that of package physics, a shape that it
//     lacks uses up an id, and nothing else.)
//   - Calls are in the log of a recording as inputs, so a replay makes the same
//     calls, with the same refusals: rates, held calls and a hash over all events are in the
//     state of the Sim. Registry, skills, profiles and hooks are part of the scenario that the replay builds.
//   - Every call is an event with actor, skill, cause, tick, code and hashes of input and output,
//     in memory (Registry.Trace) and, with Registry.LogTo, in the log. Calls that were rejected
//     because too many waited are counted in one event for each actor and tick.
//   - Ids name entities, never slots; the id of an entity that does not live is an error.
//   - NaN, infinities, numbers beyond Config.Extent, repeated names in an object, unknown
//     fields, bytes that are not UTF-8 and inputs of more than Config.InputBytes are refused.
//   - A tick without calls allocates nothing, whether calls are held or not.
//
// # Limitations
//
// The host is trusted: code that can call evertick.Sim.Push, or write to a log, can call as any actor. Names of
// tags stay registered in a World, also those from before a Restore. If there are more of them than ecs.MaxTags,
// a World refuses a tag that a new process would accept: keep Config.Tags well below it if a world is restored
// often. A Restore ends waiting calls with ErrClosed, and held calls too if the restored state does not hold them.
// After a restart of the process no Pending exists for a held call, so its result is in the trace only. Registry.Trace and Registry.Snapshot keep their data in
// this process, and in no snapshot.
package skill
