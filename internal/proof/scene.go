package proof

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// SceneName is the name of the scene.
const SceneName = "everything"

// Config of a Scene. The zero value works.
type Config struct {
	Seed uint64
	// Level of the kernels. native.Auto, the zero value: the best.
	Level native.Level
	// Workers, 1 to 1024. 0: 1.
	Workers int
	// CheckAccess is that of evertick.Config.
	CheckAccess bool
	// Stages makes every step hash what the stages of the solver compute, for Photo.
	Stages bool
	// Extend, if not nil, adds to the Sim before the scene does.
	Extend func(*evertick.Sim) error
}

// The room is a cave in the XY plane, in metres; agents also fly in front of it.
const (
	roomX = 40 // half its width
	roomY = 24 // its height
	roomZ = 8  // the depth in which agents fly

	capacity = 1024
)

// kind is what an entity is, in a column of its own.
type kind uint8

const (
	nothing      kind = iota
	totalsEntity      // the one entity with the sums over all others
	agent
	food
	part // of a machine, or rubble: it has a body
	bullet
	walker
)

// Scene is a Sim that uses every feature of this module: agents perceive,
// think, are born and die; bodies of all kinds have joints of all kinds, sleep, are
// shot at, blown up and teleported; inputs arrive; and systems use columns of all kinds.
// A run depends on its seed only.
type Scene struct {
	Sim  *evertick.Sim
	seed uint64

	cols   columns
	kinds  *ecs.Column[uint8]
	tags   tags
	ops    native.Ops
	totals ecs.ID

	props  props
	mind   mind
	senses senses
	walk   walking
	lists  [2]*physics.Commands

	ids      []ecs.ID
	buildErr error            // see keep
	hashes   []ecs.ColumnHash // scratch of attached
}

// columns of the world beside the built-in ones.
type columns struct {
	velX, velY, velZ    []float32 // m/s
	accX, accY, accZ    []float32 // m/s²
	spinX, spinY, spinZ []float32 // rad/s
	drag                []float32 // 1/s
	energy              []float32
	mood                []float32 // a sum over many, which any other order would change
	heat                []float32 // from hits
	fading              []float32 // halves until it is denormal, and then zero
	sight               []float32 // m
	pushX, pushY        []float32 // N·s, on the body of target
	odometer            []float64 // m
	trail               [][4]float32
	target              []uint32 // slot+1
	seen                []uint32
	touched             []uint32
	age                 []uint32
	team                []int16
	debt                []int64
	kind                []uint8
	group               []uint8 // of dolls
}

type tags struct{ agent, alarmed, body, doll ecs.Tag }

