package broad_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

var inf = float32(math.Inf(1))

// broadScene is what a Phase takes.
type broadScene struct {
	boxes   broad.Boxes
	filters broad.Filters
}

func (s *broadScene) add(x0, y0, x1, y1 float32, body uint32, moves bool) {
	b, f := &s.boxes, &s.filters
	b.MinX, b.MinY, b.MaxX, b.MaxY = append(b.MinX, x0), append(b.MinY, y0), append(b.MaxX, x1), append(b.MaxY, y1)
	f.Body, f.Moves = append(f.Body, body), append(f.Moves, moves)
	f.Category, f.Mask, f.Group = append(f.Category, 1), append(f.Mask, ^uint64(0)), append(f.Group, 0)
	if len(f.SpanMin) > 0 {
		f.SpanMin, f.SpanMax = append(f.SpanMin, 0), append(f.SpanMax, 1)
	}
}

func (s *broadScene) put(i int, x0, y0, x1, y1 float32) {
	s.boxes.MinX[i], s.boxes.MinY[i], s.boxes.MaxX[i], s.boxes.MaxY[i] = x0, y0, x1, y1
}

// proper reports whether a box can overlap another one.
func (s *broadScene) proper(i int) bool {
	finite := func(v float32) bool { return v-v == 0 }
	x0, y0, x1, y1 := s.boxes.MinX[i], s.boxes.MinY[i], s.boxes.MaxX[i], s.boxes.MaxY[i]
	return finite(x0) && finite(y0) && finite(x1) && finite(y1) && x0 <= x1 && y0 <= y1
}

// meet is the rule of Phase.FindPairs but for MaxPairs.
func (s *broadScene) meet(a, b int) bool {
	x, f := &s.boxes, &s.filters
	if !s.proper(a) || !s.proper(b) || x.MinX[a] > x.MaxX[b] || x.MinX[b] > x.MaxX[a] || x.MinY[a] > x.MaxY[b] || x.MinY[b] > x.MaxY[a] {
		return false
	}
	if f.Body[a] == f.Body[b] || !f.Moves[a] && !f.Moves[b] {
		return false
	}
	if len(f.SpanMin) > 0 && !(f.SpanMin[a] <= f.SpanMax[b] && f.SpanMin[b] <= f.SpanMax[a]) {
		return false
	}
	if f.Group[a] == f.Group[b] && f.Group[a] != 0 {
		return f.Group[a] > 0
	}
	return f.Category[a]&f.Mask[b] != 0 && f.Category[b]&f.Mask[a] != 0
}

