package skill

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/spatial"
	"github.com/google/jsonschema-go/jsonschema"
)

// Config of a Registry. The zero value works. All of it but Trace and Snapshots decides what
// calls do, so a replay needs the same.
type Config struct {
	// Calls is how many calls from outside may wait for a tick, which is as many as a tick takes,
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
	// Buckets is for how many pairs of actor and skill rates are kept at once: those that
	// have called lately. 1 to 1<<20. 0: 4096.
	Buckets int
	// Tags is how many different tags skills may give in the life of a world, up to
	// ecs.MaxTags. 0: 128.
	Tags int
	// Extent bounds coordinates, from -Extent to Extent metres, 1 to 1e9. 0: 1e6.
	Extent float32
	// Trace is how many events are kept, 1 to 1<<20. 0: 1024.
	Trace int
	// Snapshots is how many of world.snapshot are kept, 1 to 1024, the latest. 0: 4.
	Snapshots int
	// SnapshotBytes is the largest snapshot, up to 1<<30. 0: 1<<26.
	SnapshotBytes int
}

// leastOutput is room for all that the skills which change something have to say.
const leastOutput = 4096

// limits of the fields that are whole numbers.
func (c *Config) limits() []limit {
	return []limit{
		{"Calls", &c.Calls, 1 << 16, 256}, {"ActorCalls", &c.ActorCalls, 1 << 16, 0},
		{"InputBytes", &c.InputBytes, 1 << 20, 16384}, {"OutputBytes", &c.OutputBytes, 1 << 24, 1 << 18},
		{"Rows", &c.Rows, 1 << 16, 256}, {"Buckets", &c.Buckets, 1 << 20, 4096}, {"Tags", &c.Tags, ecs.MaxTags, 128},
		{"Trace", &c.Trace, 1 << 20, 1024}, {"Snapshots", &c.Snapshots, 1024, 4},
		{"SnapshotBytes", &c.SnapshotBytes, 1 << 30, 1 << 26},
	}
}

type limit struct {
	name        string
	v           *int
	most, usual int
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	var errs []error
	for _, l := range c.limits() {
		if *l.v < 0 || *l.v > l.most {
			errs = append(errs, fault.Field(ErrRange, "skill: Config."+l.name, *l.v))
		}
	}
	if calls := c.withDefaults().Calls; c.ActorCalls > calls {
		errs = append(errs, fault.Field(ErrRange, "skill: Config.ActorCalls", c.ActorCalls))
	}
	if c.OutputBytes > 0 && c.OutputBytes < leastOutput {
		errs = append(errs, fault.Field(ErrRange, "skill: Config.OutputBytes", c.OutputBytes))
	}
	if c.Extent != 0 && !(c.Extent >= 1 && c.Extent <= 1e9) {
		errs = append(errs, fault.Field(ErrRange, "skill: Config.Extent", c.Extent))
	}
	return errors.Join(append(errs, c.Rate.validate("skill: Config.Rate"))...)
}

func (c Config) withDefaults() Config {
	for _, l := range c.limits() {
		if *l.v == 0 {
			*l.v = l.usual
		}
	}
	if c.ActorCalls == 0 {
		c.ActorCalls = max(1, c.Calls/4)
	}
	if c.Extent == 0 {
		c.Extent = 1e6
	}
	if c.Rate == (Rate{}) {
		c.Rate = Rate{Calls: 60, Ticks: 60}
	}
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
	// Description for who chooses among skills.
	Description string
	// Permission that an actor needs.
	Permission string
	// ReadOnly says that the handler changes nothing.
	ReadOnly bool
	// Rate bounds how often an actor calls it. The zero Rate: that of Config.
	Rate Rate
	// Constrain, if not nil, narrows the schema that was made of the input's type: ranges, lists of
	// values, patterns.
	Constrain func(input *jsonschema.Schema)
}

// Skill is one that was registered.
type Skill struct {
	Def
	Input, Output *jsonschema.Schema // not to be changed
}

// PlainName returns a name with underscores instead of dots, by which a skill can be called too: for
// language models and clients that want names of tools without dots.
func PlainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// FullName returns "name@version".
func (s *Skill) FullName() string { return s.Name + "@" + strconv.Itoa(s.Version) }

// entry is a skill with what runs it.
type entry struct {
	Skill
	full    string
	input   *jsonschema.Resolved
	prepare func(data []byte) (prepared, error)
}

// prepared is a call whose input is decoded.
type prepared struct {
	target   string
	targeted bool
	run      func(*Call) (any, error)
}

// Targeter is an input that says which entity the call is to change, as Actor.Entity is
// written: it is what profiles that are limited to an entity ask.
type Targeter interface{ Target() string }

// Call is what a handler gets to see.
type Call struct {
	Tick     *evertick.Tick
	Sim      *evertick.Sim
	Registry *Registry
	Actor    Actor
	Skill    string // with its version
	Cause    uint64 // what has led to the call: the number of an event, or of a decision
	Seq      uint64 // number of the call, counted from 1
	after    func() // for when the tick is complete
}

// Registry holds skills, and runs calls of them in the ticks of one Sim.
type Registry struct {
	sim      *evertick.Sim
	config   Config
	skills   map[string]*entry // by name, plain name, and name@version
	ordered  []*entry
	profiles map[string]*Profile
	actors   map[string]Actor

	state   state
	index   *spatial.Index // for queries when that of the Sim is of another moment
	found   spatial.Result
	slots   []ecs.Slot
	scratch []byte
	tags    map[string]ecs.Tag
	trial   trial

	after []func() // of this tick
	mail  mailbox
	trace ring
	saved saved
	log   Appender
	event []byte
}

