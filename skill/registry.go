package skill

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/bodies3"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/spatial"
	"github.com/evertick/evertick/worldlog"
	"github.com/google/jsonschema-go/jsonschema"
)

// Config of a Registry. The zero value works. A replay needs the same values, except for Trace and
// Snapshots.
type Config struct {
	// Calls is how many calls from outside may wait for a tick, and how many run in one,
	// 1 to 65536. 0: 256.
	Calls int
	// ActorCalls is how many of these may be of one actor, 1 to Calls. 0: a quarter of Calls.
	ActorCalls int
	// InputBytes is the longest input, up to 1<<20. 0: 16384.
	InputBytes int
	// OutputBytes is the longest output, 4096 to 1<<24. 0: 1<<18.
	OutputBytes int
	// Rows is the most that a query returns, up to 65536. 0: 256.
	Rows int
	// Rate of skills whose Def has none, for each actor and skill. The zero Rate: 60 calls in
	// 60 ticks.
	Rate Rate
	// Buckets is the number of token buckets, one for each pair of actor and skill that has called
	// recently. 1 to 1<<20. 0: 4096.
	Buckets int
	// Tags is how many different tags skills may use in the life of a world, up to
	// ecs.MaxTags. 0: 128.
	Tags int
	// Extent bounds coordinates, from -Extent to Extent metres, 1 to 1e9. 0: 1e6.
	Extent float32
	// Held is the most calls that wait for approval, 1 to 65536. One actor may have a quarter of them. 0: 64.
	Held int
	// HeldTicks is the number of ticks after which a call that waits for approval ends as ApprovalExpired, 1 to
	// 1<<30. 0: 3600.
	HeldTicks int
	// Trace is how many events are kept, 1 to 1<<20. 0: 1024.
	Trace int
	// Snapshots is how many snapshots of world.snapshot are kept, 1 to 1024, the latest. 0: 4.
	Snapshots int
	// SnapshotBytes is the largest snapshot, up to 1<<30. 0: 1<<26.
	SnapshotBytes int
	// Space, if not nil, makes the standard skills create and find bodies in space, and move and push those and the bodies in the plane:
	// space.Skills returns it.
	Space bodies3.Bodies
}

// minOutput is enough for the output of every standard skill that changes something.
const minOutput = 4096

// ints are the whole numbers of the configuration.
func (c *Config) ints() []fault.Int {
	n := fault.NewInt
	return []fault.Int{
		n("Config.Calls", &c.Calls, 256, 1, 1<<16), n("Config.InputBytes", &c.InputBytes, 16384, 1, 1<<20),
		n("Config.OutputBytes", &c.OutputBytes, 1<<18, minOutput, 1<<24), n("Config.Rows", &c.Rows, 256, 1, 1<<16),
		n("Config.Buckets", &c.Buckets, 4096, 1, 1<<20), n("Config.Tags", &c.Tags, 128, 1, ecs.MaxTags),
		n("Config.Held", &c.Held, 64, 1, 1<<16), n("Config.HeldTicks", &c.HeldTicks, 3600, 1, 1<<30),
		n("Config.Trace", &c.Trace, 1024, 1, 1<<20), n("Config.Snapshots", &c.Snapshots, 4, 1, 1024),
		n("Config.SnapshotBytes", &c.SnapshotBytes, 1<<26, 1, 1<<30),
	}
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	f, d := fault.List{Package: "skill"}, c.withDefaults()
	f.Ints(d.ints())
	f.Range("Config.ActorCalls", c.ActorCalls, 0, d.Calls)
	if !(d.Extent >= 1 && d.Extent <= 1e9) {
		f.Add(fault.ErrRange, "Config.Extent", c.Extent)
	}
	f.Join(c.Rate.validate("skill: Config.Rate"))
	return f.Err()
}

func (c Config) withDefaults() Config {
	fault.SetDefaults(c.ints())
	c.ActorCalls = cmp.Or(c.ActorCalls, max(1, c.Calls/4))
	c.Extent = cmp.Or(c.Extent, 1e6)
	c.Rate = cmp.Or(c.Rate, Rate{Calls: 60, Ticks: 60})
	return c
}