// brute is the specification of Phase.FindPairs, with the number of pairs that are left out.
func (s *broadScene) brute() (p broad.Pairs, omitted int) {
	n, moves := len(s.filters.Body), s.filters.Moves
	below := [2][][]int32{make([][]int32, n), make([][]int32, n)} // below[1][a][k]: shapes under k that meet a and move; [0]: that do not
	var all [][2]int
	for a := range n {
		below[0][a], below[1][a] = make([]int32, n+1), make([]int32, n+1)
		for k := range n {
			below[0][a][k+1], below[1][a][k+1] = below[0][a][k], below[1][a][k]
			if k != a && s.meet(min(a, k), max(a, k)) {
				below[oneIf(moves[k])][a][k+1]++
				if a < k {
					all = append(all, [2]int{a, k})
				}
			}
		}
	}
	most := [2]int32{256, 256} // of pairs with a shape that does not move, and of those of two that move
	least := [2]int32{16, 8}
	for {
		p.A, p.B = p.A[:0], p.B[:0]
		kept := [2]int{}
		for _, m := range all {
			a, b := m[0], m[1]
			sort := oneIf(moves[a] && moves[b])
			ofA, ofB := below[oneIf(moves[b])][a], below[oneIf(moves[a])][b] // those like the other one
			if ofA[b]-ofA[a+1] < most[sort] || ofB[b]-ofB[a+1] < most[sort] {
				p.A, p.B = append(p.A, uint32(a)), append(p.B, uint32(b))
				kept[sort]++
			}
		}
		done := true
		for sort, k := range kept {
			if k > 2*int(least[sort])*n+65536 && most[sort] > least[sort] {
				most[sort] /= 2
				done = false
			}
		}
		if done {
			return p, len(all) - len(p.A)
		}
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// broadFamily draws the boxes of scenes of one kind.
type broadFamily struct {
	name string
	box  func(run *paritytest.Run, i int) (x, y, w, h float32)
}

func uniform(run *paritytest.Run, size float32) float32 { return float32((run.Float32() - 0.5) * size) }

var broadFamilies = []broadFamily{
	{"uniform", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		return uniform(run, 30), uniform(run, 30), 1 + run.Float32(), 1 + run.Float32()
	}},
	{"sparse", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		return uniform(run, 3000), uniform(run, 300), 10, 1 + run.Float32()
	}},
	{"clusters", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		return uniform(run, 3) + float32(1000*run.IntN(3)), uniform(run, 3) + float32(777*run.IntN(3)), 0.5, 0.5
	}},
	{"sizes", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		size := float32(math.Exp(float64(run.Float32())*7)) * 0.1
		return uniform(run, 100), uniform(run, 100), float32(size * run.Float32()), float32(size * run.Float32())
	}},
	{"extreme", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		any := []paritytest.Class{paritytest.Uniform, paritytest.Huge, paritytest.Tiny, paritytest.Zero, paritytest.Denormal}
		return run.Float(any[run.IntN(5)]), run.Float(any[run.IntN(5)]), run.Float(any[run.IntN(5)]), run.Float(any[run.IntN(5)])
	}},
	{"walls", func(run *paritytest.Run, i int) (x, y, w, h float32) {
		switch i % 20 {
		case 0:
			return -50, uniform(run, 100), 100, 1
		case 1:
			return uniform(run, 100), -50, 1, 100
		}
		return uniform(run, 100), uniform(run, 100), 3, 2
	}},
	{"outliers", func(run *paritytest.Run, i int) (x, y, w, h float32) {
		x, y, w, h = uniform(run, 20), uniform(run, 20), 1, 1
		if i%20 == 3 {
			x += []float32{1e6, -1e6, 1e30, 0}[run.IntN(4)]
			y += []float32{1e6, -1e9, -1e30, 0}[run.IntN(4)]
		}
		return x, y, w, h
	}},
	{"far", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		return 1e6 + uniform(run, 20), -1e6 + uniform(run, 20), 1, 1
	}},
	{"lattice", func(run *paritytest.Run, _ int) (x, y, w, h float32) { // many that touch
		return float32(run.IntN(20)), float32(run.IntN(20)), float32(1 + run.IntN(2)), float32(run.IntN(3))
	}},
	{"touching", func(run *paritytest.Run, _ int) (x, y, w, h float32) { // by one unit in the last place
		return run.Near(float32(run.IntN(20))), run.Near(float32(run.IntN(20))), 1, 1
	}},
	{"column", func(run *paritytest.Run, _ int) (x, y, w, h float32) { return 0, uniform(run, 300), 1, 1 }},
	{"line", func(run *paritytest.Run, _ int) (x, y, w, h float32) { return uniform(run, 300), 0, 1, 1 }},
	{"dust", func(run *paritytest.Run, _ int) (x, y, w, h float32) {
		return float32(run.IntN(9)), float32(run.IntN(9)), 0, 0
	}},
	{"zeros", func(run *paritytest.Run, i int) (x, y, w, h float32) { // of either sign
		return run.Float(paritytest.Zero), run.Float(paritytest.Zero), float32(i & 1), 0
	}},
	{"crowd", func(run *paritytest.Run, _ int) (x, y, w, h float32) { return uniform(run, 1), uniform(run, 1), 2, 2 }},
}

