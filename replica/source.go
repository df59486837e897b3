package replica

import (
	"fmt"
	"slices"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// source is the quantised copy of a World and of its past, from which the messages of all clients are
// made.
//
// The goroutine of the Sim calls observe after every tick and capture when clients are to get the
// state. Another one, or the same, calls begin with all viewers, append for each of them, and end.
// Between begin and end capture does nothing and returns false. All other methods, and those of the
// viewers, belong to the goroutine that calls begin. After warm-up nothing allocates, until there are
// more entities, or more of them in a view, than ever before.
//
// A capture has a number, which counts from 1. The last Ring captures and the newest one are kept, so
// a message can be the difference to any of them.
type source struct {
	world      *ecs.World
	origin     func() [3]float64 // of the Sim
	level      native.Level
	negate     bool // the plane of the Sim turns against rotation.y
	viewConfig ViewConfig
	budget     int
	every      uint64
	ring       int // captures that are kept: Config.Ring and the newest one

	groups  []*group // in the order of the schema
	public  []*group // the first of groups
	owners  []*group // the rest
	tags    []ecs.Tag
	global  *ecs.Tag
	columns special
	shape   Schema
	shifted [][]shiftedLane // by group

	exactPosition bool // public and Exact

	// observe and capture write these, and the methods from begin to end read them.
	mutex     sync.Mutex // held by capture, and from begin to end
	teleports []uint64   // bitmap of slots since the last capture; only the goroutine of the Sim uses it
	present   present
	states    []state // of capture n at n % ring
	captures  uint64  // number of the newest one, 0: none
	oldest    uint64  // captures before this one cannot be a base
	restored  uint64  // the last one whose tick did not follow that before

	views  views
	deltas deltas
	work   scratch
}

// group is a group of the schema with its lanes in all captures.
type group struct {
	Group
	fields []*field
	lanes  int
	bits   [mostLanes]uint8
	record netcode.DeltaLanes // widths that share the 32 bits of a record evenly
	arena  []int32            // ring buffers of lanes × stride
	buffer int                // newest buffer
	tags   bool
	quats  []quatSpan // with a prediction
}

// field is the columns that fill the lanes of a Field.
type field struct {
	Field
	lane    int // its first one
	columns []ecs.ColumnView
}

// special are the columns that decide about views. Those that the Config does not name are nil.
type special struct {
	owner, category, weight *ecs.ColumnView
}

// state is what is kept of a capture, beside its lanes.
type state struct {
	tick, at uint64
	origin   [3]float64
	live     []uint64
	buffers  []int // of each group: one that has not changed shares the buffer of the capture before
}

const (
	defaultRing = 32
	mostRing    = 1024
	leastBudget = 256
	mostEvery   = 1 << 16
)

// newSource resolves the names of a Config. It joins all faults of Every, Columns, Tags, Owner, View,
// Ring and Budget. Only after it has found none does it add tags to the World that it lacks.
func newSource(sim *evertick.Sim, c *Config) (*source, error) {
	s := &source{world: sim.World, origin: sim.Origin, level: sim.Level(), negate: sim.Config().Physics.Plane == physics.XZ, viewConfig: c.View, budget: c.Budget, every: uint64(max(c.Every, 1))}
	faults := fault.List{Package: "replica"}
	c.checkRanges(&faults)
	s.resolveView(&faults)
	s.resolveColumns(c, &faults)
	if n := len(s.groups) + 1; n > mostGroups {
		faults.Add(fault.ErrCapacity, "Config.Columns: groups of columns", n)
	}
	checkTags(c.Tags, &faults)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if err := s.resolveTags(c); err != nil {
		return nil, err
	}
	s.arrange(c)
	if c.Ring == 0 {
		c.Ring = defaultRing
	}
	s.ring = c.Ring + 1
	s.states = make([]state, s.ring)
	s.work.diffs = make([][]int32, len(s.groups))
	for i := range s.states {
		s.states[i].buffers = make([]int, len(s.groups))
	}
	var err error
	if s.views.index, err = spatial.New(spatial.Config{CellSize: s.viewConfig.Leave, Level: s.level}); err != nil {
		return nil, err
	}
	return s, nil
}

// schema returns what is sent.
func (s *source) schema() Schema { return s.shape }

func (s *source) resolveView(faults *fault.List) {
	v := &s.viewConfig
	if v.Leave == 0 {
		v.Leave = v.Enter
	}
	s.columns.category = s.resolveSpecial(faults, "Config.View.Category", v.Category, func(k ecs.Kind) bool { return k == columns.Uint32 })
	s.columns.weight = s.resolveSpecial(faults, "Config.View.Weight", v.Weight, func(k ecs.Kind) bool { return k == columns.Float32 })
}

// resolveSpecial returns the column of one number with that name, nil if the name is empty.
func (s *source) resolveSpecial(faults *fault.List, where, name string, fits func(ecs.Kind) bool) *ecs.ColumnView {
	if name == "" {
		return nil
	}
	c, ok := s.world.ColumnNamed(name)
	switch {
	case !ok:
		faults.Add(fault.ErrUnsupported, where+", a column that does not exist", name)
	case c.Components() != 1 || !fits(c.Kind()):
		faults.Add(fault.ErrUnsupported, where+", a column of ["+fmt.Sprint(c.Components())+"]"+c.Kind().String(), name)
	}
	return &c
}

// ownerKind reports whether a column of k can name sessions.
func ownerKind(k ecs.Kind) bool { return !k.IsFloat() && !k.IsSigned() && k.Size() <= 4 }

func (s *source) resolveColumns(c *Config, faults *fault.List) {
	s.columns.owner = s.resolveSpecial(faults, "Config.Owner", c.Owner, ownerKind)
	list := c.Columns
	if list == nil {
		list = []Column{{Name: "position", Codec: Quantised{}}, {Name: Rotation, Codec: Quat{}}}
	}
	type key struct {
		name string
		to   Receiver
	}
	seen := make(map[key]bool)
	for i := range list {
		where := fmt.Sprintf("Config.Columns[%d]", i)
		to := list[i].To
		if to > Owner || to == Owner && c.Owner == "" {
			faults.Add(fault.ErrRange, where+".To", to)
		}
		for _, name := range expand(list[i].Name) {
			f, err := s.resolveField(where, name, list[i].Codec)
			if err != nil {
				faults.Join(err)
				continue
			}
			if seen[key{name, to}] {
				faults.Add(fault.ErrRange, where+".Name, which is there twice", name)
			}
			seen[key{name, to}] = true
			s.insert(f, to)
		}
	}
}

// expand returns the columns that a name stands for.
func expand(name string) []string {
	if name == "position" || name == "scale" {
		return []string{name + ".x", name + ".y", name + ".z"}
	}
	return []string{name}
}

func (s *source) resolveField(where, name string, codec Codec) (*field, error) {
	if codec == nil {
		codec = Exact{}
	}
	names := []string{name}
	if name == Rotation {
		names = []string{"rotation.x", "rotation.y", "rotation.z", "rotation.w"}
	}
	f := &field{}
	for _, n := range names {
		c, ok := s.world.ColumnNamed(n)
		if !ok {
			return nil, fault.Field(fault.ErrUnsupported, "replica: "+where+".Name, a column that does not exist", name)
		}
		f.columns = append(f.columns, c)
	}
	var err error
	if f.Field, err = codec.field(f.columns[0]); err != nil {
		return nil, fmt.Errorf("replica: %s: %w", where, err)
	}
	if rotates := f.Codec == KindPlanar || f.Codec == KindQuat; rotates != (name == Rotation) {
		return nil, fault.Field(fault.ErrUnsupported, "replica: "+where+".Name, for this codec", name)
	}
	if len(name) > mostName {
		return nil, fault.Field(fault.ErrRange, "replica: "+where+".Name: length", len(name))
	}
	return f, nil
}

// insert adds a field to the group where it belongs: positions are together and predicted, with the angle of a Planar. A Quat, which takes
// as many bits, is predicted in a group of its own. Scales are together, and each other column is alone. Only public numbers of a codec that
// makes them short share a group: an Exact one needs all bits of a record.
func (s *source) insert(f *field, to Receiver) {
	family := ""
	if to == Everyone && f.Codec != KindExact {
		switch f.Name {
		case "position.x", "position.y", "position.z", Rotation:
			family = "transform"
			if f.Codec == KindQuat {
				family = "rotation"
			}
		case "scale.x", "scale.y", "scale.z":
			family = "scale"
		}
	}
	if family != "" {
		for _, g := range s.groups {
			if familyOf(g) == family {
				g.fields = append(g.fields, f)
				return
			}
		}
	}
	s.groups = append(s.groups, &group{Group: Group{Owner: to == Owner, Predicted: family == "transform" || family == "rotation"}, fields: []*field{f}})
}

// familyOf returns what insert calls the family of the fields of a group.
func familyOf(g *group) string {
	switch f := g.fields[0]; {
	case g.Predicted && f.Codec == KindQuat:
		return "rotation"
	case g.Predicted:
		return "transform"
	case !g.Owner && f.Codec != KindExact && (f.Name == "scale.x" || f.Name == "scale.y" || f.Name == "scale.z"):
		return "scale"
	}
	return ""
}

func checkTags(tags []string, faults *fault.List) {
	if n := len(tags); n > mostTags {
		faults.Add(fault.ErrCapacity, "Config.Tags: number", n)
		return
	}
	for i, name := range tags {
		if name == "" || len(name) > mostName || slices.Contains(tags[:i], name) {
			faults.Join(fault.Element(fault.ErrRange, "replica: Config.Tags", i, name))
		}
	}
}

func (s *source) resolveTags(c *Config) error {
	for i, name := range c.Tags {
		t, err := s.world.Tag(name)
		if err != nil {
			return fmt.Errorf("replica: Config.Tags[%d]: %w", i, err)
		}
		s.tags = append(s.tags, t)
	}
	if name := s.viewConfig.Global; name != "" {
		t, err := s.world.Tag(name)
		if err != nil {
			return fmt.Errorf("replica: Config.View.Global: %w", err)
		}
		s.global = &t
	}
	return nil
}

// evenly shares the 32 bits of a record among lanes, none of which gets more than it has.
func evenly(lanes int, bits [mostLanes]uint8) netcode.DeltaLanes {
	shape := netcode.DeltaLanes{Lanes: lanes, Bits: bits}
	for left, more := 32, true; more; {
		more = false
		for lane := range lanes {
			if left > 0 && shape.Width[lane] < bits[lane] {
				shape.Width[lane]++
				left--
				more = true
			}
		}
	}
	return shape
}

// arrange puts the groups into the order of the schema and makes the schema: the predicted group, the
// other public ones, the tags, those of owners.
func (s *source) arrange(c *Config) {
	var ordered []*group
	add := func(fits func(*group) bool) {
		for _, g := range s.groups {
			if fits(g) {
				ordered = append(ordered, g)
			}
		}
	}
	add(func(g *group) bool { return g.Predicted })
	add(func(g *group) bool { return !g.Predicted && !g.Owner })
	if len(s.tags) > 0 {
		f := &field{Field: Field{Codec: KindTags, Kind: tagKind, Components: 1, Bits: 32}}
		ordered = append(ordered, &group{fields: []*field{f}, tags: true})
	}
	public := len(ordered)
	add(func(g *group) bool { return g.Owner })
	s.groups, s.public, s.owners = ordered, ordered[:public], ordered[public:]
	for _, g := range s.groups {
		for _, f := range g.fields {
			f.lane = g.lanes
			g.lanes += f.laneCount()
			g.Fields = append(g.Fields, f.Field)
		}
		g.bits = g.laneBits()
		g.quats = quatSpans(&g.Group)
		g.record = evenly(g.lanes, g.bits)
		s.shape.Groups = append(s.shape.Groups, g.Group)
	}
	s.shape.Tags = slices.Clone(c.Tags)
	s.findShifted()
}