// New makes a registry without skills for a Sim: a system "skills" of BeforePhysics, in which
// the calls from outside run, and a state of that name. It goes before the first tick, as a part of
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
		if err := r.AddProfile(p); err != nil {
			return nil, err
		}
	}
	r.trace.events = make([]Event, 0, min(r.config.Trace, 1024))
	r.trace.most = r.config.Trace
	r.mail.init(sim.Ticks())
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

// Sim returns the Sim that the registry belongs to.
func (r *Registry) Sim() *evertick.Sim { return r.sim }

// Config returns the configuration with its defaults filled in.
func (r *Registry) Config() Config { return r.config }

var skillName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$`)

// Validate reports every fault of the definition at once.
func (d Def) Validate() error {
	var errs []error
	if len(d.Name) > maxSkill || !skillName.MatchString(d.Name) {
		errs = append(errs, fault.Field(ErrRange, "skill: Def.Name", quoted(d.Name)))
	}
	if d.Version < 0 || d.Version > 1e6 {
		errs = append(errs, fault.Field(ErrRange, "skill: Def.Version", d.Version))
	}
	if d.Permission == "" || strings.Contains(d.Permission, "*") {
		errs = append(errs, fault.Field(ErrRange, "skill: Def.Permission", quoted(d.Permission)))
	}
	return errors.Join(append(errs, d.Rate.validate("skill: Def.Rate"))...)
}

// Register adds a skill whose input and output are the structs In and Out: JSON Schemas are
// made of them, in which fields are required unless they are marked omitempty or omitzero. In
// may be a Targeter; its fields of type Vec and Quat may come as objects or as arrays.
//
// The handler runs in a tick, on the goroutine of evertick.Sim.Step. It looks first and acts
// when nothing can go wrong any more: after an error the world must be as it was. Randomness
// comes from Tick.Rand. A panic in it is one of the system that runs it. What Out holds must be
// JSON: no NaN, no infinity.
//
// A name and version that is taken, a PlainName of another skill, and a type that has no schema, is ErrRange; other errors
// are those of Def.Validate.
func Register[In, Out any](r *Registry, d Def, handler func(*Call, In) (Out, error)) error {
	if handler == nil {
		panic("skill: Register: nil handler")
	}
	if err := d.Validate(); err != nil {
		return err
	}
	in, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: inputSchemas()})
	if err != nil {
		return fmt.Errorf("skill: Register: input of %s: %w: %w", d.Name, err, ErrRange)
	}
	out, err := jsonschema.For[Out](nil)
	if err != nil {
		return fmt.Errorf("skill: Register: output of %s: %w: %w", d.Name, err, ErrRange)
	}
	if in.Type != "object" || out.Type != "object" {
		return fmt.Errorf("skill: Register: %s: input and output must be structs: %w", d.Name, ErrRange)
	}
	return r.add(d, in, out, func(data []byte) (p prepared, err error) {
		var v In
		if err := strict(data, &v); err != nil {
			return p, err
		}
		if t, ok := any(v).(Targeter); ok {
			p.target, p.targeted = t.Target(), true
		}
		p.run = func(c *Call) (any, error) { return handler(c, v) }
		return p, nil
	})
}

func (r *Registry) add(d Def, in, out *jsonschema.Schema, prepare func([]byte) (prepared, error)) error {
	d.Version = max(d.Version, 1)
	if d.Rate == (Rate{}) {
		d.Rate = r.config.Rate
	}
	if d.Constrain != nil {
		d.Constrain(in)
	}
	e := &entry{Skill: Skill{Def: d, Input: in, Output: out}, prepare: prepare}
	e.full = e.FullName()
	var err error
	if e.input, err = in.Resolve(nil); err != nil {
		return fmt.Errorf("skill: Register: input of %s: %w: %w", d.Name, err, ErrRange)
	}
	if _, taken := r.skills[e.full]; taken {
		return fault.Field(ErrRange, "skill: Register: name", e.full+", which is taken")
	}
	plain := PlainName(d.Name)
	if old, ok := r.skills[plain]; ok && old.Name != d.Name {
		return fault.Field(ErrRange, "skill: Register: name", d.Name+", which without dots is that of "+old.Name)
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

// Skills lists what was registered, by name and version.
func (r *Registry) Skills() []Skill {
	list := make([]Skill, len(r.ordered))
	for i, e := range r.ordered {
		list[i] = e.Skill
	}
	return list
}

// mailbox is the side that is not in a tick: guarded by its mutex.
type mailbox struct {
	sync.Mutex
	now     uint64 // the tick that has not ended
	seq     uint64 // of the last input
	waiting map[uint64]*Pending
	ready   []*Pending // of this tick
	byActor map[string]int
	refused map[string]uint64 // at the door, since the last tick, by actor
	counts  Stats
	closed  error
}

// marshal makes the output of a handler. It is the last thing that can refuse a call.
func (r *Registry) marshal(out any) (json.RawMessage, *Error) {
	data, err := json.Marshal(out)
	if err != nil {
		return nil, refuse(HandlerError, "", "output: %s", short(err))
	}
	if len(data) > r.config.OutputBytes {
		return nil, refuse(CapacityExceeded, "", "output of %d bytes, of which %d are allowed", len(data), r.config.OutputBytes)
	}
	return data, nil
}