// draw makes a scene of up to most shapes.
func (f *broadFamily) draw(run *paritytest.Run, most int) *broadScene {
	s := &broadScene{}
	n := run.IntN(most + 1)
	perBody, still := 1+run.IntN(3), run.IntN(4)
	for i := range n {
		x, y, w, h := f.box(run, i)
		s.add(x, y, x+w, y+h, uint32(i/perBody), true)
	}
	for i := range n { // all shapes of a body move, or none does
		if b := s.filters.Body[i] * 2654435761 >> 24; still == 1 && b < 200 || still == 2 && b < 20 || still == 3 && b < 128 {
			s.filters.Moves[i] = false
		}
	}
	if run.IntN(2) == 0 {
		s.breakSome(run)
	}
	for i := range n {
		if x := &s.boxes; f.name == "zeros" && run.IntN(2) == 0 {
			s.put(i, -x.MaxX[i], x.MinY[i], x.MaxX[i], -x.MinY[i])
		}
	}
	s.filter(run)
	s.filters.SpanMin, s.filters.SpanMax = nil, nil
	if run.IntN(2) == 0 {
		s.filters.SpanMin, s.filters.SpanMax = spans(run, n)
	}
	return s
}

// spans draws intervals: many that touch, some without an end, and some that are none.
func spans(run *paritytest.Run, n int) (least, most []float32) {
	for range n {
		a := float32(run.IntN(7) - 3)
		b := a + float32(run.IntN(3))
		switch run.IntN(20) {
		case 0:
			a, b = -inf, inf
		case 1:
			b = inf
		case 2:
			a = -inf
		case 3:
			a = float32(math.NaN())
		case 4:
			a, b = b, a
		case 5:
			a, b = float32(math.Copysign(0, -1)), 0
		}
		least, most = append(least, a), append(most, b)
	}
	return least, most
}

// breakSome makes some boxes ones that overlap nothing.
func (s *broadScene) breakSome(run *paritytest.Run) {
	for i := range s.filters.Body {
		if run.IntN(10) > 0 {
			continue
		}
		columns := [][]float32{s.boxes.MinX, s.boxes.MinY, s.boxes.MaxX, s.boxes.MaxY}
		switch run.IntN(4) {
		case 0:
			s.put(i, inf, inf, -inf, -inf)
		case 1:
			columns[run.IntN(4)][i] = float32(math.NaN())
		case 2:
			columns[run.IntN(4)][i] = []float32{inf, -inf}[run.IntN(2)]
		case 3: // barely inverted
			s.boxes.MaxX[i] = math.Nextafter32(s.boxes.MinX[i], -inf)
		}
	}
}

// filter draws filters: none, few kinds, groups, or many kinds.
func (s *broadScene) filter(run *paritytest.Run) {
	kind, bits := run.IntN(5), 1+run.IntN(3)
	for i := range s.filters.Body {
		f := &s.filters
		switch kind {
		case 1, 2:
			f.Category[i], f.Mask[i] = 1<<run.IntN(bits), run.Uint64N(1<<bits)
		case 3:
			f.Category[i], f.Mask[i] = 1<<run.IntN(64), run.Uint64()|run.Uint64()
		}
		if kind == 2 || kind == 4 {
			f.Group[i] = int32(run.IntN(7) - 3)
		}
	}
}

// checkPairs is for a call of Pairs.
func checkPairs(b *broad.Phase, got, want *broad.Pairs, omitted int) error {
	if b.Omitted != omitted {
		return fmt.Errorf("%d pairs are said to be left out, want %d", b.Omitted, omitted)
	}
	return same(got, want)
}

func same(got, want *broad.Pairs) error {
	if err := paritytest.Bits("A", got.A, want.A); err != nil {
		return err
	}
	return paritytest.Bits("B", got.B, want.B)
}

