package scenes

import (
	"encoding/binary"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
	"github.com/zeebo/xxh3"
)

func init() {
	p := Params{
		Entities: 2000, Agents: 200, Bodies: 256, Perceivers: 200, Restless: true, Area: 200, Radius: 15, Ticks: 3600, Warmup: 300,
	}
	register(sims, "capstone", SimDefinition{
		Name: "capstone", Params: p, build: newAgents,
		Help: "2,000 entities in 200 by 200 m: 200 agents that all perceive in every tick, 256 bodies that are pushed about, and scenery",
	})
	p.Perceivers, p.Restless, p.Ticks, p.Warmup = 26, false, 400, 60
	register(sims, "limina", SimDefinition{
		Name: "limina", Params: p, build: newAgents,
		Help: "the capstone under a published protocol: 26 agents perceive per tick, bodies are at rest",
	})
}

// agents is a simulation of agents, bodies and scenery.
type agents struct {
	Params
	sim *evertick.Sim

	agentIDs []ecs.ID
	bodyIDs  []ecs.ID
	agentAt  []ecs.Slot // slot of each agent
	kinds    []kind     // by slot
	bodyOf   []physics.Body
	velX     []float32 // columns, by slot
	velZ     []float32

	queries   spatial.Queries
	perceived spatial.Result
	perceiver []int // agent of each query
	actions   []action
}

type kind uint8

const (
	scenery kind = iota
	agent
	body
)

func newAgents(p Params, cfg evertick.Config) (*Sim, error) {
	cfg.Capacity = ecs.DefaultCapacity
	cfg.Physics.Plane = physics.XZ
	cfg.Physics.DisableSleep = true // all bodies take part in what is measured
	half := p.Area / 2
	cfg.Spatial.CellSize = p.Radius
	cfg.Spatial.Bounds = spatial.Bounds{Min: [3]float32{-half, 0, -half}, Max: [3]float32{half, 0, half}}
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, err
	}
	s := &agents{Params: p, sim: sim}
	if err := s.populate(cfg.Seed); err != nil {
		return nil, err
	}
	scene := &Sim{Sim: sim, Params: p, agents: s, Counters: []Counter{{"hits", func() int64 { return int64(len(s.perceived.Slots)) }}}}
	return scene, addSystems(sim,
		system{evertick.BeforePhysics, "act", s.act},
		system{evertick.BeforePhysics, "move", s.move},
		system{evertick.BeforePhysics, "stir", s.stir},
		system{evertick.AfterIndex, "perceive", s.perceive},
		system{evertick.AfterIndex, "steer", s.steer},
	)
}

func (s *agents) populate(seed uint64) error {
	w := s.sim.World
	if err := addColumns(w, namedColumn{"velocity.x", &s.velX}, namedColumn{"velocity.z", &s.velZ}); err != nil {
		return err
	}
	ids := make([]ecs.ID, s.Entities)
	if err := w.SpawnN(ids); err != nil {
		return err
	}
	s.agentIDs, s.bodyIDs = ids[:s.Agents], ids[s.Agents:s.Agents+s.Bodies]
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
func (s *agents) scatter(ids []ecs.ID, seed uint64) error {
	half := float32(s.Area / 2)
	inside := half - 2
	columns := 16
	for i, id := range ids {
		r := loop.NewRand(seed, 0, uint64(id), streamPlace)
		x, z := r.Range(-inside, inside), r.Range(-inside, inside)
		y := float32(0)
		if b := i - s.Agents; b >= 0 && b < s.Bodies {
			pitch := s.Area / float32(columns)
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

func (s *agents) nameKinds(ids []ecs.ID) error {
	w := s.sim.World
	for _, group := range []struct {
		name string
		kind kind
		ids  []ecs.ID
	}{
		{"agent", agent, s.agentIDs},
		{"body", body, s.bodyIDs},
		{"scenery", scenery, ids[s.Agents+s.Bodies:]},
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

func (s *agents) createWalls() error {
	h := s.Area / 2
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
func (s *agents) createBody(i int, id ecs.ID) error {
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

// HashWithoutBodies returns the state hash without the rows of bodies: it is the same whichever
// engine moves them, as far as nothing depends on where they are. In a scene without bodies it is
// the hash of the world.
func (s *Sim) HashWithoutBodies() uint64 {
	if s.agents == nil {
		return s.World.Hash()
	}
	a, w := s.agents, s.World
	var h xxh3.Hasher
	var row [12 * 4]byte
	for slot := range ecs.Slot(w.HighWater()) {
		if a.kinds[slot] == body {
			continue
		}
		for i, v := range [12]float32{
			w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot],
			w.Rotation.X[slot], w.Rotation.Y[slot], w.Rotation.Z[slot], w.Rotation.W[slot],
			w.Scale.X[slot], w.Scale.Y[slot], w.Scale.Z[slot],
			a.velX[slot], a.velZ[slot],
		} {
			binary.LittleEndian.PutUint32(row[4*i:], math.Float32bits(v))
		}
		h.Write(row[:])
	}
	return h.Sum64()
}
