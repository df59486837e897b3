package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// Provider decides for agents. It runs on a goroutine of its own, off the tick, and several
// at once: Decide must be safe for that. It may take as long as it likes: what it returns
// after the timeout of the agent is thrown away. It should return soon once ctx is done; a
// call that does not is counted as abandoned until it returns.
//
// The Perception is the call's own: it may be kept, and is not changed by anybody else. An
// error is a decision that was rejected, and so is a panic.
type Provider interface {
	Decide(ctx context.Context, p *Perception) (Decision, error)
}

// Decision is what a provider returns: what the agent does, in this order. No action is a
// decision too.
type Decision struct {
	Actions []Action
}

// Action is one thing that an agent does.
type Action struct {
	// Name is one of Config.Actions.
	Name string
	// Target is whom it is done to; 0: nobody.
	Target ecs.ID
	// Args are the arguments that the ActionDef names, all of them, in its order.
	Args []float32
	// Data is what numbers cannot say: a text, or bytes.
	Data []byte
	// After is the number of ticks that it waits, from the tick in which the decision
	// arrives, up to MaxAfter.
	After uint32
}

// MaxAfter is the longest that an action can wait for its tick.
const MaxAfter = 1 << 20

// Queued is an action on its way to its tick, as Config.Apply sees it. It is good until that
// returns.
type Queued struct {
	Action
	Kind     int    // index into Config.Actions
	Tick     uint64 // from which on it is due
	Agent    ecs.ID
	Decision uint64 // that made it
	Index    int    // among the actions of the decision
}

// TargetRule says whether an action has a target.
type TargetRule uint8

const (
	NoTarget   TargetRule = iota // it has none
	NeedTarget                   // an entity that lives when it is applied
	MayTarget                    // both
)

// ActionDef describes an action: what a provider may ask for, and what it is told of it.
type ActionDef struct {
	// Name is 1 to 64 of A-Z a-z 0-9 _ -, as tools of language models are called.
	Name string
	// Doc says to a model what the action does.
	Doc    string
	Target TargetRule
	Args   []ArgDef
	// MaxData is the most bytes of Action.Data. 0: it has none.
	MaxData int
}

// ArgDef describes a number, which lies in [Min, Max]. Both 0: any finite number.
type ArgDef struct {
	Name, Doc string
	Min, Max  float32
}

// Bounds returns the least and the greatest value.
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
	// InFlight is the most decisions that are on their way at once, and at most Abandoned. 0: 256.
	InFlight int
	// StartsPerTick is the most that begin in a tick. 0: any number.
	StartsPerTick int
	// Abandoned is the most calls that have not returned, whether they were given up or are still
	// waited for: each of the latter may be given up at once. With that many nobody is asked;
	// decisions are rejected at once. 0: InFlight + 64.
	Abandoned int
}

// Shed says what becomes of the turn of an agent that is due and cannot be asked: since its
// last decision is still on its way, or a limit is reached.
type Shed uint8

const (
	// Skip: the turn is lost.
	Skip Shed = iota
	// Coalesce: the agent is asked as soon as it can be, once, with what it perceives then.
	Coalesce
	// Fallback: Config.Fallback decides, at once, on the tick.
	Fallback
	shedEnd
)

// Mode says who answers.
type Mode uint8

const (
	// Live: providers are called, from Config.LiveFrom on; but not in a tick that runs
	// again, nor in one whose inputs a feed tells, as that of a replay, unless there is a Config.Send.
	Live Mode = iota
	// Replay: no provider is ever called.
	Replay
	modeEnd
)

