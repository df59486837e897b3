package agent

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// Provider decides for agents. Each call of Decide runs on a goroutine of its own, off the tick, and
// several run at once: Decide must be safe for concurrent use. It may take as long as it likes: a
// decision that it returns after the timeout of the agent is discarded. It should return soon once ctx is
// done; a call that does not is counted as abandoned until it returns.
//
// The Perception belongs to the call: it may be kept, and nothing else changes it. An error
// or a panic rejects the decision. A RetryError also keeps the provider from being called for a time.
type Provider interface {
	Decide(ctx context.Context, p *Perception) (Decision, error)
}

// Decision is what a provider returns: the actions of the agent, in this order. It may have none.
type Decision struct {
	Actions []Action
}

// Action is one thing that an agent does.
type Action struct {
	// Name is one of Config.Actions.
	Name string
	// Target is the entity that it is done to; 0: none.
	Target ecs.ID
	// Args are the arguments that the ActionDef names, all of them, in its order.
	Args []float32
	// Data is a text, or bytes.
	Data []byte
	// After is the number of ticks that it waits, from the tick in which the decision
	// arrives, up to MaxAfter.
	After uint32
}

// MaxAfter is the longest that an action can wait for its tick.
const MaxAfter = 1 << 20

// Queued is an action that is due, as Config.Apply gets it. It is valid until Apply returns.
type Queued struct {
	Action
	Kind     int    // index into Config.Actions
	Tick     uint64 // the first tick in which it is due
	Agent    ecs.ID
	Decision uint64 // its number
	Index    int    // among the actions of the decision
}

// TargetRule says whether an action has a target.
type TargetRule uint8

const (
	NoTarget   TargetRule = iota // it has none
	NeedTarget                   // an entity that lives when it is applied
	MayTarget                    // both
)

// ActionDef describes an action that a provider may choose.
type ActionDef struct {
	// Name is 1 to 64 of A-Z a-z 0-9 _ -, as tools of language models are called.
	Name string
	// Doc describes the action to a model.
	Doc    string
	Target TargetRule
	Args   []ArgDef
	// MaxData is the maximum length of Action.Data: in characters if it is UTF-8, as the maxLength of a JSON Schema,
	// otherwise in bytes. 0: it has none.
	MaxData int
}

// ArgDef describes a number, which lies in [Min, Max]. Both 0: any finite number.
type ArgDef struct {
	Name, Doc string
	Min, Max  float32
}

// Bounds returns the smallest and the largest value.
func (d *ArgDef) Bounds() (lo, hi float32) {
	if d.Min == 0 && d.Max == 0 {
		return -math.MaxFloat32, math.MaxFloat32
	}
	return d.Min, d.Max
}

// ProviderConfig is a provider and its limits.
type ProviderConfig struct {
	Name     string // for people; may be empty
	Provider Provider
	// InFlight is the maximum number of decisions in flight, and at most Abandoned. 0: 256.
	InFlight int
	// StartsPerTick is the maximum number of decisions requested in a tick. 0: no limit.
	StartsPerTick int
	// Abandoned is the maximum number of calls that have not returned, abandoned or not: any of them may
	// be abandoned at any time. When that number is reached, the provider is not called, and decisions
	// are rejected at once. 0: InFlight + 64.
	Abandoned int
	// MaxDelay is the longest time for which a RetryError keeps the provider from being called. 0: 10 min.
	MaxDelay time.Duration
}

// Shed says what happens to the turn of an agent that is due and cannot be asked, because its
// last decision is still in flight or a limit is reached.
type Shed uint8

const (
	// Skip: the turn is lost.
	Skip Shed = iota
	// Coalesce: the agent is asked once, as soon as possible, with what it perceives then.
	Coalesce
	// Fallback: Config.Fallback decides, at once, on the tick.
	Fallback
	shedEnd
)

// Mode says whether providers are called.
type Mode uint8

const (
	// Live: providers are called, from Config.LiveFrom on. They are not called in a tick that runs again,
	// nor, without Config.Send, in a tick whose inputs come from a feed, as in a replay.
	Live Mode = iota
	// Replay: no provider is ever called.
	Replay
	modeEnd
)

