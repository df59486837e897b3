package rigid_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native/paritytest"
)

// dealing is an input of Colours.Deal. Each shape is a body of its own.
type dealing struct {
	contacts  []rigid.Contact
	manifolds []rigid.Manifold
	body      []uint32
	invMass   []float32
}

func newDealing(bodies int) *dealing {
	d := &dealing{body: make([]uint32, bodies), invMass: make([]float32, bodies)}
	for i := range d.body {
		d.body[i], d.invMass[i] = uint32(i), 1
	}
	return d
}

func (d *dealing) touch(a, b, points int) {
	d.contacts = append(d.contacts, rigid.Contact{A: uint32(a), B: uint32(b)})
	d.manifolds = append(d.manifolds, rigid.Manifold{Count: uint32(points)})
}

func (d *dealing) deal(c *rigid.Colours) { c.Assign(d.contacts, d.manifolds, d.body, d.invMass) }

// check checks all that Deal promises.
func (d *dealing) check(t *testing.T, c *rigid.Colours) {
	t.Helper()
	var all []uint32
	if len(c.Contact) != c.Blocks()*rigid.Lanes {
		t.Fatalf("%d lanes in %d blocks", len(c.Contact), c.Blocks())
	}
	for colour := range rigid.NumColours {
		used := map[uint32]bool{}
		from, to := c.Start[colour], c.Start[colour+1]
		for b := from; b < to; b++ {
			lanes := c.Contact[b*rigid.Lanes : (b+1)*rigid.Lanes]
			n := max(0, slices.Index(lanes, rigid.NoContact))
			if !slices.Contains(lanes, rigid.NoContact) {
				n = rigid.Lanes
			}
			if n == 0 {
				t.Fatalf("colour %d: an empty block", colour)
			}
			if colour == rigid.Overflow {
				clear(used)
			}
			for i, contact := range lanes {
				if i >= n {
					if contact != rigid.NoContact {
						t.Fatalf("colour %d: a gap in the lanes", colour)
					}
					continue
				}
				if d.manifolds[contact].Count != d.manifolds[lanes[0]].Count || i > 0 && contact <= lanes[i-1] {
					t.Fatalf("colour %d: contact %d is out of order, or has other points than its block", colour, contact)
				}
				d.checkColour(t, colour, contact, used)
				all = append(all, contact)
			}
		}
	}
	d.checkTurns(t, c)
	slices.Sort(all)
	var want []uint32
	for i, contact := range d.contacts {
		if d.manifolds[i].Count > 0 && d.invMass[contact.A]+d.invMass[contact.B] > 0 {
			want = append(want, uint32(i))
		}
	}
	if !slices.Equal(all, want) {
		t.Fatalf("contacts in blocks: %v, want %v", all, want)
	}
}

func (d *dealing) checkColour(t *testing.T, colour int, contact uint32, used map[uint32]bool) {
	t.Helper()
	dynamic := 0
	for _, shape := range [2]uint32{d.contacts[contact].A, d.contacts[contact].B} {
		body := d.body[shape]
		if d.invMass[body] == 0 {
			continue
		}
		dynamic++
		if used[body] {
			t.Fatalf("colour %d: two contacts of one colour, or of one block of Overflow, share body %d", colour, body)
		}
		used[body] = true
	}
	if colour != rigid.Overflow && (dynamic == 2) != (colour < 32) {
		t.Fatalf("colour %d: a contact of %d dynamic bodies", colour, dynamic)
	}
}

func TestColoursOfRandomContacts(t *testing.T) {
	run := paritytest.Start(t, "Colours")
	var c rigid.Colours
	for range paritytest.Rounds(300) {
		bodies := 2 + run.IntN(60)
		d := newDealing(bodies)
		for i := range d.invMass {
			d.invMass[i] = float32(min(1, run.IntN(4)))
		}
		for a := range bodies {
			for b := a + 1; b < bodies; b++ {
				if run.IntN(bodies) < 6 {
					d.touch(a, b, run.IntN(3))
				}
			}
		}
		d.deal(&c)
		d.check(t, &c)
	}
}

// checkTurns checks that each dynamic body meets its contacts of Overflow in order, those with
// two points first, and that no block of them mixes fixed and moving ones.
func (d *dealing) checkTurns(t *testing.T, c *rigid.Colours) {
	t.Helper()
	before := map[uint32]uint32{}
	lanes := c.Contact[c.Start[rigid.Overflow]*rigid.Lanes:]
	dynamic := float32(0)
	for i, contact := range lanes {
		if contact == rigid.NoContact {
			continue
		}
		a, b := d.body[d.contacts[contact].A], d.body[d.contacts[contact].B]
		if i%rigid.Lanes > 0 && d.invMass[a]*d.invMass[b] != dynamic {
			t.Fatalf("contact %d: its block has fixed and moving ones", contact)
		}
		dynamic = d.invMass[a] * d.invMass[b]
		rank := contact - d.manifolds[contact].Count<<16
		for _, body := range [2]uint32{a, b} {
			if old, ok := before[body]; ok && d.invMass[body] > 0 && rank <= old {
				t.Fatalf("body %d meets contact %d too late", body, contact)
			}
			before[body] = rank
		}
	}
}

// All bodies in one place: their contacts fill the lanes.
func TestColoursOfACrowd(t *testing.T) {
	const n = 300
	d := newDealing(n)
	d.invMass[7], d.invMass[100] = 0, 0
	for a := range n {
		for b := a + 1; b < n; b++ {
			d.touch(a, b, 1+(a+b)%2)
		}
	}
	var c rigid.Colours
	d.deal(&c)
	d.check(t, &c)
	if most := len(d.contacts) / 6; c.Blocks() > most {
		t.Errorf("%d contacts in %d blocks, want at most %d", len(d.contacts), c.Blocks(), most)
	}
}

// One body with 200 contacts: 32 find colours, the rest, which all share it, blocks of their own.
func TestColoursOverflow(t *testing.T) {
	for _, invMass := range []float32{1, 0} {
		d := newDealing(402)
		for i := range 200 {
			d.touch(200, 201+i, 1+i%2)
			d.invMass[201+i] = invMass
		}
		var c rigid.Colours
		d.deal(&c)
		d.check(t, &c)
		want := 200 - 32
		if invMass == 0 {
			want = 200 - 31
		}
		if got := c.Start[rigid.NumColours] - c.Start[rigid.Overflow]; got != want {
			t.Errorf("inverse mass %g: %d contacts overflow, want %d", invMass, got, want)
		}
	}
	// Of a body that is not dynamic, any number share a colour.
	d := newDealing(201)
	d.invMass[0] = 0
	for i := range 200 {
		d.touch(0, 1+i, 2)
	}
	var c rigid.Colours
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
		d.touch(i, i+1, 1)
	}
	var c rigid.Colours
	if n := testing.AllocsPerRun(10, func() { d.deal(&c) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkAssignColours(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := newDealing(5050)
	for i := range 15000 {
		a := min(i/3, 5048)
		d.touch(a, min(5049, a+1+rng.IntN(100)), 2)
	}
	var c rigid.Colours
	for b.Loop() {
		d.deal(&c)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/15000, "ns/contact")
}