// Config of Agents. The zero value works, but nobody decides.
type Config struct {
	// Name is that of the state ("agent" if empty); its systems are Name.apply and
	// Name.perceive.
	Name string
	// Kind and Source mark the inputs in which answers arrive: nobody else may push inputs
	// with both. 0: DefaultKind and DefaultSource.
	Kind, Source uint32

	// Actions are those that a decision may have, at most 4,096.
	Actions []ActionDef
	// Apply does an action to the world, before physics. An error says that it was not
	// done, and must have changed nothing; it is recorded. nil: nothing is done.
	Apply func(t *evertick.Tick, q *Queued) error
	// Providers are asked; Spec.Provider is an index into them. At most 256.
	Providers []ProviderConfig
	// Fallback decides on the tick for agents whose Spec.Shed says so: it appends actions
	// to dst. It must depend on p alone, which is good until it returns.
	Fallback func(p *Perception, dst []Action) []Action

	// Tags are names of tags, at most 64, that perceptions tell: bit i is Tags[i].
	Tags []string
	// MaxNeighbours is the most neighbours in a perception: the nearest. 0: 64.
	MaxNeighbours int
	// Events is how many of Notify are kept, and MaxEvents how many a perception has at
	// most, the latest. 0: 64 and 8.
	Events, MaxEvents int

	// InFlight and StartsPerTick are limits as those of ProviderConfig, for all providers
	// together. 0: 256, and any number.
	InFlight, StartsPerTick int
	// MaxActions and MaxBytes limit a decision: its actions, and its bytes when encoded as
	// an input. 0: 16, and 16 KiB.
	MaxActions, MaxBytes int
	// Queue and AgentQueue limit the actions that wait, of all and of one agent. A decision
	// that does not fit whole is rejected whole. 0: 4096, and 64.
	Queue, AgentQueue int
	// ActionsPerTick and AgentActionsPerTick limit the actions applied in a tick, of all
	// and of one agent; the others wait. 0: 1024, and 16.
	ActionsPerTick, AgentActionsPerTick int
	// DeadlineTicks and Timeout are those of agents whose Spec has none. 0: 3600 ticks, and
	// 30 s.
	DeadlineTicks uint32
	Timeout       time.Duration
	// MaxAgents that can be there at once. 0: 16384.
	MaxAgents int
	// Records is how many of the last records are kept. 0: 4096.
	Records int
	// OnRecord is called for every record, on the tick. It must not change the simulation.
	OnRecord func(t *evertick.Tick, r *Record)
	// OnFailure is called on the tick for what was rejected, expired or cancelled by an answer
	// or by Apply, with a text for people. It must not change the simulation.
	OnFailure func(r *Record, text string)

	Mode Mode
	// LiveFrom is the first tick in which providers are called.
	LiveFrom uint64
	// Send hands answers to the Sim, from any goroutine. nil: Sim.Push. For a Sim whose
	// inputs come from a feed, as under replay.Rollback.
	Send func(evertick.Input) error
}

// What marks the inputs of agents unless Config says otherwise.
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
	// Weight is its share where a limit lets not all be asked: one of weight 8 is asked
	// eight times as often as one of weight 1. 1 to 1<<20; 0: 1.
	Weight uint32
	// DeadlineTicks is after how many ticks a decision that has not arrived expires. 0:
	// that of Config.
	DeadlineTicks uint32
	// LatencyTicks is how many ticks after it was asked the actions of a decision are due
	// at the earliest, up to MaxAfter: then a provider that is fast enough is always as fast.
	LatencyTicks uint32
	// Timeout of the provider, in wall time. 0: that of Config.
	Timeout time.Duration
	Shed    Shed
}

const (
	defaultInFlight  = 256
	spareAbandoned   = 64 // calls that may be given up before they take room from others
	maxActionDefs    = 4096
	maxProviders     = 256
	maxTags          = 64
	maxWeight        = 1 << 20
	limit            = 1 << 30 // of what is counted
	minDecisionBytes = 64      // less holds no message
)