// Config of Agents. The zero value works, but has no providers.
type Config struct {
	// Name of the state ("agent" if empty); its systems are Name.apply and
	// Name.perceive.
	Name string
	// Kind and Source mark the inputs in which answers arrive: no other input may have
	// both. 0: DefaultKind and DefaultSource.
	Kind, Source uint32

	// Actions are those that a decision may have, at most 4,096.
	Actions []ActionDef
	// Apply applies an action to the world, before physics. If it returns an error it must have
	// changed nothing; the error is recorded. nil: actions have no effect.
	Apply func(t *evertick.Tick, q *Queued) error
	// Providers decide; Spec.Provider is an index into them. At most 256.
	Providers []ProviderConfig
	// Fallback decides on the tick for agents whose Spec.Shed is Fallback: it appends actions
	// to dst. It must depend on p alone, which is valid until it returns.
	Fallback func(p *Perception, dst []Action) []Action

	// Tags are the names of tags, at most 64, that perceptions contain: bit i is Tags[i].
	Tags []string
	// MaxNeighbours is the maximum number of neighbours in a perception: the nearest. 0: 64.
	MaxNeighbours int
	// Events is the number of events of Notify that are kept, and MaxEvents the maximum number in a
	// perception: the latest. 0: 64 and 8.
	Events, MaxEvents int

	// InFlight and StartsPerTick are limits as in ProviderConfig, for all providers
	// together. 0: 256, and any number.
	InFlight, StartsPerTick int
	// MaxActions and MaxBytes limit a decision: its actions, and its bytes when encoded as
	// an input. 0: 16, and 16 KiB.
	MaxActions, MaxBytes int
	// Queue and AgentQueue limit the waiting actions, of all agents and of one. A decision
	// that does not fit whole is rejected whole. 0: 4096, and 64.
	Queue, AgentQueue int
	// ActionsPerTick and AgentActionsPerTick limit the actions applied in a tick, of all
	// agents and of one; the others wait. 0: 1024, and 16.
	ActionsPerTick, AgentActionsPerTick int
	// DeadlineTicks and Timeout hold for agents whose Spec has none. 0: 3600 ticks, and
	// 30 s.
	DeadlineTicks uint32
	Timeout       time.Duration
	// MaxAgents is the maximum number of agents. 0: 16384.
	MaxAgents int
	// Records is how many of the last records are kept. 0: 4096.
	Records int
	// OnRecord is called for every record, on the tick. It must not change the simulation.
	OnRecord func(t *evertick.Tick, r *Record)
	// OnFailure is called on the tick for everything that an answer or Apply rejected, expired or
	// cancelled, with a text for people. It must not change the simulation.
	OnFailure func(r *Record, text string)

	Mode Mode
	// LiveFrom is the first tick in which providers are called.
	LiveFrom uint64
	// Send hands answers to the Sim, from any goroutine. nil: Sim.Push. For a Sim whose
	// inputs come from a feed, as under replay.Rollback.
	Send func(evertick.Input) error
}

// Defaults of Config.Kind and Config.Source.
const (
	DefaultKind   = 0x61676e74 // "agnt"
	DefaultSource = 0xffff0061
)

// Spec says how an agent perceives and decides. The zero value is one that is due every tick and
// perceives only itself.
type Spec struct {
	// IntervalTicks is how often it is due: in ticks n with (n - Phase) % IntervalTicks
	// = 0. 0: 1.
	IntervalTicks, Phase uint32
	// Radius within which it perceives others, in metres.
	Radius float32
	// Provider is an index into Config.Providers.
	Provider int
	// Priority is the class of the agent. Where a limit does not admit all agents, higher classes always come
	// first: no agent is asked while a limit that applies to it turns an agent of a higher priority away. So a
	// lower class can starve: see Agents.Classes. A call in flight is never cancelled for a higher class. With
	// Coalesce a lost turn waits in the class of its agent; with Skip it is lost, even if the limits admit a lower
	// class in the next tick.
	Priority uint8
	// Weight is its share of the turns of its class where a limit does not admit all agents: one of weight 8 is
	// asked eight times as often as one of weight 1. 1 to 1<<20; 0: 1.
	Weight uint32
	// DeadlineTicks is the number of ticks after which a decision that has not arrived expires. 0:
	// that of Config.
	DeadlineTicks uint32
	// LatencyTicks is the least number of ticks from the request of a decision until its actions are due,
	// up to MaxAfter: providers that answer within it all have the same effect, however fast they are.
	LatencyTicks uint32
	// Timeout of the provider, in wall time. 0: that of Config.
	Timeout time.Duration
	Shed    Shed
}

