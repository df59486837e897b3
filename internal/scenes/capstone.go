package scenes

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/reflex"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
	"github.com/zeebo/xxh3"
)

func init() {
	p := Params{
		Entities: 2000, Agents: 200, Bodies: 256, Perceivers: 200, Restless: true, Area: 200, Radius: 15, Ticks: 3600, Warmup: 300,
	}
	RegisterAgents(SimDefinition{
		Name: "capstone", Params: p,
		Help: "2,000 entities in 200 by 200 m: 200 agents that all perceive in every tick, 256 bodies that are pushed about, and scenery",
	}, newFlatMovers)
	p.Perceivers, p.Restless, p.Ticks, p.Warmup = 26, false, 400, 60
	RegisterAgents(SimDefinition{
		Name: "limina", Params: p,
		Help: "the capstone under a published protocol: 26 agents perceive per tick, bodies are at rest",
	}, newFlatMovers)
}

// Capstone returns the parameters of the capstone.
func Capstone() Params { return sims["capstone"].Params }

// Movers are the bodies of a scene of agents, in the plane or in space. They lie and move on the plane of x and z.
type Movers interface {
	// Enclose makes a square of walls, half from the origin.
	Enclose(half float32) error
	// Create gives an entity the next body, by turns round and square, which are numbered from 0.
	Create(id ecs.ID, at [3]float32) error
	// Push applies an impulse to a body, in N·s along x and z.
	Push(body int, impulse [2]float32) error
}

// RegisterAgents adds a scene of agents, with bodies of which movers makes the first.
func RegisterAgents(d SimDefinition, movers func(*evertick.Sim) (Movers, error)) {
	d.build = func(p Params, cfg evertick.Config) (*Sim, error) { return newAgents(p, cfg, movers) }
	register(sims, d.Name, d)
}

// flatMovers are discs and squares in the plane.
type flatMovers struct {
	sim    *evertick.Sim
	bodies []physics.Body
}

func newFlatMovers(sim *evertick.Sim) (Movers, error) { return &flatMovers{sim: sim}, nil }

func (m *flatMovers) Enclose(h float32) error {
	walls, err := m.sim.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		return err
	}
	corners := [][2]float32{{-h, -h}, {h, -h}, {h, h}, {-h, h}}
	for i, from := range corners {
		edge := physics.Segment{P1: from, P2: corners[(i+1)%len(corners)]}
		if _, err := m.sim.Physics.CreateSegment(walls, physics.DefaultShapeDef(), edge); err != nil {
			return err
		}
	}
	return nil
}

func (m *flatMovers) Create(id ecs.ID, at [3]float32) error {
	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	def.Position = [2]float32{at[0], at[2]}
	def.LinearDamping, def.AngularDamping = 0.2, 0.2
	b, err := m.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	m.bodies = append(m.bodies, b)
	shape := physics.DefaultShapeDef()
	if len(m.bodies)%2 == 1 {
		_, err = m.sim.Physics.CreateCircle(b, shape, physics.Circle{Radius: 0.5})
	} else {
		_, err = m.sim.Physics.CreatePolygon(b, shape, physics.Box(0.5, 0.5))
	}
	return err
}

func (m *flatMovers) Push(body int, impulse [2]float32) error {
	return m.sim.Physics.ApplyLinearImpulseToCenter(m.bodies[body], impulse)
}

// agents is a simulation of agents, bodies and scenery.
type agents struct {
	Params
	sim *evertick.Sim

	agentIDs []ecs.ID
	bodyIDs  []ecs.ID
	agentAt  []ecs.Slot // slot of each agent
	kinds    []kind     // by slot
	movers   Movers
	bodyOf   []int     // by slot: the number of the body
	velX     []float32 // columns, by slot
	velZ     []float32

	turns  reflex.Turns
	radius []float32      // of perception, of each agent whose turn it is
	around spatial.Result // what these perceive
	reach2 []float32      // by slot: up to which squared distance it matters to an agent, in m²
	chosen []uint32       // scratch memory of choose
	wander []float32      // scratch memory of react: random accelerations along x and z, in m/s²
}

type kind uint8

const (
	scenery kind = iota
	walker
	body
)