// withDefaults replaces zeros.
func (c Config) withDefaults() Config {
	for _, d := range []struct {
		v   *int
		def int
	}{
		{&c.MaxNeighbours, 64}, {&c.Events, 64}, {&c.MaxEvents, 8}, {&c.InFlight, defaultInFlight}, {&c.StartsPerTick, limit},
		{&c.MaxActions, 16}, {&c.MaxBytes, 16 << 10}, {&c.Queue, 4096}, {&c.AgentQueue, 64}, {&c.ActionsPerTick, 1024},
		{&c.AgentActionsPerTick, 16}, {&c.MaxAgents, ecs.DefaultCapacity}, {&c.Records, 4096},
	} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if c.Name == "" {
		c.Name = "agent"
	}
	if c.Kind == 0 {
		c.Kind = DefaultKind
	}
	if c.Source == 0 {
		c.Source = DefaultSource
	}
	if c.DeadlineTicks == 0 {
		c.DeadlineTicks = 3600
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	c.Providers = append([]ProviderConfig(nil), c.Providers...)
	for i := range c.Providers {
		p := &c.Providers[i]
		if p.InFlight == 0 {
			p.InFlight = defaultInFlight
		}
		if p.StartsPerTick == 0 {
			p.StartsPerTick = limit
		}
		switch {
		case p.Abandoned == 0:
			p.Abandoned = min(max(p.InFlight, 0)+spareAbandoned, limit)
		case p.Abandoned > 0:
			p.InFlight = min(p.InFlight, p.Abandoned)
		}
	}
	return c
}

// faults collects those of a configuration.
type faults []error

func (f *faults) bad(field string, value any) {
	*f = append(*f, fault.Field(fault.ErrRange, "agent: "+field, value))
}

func (f *faults) within(field string, v, lo, hi int) {
	if v < lo || v > hi {
		f.bad(field, v)
	}
}

// Validate reports every fault of the configuration at once, each naming its field and
// wrapping ErrRange.
func (c Config) Validate() error {
	var f faults
	d := c.withDefaults()
	if len(d.Name) > 240 {
		f.bad("len(Config.Name)", len(d.Name))
	}
	for _, n := range []struct {
		field string
		v     int
	}{
		{"MaxNeighbours", d.MaxNeighbours}, {"Events", d.Events}, {"MaxEvents", d.MaxEvents}, {"InFlight", d.InFlight},
		{"StartsPerTick", d.StartsPerTick}, {"Queue", d.Queue}, {"AgentQueue", d.AgentQueue}, {"ActionsPerTick", d.ActionsPerTick},
		{"AgentActionsPerTick", d.AgentActionsPerTick}, {"MaxAgents", d.MaxAgents}, {"Records", d.Records},
	} {
		f.within("Config."+n.field, n.v, 1, limit)
	}
	f.within("Config.MaxActions", d.MaxActions, 1, 1<<16)
	f.within("Config.MaxBytes", d.MaxBytes, minDecisionBytes, 1<<24)
	if d.DeadlineTicks > 1<<30 {
		f.bad("Config.DeadlineTicks", d.DeadlineTicks)
	}
	if d.Timeout < 0 {
		f.bad("Config.Timeout", d.Timeout)
	}
	if d.Mode >= modeEnd {
		f.bad("Config.Mode", d.Mode)
	}
	f.actions(d.Actions)
	f.providers(d.Providers)
	f.tags(d.Tags)
	return errors.Join(f...)
}

func (f *faults) actions(defs []ActionDef) {
	f.within("len(Config.Actions)", len(defs), 0, maxActionDefs)
	seen := make(map[string]bool, len(defs))
	for i := range defs {
		d, at := &defs[i], fmt.Sprintf("Config.Actions[%d].", i)
		if !validName(d.Name) || seen[d.Name] {
			f.bad(at+"Name", fmt.Sprintf("%.70q", d.Name))
		}
		seen[d.Name] = true
		if d.Target > MayTarget {
			f.bad(at+"Target", d.Target)
		}
		f.within(at+"MaxData", d.MaxData, 0, 1<<24)
		f.within("len("+at+"Args)", len(d.Args), 0, 64)
		names := make(map[string]bool, len(d.Args))
		for j := range d.Args {
			a := &d.Args[j]
			if lo, hi := a.Bounds(); !fault.Finite(lo) || !fault.Finite(hi) || lo > hi {
				f.bad(fmt.Sprintf("%sArgs[%d]", at, j), []float32{lo, hi})
			}
			if !validName(a.Name) || names[a.Name] || a.Name == "target" || a.Name == "data" || a.Name == "after" {
				f.bad(fmt.Sprintf("%sArgs[%d].Name", at, j), fmt.Sprintf("%.70q", a.Name))
			}
			names[a.Name] = true
		}
	}
}

func (f *faults) providers(list []ProviderConfig) {
	f.within("len(Config.Providers)", len(list), 0, maxProviders)
	for i := range list {
		p, at := &list[i], fmt.Sprintf("Config.Providers[%d].", i)
		if p.Provider == nil {
			f.bad(at+"Provider", nil)
		}
		f.within(at+"InFlight", p.InFlight, 1, limit)
		f.within(at+"StartsPerTick", p.StartsPerTick, 1, limit)
		f.within(at+"Abandoned", p.Abandoned, 1, limit)
	}
}

func (f *faults) tags(names []string) {
	f.within("len(Config.Tags)", len(names), 0, maxTags)
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if name == "" || seen[name] {
			f.bad(fmt.Sprintf("Config.Tags[%d]", i), fmt.Sprintf("%.70q", name))
		}
		seen[name] = true
	}
}

// validName reports whether s can name an action or an argument.
func validName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// withDefaults replaces zeros by what Config says.
func (s Spec) withDefaults(c *Config) Spec {
	if s.IntervalTicks == 0 {
		s.IntervalTicks = 1
	}
	if s.Weight == 0 {
		s.Weight = 1
	}
	if s.DeadlineTicks == 0 {
		s.DeadlineTicks = c.DeadlineTicks
	}
	if s.Timeout == 0 {
		s.Timeout = c.Timeout
	}
	return s
}

// validate reports every fault of a Spec with its defaults.
func (s *Spec) validate(c *Config) error {
	var f faults
	if s.IntervalTicks > 1<<30 {
		f.bad("Spec.IntervalTicks", s.IntervalTicks)
	}
	if s.Phase >= s.IntervalTicks {
		f.bad("Spec.Phase", s.Phase)
	}
	if !fault.Finite(s.Radius) {
		f = append(f, fault.Field(fault.ErrNotFinite, "agent: Spec.Radius", s.Radius))
	} else if s.Radius < 0 {
		f.bad("Spec.Radius", s.Radius)
	}
	f.within("Spec.Provider", s.Provider, 0, max(0, len(c.Providers)-1))
	f.within("Spec.Weight", int(s.Weight), 1, maxWeight)
	if s.DeadlineTicks > 1<<30 {
		f.bad("Spec.DeadlineTicks", s.DeadlineTicks)
	}
	f.within("Spec.LatencyTicks", int(s.LatencyTicks), 0, MaxAfter)
	if s.Timeout < 0 {
		f.bad("Spec.Timeout", s.Timeout)
	}
	if s.Shed >= shedEnd || s.Shed == Fallback && c.Fallback == nil {
		f.bad("Spec.Shed", s.Shed)
	}
	return errors.Join(f...)
}
