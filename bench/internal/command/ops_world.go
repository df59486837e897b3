package command

import (
	"math/rand/v2"

	"github.com/evertick/evertick/ecs"
)

// worldCase is an operation on a world of 16,384 entities with 14 columns, or on each of its
// entities.
type worldCase struct {
	name  string
	parts int // entities or matches by which the time is divided; 0: the whole world
	goal  *goal
	ready func(s *fullWorld) error // nil: nothing
	run   func(s *fullWorld) error
}

// fullWorld is a full world with the arguments of all operations. Ids are in random order, like
// those that a query of positions returns.
type fullWorld struct {
	world   *ecs.World
	ids     []ecs.ID
	order   []int // in which entities are destroyed
	handles []ecs.Handle
	names   []string
	marked  ecs.Tag // by one entity in ten
	other   ecs.Tag
	query   *ecs.Query
	copy    *ecs.World
	bytes   []byte
	sum     uint64 // of what was read, so that the compiler keeps the reads
}

const (
	worldRows   = ecs.DefaultCapacity
	markedRatio = 10
)

func newFullWorld(seed uint64) (*fullWorld, error) {
	s := &fullWorld{ids: make([]ecs.ID, worldRows)}
	rng := rand.New(rand.NewPCG(seed, worldRows))
	var err error
	if s.world, err = populatedWorld(s.ids, rng); err != nil {
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

// populatedWorld returns a world with four columns beside those of transforms.
func populatedWorld(ids []ecs.ID, rng *rand.Rand) (*ecs.World, error) {
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

// empty destroys all entities, in random order.
func (s *fullWorld) empty() error {
	for _, i := range s.order {
		s.world.Despawn(s.ids[i])
	}
	return nil
}

func (s *fullWorld) fill() error { return s.world.SpawnN(s.ids) }

func (s *fullWorld) refill() error {
	if s.world.Len() > 0 {
		return nil
	}
	return s.fill()
}

var worldCases = []worldCase{
	{"create", worldRows, &goal{35, "Ark", 41, 41}, (*fullWorld).empty, func(s *fullWorld) (err error) {
		for i := range s.ids {
			if s.ids[i], err = s.world.Spawn(); err != nil {
				return err
			}
		}
		return nil
	}},
	{"create, batch", worldRows, &goal{12, "Ark", 12, 12}, (*fullWorld).empty, (*fullWorld).fill},
	{"destroy", worldRows, &goal{18, "Ark", 23, 23}, (*fullWorld).refill, (*fullWorld).empty},
	{"destroy, batch", worldRows, &goal{4, "Ark", 3.8, 3.8}, (*fullWorld).refill, func(s *fullWorld) error {
		return s.world.DespawnN(s.ids)
	}},
	{"access by id", worldRows, &goal{1.5, "arche", 3.6, 3.6}, nil, func(s *fullWorld) error {
		for _, id := range s.ids {
			slot, _ := s.world.Slot(id)
			s.sum += uint64(slot)
		}
		return nil
	}},
	{"access by handle", worldRows, nil, nil, func(s *fullWorld) error {
		for _, h := range s.handles {
			if s.world.Valid(h) {
				s.sum += uint64(h.Slot)
			}
		}
		return nil
	}},
	{"access by string", worldRows, &goal{7, "", 0, 0}, nil, func(s *fullWorld) error {
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
	{"set or unset a tag", 2 * worldRows, &goal{2, "EnTT", 15, 15}, nil, func(s *fullWorld) error {
		for _, id := range s.ids {
			s.other.Set(id)
		}
		for _, id := range s.ids {
			s.other.Unset(id)
		}
		return nil
	}},
	{"query by tag, a match", worldRows / markedRatio, nil, nil, func(s *fullWorld) error {
		for slot := range s.query.All() {
			s.sum += uint64(slot)
		}
		return nil
	}},
	{"hash", 0, nil, nil, func(s *fullWorld) error {
		s.sum += s.world.Hash()
		return nil
	}},
	{"snapshot", 0, &goal{25000, "a copy", 19500, 19500}, nil, func(s *fullWorld) error {
		s.bytes = s.world.Snapshot(s.bytes[:0])
		return nil
	}},
	{"copy from a world", 0, &goal{25000, "a copy", 19500, 19500}, nil, func(s *fullWorld) error {
		return s.copy.CopyFrom(s.world)
	}},
}

// worldExperiments have one trial each: an operation that changes a world leaves it full or empty,
// and the next operation needs it full.
func (p *opsPlan) worldExperiments() (all []*experiment[*operation]) {
	for i := range worldCases {
		c := &worldCases[i]
		l := &operation{trial: trial{level: p.level, workers: 1, goal: c.goal}, name: c.name, rows: max(1, c.parts), runs: runsOf(worldRows)}
		if c.ready != nil {
			l.runs = 1
		}
		all = append(all, &experiment[*operation]{expWorld, []*operation{l}, func(*Progress) error {
			s, err := newFullWorld(p.seed)
			l.run = func() error { return c.run(s) }
			if c.ready != nil {
				l.ready = func() error { return c.ready(s) }
			}
			return err
		}})
	}
	return all
}