func newAgents(p Params, cfg evertick.Config, movers func(*evertick.Sim) (Movers, error)) (*Sim, error) {
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
	if s.movers, err = movers(sim); err != nil {
		return nil, err
	}
	if err := s.populate(cfg.Seed); err != nil {
		return nil, err
	}
	scene := &Sim{Sim: sim, Params: p, agents: s, Counters: []Counter{{"hits", func() int64 { return int64(len(s.around.Slots)) }}}}
	if err := addSystems(sim,
		system{evertick.BeforePhysics, "move", s.move},
		system{evertick.BeforePhysics, "stir", s.stir},
	); err != nil {
		return nil, err
	}
	return scene, s.addReflex()
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
	s.bodyOf = make([]int, w.Cap())
	if err := s.scatter(ids, seed); err != nil {
		return err
	}
	if err := s.movers.Enclose(s.Area / 2); err != nil {
		return err
	}
	for i, id := range s.bodyIDs {
		slot, _ := w.Slot(id)
		s.bodyOf[slot] = i
		if err := s.movers.Create(id, [3]float32{w.Position.X[slot], w.Position.Y[slot], w.Position.Z[slot]}); err != nil {
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
		{"agent", walker, s.agentIDs},
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
			if group.kind == walker {
				s.agentAt = append(s.agentAt, slot)
			}
		}
	}
	return nil
}

// HashWithoutBodies returns the state hash without the rows of bodies. It is the same for every
// engine that moves them, as far as nothing depends on where they are. In scenes without agents it
// is the hash of the world.
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

// Agents walk about, keep together, keep clear of each other, of scenery and of
// the walls, and shove bodies that come near. Bodies do not act on agents: the
// agents' columns are then the same on machines where the bodies' are not.
const (
	maxSpeed     = 4   // m/s
	maxAccel     = 8   // m/s²
	clearance    = 4   // m; nearer neighbours are avoided
	shoveReach   = 3   // m
	shoveImpulse = 2   // N·s
	stirImpulse  = 3   // N·s, at most, along each axis
	stirEvery    = 8   // ticks between two stirs of a body
	wallMargin   = 10  // m
	cohesion     = 0.5 // 1/s²
)

// addReflex gives the agents a reflex: in every tick, or by turns, they perceive everything within the radius, and react
// at once. They get rows, since of some 35 neighbours only six matter, of three kinds in three ways: sums would take a
// sense, and a search, for each kind.
func (s *agents) addReflex() error {
	n := len(s.kinds)
	s.reach2, s.chosen = make([]float32, n), make([]uint32, n+1)
	for slot, k := range s.kinds {
		switch {
		case k == walker:
			s.reach2[slot] = s.Radius * s.Radius
		case k == scenery:
			s.reach2[slot] = clearance * clearance
		case s.Restless:
			s.reach2[slot] = shoveReach * shoveReach
		default: // a body that stays at rest
			s.reach2[slot] = -1
		}
	}
	var err error
	if s.turns.Members, err = s.sim.World.Tag("agent"); err != nil {
		return err
	}
	s.turns.PerTick = s.Perceivers
	return s.sim.Add(evertick.AfterIndex, "reflex", s.reflex)
}

// reflex does what agent.NewReflex with a Sense that finds rows does. That package would bring logs and their compression into
// each program with scenes.
func (s *agents) reflex(t *evertick.Tick) error {
	s.turns.Next(s.sim.World, t.N)
	q := &s.turns.Centres
	s.radius = reflex.Resize(s.radius, len(q.X))
	for i := range s.radius {
		s.radius[i] = s.Radius
	}
	q.Radius, q.Order = s.radius, spatial.Grid
	if err := s.sim.Index.Radius(q, &s.around); err != nil {
		return err
	}
	return s.react(t, s.turns.Agents)
}

// move walks every row, not the agents alone: the others stand still, and one
// pass over whole columns is faster than picking rows.
func (s *agents) move(t *evertick.Tick) error {
	w := s.sim.World
	n := w.HighWater()
	native.Integrate(s.sim.Level(), w.Position.X[:n], s.velX[:n], t.Dt)
	native.Integrate(s.sim.Level(), w.Position.Z[:n], s.velZ[:n], t.Dt)
	return nil
}

