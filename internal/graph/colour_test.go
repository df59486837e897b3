package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/graph"
	"github.com/evertick/evertick/internal/paritytest"
)

// dealing is an input of Colours.
type dealing struct {
	edges   graph.Edges
	invMass []float32
}

func newDealing(bodies int) *dealing {
	d := &dealing{invMass: make([]float32, bodies)}
	for i := range d.invMass {
		d.invMass[i] = 1
	}
	return d
}

// classes is the number of classes of the edges.
const classes = 2

func (d *dealing) join(a, b, class int) {
	e := &d.edges
	e.A, e.B, e.Class = append(e.A, uint32(a)), append(e.B, uint32(b)), append(e.Class, uint8(class))
}

func (d *dealing) deal(c *graph.Colours) {
	c.Reset(len(d.edges.A), classes, d.invMass)
	copy(c.Edges.A, d.edges.A)
	copy(c.Edges.B, d.edges.B)
	copy(c.Edges.Class, d.edges.Class)
	c.Assign()
}

// check checks all that Assign promises.
func (d *dealing) check(t *testing.T, c *graph.Colours) {
	t.Helper()
	var all []uint32
	if len(c.Edge) != c.Blocks()*graph.Lanes {
		t.Fatalf("%d lanes in %d blocks", len(c.Edge), c.Blocks())
	}
	for colour := range graph.NumColours {
		used := map[uint32]bool{}
		from, to := c.Start[colour], c.Start[colour+1]
		for b := from; b < to; b++ {
			lanes := c.Edge[b*graph.Lanes : (b+1)*graph.Lanes]
			n := max(0, slices.Index(lanes, graph.NoEdge))
			if !slices.Contains(lanes, graph.NoEdge) {
				n = graph.Lanes
			}
			if n == 0 {
				t.Fatalf("colour %d: an empty block", colour)
			}
			if colour == graph.Overflow {
				clear(used)
			}
			for i, edge := range lanes {
				if i >= n {
					if edge != graph.NoEdge {
						t.Fatalf("colour %d: a gap in the lanes", colour)
					}
					continue
				}
				if d.edges.Class[edge] != d.edges.Class[lanes[0]] || i > 0 && edge <= lanes[i-1] {
					t.Fatalf("colour %d: edge %d is out of order, or has another class than its block", colour, edge)
				}
				d.checkColour(t, colour, edge, used)
				all = append(all, edge)
			}
		}
	}
	d.checkTurns(t, c)
	slices.Sort(all)
	var want []uint32
	for i, class := range d.edges.Class {
		if class > 0 && d.invMass[d.edges.A[i]]+d.invMass[d.edges.B[i]] > 0 {
			want = append(want, uint32(i))
		}
	}
	if !slices.Equal(all, want) {
		t.Fatalf("edges in blocks: %v, want %v", all, want)
	}
}

func (d *dealing) checkColour(t *testing.T, colour int, edge uint32, used map[uint32]bool) {
	t.Helper()
	dynamic := 0
	for _, body := range [2]uint32{d.edges.A[edge], d.edges.B[edge]} {
		if d.invMass[body] == 0 {
			continue
		}
		dynamic++
		if used[body] {
			t.Fatalf("colour %d: two edges of one colour, or of one block of Overflow, share body %d", colour, body)
		}
		used[body] = true
	}
	if colour != graph.Overflow && (dynamic == 2) != (colour < 32) {
		t.Fatalf("colour %d: a edge of %d dynamic bodies", colour, dynamic)
	}
}

func TestColoursOfRandomEdges(t *testing.T) {
	run := paritytest.Start(t, "Colours")
	var c graph.Colours
	for range paritytest.Rounds(300) {
		bodies := 2 + run.IntN(60)
		d := newDealing(bodies)
		for i := range d.invMass {
			d.invMass[i] = float32(min(1, run.IntN(4)))
		}
		for a := range bodies {
			for b := a + 1; b < bodies; b++ {
				if run.IntN(bodies) < 6 {
					d.join(a, b, run.IntN(3))
				}
			}
		}
		d.deal(&c)
		d.check(t, &c)
	}
}

// checkTurns checks that each dynamic body meets its edges of Overflow in order, those of
// the second class first, and that no block of them mixes fixed and moving ones.
func (d *dealing) checkTurns(t *testing.T, c *graph.Colours) {
	t.Helper()
	before := map[uint32]uint32{}
	lanes := c.Edge[c.Start[graph.Overflow]*graph.Lanes:]
	dynamic := float32(0)
	for i, edge := range lanes {
		if edge == graph.NoEdge {
			continue
		}
		a, b := d.edges.A[edge], d.edges.B[edge]
		if i%graph.Lanes > 0 && d.invMass[a]*d.invMass[b] != dynamic {
			t.Fatalf("edge %d: its block has fixed and moving ones", edge)
		}
		dynamic = d.invMass[a] * d.invMass[b]
		rank := edge - uint32(d.edges.Class[edge])<<16
		for _, body := range [2]uint32{a, b} {
			if old, ok := before[body]; ok && d.invMass[body] > 0 && rank <= old {
				t.Fatalf("body %d meets edge %d too late", body, edge)
			}
			before[body] = rank
		}
	}
}

// All bodies in one place: their edges fill the lanes.
func TestColoursOfACrowd(t *testing.T) {
	const n = 300
	d := newDealing(n)
	d.invMass[7], d.invMass[100] = 0, 0
	for a := range n {
		for b := a + 1; b < n; b++ {
			d.join(a, b, 1+(a+b)%2)
		}
	}
	var c graph.Colours
	d.deal(&c)
	d.check(t, &c)
	if most := len(d.edges.A) / 6; c.Blocks() > most {
		t.Errorf("%d edges in %d blocks, want at most %d", len(d.edges.A), c.Blocks(), most)
	}
}

// One body with 200 edges: 32 find colours, the rest, which all share it, blocks of their own.
func TestColoursOverflow(t *testing.T) {
	for _, invMass := range []float32{1, 0} {
		d := newDealing(402)
		for i := range 200 {
			d.join(200, 201+i, 1+i%2)
			d.invMass[201+i] = invMass
		}
		var c graph.Colours
		d.deal(&c)
		d.check(t, &c)
		want := 200 - 32
		if invMass == 0 {
			want = 200 - 31
		}
		if got := c.Start[graph.NumColours] - c.Start[graph.Overflow]; got != want {
			t.Errorf("inverse mass %g: %d edges overflow, want %d", invMass, got, want)
		}
	}
	// Of a body that is not dynamic, any number share a colour.
	d := newDealing(201)
	d.invMass[0] = 0
	for i := range 200 {
		d.join(0, 1+i, 2)
	}
	var c graph.Colours
	d.deal(&c)
	d.check(t, &c)
	if c.Blocks() != 13 {
		t.Errorf("%d blocks, want 13", c.Blocks())
	}
}

func TestColoursAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	d := newDealing(100)
	for i := range 99 {
		d.join(i, i+1, 1)
	}
	var c graph.Colours
	if n := testing.AllocsPerRun(10, func() { d.deal(&c) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkAssignColours(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := newDealing(5050)
	for i := range 15000 {
		a := min(i/3, 5048)
		d.join(a, min(5049, a+1+rng.IntN(100)), 2)
	}
	var c graph.Colours
	for b.Loop() {
		d.deal(&c)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/15000, "ns/edge")
}
