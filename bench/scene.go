package main

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// params of a scene. Lengths are metres.
type params struct {
	entities   int // live, of which:
	agents     int
	bodies     int
	perceivers int     // agents that perceive and decide in a tick, in turns
	restless   bool    // bodies are pushed about; else they stay at rest
	area       float32 // edge of the walled square
	radius     float32 // of perception
	everything bool    // the scene of package proof, and nothing of the above
	ticks      int     // default of -ticks
	warmup     int     // default of -warmup
	most       int     // entities, at most, of a scene with -n; 0: it has none
	// build makes scenes that are not of agents and bodies; of these, entities, perceivers
	// and radius say how large they are.
	build func(params, evertick.Config) (*scene, error)
}

// sceneNames are the scenes of agents and bodies, which can be logged.
var sceneNames = []string{"capstone", "limina"}

func sceneParams(name string) (params, error) {
	p := params{
		entities: 2000, agents: 200, bodies: 256, perceivers: 200, restless: true,
		area: 200, radius: 15, ticks: 3600, warmup: 300,
	}
	switch name {
	case "capstone":
	case "limina":
		p.perceivers, p.restless, p.ticks, p.warmup = 26, false, 400, 60
	case "swarm":
		p = params{build: newSwarm, entities: swarmN, most: swarmMaxN, radius: radiusFor(swarmNear), ticks: 400, warmup: 100}
	case "clusters":
		p = params{build: newClusters, entities: clustersN, most: clustersMaxN, perceivers: clusterAsks, radius: clusterRadius, ticks: 1200, warmup: 200}
	case "churn":
		p = params{build: newChurn, entities: churnN, most: churnMaxN, ticks: 600, warmup: 100}
	case proof.SceneName:
		p = params{everything: true, ticks: 3600, warmup: 300}
	default:
		return params{}, fmt.Errorf("unknown scene %q; scenes are %v, %v, %s, %v, %s, %s, %s and %s: %w", name, sceneNames, crowdNames, proof.SceneName, bodyNames(), raysScene, queriesScene, opsScene, pacingScene, fault.ErrRange)
	}
	return p, nil
}

// Streams of random numbers, one for each use, so that no two uses meet.
const (
	streamPlace uint32 = iota
	streamStir
	streamWander
	streamBlob
	streamChurn
	streamBirth
)

// scene is a simulation with agents, bodies and scenery.
type scene struct {
	params
	sim  *evertick.Sim
	step func() error

	agentIDs []ecs.ID
	bodyIDs  []ecs.ID
	agentAt  []ecs.Slot // slot of each agent
	kinds    []kind     // by slot
	bodyOf   []physics.Body
	velX     []float32 // columns, by slot
	velZ     []float32

	queries    spatial.Queries
	perceived  spatial.Result
	perceiver  []int // agent of each query
	actions    []action
	hits, asks uint64

	counters []counter
}

// counter is something that a scene counts in each step.
type counter struct {
	name string
	read func() int64
}

func (s *scene) count(name string, read func() int64) {
	s.counters = append(s.counters, counter{name, read})
}

type kind uint8

const (
	scenery kind = iota
	agent
	body
)

// newScene builds the scene; cfg brings seed, level, workers and, in tests,
// another physics engine.
func newScene(p params, cfg evertick.Config) (*scene, error) {
	if p.everything {
		return newEverything(p, cfg)
	}
	if p.build != nil {
		return p.build(p, cfg)
	}
	cfg.Capacity = ecs.DefaultCapacity
	cfg.Physics.Plane = physics.XZ
	cfg.Physics.DisableSleep = true // all bodies take part in what is measured
	half := p.area / 2
	cfg.Spatial.CellSize = p.radius
	cfg.Spatial.Bounds = spatial.Bounds{Min: [3]float32{-half, 0, -half}, Max: [3]float32{half, 0, half}}
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, err
	}
	s := &scene{params: p, sim: sim, step: sim.Step}
	s.count("hits", func() int64 { return int64(len(s.perceived.Slots)) })
	if err := s.populate(cfg.Seed); err != nil {
		return nil, err
	}
	return s, s.addSystems()
}

// newEverything builds the scene of package proof, of which bench measures the steps and keeps
// the hashes; nothing of it is left out of the hash without bodies, which is then that of
// no rows.
func newEverything(p params, cfg evertick.Config) (*scene, error) {
	e, err := proof.New(proof.Config{Seed: cfg.Seed, Level: cfg.Level, Workers: cfg.Workers})
	if err != nil {
		return nil, err
	}
	s := &scene{params: p, sim: e.Sim, step: e.Step}
	s.entities, s.bodies = e.Sim.World.Len(), e.Sim.Physics.Len()
	return s, nil
}