// New builds the scene. Errors are those of evertick.New.
func New(c Config) (*Scene, error) {
	cfg := evertick.Config{
		Capacity: capacity, Seed: c.Seed, Level: c.Level, Workers: c.Workers, Previous: true, CheckAccess: c.CheckAccess,
		Physics: physics.Config{Gravity: [2]float32{0, -10}, StageHashes: c.Stages},
		Spatial: spatial.Config{CellSize: perception},
	}
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, err
	}
	if c.Extend != nil {
		if err := c.Extend(sim); err != nil {
			return nil, err
		}
	}
	s := &Scene{Sim: sim, seed: c.Seed}
	s.ops = native.Ops{Level: sim.Level(), Pool: native.NewPool(max(c.Workers, 1))}
	s.lists = [...]*physics.Commands{sim.Physics.NewCommands(), sim.Physics.NewCommands()}
	for _, build := range []func() error{s.addColumns, s.addTags, s.populate, s.buildProps, s.addSystems} {
		if err := build(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add adds a column that is kept as a slice.
func add[T ecs.Number](s *Scene, name string, to *[]T) *ecs.Column[T] {
	c, err := ecs.AddColumn[T](s.Sim.World, name)
	if s.keep(err); err == nil {
		*to = c.Values()
	}
	return c
}

func (s *Scene) addColumns() error {
	c := &s.cols
	for _, f := range []struct {
		name string
		to   *[]float32
	}{
		{"velocity.x", &c.velX}, {"velocity.y", &c.velY}, {"velocity.z", &c.velZ},
		{"acceleration.x", &c.accX}, {"acceleration.y", &c.accY}, {"acceleration.z", &c.accZ},
		{"spin.x", &c.spinX}, {"spin.y", &c.spinY}, {"spin.z", &c.spinZ},
		{"drag", &c.drag}, {"energy", &c.energy}, {"mood", &c.mood}, {"heat", &c.heat}, {"fading", &c.fading},
		{"sight", &c.sight}, {"push.x", &c.pushX}, {"push.y", &c.pushY},
	} {
		add(s, f.name, f.to)
	}
	add(s, "target", &c.target)
	add(s, "seen", &c.seen)
	add(s, "touched", &c.touched)
	add(s, "age", &c.age)
	add(s, "odometer", &c.odometer)
	add(s, "team", &c.team)
	add(s, "debt", &c.debt)
	s.kinds = add(s, "kind", &c.kind)
	add(s, "group", &c.group)
	trail, err := ecs.AddArrayColumn[[4]float32](s.Sim.World, "trail")
	if s.keep(err); err == nil {
		c.trail = trail.Values()
	}
	return s.built()
}

func (s *Scene) addTags() error {
	for _, t := range []struct {
		name string
		to   *ecs.Tag
	}{{"agent", &s.tags.agent}, {"alarmed", &s.tags.alarmed}, {"body", &s.tags.body}, {"doll", &s.tags.doll}} {
		var err error
		*t.to, err = s.Sim.World.Tag(t.name)
		s.keep(err)
	}
	// Debts count how often an agent was alarmed.
	s.tags.alarmed.OnSet(func(_ ecs.ID, slot ecs.Slot) { s.cols.debt[slot] += 3 })
	s.tags.alarmed.OnUnset(func(_ ecs.ID, slot ecs.Slot) { s.cols.debt[slot]-- })
	return s.built()
}

// addSystems adds systems that declare what they access, which run in parallel where they
// share nothing, and systems that do not.
func (s *Scene) addSystems() error {
	s.keep(s.Sim.Resource("senses"))
	for _, sys := range []evertick.System{
		{Name: "inputs", Run: s.applyInputs},
		{Name: "born", Run: s.initBorn},
		{Name: "shove", Run: s.shove},
		{Name: "move", Run: s.move},
		{Name: "machines", Run: s.runMachines},
		{Name: "bullets", Run: s.ageBullets},
		{
			Name: "perceive", Stage: evertick.AfterIndex, Run: s.perceive, Writes: []string{"senses"},
			Reads: []string{"index", "entities", "agent", "position", "scale", "velocity.x", "velocity.y", "velocity.z"},
		},
		{
			Name: "contacts", Stage: evertick.AfterIndex, Run: s.recordContacts,
			Reads: []string{"bodies", "entities"}, Writes: []string{"touched", "heat", "debt"},
		},
		{Name: "think", Stage: evertick.AfterIndex, Run: s.think},
		{Name: "look", Stage: evertick.AfterIndex, Run: s.lookAtBodies},
		{Name: "walk", Stage: evertick.AfterIndex, Run: s.moveWalkers},
		{
			Name: "distance", Stage: evertick.AfterIndex, Run: s.addDistance,
			Reads: []string{"entities", "velocity.x", "velocity.y"}, Writes: []string{"odometer"},
		},
		{
			Name: "fade", Stage: evertick.AfterIndex, Run: s.fade,
			Reads: []string{"entities", "position"}, Writes: []string{"fading", "trail", "age"},
		},
		{
			Name: "debts", Stage: evertick.AfterIndex, Run: s.settleDebts, After: []string{"contacts"},
			Reads: []string{"senses", "entities", "team", "energy", "agent"}, Writes: []string{"debt", "mood"},
		},
		{Name: "population", Stage: evertick.AfterIndex, Run: s.updatePopulation},
	} {
		s.keep(s.Sim.AddSystem(sys))
	}
	s.keep(s.Sim.Check())
	return s.built()
}

// Step is Push and a tick.
func (s *Scene) Step() error {
	if err := s.Push(); err != nil {
		return err
	}
	return s.Sim.Step()
}

// Streams of random numbers, one for each use.
const (
	streamPlace uint32 = iota
	streamInput
	streamWander
	streamStir
	streamBirth
	streamLook
	streamGrowth
)

// populate spawns the entity of the totals, agents and food.
func (s *Scene) populate() error {
	var err error
	s.totals, err = s.spawn(totalsEntity, 0, roomY/2, 0)
	s.keep(err)
	for i := range agents + maxFood {
		r := s.random(uint64(i), streamPlace)
		x, y, z := r.Range(-roomX+1, roomX-1), r.Range(2, roomY-1), r.Range(0, roomZ)
		if i >= agents {
			_, err = s.spawn(food, x, y, z)
		} else {
			err = s.spawnAgent(x, y, z, int16(i%3))
		}
		s.keep(err)
	}
	return s.built()
}

// spawn makes an entity of a kind at a position.
func (s *Scene) spawn(k kind, x, y, z float32) (ecs.ID, error) {
	w := s.Sim.World
	id, slot, err := w.SpawnSlot()
	if err != nil {
		return 0, err
	}
	s.cols.kind[slot] = uint8(k)
	s.cols.fading[slot] = 1
	return id, w.SetPosition(id, x, y, z)
}

// spawnAgent makes an agent.
func (s *Scene) spawnAgent(x, y, z float32, team int16) error {
	id, err := s.spawn(agent, x, y, z)
	if err != nil {
		return err
	}
	slot, _ := s.Sim.World.Slot(id)
	c := &s.cols
	r := s.random(uint64(id), streamBirth)
	c.energy[slot], c.team[slot], c.drag[slot] = r.Range(0.5, 1), team, r.Range(0.1, 0.5)
	c.velX[slot], c.velY[slot], c.velZ[slot] = r.Range(-3, 3), r.Range(-3, 3), r.Range(-1, 1)
	c.spinX[slot], c.spinY[slot], c.spinZ[slot] = r.Range(-2, 2), r.Range(-2, 2), r.Range(-2, 2)
	s.tags.agent.Set(id)
	return nil
}
