// Package agent lets agents of an evertick.Sim perceive and act on the tick, and decide off
// the tick: however long a language model thinks, no tick waits for it, and a replay needs no model.
//
// # Model
//
//	tick n, after the index                        off the tick
//	  due agents ── one batched radius query
//	     │ perception, and its hash
//	     │ not in request, within the limits
//	     └──▶ Issued ───────────────────────────▶ Provider.Decide, a goroutine
//	                                                   │ 300 ms
//	tick n+18, before physics                          │
//	  inputs ◀── Sim.Push ◀── the answer, checked ◀────┘
//	     │ checked again: Accepted, or Rejected as a whole
//	     └──▶ queue ──▶ Config.Apply, by (tick, agent, decision, index)
//
// Everything that matters to the simulation happens on the tick: which agents are due, what they perceive,
// which of them are asked when a limit does not admit all, which answers count, deadlines, and the order of
// actions. It is a function of the state and of the inputs. An answer is an input of the Sim, and so is the
// failure of a provider to answer in time. So a log of package replay contains both, and Verify, Seek, Fork,
// Rollback and Sim.StepBack repeat the run without calling a provider.
//
//	agents, err := agent.New(sim, agent.Config{
//		Actions:   []agent.ActionDef{{Name: "go", Args: []agent.ArgDef{{Name: "x"}, {Name: "y"}}}},
//		Providers: []agent.ProviderConfig{{Provider: model, InFlight: 8}},
//		Apply: func(t *evertick.Tick, q *agent.Queued) error { … },
//	})
//	err = agents.Add(id, agent.Spec{IntervalTicks: 30, Radius: 15, Provider: 0})
//
// # Life of a decision
//
//	Perceived ─▶ Issued ─┬▶ Accepted ─┬▶ Applied   some of its actions, in one tick
//	                     │            └▶ Rejected  one action: its target is gone, Apply refused
//	                     ├▶ Rejected   malformed, unknown action, no room, provider failed …
//	                     ├▶ Expired    Spec.DeadlineTicks, or Spec.Timeout in wall time
//	                     └▶ Cancelled  agent removed, despawned, withdrawn; closed
//
// Each step is a Record that names the one that caused it, from the action back to the hash of
// the perception: see Agents.Records, Config.OnRecord and Agents.LogTo.
//
// # Backpressure
//
// An agent has at most one decision in flight, and is asked at most once in a tick. Limits on decisions
// in flight and on starts per tick hold for each provider and for all together; where they turn
// agents away, the agents of the highest Spec.Priority are asked first, and turns are shared out by Spec.Weight
// among agents of equal priority. A lower priority can starve: Agents.Classes counts the turns of each. Spec.Shed
// says what happens to a lost turn.
// Waiting actions, and those applied in a tick, are limited, too. Stats counts all of it. A provider that returns a
// RetryError is not asked by any agent for as many ticks as it says; the answer, and so the log, has their number.
//
// # Modes
//
// Live: providers are called. Replay: no provider is called. Whatever Config.Mode says, none is called in
// ticks that Sim.StepBack runs again and in ticks whose inputs come from a feed, as under replay.Verify, Play
// and Seek. Hybrid: a replay up to a tick and then live: replay.Player.Live, replay.Fork, or Config.LiveFrom.
// The provider is then called for each decision in flight, with its old perception, if this process has
// replayed the tick in which the decision was requested. After a Restore from a snapshot the perception is not
// known, and the decision is cancelled as Orphaned. Agents.Redecide passes the perceptions to another provider
// and compares its decisions. Under replay.Rollback set Config.Send, collect the inputs, and pass them to
// Advance.
//
// # Reflexes
//
// NewReflex is for what needs no provider: one call lets all agents steer, avoid or shove in every tick, from
// sums over what they perceive. It keeps no state and no records.
//
// # Guarantees
//
//   - The same inputs give the same perceptions, decisions and actions, whatever the number of
//     workers, the level, and the order in which answers arrive between two ticks.
//   - A decision is applied whole or not at all, except for actions whose target no longer
//     lives or which Config.Apply refuses; each of these is recorded.
//   - A provider that is slow, never returns, fails, panics, or returns nonsense costs its own agent turns,
//     and delays no tick. A call that ignores its context is abandoned: its goroutine lives until it returns,
//     and at most ProviderConfig.Abandoned such goroutines live at once.
//   - A tick that requests no decision and receives no answer allocates nothing after warm-up.
//   - Close returns when every call has returned.
package agent
