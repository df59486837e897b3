// Package otel makes OpenTelemetry spans of the causal trace of a run, with ids that are the same in a replay. It is a
// module of its own, so that other importers do not get its dependencies.
//
// # Model
//
// A Spans is a sink for the steps of package causal: of a running Sim, or of a log. It passes each span to a
// sdktrace.SpanProcessor of yours when the span ends:
//
//	spans := otel.New(otel.Config{Processor: sdktrace.NewBatchSpanProcessor(exporter), Run: "village/7"})
//	tap := causal.Attach(sim, nil, spans.Step) // or, afterwards: causal.Read(dir, nil, spans.Step)
//	agents.LogTo(tap)
//	skills.LogTo(tap)
//	…
//	spans.Close()
//
// Each decision is a trace:
//
//	decision                  from the perception to the end of its last action
//	├─ perceive               what the agent perceived
//	├─ request                from the request of a decision to the answer, or to the end of the wait; or fallback
//	├─ accept                 or reject, expire, cancel
//	├─ act                    the actions of a tick; or reject, cancel for one that was not applied
//	└─ ecs.updateComponent@1  a call of a skill
//	   └─ ecs.updateComponent@1   its end, if it was held for approval
//
// All but the last are children of the decision. Each span has a link to its cause: an action to the acceptance, the
// acceptance to the request, the request to the perception, and the end of a held call to the call of the approver.
// A call that belongs to no decision is a trace of its own. Inputs are not spans.
//
// # Ids and times
//
// Ids are hashes of Config.Run and of what identifies the step: the source and number of a decision or record, or the
// number of a call. So the spans of a live run, of its log and of a replay are equal. Runs that should not share ids
// need different names. Times are simulated, and start at Config.Epoch: a step lasts for its tick, and a request lasts
// from its tick to the tick of the answer. In a live run, spans of providers that Timed wraps also have the wall time of
// the call, as an attribute.
//
// # Attributes
//
// evertick.tick, and evertick.seq, the number of the record or event. Of decisions and records: evertick.agent,
// evertick.decision, evertick.reason, evertick.hash, evertick.provider, evertick.index, evertick.actions, and
// evertick.wall_ns. Of calls: evertick.actor, evertick.profile, evertick.entity, evertick.code, evertick.cause (a
// number), evertick.input and evertick.output. Steps that were refused, expired or cancelled have the status Error.
// evertick.open is set on spans that Close has ended.
package otel
