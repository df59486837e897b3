// Package causal exports the causal trace of a run: the inputs, the perceptions of agents, the requests to providers
// and their decisions, the actions that followed, and the calls of skills with their results.
//
// # Model
//
//	agents.LogTo ──┐
//	skills.LogTo ──┼─▶ Tap ──▶ Step, Step, …  ──▶ JSONLines, or your own sink
//	inputs ────────┘    │
//	                    └──▶ the log of a recording ── Read ──▶ the same steps ──▶ the same sink
//
// A Step is an input, a record of package agent, or an event of package skill. A Tap, which Attach returns, yields
// the steps of a running Sim; Read yields those of a log. A recorded run, its log, and a replay with a Tap in its
// scenario yield the same steps.
//
//	tap := causal.Attach(sim, rec.Log(), causal.JSONLines(file)) // rec is a replay.Recorder; nil without one
//	agents.LogTo(tap)
//	skills.LogTo(tap)
//
//	err := causal.Read(dir, nil, causal.JSONLines(file)) // from the log, afterwards
//
// Package causal/otel, a module of its own, makes OpenTelemetry spans of the steps.
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
//	decision_source  number: the source of the agents whose decision it is, if that is not agent.DefaultSource
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
// A call belongs to the decision that it carries out, whatever its actor is called: those of Registry.Apply, ApplierOf
// and CallOf state it. A number that any other caller sets is no decision. The answer of a provider belongs to its
// decision; an input with agent.DefaultKind and DefaultSource is taken for an answer. In logs of earlier versions of
// package skill, which did not write that, a call belongs to the decision of its cause if the name of its actor is the
// id of an entity.
//
// # Guarantees
//
//   - The steps of a tick are its inputs, in the order in which they were applied, and then what agents and
//     skills recorded, in the order in which it happened. A tick that fails has no steps.
//   - Ticks that run again, see evertick.Tick.Again, have no steps: their steps were yielded before.
//   - Without a Tap a tick does no more work. With one, a tick without steps allocates nothing, and a tick with steps
//     allocates only for ids and names.
//
// # Limitations
//
// Calls that were rejected because too many waited are left out, since a replay does not see them; Registry.Trace and
// the log have them. A Sim that is restored to an earlier tick yields the steps of the following ticks once more.
// Records of type worldlog.Decision and worldlog.Intent that neither agents nor skills have written are an error.
package causal