// inParts makes a Broad work in parts of 64 shapes, in any order and at the same time.
func inParts(b *broad.Phase, run *paritytest.Run) {
	b.Grain(64)
	b.ParallelFor = func(parts int, f func(part int)) {
		var all sync.WaitGroup
		first := run.IntN(parts)
		for i := range parts {
			all.Go(func() { f((first + parts - i) % parts) })
		}
		all.Wait()
	}
}

func TestPairsAreThoseOfBruteForce(t *testing.T) {
	run := paritytest.Start(t, "Pairs")
	for f := range broadFamilies {
		t.Run(broadFamilies[f].name, func(t *testing.T) {
			broads, parted := make([]broad.Phase, len(native.Levels())), make([]broad.Phase, len(native.Levels()))
			for i := range parted {
				inParts(&parted[i], run)
			}
			var out broad.Pairs
			for round := range paritytest.Sample(60) {
				s := broadFamilies[f].draw(run, []int{10, 100, 500}[round%3])
				want, omitted := s.brute()
				for i, level := range native.Levels() {
					run.Case(level)
					broads[i].FindPairs(level, &s.boxes, &s.filters, 0, &out)
					if err := checkPairs(&broads[i], &out, &want, omitted); err != nil {
						run.Check(fmt.Errorf("%s of %d: %w", broadFamilies[f].name, len(s.filters.Body), err))
					}
					parted[i].FindPairs(level, &s.boxes, &s.filters, 0, &out)
					run.Check(checkPairs(&parted[i], &out, &want, omitted))
					broads[i].Crowded(level, &s.boxes, &s.filters, &out)
					run.Check(checkPairs(&broads[i], &out, &want, omitted))
				}
			}
		})
	}
}

// A scene that goes on from call to call: boxes move, those that do not are kept, and
// now and then one of them is moved or becomes one that moves.
func TestPairsFromCallToCall(t *testing.T) {
	run := paritytest.Start(t, "PairsCalls")
	for _, level := range native.Levels() {
		var looks, trusts broad.Phase
		inParts(&looks, run)
		var out broad.Pairs
		s := broadFamilies[0].draw(run, 300)
		version, held := uint64(1), [2][]float32{}
		for range paritytest.Rounds(100) {
			run.Case(level)
			change := run.IntN(4) == 0
			for i, moves := range s.filters.Moves {
				if moves || change && run.IntN(20) == 0 {
					x, y, w, h := broadFamilies[0].box(run, i)
					s.put(i, x, y, x+w, y+h)
				}
				if change && run.IntN(20) == 0 {
					s.filters.Moves[i] = !moves
				}
			}
			if change {
				version++
				s.filter(run)
				if run.IntN(2) == 0 {
					s.add(0, 0, 3, 3, uint32(1000+version), run.IntN(2) == 0)
				}
			}
			least, most := spans(run, len(s.filters.Body))
			for i, moves := range s.filters.Moves { // those of shapes that do not move change with the version
				if !moves && !change && i < len(held[0]) {
					least[i], most[i] = held[0][i], held[1][i]
				}
			}
			held = [2][]float32{least, most}
			if s.filters.SpanMin, s.filters.SpanMax = nil, nil; run.IntN(3) > 0 {
				s.filters.SpanMin, s.filters.SpanMax = least, most
			}
			want, _ := s.brute()
			trusts.FindPairs(level, &s.boxes, &s.filters, version, &out)
			run.Check(same(&out, &want))
			looks.FindPairs(level, &s.boxes, &s.filters, 0, &out)
			run.Check(same(&out, &want))
		}
	}
}