const (
	defaultInFlight  = 256
	defaultMaxDelay  = 10 * time.Minute
	spareAbandoned   = 64 // calls that may be abandoned before they take room from others
	maxActionDefs    = 4096
	maxProviders     = 256
	maxTags          = 64
	maxWeight        = 1 << 20
	limit            = 1 << 30 // of counts and of ticks
	minDecisionBytes = 64
)

// ints are the whole numbers of the configuration.
func (c *Config) ints() []fault.Int {
	n := fault.NewInt
	return []fault.Int{
		n("Config.MaxNeighbours", &c.MaxNeighbours, 64, 1, limit), n("Config.Events", &c.Events, 64, 1, limit),
		n("Config.MaxEvents", &c.MaxEvents, 8, 1, limit), n("Config.InFlight", &c.InFlight, defaultInFlight, 1, limit),
		n("Config.StartsPerTick", &c.StartsPerTick, limit, 1, limit), n("Config.MaxActions", &c.MaxActions, 16, 1, 1<<16),
		n("Config.MaxBytes", &c.MaxBytes, 16<<10, minDecisionBytes, 1<<24), n("Config.Queue", &c.Queue, 4096, 1, limit),
		n("Config.AgentQueue", &c.AgentQueue, 64, 1, limit), n("Config.ActionsPerTick", &c.ActionsPerTick, 1024, 1, limit),
		n("Config.AgentActionsPerTick", &c.AgentActionsPerTick, 16, 1, limit),
		n("Config.MaxAgents", &c.MaxAgents, ecs.DefaultCapacity, 1, limit), n("Config.Records", &c.Records, 4096, 1, limit),
	}
}

// withDefaults replaces zeros.
func (c Config) withDefaults() Config {
	fault.SetDefaults(c.ints())
	c.Name = cmp.Or(c.Name, "agent")
	c.Kind, c.Source = cmp.Or(c.Kind, DefaultKind), cmp.Or(c.Source, DefaultSource)
	c.DeadlineTicks = cmp.Or(c.DeadlineTicks, 3600)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.Providers = append([]ProviderConfig(nil), c.Providers...)
	for i := range c.Providers {
		p := &c.Providers[i]
		p.InFlight, p.StartsPerTick = cmp.Or(p.InFlight, defaultInFlight), cmp.Or(p.StartsPerTick, limit)
		p.MaxDelay = cmp.Or(p.MaxDelay, defaultMaxDelay)
		switch {
		case p.Abandoned == 0:
			p.Abandoned = min(max(p.InFlight, 0)+spareAbandoned, limit)
		case p.Abandoned > 0:
			p.InFlight = min(p.InFlight, p.Abandoned)
		}
	}
	return c
}

// faults collects the faults of a configuration.
type faults struct{ fault.List }

func newFaults() faults { return faults{fault.List{Package: "agent"}} }

func (f *faults) bad(field string, value any) { f.Add(fault.ErrRange, field, value) }

// Validate reports every fault of the configuration at once, each naming its field and
// wrapping ErrRange.
func (c Config) Validate() error {
	f, d := newFaults(), c.withDefaults()
	f.Range("len(Config.Name)", len(d.Name), 0, 240)
	f.Ints(d.ints())
	f.Range("Config.DeadlineTicks", int(d.DeadlineTicks), 0, limit)
	if d.Timeout < 0 {
		f.bad("Config.Timeout", d.Timeout)
	}
	if d.Mode >= modeEnd {
		f.bad("Config.Mode", d.Mode)
	}
	f.actions(d.Actions)
	f.providers(d.Providers)
	f.tags(d.Tags)
	return f.Err()
}