// Def describes a skill.
type Def struct {
	// Name in parts of letters, digits and underscores with dots between them, up to 64
	// bytes: "scene.createEntity".
	Name string
	// Version from 1 on; 0 is 1. Versions live side by side: "name@2" calls one, and the
	// name alone, or PlainName of it, the highest.
	Version int
	// Description helps clients to choose among skills.
	Description string
	// Permission that an actor needs.
	Permission string
	// ReadOnly says that the handler changes nothing.
	ReadOnly bool
	// Approval is set if another actor must approve each call: see Approvals.
	Approval bool
	// Rate bounds how often an actor calls it. The zero Rate: that of Config.
	Rate Rate
	// Constrain, if not nil, narrows the schema of the input, which follows from its type: ranges, lists of
	// values, patterns.
	Constrain func(input *jsonschema.Schema)
}

// Skill is a registered skill.
type Skill struct {
	Def
	Input, Output *jsonschema.Schema // not to be changed
}

// PlainName returns a name with underscores instead of dots, which names the same skill: for
// language models and clients that refuse dots in the names of tools.
func PlainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// FullName returns "name@version".
func (s *Skill) FullName() string { return s.Name + "@" + strconv.Itoa(s.Version) }

// entry is a registered skill and the function that prepares its calls.
type entry struct {
	Skill
	full    string
	input   *jsonschema.Resolved
	targets bool // its input is a Targeter
	prepare func(data []byte) (prepared, error)
}

// prepared is a call whose input is decoded.
type prepared struct {
	target string // of a Targeter
	input  any
	run    func(*Call) (any, error)
}

// Targeter is an input that names the entity which the call changes, as the text of its id. Profiles with
// OwnEntity compare it with Actor.Entity.
type Targeter interface{ Target() string }

// Call is the context of a handler.
type Call struct {
	Tick     *evertick.Tick
	Sim      *evertick.Sim
	Registry *Registry
	Actor    Actor
	Skill    string        // with its version
	Cause    uint64        // what led to the call: as Event.Cause
	Decision AgentDecision // of an agent, that the call carries out; zero: none
	Held     uint64        // number of the event with which it was held for approval; 0: it was not
	Seq      uint64        // number of the call, counted from 1
	// JSON is the input as it was submitted, and Input the value that the handler gets. Change neither.
	JSON  []byte
	Input any

	after   func() // runs when the tick is complete
	decided *decision
}

// Registry holds skills, and runs calls of them in the ticks of one Sim.
type Registry struct {
	sim      *evertick.Sim
	config   Config
	skills   map[string]*entry // by name, plain name, and name@version
	ordered  []*entry
	profiles map[string]*Profile
	actors   map[string]Actor
	hooks    []Hook

	state   state
	index   *spatial.Index // for queries if that of the Sim is out of date
	found   spatial.Result
	slots   []ecs.Slot
	scratch []byte
	tags    map[string]ecs.Tag
	trial   trial

	after     []func() // of this tick
	queue     callQueue
	trace     ring
	snapshots snapshots
	log       worldlog.Appender
	event     []byte
}