// Storeys on one plan: the pairs of other storeys count neither as pairs nor as left out, however many they are.
func TestPairsOfStoreys(t *testing.T) {
	const storeys, bodies = 40, 30
	s := &broadScene{}
	for range bodies {
		s.onPoint(storeys, true)
	}
	for i := range s.filters.Body {
		level := float32(i % storeys)
		s.filters.SpanMin, s.filters.SpanMax = append(s.filters.SpanMin, level), append(s.filters.SpanMax, level+0.5)
	}
	want, _ := s.brute()
	if len(want.A) != storeys*bodies*(bodies-1)/2 {
		t.Fatalf("%d pairs", len(want.A))
	}
	for _, level := range native.Levels() {
		var b broad.Phase
		var out broad.Pairs
		b.FindPairs(level, &s.boxes, &s.filters, 0, &out)
		if err := checkPairs(&b, &out, &want, 0); err != nil {
			t.Errorf("level %v: %v", level, err)
		}
	}
}

// onePoint are n bodies on one point.
func onePoint(n int) *broadScene {
	s := &broadScene{}
	for i := range n {
		s.add(1, 1, 2, 2, uint32(i), true)
	}
	return s
}

// Bodies on one point pair with the next ones: as many as the budget has room for.
func TestPairsOnOnePoint(t *testing.T) {
	sizes := []struct{ n, bound int }{{200, 256}, {400, 256}, {480, 128}, {600, 128}, {2000, 32}, {10000, 16}}
	if paritytest.Instrumented || testing.Short() || !paritytest.Long() {
		sizes = sizes[:5]
	}
	for _, size := range sizes {
		s := onePoint(size.n)
		for _, level := range native.Levels() {
			var b broad.Phase
			var out broad.Pairs
			b.FindPairs(level, &s.boxes, &s.filters, 0, &out)
			k := 0
			for a := range size.n {
				for b := a + 1; b < min(size.n, a+1+size.bound); b++ {
					if k >= len(out.A) || out.A[k] != uint32(a) || out.B[k] != uint32(b) {
						t.Fatalf("%d bodies, level %v: pair %d is not %d and %d", size.n, level, k, a, b)
					}
					k++
				}
			}
			if k != len(out.A) || k != len(out.B) || b.Omitted != size.n*(size.n-1)/2-k {
				t.Fatalf("%d bodies, level %v: %d pairs, want %d; %d left out", size.n, level, len(out.A), k, b.Omitted)
			}
		}
	}
}

// onPoint adds n shapes on one point, each of a body of its own.
func (s *broadScene) onPoint(n int, moves bool) {
	for range n {
		s.add(1, 1, 2, 2, uint32(len(s.filters.Body)), moves)
	}
}

// A crowd on shapes that do not move: these are counted apart, and bounded only if they are many themselves.
func TestPairsOfACrowdOnStill(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	scenes := []struct {
		name          string
		order         []int // how many that move, then how many that do not, and so on
		still         int   // pairs with these, or 0
		repeat        int
		longToCompute bool
	}{
		{"a floor made first", []int{0, 1, 1500}, 1500, 1, false},
		{"a floor made last", []int{1500, 1}, 1500, 1, false},
		{"a floor made between", []int{700, 1, 800}, 1500, 1, false},
		{"a floor of 40", []int{0, 20, 600, 20}, 40 * 600, 1, true},
		{"300 of them", []int{0, 300, 300}, 0, 1, false},          // more than MaxPairs
		{"many of them first", []int{0, 500, 500}, 0, 1, true},    // the bound is lowered
		{"many of them between", []int{1, 1}, 0, 500, false},      // the same
		{"more than the least", []int{600, 800, 600}, 0, 1, true}, // and twice
	}
	long := 0
	for i, scene := range scenes {
		if testing.Short() && i < 3 && i != int(paritytest.Seed()%3) { // floors
			continue
		}
		if scene.longToCompute {
			// One of these three is enough, unless the test is long.
			if long++; paritytest.Instrumented || testing.Short() || !paritytest.Long() && long%3 != int(paritytest.Seed()%3) {
				continue
			}
		}
		s := &broadScene{}
		for range scene.repeat {
			for k, n := range scene.order {
				s.onPoint(n, k%2 == 0)
			}
		}
		want, omitted := s.brute()
		still := 0
		for i, a := range want.A {
			still += 1 - oneIf(s.filters.Moves[a] && s.filters.Moves[want.B[i]])
		}
		if scene.still > 0 && still != scene.still {
			t.Errorf("%s: %d pairs with what does not move, want %d", scene.name, still, scene.still)
		}
		if n := len(s.filters.Body); still > 32*n+65536 || len(want.A)-still > 16*n+65536 || omitted == 0 {
			t.Errorf("%s: %d pairs with what does not move, of %d; %d left out", scene.name, still, len(want.A), omitted)
		}
		run := paritytest.Start(t, "PairsOnStill")
		for _, level := range native.Levels() {
			var whole, parted broad.Phase
			inParts(&parted, run)
			var out broad.Pairs
			run.Case(level)
			whole.FindPairs(level, &s.boxes, &s.filters, 0, &out)
			run.Check(checkPairs(&whole, &out, &want, omitted))
			parted.FindPairs(level, &s.boxes, &s.filters, 0, &out)
			run.Check(checkPairs(&parted, &out, &want, omitted))
			whole.Crowded(level, &s.boxes, &s.filters, &out)
			run.Check(checkPairs(&whole, &out, &want, omitted))
		}
	}
}

