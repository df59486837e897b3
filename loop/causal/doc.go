// Package causal exports the causal trace of a run: what agents perceived, what was asked of providers and
// decided, which actions followed, which skills were called, with which results, and which inputs came from outside.
//
// # Model
//
//	agents.LogTo ──┐
//	skills.LogTo ──┼─▶ Tap ──▶ Step, Step, …  ──▶ JSONLines, or your own sink
//	inputs ────────┘    │
//	                    └──▶ the log of a recording ── Read ──▶ the same steps ──▶ the same sink
//
// A Step is an input, a record of package agent, or an event of package skill. Attach yields the steps of a
// running Sim, Read those of a log, and both yield the same: so do the run that was recorded, its log, and a replay
// in whose scenario a Tap is attached.
//
//	tap := causal.Attach(sim, rec.Log(), causal.JSONLines(file)) // rec is a replay.Recorder; nil without one
//	agents.LogTo(tap)
//	skills.LogTo(tap)
//
//	err := causal.Read(dir, nil, causal.JSONLines(file)) // from the log, afterwards
//
// Package loop/causal/otel, a module of its own, makes OpenTelemetry spans of the steps.
//
// # JSON lines
//
// Each step is an object on a line of its own, with these fields in this order. Numbers that may exceed 2^53 are
// strings: in decimal, or hashes in 16 hexadecimal digits. A field that has no value is left out.
//
//	id        unique in the run, and the same in a replay: "agent/5", "call/7", "input/12/7/3" (tick, source, seq);
//	          agents of another source than agent.DefaultSource have it in the id: "agent.99/5"
//	kind      input, call, or a type of an agent.Record: perceived, issued, accepted, applied, rejected, expired, cancelled
//	tick      number: the tick in which it happened
//	time      number: the simulated time at which that tick began, in seconds, cut after nine digits
//	cause     the id of the step that led to it
//	decision  the number of the decision that it belongs to
//
// of agents:
//
//	agent     "ent_3"
//	provider  number: an index into Config.Providers; of issued, unless the fallback decided
//	reason    as agent.Reason prints it
//	index     number: the first of the actions
//	actions   number of actions
//	hash      of the perception, or of the encoded actions
//
// of calls:
//
//	actor, profile, entity, skill
//	code      "ok", or a skill.Code
//	held      the id of the call's first step, if it was held for approval and this is its end
//	number    skill.Event.Cause, where it is neither the number of a decision nor, with held, the cause
//	input, output  hashes
//
// of inputs:
//
//	source, input_kind  numbers
//	seq       evertick.Input.Seq
//	late      number of ticks by which it was late
//	bytes     number, of its data
//	hash      of its data
//	of        "decision" if it is the answer of a provider, "call" if it is a call of a skill
//
// A call belongs to a decision if its actor is named by the id of an entity and it has a cause: Registry.Apply is
// called so for the actions of agents. An answer belongs to the decision that it answers; it is recognised by
// agent.DefaultKind and DefaultSource.
//
// # Guarantees
//
//   - The steps of a tick are its inputs, in the order in which they were applied, and then what agents and
//     skills recorded, in the order in which it happened. A tick that fails has no steps.
//   - Ticks that run again, see evertick.Tick.Again, have no steps: their steps were yielded before.
//   - Without a Tap nothing is added to a tick. With one, a tick without steps allocates nothing, and one with
//     steps only for ids and names.
//
// # Limitations
//
// Calls that were rejected because too many waited belong to no run, since a replay does not see them: they are left
// out, and are in Registry.Trace and in the log. A Sim that is restored to an earlier tick yields the steps of the
// ticks that follow anew. Records of type worldlog.Decision and worldlog.Intent that neither agents nor skills
// have written are an error.
package causal