// stir pushes each body every few ticks, so that none comes to rest.
func (s *agents) stir(t *evertick.Tick) error {
	if !s.Restless {
		return nil
	}
	r := t.Rand(0, streamStir)
	for i := int(t.N % stirEvery); i < len(s.bodyIDs); i += stirEvery {
		push := [2]float32{r.Range(-stirImpulse, stirImpulse), r.Range(-stirImpulse, stirImpulse)}
		if err := s.movers.Push(i, push); err != nil {
			return err
		}
	}
	return nil
}

// react lets the agents whose turn it is steer, and push the bodies that are near.
func (s *agents) react(t *evertick.Tick, reactors []ecs.Slot) error {
	s.wander = slices.Grow(s.wander[:0], 2*len(reactors))[:2*len(reactors)]
	r := t.Rand(0, streamWander)
	r.FillRange(s.wander, -1, 1)
	pos, dt := &s.sim.World.Position, float32(t.Dt)
	for i, slot := range reactors {
		ax, az, near, found := s.decide(slot, s.around.Row(i), s.around.Dist2Row(i))
		ax += s.fromWall(pos.X[slot]) + s.wander[2*i]
		az += s.fromWall(pos.Z[slot]) + s.wander[2*i+1]
		ax, az = clampLength(ax, az, maxAccel)
		s.velX[slot], s.velZ[slot] = clampLength(s.velX[slot]+float32(ax*dt), s.velZ[slot]+float32(az*dt), maxSpeed)
		if !found {
			continue
		}
		pushX, pushZ := clampLength((pos.X[near]-pos.X[slot])*shoveImpulse, (pos.Z[near]-pos.Z[slot])*shoveImpulse, shoveImpulse)
		if err := s.movers.Push(s.bodyOf[near], [2]float32{pushX, pushZ}); err != nil {
			return err
		}
	}
	return nil
}

// decide sums up what an agent perceives: the acceleration that it wants, and the nearest body within its reach.
func (s *agents) decide(self ecs.Slot, slots []uint32, dist2 []float32) (ax, az float32, near ecs.Slot, found bool) {
	posX, posZ := s.sim.World.Position.X, s.sim.World.Position.Z
	x, z := posX[self], posZ[self]
	var midX, midZ, friends float32
	nearest := float32(shoveReach * shoveReach)
	for _, i := range choose(s.chosen, slots, dist2, s.reach2) {
		other, d2 := slots[i], dist2[i]
		dx, dz := posX[other]-x, posZ[other]-z
		kind := s.kinds[other]
		if kind == body {
			if d2 < nearest {
				nearest, near, found = d2, other, true
			}
			continue
		}
		if kind == walker {
			midX, midZ, friends = midX+dx, midZ+dz, friends+1
		}
		if d2 < clearance*clearance {
			away := 2 / (d2 + 0.25) // m²/s² over m²: strong when close, never infinite
			ax -= float32(dx * away)
			az -= float32(dz * away)
		}
	}
	if friends > 0 {
		ax += float32(midX / friends * cohesion)
		az += float32(midZ / friends * cohesion)
	}
	return ax, az, near, found
}

// choose returns which of the neighbours in a row matter, about one in six. It has no branch that depends on them, since
// no CPU could predict it.
//
//go:noinline
func choose(chosen, slots []uint32, dist2, reach2 []float32) []uint32 { // inlined, it would lack registers
	dist2, n := dist2[:len(slots)], 0
	for i, other := range slots {
		chosen[n] = uint32(i)
		if dist2[i] <= reach2[other] {
			n++
		}
	}
	return chosen[:n]
}

// fromWall is the acceleration away from the wall that is near along one axis.
func (s *agents) fromWall(v float32) float32 {
	edge := float32(s.Area/2) - wallMargin // the compiler divides by multiplying
	switch {
	case v > edge:
		return edge - v
	case v < -edge:
		return -edge - v
	}
	return 0
}

// clampLength shortens (x, z) to a length of at most limit.
func clampLength(x, z, limit float32) (float32, float32) {
	l2 := float32(x*x) + float32(z*z)
	if l2 <= limit*limit {
		return x, z
	}
	scale := limit / float32(math.Sqrt(float64(l2)))
	return x * scale, z * scale
}