// A floor under more bodies than MaxPairs holds them all.
func TestPairsOfAFloor(t *testing.T) {
	const n = 4 * broad.MaxPairs
	for _, floorMoves := range []bool{true, false} {
		s := &broadScene{}
		s.add(-1, 0, 2*n, 1, 0, floorMoves)
		for i := range n {
			s.add(float32(2*i), 0.5, float32(2*i+1), 2, uint32(i+1), true)
		}
		want, _ := s.brute()
		if len(want.A) != n {
			t.Fatalf("%d pairs, want %d", len(want.A), n)
		}
		for _, level := range native.Levels() {
			var b broad.Phase
			var out broad.Pairs
			b.FindPairs(level, &s.boxes, &s.filters, 0, &out)
			if err := same(&out, &want); err != nil {
				t.Errorf("level %v: %v", level, err)
			}
		}
	}
}

// The pair of two long shapes is in excess if each has MaxPairs partners between the two, and only then.
func TestPairsOfTwoLongShapes(t *testing.T) {
	run := paritytest.Start(t, "PairsOfTwoLong")
	for _, n := range []int{broad.MaxPairs - 1, broad.MaxPairs, broad.MaxPairs + 1, 4 * broad.MaxPairs} {
		s := &broadScene{}
		s.add(-1, 0, float32(2*n), 1, 0, true)
		for i := range n {
			s.add(float32(2*i), 0.5, float32(2*i+1), 2, uint32(i+1), true)
		}
		s.add(-1, 0.6, float32(2*n), 1.6, uint32(n+1), true)
		want, omitted := s.brute()
		if (omitted == 1) != (n >= broad.MaxPairs) || len(want.A)+omitted != 2*n+1 {
			t.Fatalf("%d shapes between two: %d pairs, %d left out", n, len(want.A), omitted)
		}
		for _, level := range native.Levels() {
			var whole, parted broad.Phase
			inParts(&parted, run)
			var out broad.Pairs
			run.Case(level)
			for _, b := range []*broad.Phase{&whole, &parted} {
				b.FindPairs(level, &s.boxes, &s.filters, 0, &out)
				run.Check(checkPairs(b, &out, &want, omitted))
			}
		}
	}
}

func TestPairsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented builds allocate")
	}
	run := paritytest.Start(t, "PairsAllocs")
	for f := range broadFamilies {
		s := broadFamilies[f].draw(run, 1000)
		for _, level := range native.Levels() {
			for version := range uint64(2) {
				var b broad.Phase
				var out broad.Pairs
				if allocs := testing.AllocsPerRun(3, func() { b.FindPairs(level, &s.boxes, &s.filters, version, &out) }); allocs != 0 {
					t.Errorf("%s, level %v: %v allocations", broadFamilies[f].name, level, allocs)
				}
			}
		}
	}
}

