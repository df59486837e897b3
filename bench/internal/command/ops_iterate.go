package command

import (
	"fmt"
	"io"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
)

// expIterate is the name of the experiments in which the ways to visit entities take turns.
const expIterate = "iterate"

// iteration is pos += vel*dt over the entities of a query.
type iteration struct {
	world    *ecs.World
	terms    []ecs.Term
	query    *ecs.Query
	pos, vel []float32
	slots    []ecs.Slot
	ops      native.Ops
}

// iterateCases are the ways to visit entities; they leave the same bits.
var iterateCases = []struct {
	name string
	run  func(s *iteration) error
}{
	{"World.Query", func(s *iteration) error {
		pos, vel := s.pos, s.vel
		for slot := range s.world.Query(s.terms...) {
			pos[slot] += float32(vel[slot] * step)
		}
		return nil
	}},
	{"Query.All", func(s *iteration) error {
		pos, vel := s.pos, s.vel
		for slot := range s.query.All() {
			pos[slot] += float32(vel[slot] * step)
		}
		return nil
	}},
	{"Query.Slots", func(s *iteration) error {
		pos, vel := s.pos, s.vel
		s.slots = s.query.Slots(s.slots)
		for _, slot := range s.slots {
			pos[slot] += float32(vel[slot] * step)
		}
		return nil
	}},
	{"Query.Runs, slices", func(s *iteration) error {
		for lo, hi := range s.query.Runs() {
			pos, vel := s.pos[lo:hi], s.vel[lo:hi]
			for i := range pos {
				pos[i] += float32(vel[i] * step)
			}
		}
		return nil
	}},
	{"Query.Runs, rows", func(s *iteration) error {
		pos, vel := s.pos, s.vel
		for lo, hi := range s.query.Runs() {
			for row := lo; row < hi; row++ {
				pos[row] += float32(vel[row] * step)
			}
		}
		return nil
	}},
	{"native.Ops", func(s *iteration) error {
		s.ops.Live = s.query.Mask()
		return s.ops.Integrate(s.pos, s.vel, step)
	}},
}

// iterateExperiments visit all entities, and the one in ten that has a tag.
func (p *opsPlan) iterateExperiments() (all []*experiment[*operation]) {
	for _, rows := range []int{worldRows, worldRows / markedRatio} {
		var operations []*operation
		for _, c := range iterateCases {
			l := &operation{trial: trial{level: p.level, workers: 1}, name: c.name, rows: rows, runs: runsOf(rows)}
			if len(operations) > 0 {
				l.comparedWith("query", operations[0])
			}
			operations = append(operations, l)
		}
		all = append(all, &experiment[*operation]{opName(expIterate, rows), operations, func(*Progress) error {
			w, err := newFullWorld(p.seed)
			if err != nil {
				return err
			}
			s := &iteration{world: w.world, pos: w.world.Position.X, vel: w.world.Position.Y, ops: native.Ops{Level: p.level}}
			if rows < worldRows {
				s.terms = []ecs.Term{ecs.With(w.marked)}
			}
			s.query = w.world.NewQuery(s.terms...)
			if n := s.query.Count(); n != rows {
				return fmt.Errorf("%d entities, want %d", n, rows)
			}
			for i, l := range operations {
				l.run = func() error { return iterateCases[i].run(s) }
			}
			return nil
		}})
	}
	return all
}

func (r *opsReport) writeIterate(w io.Writer) {
	t := TextTable("pos += vel * dt, ns an entity", "all 16,384", "× World.Query", "one in ten", "× World.Query")
	every, some := of(r.operations, opName(expIterate, worldRows)), of(r.operations, opName(expIterate, worldRows/markedRatio))
	for i, l := range every {
		t.Add(l.name, l.median(nsPerRow), l.ratio(ratioName(nsPerRow, "query")), some[i].median(nsPerRow), some[i].ratio(ratioName(nsPerRow, "query")))
	}
	t.WriteText(w)
	fmt.Fprint(w, "One in ten has a tag, at random. Slices: the loop is over slices of the run; rows: over its numbers.\n\n")
}
