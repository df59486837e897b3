package proof

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// SceneName is what the scene is called.
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
}

// The room is a cave in the XY plane, in metres; agents also fly about in front of it.
const (
	roomX = 40 // half its width
	roomY = 24 // its height
	roomZ = 8  // the depth in which agents fly

	capacity = 1024
)

// kind is what an entity is, in a column of its own.
type kind uint8

const (
	nothing kind = iota
	soul         // the one entity that stands for the whole
	agent
	food
	part // of a contraption, or rubble: it has a body
	bullet
	walker
)

// Scene is a Sim in which everything happens that this module can do: agents perceive,
// think, are born and die; bodies of all kinds are tied by joints of all kinds, sleep, are
// shot at, blown up and teleported; inputs arrive; and systems use columns of all kinds.
// What it does depends on its seed alone.
type Scene struct {
	Sim  *evertick.Sim
	seed uint64

	cols  columns
	kinds *ecs.Column[uint8]
	tags  tags
	ops   native.Ops
	soul  ecs.ID

	props  props
	mind   mind
	senses senses
	walk   walking
	lists  [2]*physics.Commands

	ids []ecs.ID
}

// columns of the world beside the built-in ones.
type columns struct {
	velX, velY, velZ    []float32 // m/s
	accX, accY, accZ    []float32 // m/s²
	spinX, spinY, spinZ []float32 // rad/s
	drag                []float32 // 1/s
	energy              []float32
	mood                []float32 // a sum over many, which any other order would change
	heat                []float32 // what hits have left
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
	s := &Scene{Sim: sim, seed: c.Seed}
	s.ops = native.Ops{Level: sim.Level(), Pool: native.NewPool(max(c.Workers, 1))}
	s.lists = [...]*physics.Commands{sim.Physics.NewCommands(), sim.Physics.NewCommands()}
	for _, build := range []func() error{s.addColumns, s.addTags, s.populate, s.furnish, s.addSystems} {
		if err := build(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add is AddColumn for a column that is kept as a slice.
func add[T ecs.Number](w *ecs.World, err *error, name string, to *[]T) {
	c, e := ecs.AddColumn[T](w, name)
	if *err = e; e == nil {
		*to = c.Values()
	}
}

func (s *Scene) addColumns() error {
	c, w := &s.cols, s.Sim.World
	var err error
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
		if add(w, &err, f.name, f.to); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name string
		to   *[]uint32
	}{{"target", &c.target}, {"seen", &c.seen}, {"touched", &c.touched}, {"age", &c.age}} {
		if add(w, &err, f.name, f.to); err != nil {
			return err
		}
	}
	if add(w, &err, "odometer", &c.odometer); err != nil {
		return err
	}
	if add(w, &err, "team", &c.team); err != nil {
		return err
	}
	if add(w, &err, "debt", &c.debt); err != nil {
		return err
	}
	if s.kinds, err = ecs.AddColumn[uint8](w, "kind"); err != nil {
		return err
	}
	c.kind = s.kinds.Values()
	if add(w, &err, "group", &c.group); err != nil {
		return err
	}
	trail, err := ecs.AddArrayColumn[[4]float32](w, "trail")
	if err == nil {
		c.trail = trail.Values()
	}
	return err
}

func (s *Scene) addTags() error {
	for _, t := range []struct {
		name string
		to   *ecs.Tag
	}{{"agent", &s.tags.agent}, {"alarmed", &s.tags.alarmed}, {"body", &s.tags.body}, {"doll", &s.tags.doll}} {
		tag, err := s.Sim.World.Tag(t.name)
		if err != nil {
			return err
		}
		*t.to = tag
	}
	// An alarm and its end both change a column.
	s.tags.alarmed.OnSet(func(_ ecs.ID, slot ecs.Slot) { s.cols.debt[slot] += 3 })
	s.tags.alarmed.OnUnset(func(_ ecs.ID, slot ecs.Slot) { s.cols.debt[slot]-- })
	return nil
}

// addSystems adds systems that declare what they touch, and run side by side where they
// share nothing, and systems that do not.
func (s *Scene) addSystems() error {
	if err := s.Sim.Resource("senses"); err != nil {
		return err
	}
	for _, sys := range []evertick.System{
		{Name: "inputs", Run: s.takeInputs},
		{Name: "raise", Run: s.raise},
		{Name: "act", Run: s.act},
		{Name: "move", Run: s.move},
		{Name: "machines", Run: s.runMachines},
		{Name: "bullets", Run: s.ageBullets},
		{
			Name: "perceive", Stage: evertick.AfterIndex, Run: s.perceive, Writes: []string{"senses"},
			Reads: []string{"index", "entities", "agent", "position", "scale", "velocity.x", "velocity.y", "velocity.z"},
		},
		{
			Name: "feel", Stage: evertick.AfterIndex, Run: s.feel,
			Reads: []string{"bodies", "entities"}, Writes: []string{"touched", "heat", "debt"},
		},
		{Name: "think", Stage: evertick.AfterIndex, Run: s.think},
		{Name: "look", Stage: evertick.AfterIndex, Run: s.look},
		{Name: "walk", Stage: evertick.AfterIndex, Run: s.walkAbout},
		{
			Name: "travel", Stage: evertick.AfterIndex, Run: s.travel,
			Reads: []string{"entities", "velocity.x", "velocity.y"}, Writes: []string{"odometer"},
		},
		{
			Name: "fade", Stage: evertick.AfterIndex, Run: s.fade,
			Reads: []string{"entities", "position"}, Writes: []string{"fading", "trail", "age"},
		},
		{
			Name: "quarrel", Stage: evertick.AfterIndex, Run: s.quarrel, After: []string{"feel"},
			Reads: []string{"senses", "entities", "team", "energy", "agent"}, Writes: []string{"debt", "mood"},
		},
		{Name: "live", Stage: evertick.AfterIndex, Run: s.live},
	} {
		if err := s.Sim.AddSystem(sys); err != nil {
			return err
		}
	}
	return s.Sim.Check()
}

// Step lets inputs arrive, and runs a tick.
func (s *Scene) Step() error {
	if err := s.arrive(); err != nil {
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

// populate makes the soul, agents, food and walkers.
func (s *Scene) populate() error {
	soulID, err := s.spawn(soul, 0, roomY/2, 0)
	if err != nil {
		return err
	}
	s.soul = soulID
	for i := range agents + foods {
		r := s.random(uint64(i), streamPlace)
		x, y, z := r.Range(-roomX+1, roomX-1), r.Range(2, roomY-1), r.Range(0, roomZ)
		if i >= agents {
			_, err = s.spawn(food, x, y, z)
		} else {
			err = s.bear(x, y, z, int16(i%3))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spawn makes an entity of a kind at a place.
func (s *Scene) spawn(k kind, x, y, z float32) (ecs.ID, error) {
	w := s.Sim.World
	id, err := w.Spawn()
	if err != nil {
		return 0, err
	}
	slot, _ := w.Slot(id)
	s.cols.kind[slot] = uint8(k)
	s.cols.fading[slot] = 1
	return id, w.SetPosition(id, x, y, z)
}

// bear makes an agent.
func (s *Scene) bear(x, y, z float32, team int16) error {
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
