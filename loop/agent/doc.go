// Package agent lets agents of an evertick.Sim perceive and act on the tick, and decide off
// it: however long a language model thinks, no tick waits for it, and a replay needs no model.
//
// # Model
//
//	tick n, behind the index                       off the tick
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
// All that decides is on the tick: who is due, what it perceives, who is asked where a limit
// lets not all be, which answers count, deadlines, and the order of actions. It is a function
// of the state and of the inputs. An answer is an input of the Sim, and so is the news that
// none came in time; so a log of package replay has them, and Verify, Seek, Fork, Rollback and
// Sim.StepBack repeat the run without asking anybody.
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
// what was perceived: see Agents.Records, Config.OnRecord and Agents.LogTo.
//
// # Back-pressure
//
// An agent has one decision on its way at most, and is asked once in a tick at most. Limits on decisions
// on their way and on starts per tick hold for each provider and for all; where they turn
// somebody away, turns go by Spec.Weight. What becomes of a turn that is lost says
// Spec.Shed. Actions that wait, and those applied in a tick, are bounded, too. All of that is
// counted in Stats.
//
// # Modes
//
// Live: providers are called. Replay: none is, whatever Config.Mode says, in ticks that Sim.StepBack
// runs again and where a feed tells the inputs, as replay.Verify, Play and Seek do. Hybrid:
// a replay up to a tick and then live: replay.Player.Live, replay.Fork, or Config.LiveFrom. A
// decision on its way at that moment is asked of the provider then, with its old perception, if this
// process has replayed the tick in which it was asked; behind a Restore from a snapshot nobody knows
// what was perceived, and it is cancelled as Orphaned. Agents.Redecide offers what was perceived to
// another provider and compares. Under replay.Rollback set Config.Send, collect the
// inputs, and pass them to Advance.
//
// # Guarantees
//
//   - The same inputs give the same perceptions, decisions and actions, whatever the number of
//     workers, the level, and the order in which answers arrive between two ticks.
//   - A decision is applied whole or not at all, but for actions whose target is gone by
//     then or which Config.Apply refuses; each of these is recorded.
//   - A provider that is slow, never returns, fails, panics, or returns nonsense costs its own agent
//     turns, and no tick any time. A call that does not heed its context is abandoned: its
//     goroutine lives until it returns, and no more than ProviderConfig.Abandoned live at once.
//   - A tick in which nobody is asked and no answer arrives allocates nothing after warm-up.
//   - Close returns when every call has returned.
package agent
