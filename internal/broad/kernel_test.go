//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package broad

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// kernelCase is a scene, sorted by the Go kernels, of which a third does not move.
type kernelCase struct {
	boxes         Boxes
	moving, still []uint64
	m, s          Grid
	rule          pairFilter
}

func newKernelCase(run *paritytest.Run) *kernelCase {
	c := &kernelCase{}
	n := 1 + run.IntN(400)
	extent, sizes := []float32{5, 50, 5000}[run.IntN(3)], 1+run.IntN(9)
	f := Filters{}
	for i := range n {
		size := float32(uint32(1)<<run.IntN(sizes)) * 0.1
		x, y := float32(run.Float32()*extent), float32(run.Float32()*extent)
		b := [4]float32{x, y, x + float32(size*run.Float32()), y + float32(size*run.Float32())}
		if run.IntN(10) == 0 {
			b[run.IntN(4)] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		}
		c.boxes.MinX, c.boxes.MinY = append(c.boxes.MinX, b[0]), append(c.boxes.MinY, b[1])
		c.boxes.MaxX, c.boxes.MaxY = append(c.boxes.MaxX, b[2]), append(c.boxes.MaxY, b[3])
		f.Body, f.Moves = append(f.Body, uint32(i/2)), append(f.Moves, run.IntN(3) > 0)
		f.Category, f.Mask, f.Group = append(f.Category, 1<<run.IntN(3)), append(f.Mask, run.Uint64N(8)), append(f.Group, 0)
	}
	if run.IntN(2) == 0 {
		f.SpanMin, f.SpanMax = make([]float32, n), make([]float32, n)
		for i := range n {
			f.SpanMin[i] = float32(run.IntN(5))
			f.SpanMax[i] = f.SpanMin[i] + float32(run.IntN(2))
			if run.IntN(10) == 0 {
				f.SpanMax[i] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
			}
		}
	}
	b := Phase{}
	b.begin(native.Go, &c.boxes, &f, nil)
	b.updateCache(&c.boxes, &f, 0)
	k := &b.cache
	c.moving, c.still, c.rule = k.moving, k.stationary, k.filter
	b.build(&c.m, k.moving, true)
	b.build(&c.s, k.stationary, true)
	return c
}

// guards places copies of slices against guard pages, each in a buffer of its own.
type guards struct {
	words []*paritytest.Buffer[uint32]
	longs []*paritytest.Buffer[uint64]
	float []*paritytest.Buffer[float32]
	used  [3]int
	side  paritytest.Side
	gap   int
}

func newGuards(t *testing.T) *guards {
	g := &guards{}
	for range 12 {
		g.words = append(g.words, paritytest.NewBuffer[uint32](t, 9000))
	}
	for range 6 {
		g.longs = append(g.longs, paritytest.NewBuffer[uint64](t, 1000))
		g.float = append(g.float, paritytest.NewBuffer[float32](t, 1000))
	}
	return g
}

func (g *guards) begin(run *paritytest.Run) {
	g.used, g.side, g.gap = [3]int{}, paritytest.Sides[run.IntN(2)], run.IntN(2)*run.IntN(paritytest.MaxGap+1)
}

func (g *guards) u32(s []uint32) []uint32 {
	g.used[0]++
	return g.words[g.used[0]-1].PlaceCopy(s, g.side, g.gap)
}

func (g *guards) u64(s []uint64) []uint64 {
	g.used[1]++
	return g.longs[g.used[1]-1].PlaceCopy(s, g.side, g.gap)
}

func (g *guards) f32(s []float32) []float32 {
	g.used[2]++
	return g.float[g.used[2]-1].PlaceCopy(s, g.side, g.gap)
}