// New makes a registry without skills for a Sim: a system "skills" of BeforePhysics, in which
// the calls from outside run, and a state of that name. Call it before the first tick, as a part of
// the scenario. Errors are those of Config.Validate and of evertick.Sim.AddState.
func New(sim *evertick.Sim, c Config) (*Registry, error) {
	if sim == nil {
		panic("skill: New: nil Sim")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Registry{
		sim: sim, config: c.withDefaults(), skills: map[string]*entry{}, profiles: map[string]*Profile{},
		actors: map[string]Actor{}, tags: map[string]ecs.Tag{},
	}
	for _, p := range standardProfiles() {
		r.profiles[p.Name] = &p
	}
	r.trace.events = make([]Event, 0, min(r.config.Trace, 1024))
	r.trace.max = r.config.Trace
	r.queue.init(sim.Ticks())
	if err := sim.AddState("skills", &r.state); err != nil {
		return nil, err
	}
	r.state.registry = r
	if err := sim.Add(evertick.BeforePhysics, "skills", r.run); err != nil {
		return nil, err
	}
	sim.AddHooks(evertick.Hooks{AfterTick: r.afterTick})
	return r, nil
}

var skillName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$`)

// Validate reports every fault of the definition at once.
func (d Def) Validate() error {
	f := fault.List{Package: "skill"}
	if len(d.Name) > maxSkill || !skillName.MatchString(d.Name) {
		f.Add(fault.ErrRange, "Def.Name", quote(d.Name))
	}
	f.Range("Def.Version", d.Version, 0, 1e6)
	if d.Permission == "" || strings.Contains(d.Permission, "*") {
		f.Add(fault.ErrRange, "Def.Permission", quote(d.Permission))
	}
	f.Join(d.Rate.validate("skill: Def.Rate"))
	return f.Err()
}

// Register adds a skill whose input and output are the structs In and Out. Their JSON Schemas follow
// from the types; fields are required unless they are marked omitempty or omitzero. In
// may be a Targeter; its fields of type Vec and Quat accept objects and arrays.
//
// The handler runs in a tick, on the goroutine of evertick.Sim.Step. It must check everything before it
// acts: after an error the world must be as it was. Randomness comes from Tick.Rand. Its panic is a
// panic of the system that runs it. Out must be valid JSON: no NaN, no infinity.
//
// A name and version that is registered, the PlainName of another skill, and a type without a schema are
// evertick.ErrRange; other errors are those of Def.Validate.
func Register[In, Out any](r *Registry, d Def, handler func(*Call, In) (Out, error)) error {
	if handler == nil {
		panic("skill: Register: nil handler")
	}
	if err := d.Validate(); err != nil {
		return err
	}
	in, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: inputSchemas()})
	if err != nil {
		return fmt.Errorf("skill: Register: input of %s: %w: %w", d.Name, err, fault.ErrRange)
	}
	out, err := jsonschema.For[Out](nil)
	if err != nil {
		return fmt.Errorf("skill: Register: output of %s: %w: %w", d.Name, err, fault.ErrRange)
	}
	if in.Type != "object" || out.Type != "object" {
		return fmt.Errorf("skill: Register: %s: input and output must be structs: %w", d.Name, fault.ErrRange)
	}
	var zero In
	_, targets := any(zero).(Targeter)
	return r.add(d, in, out, targets, func(data []byte) (p prepared, err error) {
		var v In
		if err := strict(data, &v); err != nil {
			return p, err
		}
		p.input = v
		if t, ok := p.input.(Targeter); ok {
			p.target = t.Target()
		}
		p.run = func(c *Call) (any, error) { return handler(c, v) }
		return p, nil
	})
}

func (r *Registry) add(d Def, in, out *jsonschema.Schema, targets bool, prepare func([]byte) (prepared, error)) error {
	d.Version = max(d.Version, 1)
	d.Rate = cmp.Or(d.Rate, r.config.Rate)
	if d.Constrain != nil {
		d.Constrain(in)
	}
	e := &entry{Skill: Skill{Def: d, Input: in, Output: out}, targets: targets, prepare: prepare}
	e.full = e.FullName()
	var err error
	if e.input, err = in.Resolve(nil); err != nil {
		return fmt.Errorf("skill: Register: input of %s: %w: %w", d.Name, err, fault.ErrRange)
	}
	if _, taken := r.skills[e.full]; taken {
		return fault.Field(fault.ErrRange, "skill: Register: name", e.full+", which is registered already")
	}
	plain := PlainName(d.Name)
	if old, ok := r.skills[plain]; ok && old.Name != d.Name {
		return fault.Field(fault.ErrRange, "skill: Register: name", d.Name+", whose plain name is that of "+old.Name)
	}
	r.skills[e.full] = e
	if old, ok := r.skills[d.Name]; !ok || old.Version < d.Version {
		r.skills[d.Name], r.skills[plain] = e, e
	}
	r.ordered = append(r.ordered, e)
	slices.SortFunc(r.ordered, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return nil
}

// Skills lists the skills, by name and version.
func (r *Registry) Skills() []Skill {
	list := make([]Skill, len(r.ordered))
	for i, e := range r.ordered {
		list[i] = e.Skill
	}
	return list
}

// marshal encodes the output of a handler. It is the last step that can refuse a call.
func (r *Registry) marshal(out any) (json.RawMessage, *Error) {
	data, err := json.Marshal(out)
	if err != nil {
		return nil, refuse(HandlerError, "", "output: %s", shorten(err))
	}
	if len(data) > r.config.OutputBytes {
		return nil, refuse(CapacityExceeded, "", "the output has %d bytes, more than %d", len(data), r.config.OutputBytes)
	}
	return data, nil
}
