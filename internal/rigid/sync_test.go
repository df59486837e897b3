package rigid_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// syncCase is bodies and entities: positions, cosine and sine; what is kept; the entities.
type syncCase struct {
	bodies, kept [4][]float32
	to           [6][]float32
	slots        []uint32
	flip         bool
}

// newSyncCase has bodies whose slots follow each other, or lie anywhere, some twice; a
// third of these have none.
func newSyncCase(run *paritytest.Run) *syncCase {
	n, entities := run.IntN(70), 1+run.IntN(90)
	c := &syncCase{slots: make([]uint32, n), flip: run.IntN(2) == 0}
	anywhere := run.IntN(2) == 0
	for i := range c.slots {
		switch {
		case anywhere || i == 0 || int(c.slots[i-1])+1 >= entities:
			c.slots[i] = uint32(run.IntN(entities))
		default:
			c.slots[i] = c.slots[i-1] + 1
		}
		if anywhere && run.IntN(3) == 0 {
			c.slots[i] = rigid.NoSlot
		}
	}
	for k := range c.bodies {
		c.bodies[k], c.kept[k] = make([]float32, n), make([]float32, n)
		run.Fill(c.bodies[k], paritytest.Finite...)
		run.Fill(c.kept[k], paritytest.Uniform)
	}
	edges := []float32{0, float32(math.Copysign(0, -1)), 1, -1}
	for i := range n {
		sin, cos := math.Sincos(float64(run.Float(paritytest.Uniform)))
		c.bodies[2][i], c.bodies[3][i] = float32(cos), float32(sin)
		if run.IntN(3) == 0 {
			c.bodies[2][i], c.bodies[3][i] = edges[run.IntN(4)], edges[run.IntN(4)]
		}
		if run.IntN(3) == 0 {
			c.kept[0][i] = float32(math.NaN())
		}
	}
	for k := range c.to {
		c.to[k] = make([]float32, entities)
		run.Fill(c.to[k], paritytest.Uniform)
	}
	return c
}

// copy returns the case in guarded memory.
func (c *syncCase) copy(g *heapGuard) *syncCase {
	r := *c
	for k := range c.bodies {
		r.bodies[k], r.kept[k] = g.copy(string(rune('a'+k)), c.bodies[k]), g.copy(string(rune('k'+k)), c.kept[k])
	}
	for k := range c.to {
		r.to[k] = g.copy(string(rune('t'+k)), c.to[k])
	}
	r.slots = structs[uint32](g.copy("slots", words(c.slots)))
	return &r
}

func (c *syncCase) entities() *rigid.Entities {
	return &rigid.Entities{X: c.to[0], Y: c.to[1], QuatAxis: c.to[2], QuatW: c.to[3], QuatZero: [2][]float32{c.to[4], c.to[5]}, Flip: c.flip}
}

func (c *syncCase) keeps() *rigid.Written {
	return &rigid.Written{X: c.kept[0], Y: c.kept[1], HalfSin: c.kept[2], HalfCos: c.kept[3]}
}

func (c *syncCase) put(level native.Level, lo, hi int) {
	o := rigid.Origins{X: c.bodies[0], Y: c.bodies[1]}
	p := rigid.Poses{Cos: c.bodies[2], Sin: c.bodies[3]}
	c.entities().Write(level, &o, &p, c.slots, c.keeps(), lo, hi)
}

// Entities on each level, split anywhere, against the whole in Go.
func TestParityEntities(t *testing.T) {
	run := paritytest.Start(t, "Entities")
	g := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
	for range paritytest.Rounds(300) {
		start := newSyncCase(run)
		n := len(start.slots)
		plain := &heapGuard{t: t, bufs: map[string]*paritytest.Buffer[float32]{}}
		want := start.copy(plain)
		want.put(native.Go, 0, n)
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			got := start.copy(g)
			for lo := 0; lo < n; {
				hi := lo + 1 + run.IntN(n-lo)
				got.put(level, lo, hi)
				lo = hi
			}
			for k := range got.to {
				run.Check(paritytest.Floats("entities", got.to[k], want.to[k]))
			}
			for k := range got.kept {
				run.Check(paritytest.Floats("kept", got.kept[k], want.kept[k]))
			}
			for range 4 {
				run.Check(paritytest.Bits("differing", got.differing(level), got.differing(native.Go)))
				column := got.to[run.IntN(len(got.to))]
				column[run.IntN(len(column))] = run.Float(paritytest.Uniform)
			}
			run.Check(g.check())
		}
	}
}

// differing lists the bodies that differ.
func (c *syncCase) differing(level native.Level) (all []int64) {
	for i := 0; i < len(c.slots); i++ {
		if i = c.entities().FirstChanged(level, c.slots, c.keeps(), i, len(c.slots)); i < len(c.slots) {
			all = append(all, int64(i))
		}
	}
	return all
}

func TestDiffersFindsEveryComponent(t *testing.T) {
	run := paritytest.Start(t, "Entities")
	for _, level := range native.Levels() {
		run.Case(level)
		c := newSyncCase(run)
		c.slots = []uint32{0, 1, rigid.NoSlot, 2}
		for k := range c.bodies {
			c.bodies[k], c.kept[k] = make([]float32, 4), make([]float32, 4)
		}
		for k := range c.to {
			c.to[k] = make([]float32, 3)
		}
		c.put(level, 0, 4)
		if at := c.entities().FirstChanged(level, c.slots, c.keeps(), 0, 4); at != 4 {
			t.Fatalf("level %v: body %d differs after Put", level, at)
		}
		for k := range c.to {
			c.to[k][2] = math.Float32frombits(math.Float32bits(c.to[k][2]) ^ 1)
			if at := c.entities().FirstChanged(level, c.slots, c.keeps(), 0, 4); at != 3 {
				t.Errorf("level %v: component %d: %d, want body 3", level, k, at)
			}
			c.kept[0][3] = float32(math.NaN())
			if at := c.entities().FirstChanged(level, c.slots, c.keeps(), 0, 4); at != 4 {
				t.Errorf("level %v: component %d: body %d was never written", level, k, at)
			}
			c.put(level, 0, 4)
		}
	}
}

func TestFirstBeyond(t *testing.T) {
	slots := []uint32{rigid.NoSlot, 3, 7, rigid.NoSlot, rigid.NoSlot - 1}
	for n, want := range map[int]int{0: 1, 3: 1, 4: 2, 7: 2, 8: 4, 1 << 24: 4} {
		if got := rigid.FirstOutOfRange(slots, n); got != want {
			t.Errorf("of %d: %d, want %d", n, got, want)
		}
	}
	if got := rigid.FirstOutOfRange(slots[:1], 0); got != 1 {
		t.Errorf("no slot at all: %d", got)
	}
}
