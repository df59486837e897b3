package rigid3

import (
	"testing"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// guardedTree is a tree and rays in memory that kernels must not leave.
type guardedTree struct {
	words [6]*paritytest.Buffer[uint32] // nodes, levels, targets, rays, ends, hits
}

func newGuardedTree(t *testing.T, most int) *guardedTree {
	g := &guardedTree{}
	for i := range g.words {
		g.words[i] = paritytest.NewBuffer[uint32](t, most)
	}
	return g
}

func (g *guardedTree) place(t *QueryTree, side paritytest.Side, gap int) *QueryTree {
	p := *t
	p.nodes, p.starts = placed3(g.words[0], t.nodes, side, gap), placed3(g.words[1], t.starts, side, gap)
	p.rows = placed3(g.words[2], t.rows, side, gap/2*2)
	return &p
}

func (g *guardedTree) check() error {
	for _, b := range g.words {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Kernels find what Go finds, bit by bit, and write nothing else. The room for hits is such that some batches are cut.
func TestParityCastRays(t *testing.T) {
	run := paritytest.Start(t, "CastRays3")
	const shapes, most = 700, 40
	g := newGuardedTree(t, shapes*(152/4)*2)
	cut, hits := 0, 0
	for range paritytest.Sample(60) {
		for _, n := range []int{1, 3, 16, 17, 200, shapes} {
			half := within(run.Rand, 1, 12)
			c := newCrowd(run.Rand, n, half)
			if run.IntN(3) == 0 {
				c.spoil(run)
			}
			var tree QueryTree
			tree.Build(native.Auto, &c.Scene)
			count := run.IntN(most + 1)
			in, room := c.rays(run.Rand, count, half), run.IntN(most/2)
			want, wantAny := make([]RayHit, count), make([]RayHit, count)
			all, ends := make([]RayHit, room), make([]uint32, count)
			tree.castRaysGo(in, false, want, nil)
			tree.castRaysGo(in, true, wantAny, nil)
			run.Fill(buffer.Words[float32](all), paritytest.AnyBits)
			from := min(run.IntN(3), room)
			before, beforeEnds := append([]RayHit(nil), all...), append([]uint32(nil), ends...)
			done := tree.castRaysAllGo(in, ends, all, from)
			if done < count {
				cut++
			}
			for _, level := range native.Levels() {
				for _, side := range paritytest.Sides {
					run.Case(level)
					k, gap := tree.kernels(level), run.IntN(paritytest.MaxGap+1)
					p, rays := g.place(&tree, side, gap), placed3(g.words[3], in, side, gap/2*2)
					out := placed3(g.words[5], make([]RayHit, count), side, gap)
					same := func(what string, got, want []RayHit) error {
						return paritytest.Bits(what, buffer.Words[uint32](got), buffer.Words[uint32](want))
					}
					k.castRays(p, rays, false, out, nil)
					run.Check(g.check(), same("first hits", out, want))
					k.castRays(p, rays, true, out, nil)
					run.Check(g.check(), same("any hits", out, wantAny), paritytest.Bits("rays", buffer.Words[uint32](rays), buffer.Words[uint32](in)))
					out, end := placed3(g.words[5], before, side, gap), placed3(g.words[4], beforeEnds, side, gap)
					if got := k.castRaysAll(p, rays, end, out, from); got != done {
						t.Fatalf("level %v: %d rays of %d have all their hits, want %d", level, got, count, done)
					}
					filled := from
					if done > 0 {
						filled = int(ends[done-1])
					}
					hits += filled - from
					run.Check(g.check(), paritytest.Bits("ends", end, ends), same("all hits", out[:filled], all[:filled]))
				}
			}
		}
	}
	t.Logf("%d batches are cut, %d hits", cut, hits)
	if cut == 0 || hits == 0 {
		t.Error("too few of a kind")
	}
}