// namedSystem is a system as a scene lists it.
type namedSystem struct {
	stage evertick.Stage
	name  string
	run   func(*evertick.Tick) error
}

func addSystems(sim *evertick.Sim, systems []namedSystem) error {
	for _, sys := range systems {
		if err := sim.Add(sys.stage, sys.name, sys.run); err != nil {
			return err
		}
	}
	return nil
}

// addColumn adds a column to the world and stores its values.
func addColumn(w *ecs.World, name string, to *[]float32) error {
	column, err := ecs.AddColumn[float32](w, name)
	if err == nil {
		*to = column.Values()
	}
	return err
}

func (s *scene) addSystems() error {
	return addSystems(s.sim, []namedSystem{
		{evertick.BeforePhysics, "act", s.act},
		{evertick.BeforePhysics, "move", s.move},
		{evertick.BeforePhysics, "stir", s.stir},
		{evertick.AfterIndex, "perceive", s.perceive},
		{evertick.AfterIndex, "steer", s.steer},
	})
}

func (s *scene) populate(seed uint64) error {
	w := s.sim.World
	for _, c := range []struct {
		name string
		to   *[]float32
	}{{"velocity.x", &s.velX}, {"velocity.z", &s.velZ}} {
		if err := addColumn(w, c.name, c.to); err != nil {
			return err
		}
	}
	ids := make([]ecs.ID, s.entities)
	if err := w.SpawnN(ids); err != nil {
		return err
	}
	s.agentIDs, s.bodyIDs = ids[:s.agents], ids[s.agents:s.agents+s.bodies]
	s.kinds = make([]kind, w.Cap())
	s.bodyOf = make([]physics.Body, w.Cap())
	if err := s.scatter(ids, seed); err != nil {
		return err
	}
	if err := s.createWalls(); err != nil {
		return err
	}
	for i, id := range s.bodyIDs {
		if err := s.createBody(i, id); err != nil {
			return err
		}
	}
	return s.nameKinds(ids)
}

// scatter puts everything somewhere inside the walls. Bodies keep to a grid, so
// that none starts inside another.
func (s *scene) scatter(ids []ecs.ID, seed uint64) error {
	half := float32(s.area / 2)
	inside := half - 2
	columns := 16
	for i, id := range ids {
		r := loop.NewRand(seed, 0, uint64(id), streamPlace)
		x, z := r.Range(-inside, inside), r.Range(-inside, inside)
		y := float32(0)
		if b := i - s.agents; b >= 0 && b < s.bodies {
			pitch := s.area / float32(columns)
			x = float32((float32(b%columns)+0.5)*pitch) - half
			z = float32((float32(b/columns)+0.5)*pitch) - half
			y = 0.5
		}
		if err := s.sim.World.SetPosition(id, x, y, z); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) nameKinds(ids []ecs.ID) error {
	w := s.sim.World
	for _, group := range []struct {
		name string
		kind kind
		ids  []ecs.ID
	}{
		{"agent", agent, s.agentIDs},
		{"body", body, s.bodyIDs},
		{"scenery", scenery, ids[s.agents+s.bodies:]},
	} {
		tag, err := w.Tag(group.name)
		if err != nil {
			return err
		}
		if err := tag.SetAll(group.ids); err != nil {
			return err
		}
		for slot := range w.Query(ecs.With(tag)) {
			s.kinds[slot] = group.kind
			if group.kind == agent {
				s.agentAt = append(s.agentAt, slot)
			}
		}
	}
	return nil
}

func (s *scene) createWalls() error {
	h := s.area / 2
	walls, err := s.sim.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		return err
	}
	corners := [][2]float32{{-h, -h}, {h, -h}, {h, h}, {-h, h}}
	for i, from := range corners {
		edge := physics.Segment{P1: from, P2: corners[(i+1)%len(corners)]}
		if _, err := s.sim.Physics.CreateSegment(walls, physics.DefaultShapeDef(), edge); err != nil {
			return err
		}
	}
	return nil
}

// createBody makes body i a disc or a box, by turns.
func (s *scene) createBody(i int, id ecs.ID) error {
	slot, _ := s.sim.World.Slot(id)
	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	def.Position = [2]float32{s.sim.World.Position.X[slot], s.sim.World.Position.Z[slot]}
	def.LinearDamping, def.AngularDamping = 0.2, 0.2
	b, err := s.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	s.bodyOf[slot] = b
	shape := physics.DefaultShapeDef()
	if i%2 == 0 {
		_, err = s.sim.Physics.CreateCircle(b, shape, physics.Circle{Radius: 0.5})
	} else {
		_, err = s.sim.Physics.CreatePolygon(b, shape, physics.Box(0.5, 0.5))
	}
	return err
}