func TestPairsMisuse(t *testing.T) {
	var b broad.Phase
	var out broad.Pairs
	s := onePoint(3)
	short := s.filters
	short.Mask = short.Mask[1:]
	boxes, empty := columnsOf(2), columnsOf(0)
	uneven, few := s.filters, s.filters
	uneven.SpanMin, uneven.SpanMax = make([]float32, 3), make([]float32, 2)
	few.SpanMin, few.SpanMax = make([]float32, 2), make([]float32, 2)
	for _, f := range []broad.Filters{uneven, few} {
		panics(t, "broad: columns of Filters differ in length", func() { b.FindPairs(native.Go, &s.boxes, &f, 0, &out) })
	}
	panics(t, "broad: columns of Filters differ in length", func() { b.FindPairs(native.Go, &s.boxes, &short, 0, &out) })
	panics(t, "broad: Phase.FindPairs: boxes and filters differ in length", func() { b.FindPairs(native.Go, &boxes, &s.filters, 0, &out) })
	panics(t, "broad: the level cannot run here; see native.Resolve", func() { b.FindPairs(200, &s.boxes, &s.filters, 0, &out) })
	b.FindPairs(native.Go, &empty, &broad.Filters{}, 0, &out)
	if len(out.A) != 0 {
		t.Error("pairs of no shapes")
	}
}

// FuzzPairs takes boxes from bytes, on a small lattice with odd ones among them.
func FuzzPairs(f *testing.F) {
	f.Add([]byte("\x00\x00\x11\x00\x00\x00\x11\x01\x11\x00\x11\x02"), uint8(0))
	f.Add([]byte("0123456789abcdef0123456789abcdefghijklmnopqrstuvwxyz"), uint8(7))
	f.Add([]byte("0123456789abcdef0123456789abcdefghijklmnopqrstuvwxyz"), uint8(16))
	odd := []float32{0, inf, -inf, float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32, 1e6, -1e6, 1e-40, 1e30}
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		s := &broadScene{}
		coordinate := func(v byte) float32 {
			if v >= 246 {
				return odd[v-246]
			}
			return float32(v%16) + float32(v/16)*0.0625
		}
		for i := 0; i+4 <= len(data) && i < 4*300; i += 4 {
			x, y, size, flags := coordinate(data[i]), coordinate(data[i+1]), data[i+2], data[i+3]
			w, h := float32(size%16), float32(size/16)
			if kind&1 != 0 {
				w *= w * w
			}
			s.add(x, y, x+w, y+h, uint32(flags&31), kind&2 == 0 || flags&1 != 0)
			k := len(s.filters.Body) - 1
			if kind&4 != 0 {
				s.filters.Category[k], s.filters.Mask[k] = 1<<(flags>>6), uint64(flags>>2)
			}
			if kind&8 != 0 {
				s.filters.Group[k] = int32(flags%5) - 2
			}
			if kind&16 != 0 {
				least := coordinate(data[i] ^ flags)
				s.filters.SpanMin = append(s.filters.SpanMin[:k], least)
				s.filters.SpanMax = append(s.filters.SpanMax[:k], least+float32(flags%4))
			}
		}
		want, _ := s.brute()
		for _, level := range native.Levels() {
			var b broad.Phase
			var out broad.Pairs
			for range 2 {
				b.FindPairs(level, &s.boxes, &s.filters, 0, &out)
				if err := same(&out, &want); err != nil {
					t.Fatalf("level %v: %v", level, err)
				}
			}
		}
	})
}

func panics(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != nil && got != want || got == nil && want != "" {
			t.Errorf("got panic %v, want %q", got, want)
		}
	}()
	do()
}