func (f *faults) actions(defs []ActionDef) {
	f.Range("len(Config.Actions)", len(defs), 0, maxActionDefs)
	seen := make(map[string]bool, len(defs))
	for i := range defs {
		d, at := &defs[i], fmt.Sprintf("Config.Actions[%d].", i)
		if !validName.MatchString(d.Name) || seen[d.Name] {
			f.bad(at+"Name", fmt.Sprintf("%.70q", d.Name))
		}
		seen[d.Name] = true
		if d.Target > MayTarget {
			f.bad(at+"Target", d.Target)
		}
		f.Range(at+"MaxData", d.MaxData, 0, 1<<24)
		f.Range("len("+at+"Args)", len(d.Args), 0, 64)
		names := make(map[string]bool, len(d.Args))
		for j := range d.Args {
			a := &d.Args[j]
			if lo, hi := a.Bounds(); !fault.Finite(lo) || !fault.Finite(hi) || lo > hi {
				f.bad(fmt.Sprintf("%sArgs[%d]", at, j), []float32{lo, hi})
			}
			if !validName.MatchString(a.Name) || names[a.Name] || a.Name == "target" || a.Name == "data" || a.Name == "after" {
				f.bad(fmt.Sprintf("%sArgs[%d].Name", at, j), fmt.Sprintf("%.70q", a.Name))
			}
			names[a.Name] = true
		}
	}
}

func (f *faults) providers(list []ProviderConfig) {
	f.Range("len(Config.Providers)", len(list), 0, maxProviders)
	for i := range list {
		p, at := &list[i], fmt.Sprintf("Config.Providers[%d].", i)
		if p.Provider == nil {
			f.bad(at+"Provider", nil)
		}
		f.Range(at+"InFlight", p.InFlight, 1, limit)
		f.Range(at+"StartsPerTick", p.StartsPerTick, 1, limit)
		f.Range(at+"Abandoned", p.Abandoned, 1, limit)
		if p.MaxDelay < 0 {
			f.bad(at+"MaxDelay", p.MaxDelay)
		}
	}
}

func (f *faults) tags(names []string) {
	f.Range("len(Config.Tags)", len(names), 0, maxTags)
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" || seen[name] {
			f.bad(fmt.Sprintf("Config.Tags[%d]", i), fmt.Sprintf("%.70q", name))
		}
		seen[name] = true
	}
}

// validName matches the names of actions and arguments.
var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// withDefaults replaces zeros by the values of Config.
func (s Spec) withDefaults(c *Config) Spec {
	s.IntervalTicks, s.Weight = cmp.Or(s.IntervalTicks, 1), cmp.Or(s.Weight, 1)
	s.DeadlineTicks, s.Timeout = cmp.Or(s.DeadlineTicks, c.DeadlineTicks), cmp.Or(s.Timeout, c.Timeout)
	return s
}

// validate reports every fault of a Spec with its defaults.
func (s *Spec) validate(c *Config) error {
	f := newFaults()
	f.Range("Spec.IntervalTicks", int(s.IntervalTicks), 0, limit)
	if s.Phase >= s.IntervalTicks {
		f.bad("Spec.Phase", s.Phase)
	}
	if !fault.Finite(s.Radius) {
		f.Add(fault.ErrNotFinite, "Spec.Radius", s.Radius)
	} else if s.Radius < 0 {
		f.bad("Spec.Radius", s.Radius)
	}
	f.Range("Spec.Provider", s.Provider, 0, max(0, len(c.Providers)-1))
	f.Range("Spec.Weight", int(s.Weight), 1, maxWeight)
	f.Range("Spec.DeadlineTicks", int(s.DeadlineTicks), 0, limit)
	f.Range("Spec.LatencyTicks", int(s.LatencyTicks), 0, MaxAfter)
	if s.Timeout < 0 {
		f.bad("Spec.Timeout", s.Timeout)
	}
	if s.Shed >= shedEnd || s.Shed == Fallback && c.Fallback == nil {
		f.bad("Spec.Shed", s.Shed)
	}
	return f.Err()
}