func (g *guards) check() error {
	for _, b := range g.words {
		if err := b.Check(); err != nil {
			return err
		}
	}
	for i := range g.longs {
		if err := g.longs[i].Check(); err != nil {
			return err
		}
		if err := g.float[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

func (g *guards) boxes(b *Boxes) *Boxes {
	return &Boxes{g.f32(b.MinX), g.f32(b.MinY), g.f32(b.MaxX), g.f32(b.MaxY)}
}

// sorted places what the kernels of C look at.
func (g *guards) sorted(s *Grid) *Grid {
	to := *s
	if len(s.layers) == 0 {
		return &to
	}
	rows := s.layers[len(s.layers)-1].LastRow
	to.memory, to.directory = g.u32(s.memory), g.u32(s.directory)
	to.rowStart, to.rowNumber = g.u32(s.rowStart[:rows+1]), g.u32(s.rowNumber[:rows])
	return &to
}

func (g *guards) found(n int) *pairBuffer {
	return &pairBuffer{a: g.u32(make([]uint32, n)), b: g.u32(make([]uint32, n))}
}

// kernelLevels are those of C.
func kernelLevels() []native.Level {
	return slices.DeleteFunc(native.Levels(), func(l native.Level) bool { return l == native.Go })
}

func TestParityBroadKernels(t *testing.T) {
	run := paritytest.Start(t, "BroadKernels")
	g := newGuards(t)
	for range paritytest.Rounds(200) {
		c := newKernelCase(run)
		for _, level := range kernelLevels() {
			run.Case(level)
			kernels := newKernels(int32(level-native.C), int32(level-native.C))
			run.Check(c.measure(run, g, &kernels), c.sorting(run, g, &kernels), c.scatter(run, g, &kernels), partition(run, g, &kernels),
				c.bruteForce(run, g, &kernels))
			for i := range c.m.layers {
				l := &c.m.layers[i]
				run.Check(c.search(run, g, "searchLayer", &c.m, l, l, searchLayerGo, kernels.searchLayer))
				for j := range c.s.layers {
					k := &c.s.layers[j]
					run.Check(c.search(run, g, "searchRows", &c.s, l, k, searchRowsGo, kernels.searchRows),
						c.search(run, g, "searchDirectory", &c.s, l, k, searchDirectoryGo, kernels.searchDirectory))
				}
			}
		}
	}
}

// search compares a search by C with the one by Go, from some place on and with
// room for some pairs.
func (c *kernelCase) search(run *paritytest.Run, g *guards, name string, t *Grid, l, k *layer, inGo, inC searchKernel) error {
	g.begin(run)
	from := l.First + run.Uint32N(uint32(l.len()))
	size := k.len() + padding + run.IntN(300)
	want := &pairBuffer{a: make([]uint32, size), b: make([]uint32, size)}
	wantAt := inGo(&c.m, t, l, k, from, want)
	got := g.found(size)
	at := inC(g.sorted(&c.m), g.sorted(t), l, k, from, got)
	if at != wantAt || got.n != want.n {
		return fmt.Errorf("%s: place %d and %d pairs, want %d and %d", name, at, got.n, wantAt, want.n)
	}
	if err := paritytest.Bits(name+" a", got.a[:got.n], want.a[:want.n]); err != nil {
		return err
	}
	if err := paritytest.Bits(name+" b", got.b[:got.n], want.b[:want.n]); err != nil {
		return err
	}
	return g.check()
}

func (c *kernelCase) measure(run *paritytest.Run, g *guards, kernels *kernels) error {
	g.begin(run)
	n := len(c.boxes.MinX)
	want, got := summary{}, summary{}
	wantIDs, ids := make([]uint32, n+padding), g.u32(make([]uint32, n+padding))
	lo := run.IntN(n/64+1) * 64
	hi := lo + run.IntN(n-lo+1)
	measureGo(&c.boxes, c.moving, lo, hi, wantIDs, &want)
	kernels.measure(g.boxes(&c.boxes), g.u64(c.moving), lo, hi, ids[n-(hi-lo):], &got)
	if got != want { // zeros may differ in sign
		return fmt.Errorf("summary: got %v, want %v", got, want)
	}
	if err := paritytest.Bits("ids", ids[n-(hi-lo):][:got.N], wantIDs[:want.N]); err != nil {
		return err
	}
	return g.check()
}

// sorting compares keys, their order, and the boxes in their places.
func (c *kernelCase) sorting(run *paritytest.Run, g *guards, kernels *kernels) error {
	n := len(c.boxes.MinX)
	ids := make([]uint32, n)
	p, columns := gridPlan{boxes: &c.boxes, chunks: make([]shapeChunk, 1)}, 7
	if f := c.rule.filters; f.Spanned() {
		p.spans, columns = f, 9
	}
	only := &p.chunks[0]
	measureGo(&c.boxes, c.moving, 0, n, ids, &only.sum)
	p.addUp()
	if p.sum.N == 0 {
		return nil
	}
	count := int(p.sum.N)
	only.ids = ids[:count]
	only.sizes.add(&c.boxes, only.ids)
	var store, storeC [maxLayers]layer
	var inGo, inC Grid
	inGo.layers = p.makeLayers(store[:])
	inC.layers = storeC[:copy(storeC[:], inGo.layers)]
	inGo.reserve(count)
	inC.reserve(count)
	makeKeysGo(&p, only.ids, inGo.layers, inGo.keys)
	want, _ := sortKeysGo(inGo.keys[:count], inGo.tmp[:count], p.bits)
	inGo.keys = want
	at := run.IntN(count + 1) // in two parts
	half := fillRowsGo(&c.boxes, &p, &inGo, 0, at, 0, inGo.layers)
	rows := fillRowsGo(&c.boxes, &p, &inGo, at, count, half, inGo.layers)

	g.begin(run)
	boxes := g.boxes(&c.boxes)
	p.boxes = boxes
	if f := c.rule.filters; f.Spanned() {
		p.spans = &Filters{SpanMin: g.f32(f.SpanMin), SpanMax: g.f32(f.SpanMax)}
	}
	keys, tmp := g.u64(inC.keys[:count]), g.u64(inC.tmp[:count])
	kernels.makeKeys(&p, g.u32(only.ids), inC.layers, keys)
	inC.keys, _ = kernels.sortKeys(keys, tmp, p.bits)
	if err := paritytest.Bits("keys", inC.keys, want); err != nil {
		return err
	}
	inC.memory = g.u32(inC.memory)
	inC.rowStart, inC.rowNumber = g.u32(inC.rowStart[:rows]), g.u32(inC.rowNumber[:rows])
	halfC := kernels.fillRows(boxes, &p, &inC, 0, at, 0, inC.layers)
	rowsC := kernels.fillRows(boxes, &p, &inC, at, count, half, inC.layers)
	if halfC != half || rowsC != rows || !slices.Equal(inC.layers, inGo.layers) {
		return fmt.Errorf("%d and %d rows, want %d and %d; layers: got %v, want %v", halfC, rowsC, half, rows, inC.layers, inGo.layers)
	}
	for k, stride := 0, len(inC.shape); k < columns; k++ {
		at := k * stride
		if err := paritytest.Bits(fmt.Sprint("column ", k), inC.memory[at:at+count], inGo.memory[at:at+count]); err != nil {
			return err
		}
	}
	if err := paritytest.Bits("rows", inC.rowStart, inGo.rowStart[:rows]); err != nil {
		return err
	}
	if err := paritytest.Bits("row numbers", inC.rowNumber, inGo.rowNumber[:rows]); err != nil {
		return err
	}
	return g.check()
}

func (c *kernelCase) scatter(run *paritytest.Run, g *guards, kernels *kernels) error {
	g.begin(run)
	n, pairs, lo := 1+run.IntN(300), run.IntN(600), run.Uint32N(1<<20)
	raw := pairBuffer{n: pairs}
	for range pairs {
		raw.a, raw.b = append(raw.a, lo+run.Uint32N(uint32(n))), append(raw.b, run.Uint32N(1<<24))
	}
	ends, out := make([]uint32, n), Pairs{make([]uint32, pairs), make([]uint32, pairs)}
	longest := scatterPairsGo(raw.a, raw.b, lo, ends, out)
	endsC, outC := g.u32(make([]uint32, n)), Pairs{g.u32(make([]uint32, pairs)), g.u32(make([]uint32, pairs))}
	if got := kernels.scatterPairs(g.u32(raw.a), g.u32(raw.b), lo, endsC, outC); got != longest {
		return fmt.Errorf("longest: got %d, want %d", got, longest)
	}
	for _, err := range []error{paritytest.Bits("ends", endsC, ends), paritytest.Bits("A", outC.A, out.A), paritytest.Bits("B", outC.B, out.B), sortRows(run, g, kernels)} {
		if err != nil {
			return err
		}
	}
	return g.check()
}

// sortRows compares the order within rows that are longer than short ones, and between them rows of any length.
func sortRows(run *paritytest.Run, g *guards, kernels *kernels) error {
	var ends, rows []uint32
	longest := 0
	for range 1 + run.IntN(20) {
		n := []int{run.IntN(shortRow + 2), shortRow + run.IntN(30), countedRow - 2 + run.IntN(5), run.IntN(500)}[run.IntN(4)]
		longest = max(longest, n)
		first, step := uint32(0), uint32(1)<<run.IntN(14) // a step over all shapes, none twice
		for range n {
			first += 1 + run.Uint32N(step)
			rows = append(rows, first)
		}
		row := rows[len(rows)-n:]
		run.Shuffle(n, func(i, k int) { row[i], row[k] = row[k], row[i] })
		if n <= shortRow { // scatterPairs has sorted it
			slices.Sort(row)
		}
		ends = append(ends, uint32(len(rows)))
	}
	want := slices.Clone(rows)
	begin := uint32(0)
	for _, end := range ends {
		slices.Sort(want[begin:end])
		begin = end
	}
	inGo, inC := slices.Clone(rows), g.u32(rows)
	sortRowsGo(ends, inGo, make([]uint32, longest))
	kernels.sortRows(g.u32(ends), inC, g.u32(make([]uint32, longest)))
	if err := paritytest.Bits("rows in Go", inGo, want); err != nil {
		return err
	}
	return paritytest.Bits("rows", inC, want)
}

// partition compares how keys and pairs are divided into parts.
func partition(run *paritytest.Run, g *guards, kernels *kernels) error {
	g.begin(run)
	n, shift := run.IntN(300), uint(run.IntN(40))
	keys := make([]uint64, n)
	raw := pairBuffer{n: n}
	for i := range keys {
		keys[i] = run.Uint64() >> (run.UintN(40)) & (1<<(shift+5) - 1)
		raw.a, raw.b = append(raw.a, run.Uint32N(1<<24)), append(raw.b, run.Uint32N(1<<24))
	}
	rawC := pairBuffer{a: g.u32(raw.a), b: g.u32(raw.b), n: n}
	pairShift := uint(19 + run.IntN(5))
	placed := g.u64(keys)
	var counts, countsC [maxParts]uint32
	countKeysGo(keys, shift, &counts)
	kernels.countKeys(placed, shift, &countsC)
	countPairsGo(&raw, pairShift)
	kernels.countPairs(&rawC, pairShift)
	if countsC != counts || rawC.partStart != raw.partStart {
		return fmt.Errorf("counts: got %v and %v, want %v and %v", countsC, rawC.partStart, counts, raw.partStart)
	}
	if got, want := kernels.countRows(placed, shift), countRowsGo(keys, shift); got != want {
		return fmt.Errorf("rows: got %d, want %d", got, want)
	}
	counts, raw.partStart = firsts(counts), firsts(raw.partStart)
	countsC, rawC.partStart = counts, raw.partStart
	to, toC := make([]uint64, n), g.u64(make([]uint64, n))
	scatterKeysGo(keys, shift, &counts, to)
	kernels.scatterKeys(placed, shift, &countsC, toC)
	out := pairBuffer{a: make([]uint32, n), b: make([]uint32, n)}
	outC := pairBuffer{a: g.u32(make([]uint32, n)), b: g.u32(make([]uint32, n))}
	partitionGo(&raw, pairShift, &out)
	kernels.partition(&rawC, pairShift, &outC)
	for _, err := range []error{paritytest.Bits("keys", toC, to), paritytest.Bits("a", outC.a, out.a), paritytest.Bits("b", outC.b, out.b)} {
		if err != nil {
			return err
		}
	}
	if countsC != counts || rawC.partStart != raw.partStart {
		return fmt.Errorf("places: got %v and %v, want %v and %v", countsC, rawC.partStart, counts, raw.partStart)
	}
	return g.check()
}

// firsts are the places of the first of each number.
func firsts(counts [maxParts]uint32) (first [maxParts]uint32) {
	sum := uint32(0)
	for i, count := range counts {
		first[i], sum = sum, sum+count
	}
	return first
}

func (c *kernelCase) bruteForce(run *paritytest.Run, g *guards, kernels *kernels) error {
	var inGo, inC bruteForce
	inGo.gather(&c.boxes, &c.rule)
	inC.gather(&c.boxes, &c.rule)
	if inGo.n == 0 {
		return nil
	}
	g.begin(run)
	i, most := run.IntN(inGo.n), pairLimits{MinPairs << run.IntN(6), MinPairs << run.IntN(6)}
	for k := range inGo.rank {
		for i := range inGo.rank[k][:inGo.n] {
			inGo.rank[k][i] = run.Uint32N(2 * max(most.moving, most.stationary))
			inC.rank[k][i] = inGo.rank[k][i]
		}
	}
	want, got := make([]uint32, inGo.n+1), g.u32(make([]uint32, inGo.n-i+padding))
	inC.memory = g.u32(inC.memory)
	kept, keptC := bruteForceRowGo(&inGo, i, &c.rule, most, want), kernels.bruteForceRow(&inC, i, &c.rule, most, got)
	if err := paritytest.Bits("brute force", got[:keptC], want[:kept]); err != nil {
		return err
	}
	for k := range inGo.rank {
		if err := paritytest.Bits("met", words(inC.memory, 8+k, len(inC.shape))[:inC.n], inGo.rank[k][:inC.n]); err != nil {
			return err
		}
	}
	return g.check()
}
