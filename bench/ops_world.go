package main

import (
	"math/rand/v2"

	"github.com/evertick/evertick/ecs"
)

// worldCase is something that is done to a world of 16,384 entities with 14 columns,
// or to each of its entities.
type worldCase struct {
	name  string
	parts int // entities, or others that the time is divided by; 0: the whole
	goal  *lapGoal
	ready func(s *worldScene) error // nil: nothing
	run   func(s *worldScene) error
}

// worldScene is a full world, with all that is asked of it. Ids are in random order, as
// those of entities are that were found by where they stand.
type worldScene struct {
	world   *ecs.World
	ids     []ecs.ID
	order   []int // in which ids are gone through
	handles []ecs.Handle
	names   []string
	marked  ecs.Tag // by one entity in ten
	other   ecs.Tag
	query   *ecs.Query
	copy    *ecs.World
	bytes   []byte
	sum     uint64 // so that nothing is left out that only reads
}

const (
	worldRows   = ecs.DefaultCapacity
	markedRatio = 10
)

func newWorldScene(seed uint64) (*worldScene, error) {
	s := &worldScene{ids: make([]ecs.ID, worldRows)}
	rng := rand.New(rand.NewPCG(seed, worldRows))
	var err error
	if s.world, err = newFullWorld(s.ids, rng); err != nil {
		return nil, err
	}
	s.order = rng.Perm(worldRows)
	rng.Shuffle(len(s.ids), func(i, j int) { s.ids[i], s.ids[j] = s.ids[j], s.ids[i] })
	if s.marked, err = s.world.Tag("marked"); err != nil {
		return nil, err
	}
	if s.other, err = s.world.Tag("other"); err != nil {
		return nil, err
	}
	for _, id := range s.ids[:worldRows/markedRatio] {
		s.marked.Set(id)
	}
	s.query = s.world.NewQuery(ecs.With(s.marked), ecs.Without(s.other))
	for _, id := range s.ids {
		h, _ := s.world.Handle(id)
		s.handles, s.names = append(s.handles, h), append(s.names, id.String())
	}
	s.copy = s.world.Clone()
	return s, nil
}

// newFullWorld returns a world with four columns of its user's, beside those of
// transforms.
func newFullWorld(ids []ecs.ID, rng *rand.Rand) (*ecs.World, error) {
	w, err := ecs.New(ecs.Config{Capacity: worldRows})
	if err != nil {
		return nil, err
	}
	columns := [][]float32{w.Position.X, w.Position.Y, w.Position.Z}
	for _, name := range []string{"vx", "vy", "vz", "mass"} {
		c, err := ecs.AddColumn[float32](w, name)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c.Values())
	}
	if err := w.SpawnN(ids); err != nil {
		return nil, err
	}
	for i := range ids {
		for _, c := range columns {
			c[i] = rng.Float32()
		}
	}
	return w, nil
}

// empty despawns all, in random order.
func (s *worldScene) empty() error {
	for _, i := range s.order {
		s.world.Despawn(s.ids[i])
	}
	return nil
}

func (s *worldScene) fill() error { return s.world.SpawnN(s.ids) }

// refill makes the world full again.
func (s *worldScene) refill() error {
	if s.world.Len() > 0 {
		return nil
	}
	return s.fill()
}

var worldCases = []worldCase{
	{"create", worldRows, &lapGoal{35, "Ark", 41}, (*worldScene).empty, func(s *worldScene) (err error) {
		for i := range s.ids {
			if s.ids[i], err = s.world.Spawn(); err != nil {
				return err
			}
		}
		return nil
	}},
	{"create, batch", worldRows, &lapGoal{12, "Ark", 12}, (*worldScene).empty, (*worldScene).fill},
	{"destroy", worldRows, &lapGoal{18, "Ark", 23}, (*worldScene).refill, (*worldScene).empty},
	{"destroy, batch", worldRows, &lapGoal{4, "Ark", 3.8}, (*worldScene).refill, func(s *worldScene) error {
		return s.world.DespawnN(s.ids)
	}},
	{"access by id", worldRows, &lapGoal{1.5, "arche", 3.6}, nil, func(s *worldScene) error {
		for _, id := range s.ids {
			slot, _ := s.world.Slot(id)
			s.sum += uint64(slot)
		}
		return nil
	}},
	{"access by handle", worldRows, nil, nil, func(s *worldScene) error {
		for _, h := range s.handles {
			if s.world.Valid(h) {
				s.sum += uint64(h.Slot)
			}
		}
		return nil
	}},
	{"access by string", worldRows, &lapGoal{7, "", 0}, nil, func(s *worldScene) error {
		for _, name := range s.names {
			id, err := ecs.ParseID(name)
			if err != nil {
				return err
			}
			slot, _ := s.world.Slot(id)
			s.sum += uint64(slot)
		}
		return nil
	}},
	{"set or unset a tag", 2 * worldRows, &lapGoal{2, "EnTT", 15}, nil, func(s *worldScene) error {
		for _, id := range s.ids {
			s.other.Set(id)
		}
		for _, id := range s.ids {
			s.other.Unset(id)
		}
		return nil
	}},
	{"query by tag, a match", worldRows / markedRatio, nil, nil, func(s *worldScene) error {
		for slot := range s.query.All() {
			s.sum += uint64(slot)
		}
		return nil
	}},
	{"hash", 0, nil, nil, func(s *worldScene) error {
		s.sum += s.world.Hash()
		return nil
	}},
	{"snapshot", 0, &lapGoal{25000, "a copy", 19500}, nil, func(s *worldScene) error {
		s.bytes = s.world.Snapshot(s.bytes[:0])
		return nil
	}},
	{"copy from a world", 0, &lapGoal{25000, "a copy", 19500}, nil, func(s *worldScene) error {
		return s.copy.CopyFrom(s.world)
	}},
}

// worldRaces are races of one lap each: what changes a world leaves it full or empty,
// and the next lap needs it full.
func (p *opsPlan) worldRaces() []*race {
	var all []*race
	for i := range worldCases {
		all = append(all, p.worldRace(&worldCases[i]))
	}
	return all
}

func (p *opsPlan) worldRace(c *worldCase) *race {
	l := &lap{name: c.name, level: p.level, workers: 1, rows: max(1, c.parts), runs: runsOf(worldRows), goal: c.goal}
	if c.ready != nil {
		l.runs = 1
	}
	r := &race{name: raceWorld, laps: []*lap{l}}
	r.open = func() error {
		s, err := newWorldScene(p.seed)
		if err != nil {
			return err
		}
		l.run = func() error { return c.run(s) }
		if c.ready != nil {
			l.ready = func() error { return c.ready(s) }
		}
		return nil
	}
	return r
}
