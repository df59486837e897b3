package neighbours_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// drawRows draws the ends of some rows, some of them empty.
func drawRows(run *paritytest.Run, rows int) (ends []uint32, n int) {
	for range rows {
		if run.IntN(5) > 0 {
			n += run.IntN(50)
		}
		ends = append(ends, uint32(n))
	}
	return ends, n
}

// weightInFloat64 is the formula of a weight in higher precision.
func weightInFloat64(weight neighbours.Weight, d2, r, softening float64) float64 {
	d := math.Sqrt(d2)
	q := d / r
	t := max(1-q, 0)
	switch weight {
	case neighbours.InverseSquare:
		return 1 / (d2 + softening)
	case neighbours.Linear:
		return t
	case neighbours.Poly6:
		return math.Pow(max(1-d2/(r*r), 0), 3)
	case neighbours.SpikyGradient:
		return t * t / d
	}
	if q <= 0.5 {
		return 1 - 6*(q*q-q*q*q)
	}
	return 2 * t * t * t
}

// The weights of ordinary distances are the formulas in float64, within the error of a few
// roundings.
func TestWeights(t *testing.T) {
	run := paritytest.Start(t, "Weigh, float64")
	for weight := neighbours.InverseSquare; weight < neighbours.Weights; weight++ {
		run.Case(native.Go)
		const n = 1000
		r, softening := 1+run.Float32()*9, run.Float32()
		dist2, w := make([]float32, n+neighbours.Pad), make([]float32, n+neighbours.Pad)
		for i := range n {
			d := run.Float32() * r * 0.999
			dist2[i] = 1e-6 + float32(d*d)
		}
		neighbours.Weigh(native.Go, weight, softening, []float32{r}, []uint32{n}, dist2, w)
		for i, got := range w[:n] {
			want := weightInFloat64(weight, float64(dist2[i]), float64(r), float64(softening))
			if math.Abs(float64(got)-want) > 1e-6*(1+want) {
				t.Fatalf("weight %d at d2 %g, r %g: %g, want %g", weight, dist2[i], r, got, want)
			}
		}
	}
}

// Distances and radii for which a formula divides by zero or overflows.
func TestWeightsAtTheLimits(t *testing.T) {
	inf, tiny := float32(math.Inf(1)), float32(1e-45)
	for _, c := range []struct {
		weight              neighbours.Weight
		d2, r, soft, expect float32
	}{
		{neighbours.InverseSquare, 0, 1, 0, 0},
		{neighbours.InverseSquare, 0, 1, 0.25, 4},
		{neighbours.InverseSquare, tiny, 1, 0, inf},
		{neighbours.InverseSquare, inf, 1, 0, 0},
		{neighbours.Linear, 0, 0, 0, 0},
		{neighbours.Linear, 0, 2, 0, 1},
		{neighbours.Linear, 4, 2, 0, 0},
		{neighbours.Linear, 4.000001, 2, 0, 0},
		{neighbours.Linear, inf, 1e30, 0, 0},
		{neighbours.Poly6, 0, 0, 0, 0},
		{neighbours.Poly6, 0, 2, 0, 1},
		{neighbours.Poly6, 2, 2, 0, 0.125},
		{neighbours.Poly6, 1, 1e30, 0, 1},
		{neighbours.Poly6, inf, 1e30, 0, 0},
		{neighbours.SpikyGradient, 0, 2, 0, 0},
		{neighbours.SpikyGradient, 0, 0, 0, 0},
		{neighbours.SpikyGradient, 1, 2, 0, 0.25},
		{neighbours.SpikyGradient, inf, 1e30, 0, 0},
		{neighbours.CubicSpline, 0, 2, 0, 1},
		{neighbours.CubicSpline, 0, 0, 0, 0},
		{neighbours.CubicSpline, 1, 2, 0, 0.25},
		{neighbours.CubicSpline, 4, 2, 0, 0},
		{neighbours.CubicSpline, inf, 1e30, 0, 0},
	} {
		for _, level := range native.Levels() {
			dist2, w := make([]float32, 1+neighbours.Pad), make([]float32, 1+neighbours.Pad)
			dist2[0] = c.d2
			neighbours.Weigh(level, c.weight, c.soft, []float32{c.r}, []uint32{1}, dist2, w)
			if w[0] != c.expect {
				t.Errorf("level %s: weight %d at d2 %g, r %g, softening %g: %g, want %g", level, c.weight, c.d2, c.r, c.soft, w[0], c.expect)
			}
		}
	}
}

func TestParityWeigh(t *testing.T) {
	run := paritytest.Start(t, "Weigh")
	const most = 40 * 50
	g := newGuard(t, 3*(most+neighbours.Pad))
	for range paritytest.Rounds(100) {
		ends, n := drawRows(run, run.IntN(40))
		dist2, radius := make([]float32, n+neighbours.Pad), make([]float32, len(ends))
		scale := []float32{1, 1e-20, 1e19}[run.IntN(3)]
		for i := range dist2 {
			d := run.Float32() * scale
			if dist2[i] = float32(d * d); run.IntN(20) == 0 {
				dist2[i] = []float32{0, 1e-45, math.MaxFloat32, float32(math.Inf(1))}[run.IntN(4)]
			}
		}
		for i := range radius {
			if radius[i] = run.Float32() * scale; run.IntN(10) == 0 {
				radius[i] = []float32{0, 1e-45, math.MaxFloat32}[run.IntN(3)]
			}
		}
		softening := []float32{0, run.Float32(), math.MaxFloat32}[run.IntN(3)]
		for weight := neighbours.InverseSquare; weight < neighbours.Weights; weight++ {
			want := make([]float32, n+neighbours.Pad)
			neighbours.Weigh(native.Go, weight, softening, radius, ends, dist2, want)
			for _, level := range native.Levels() {
				run.Case(level)
				g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
				d, w := g.copyFloats("dist2", dist2), g.float("w").Place(n+neighbours.Pad, g.side, g.gap)
				neighbours.Weigh(level, weight, softening, g.copyFloats("radius", radius), g.copyWords("ends", ends), d, w)
				run.Check(g.check(), paritytest.Floats(fmt.Sprintf("level %s, weight %d", level, weight), w[:n], want[:n]),
					paritytest.Bits("dist2", d, dist2))
			}
		}
	}
}

// bruteForceSum is the specification of SumRows for one value of one row.
func bruteForceSum(op neighbours.SumOp, v, weights []float32, mean bool) float32 {
	if len(v) == 0 {
		return 0
	}
	result := []float32{0, float32(math.Inf(1)), float32(math.Inf(-1))}[op]
	for i, x := range v {
		if weights != nil {
			x = float32(x * weights[i])
		}
		switch {
		case op == neighbours.SumAdd:
			result += x
		case op == neighbours.SumMin && x < result, op == neighbours.SumMax && x > result:
			result = x
		}
	}
	if mean {
		result /= float32(len(v))
	}
	return result
}

func TestParitySumRows(t *testing.T) {
	run := paritytest.Start(t, "SumRows")
	g := newGuard(t, 40*50+300*neighbours.RecordLen)
	for range paritytest.Rounds(200) {
		ends, n := drawRows(run, run.IntN(40))
		s := &neighbours.RowSums{Ends: ends, PlainValues: uint8(run.Uint32()), WeightedValues: uint8(run.Uint32()), Op: neighbours.SumOp(run.IntN(int(neighbours.SumOps)))}
		classes := []paritytest.Class{paritytest.Uniform}
		if run.IntN(4) == 0 {
			classes = paritytest.AllClasses
		}
		s.Records, s.Own = drawRecords(run, 300, classes), drawRecords(run, len(ends), classes)
		for range n {
			s.Index = append(s.Index, uint32(run.IntN(300)))
		}
		s.Weights = make([]float32, n)
		run.Fill(s.Weights, classes...)
		switch run.IntN(4) {
		case 0:
			s.PlainValues = 0
		case 1:
			s.WeightedValues = 0
		}
		if s.Op == neighbours.SumAdd {
			s.PlainMeans, s.WeightedMeans = uint8(run.Uint32()), uint8(run.Uint32())
		}
		for _, level := range native.Levels() {
			run.Case(level)
			g.side, g.gap = paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			c := *s
			c.Records, c.Own = g.records("records", s.Records), g.records("own", s.Own)
			c.Index, c.Ends, c.Weights = g.copyWords("index", s.Index), g.copyWords("ends", ends), g.copyFloats("weights", s.Weights)
			if s.PlainValues != 0 {
				c.Plain = g.records("plain", make([]neighbours.Record, len(ends)))
			}
			if s.WeightedValues != 0 {
				c.Weighted = g.records("weighted", make([]neighbours.Record, len(ends)))
			}
			neighbours.SumRows(level, &c)
			run.Check(g.check(), checkSums(&c, c.Plain, s.PlainValues, nil, s.PlainMeans), checkSums(&c, c.Weighted, s.WeightedValues, c.Weights, s.WeightedMeans))
		}
	}
}

// records returns a guarded copy of records.
func (g *guard) records(name string, of []neighbours.Record) []neighbours.Record {
	mem := g.float(name).Place(len(of)*neighbours.RecordLen, g.side, g.gap)
	placed := unsafe.Slice((*neighbours.Record)(unsafe.Pointer(unsafe.SliceData(mem))), len(of))
	copy(placed, of)
	return placed
}

func drawRecords(run *paritytest.Run, n int, classes []paritytest.Class) []neighbours.Record {
	records := make([]neighbours.Record, n)
	for i := range records {
		run.Fill(records[i][:], classes...)
	}
	return records
}

// checkSums compares results with brute force.
func checkSums(s *neighbours.RowSums, got []neighbours.Record, values uint8, weights []float32, means uint8) error {
	from := uint32(0)
	for i := range got {
		index := s.Index[from:s.Ends[i]]
		var w []float32
		if weights != nil {
			w = weights[from:s.Ends[i]]
		}
		for k := range neighbours.RecordLen {
			if values>>k&1 == 0 {
				continue
			}
			var v []float32
			for _, j := range index {
				v = append(v, s.Records[j][k]-s.Own[i][k])
			}
			want := bruteForceSum(s.Op, v, w, means>>k&1 != 0)
			if err := paritytest.Floats(fmt.Sprintf("row %d, value %d", i, k), got[i][k:k+1], []float32{want}); err != nil {
				return err
			}
		}
		from = s.Ends[i]
	}
	return nil
}

func TestParityRecords(t *testing.T) {
	run := paritytest.Start(t, "FillRecords, SpreadRecords")
	for range paritytest.Rounds(100) {
		n := run.IntN(200)
		place, records := run.Perm(n), make([]neighbours.Record, n)
		places := make([]uint32, n)
		for i, p := range place {
			if places[i] = uint32(p); run.IntN(5) == 0 {
				places[i] = native.NoSlot
			}
		}
		columns := make([][]float32, 1+run.IntN(neighbours.RecordLen))
		for i := range columns {
			if columns[i] = make([]float32, n); run.IntN(4) == 0 {
				columns[i] = nil
			} else {
				run.Fill(columns[i], paritytest.AllClasses...)
			}
		}
		first := run.IntN(n + 1)
		last := first + run.IntN(n-first+1)
		for _, level := range native.Levels() {
			run.Case(level)
			clear(records)
			neighbours.FillRecords(level, columns, 7, places, first, last, records)
			to, from, value := [][]float32{}, [][]neighbours.Record{}, []int{}
			for k := range columns {
				if n > 0 {
					to, from, value = append(to, make([]float32, n)), append(from, records), append(value, k)
				}
			}
			neighbours.SpreadRecords(level, from, value, places, first, last, to)
			for k := range to {
				for s, p := range places {
					want := float32(0)
					if p != native.NoSlot && s >= first && s < last {
						if want = 7; columns[k] != nil {
							want = columns[k][s]
						}
					}
					run.Check(paritytest.Bits(fmt.Sprintf("column %d, slot %d", k, s), to[k][s:s+1], []float32{want}))
				}
			}
		}
	}
}

func TestSumsMisuse(t *testing.T) {
	pad := make([]float32, 4+neighbours.Pad)
	two := []neighbours.Record{{}, {}}
	column := [][]float32{{1, 2}}
	for _, c := range []struct {
		want string
		do   func(level native.Level)
	}{
		{"neighbours: Weigh: ends do not fit", func(l native.Level) { neighbours.Weigh(l, neighbours.Linear, 0, []float32{1}, []uint32{5}, pad, pad) }},
		{"neighbours: Weigh: ends do not fit", func(l native.Level) {
			neighbours.Weigh(l, neighbours.Linear, 0, []float32{1, 1}, []uint32{3, 2}, pad, pad)
		}},
		{"neighbours: Weigh: radius and ends differ in length", func(l native.Level) { neighbours.Weigh(l, neighbours.Linear, 0, nil, []uint32{2}, pad, pad) }},
		{"neighbours: Weigh: no such Weight", func(l native.Level) { neighbours.Weigh(l, neighbours.Uniform, 0, []float32{1}, []uint32{2}, pad, pad) }},
		{"neighbours: Weigh: no such Weight", func(l native.Level) { neighbours.Weigh(l, neighbours.Weights, 0, []float32{1}, []uint32{2}, pad, pad) }},
		{"neighbours: SumRows: Ends do not fit", func(l native.Level) { neighbours.SumRows(l, &neighbours.RowSums{Ends: []uint32{1}}) }},
		{"neighbours: SumRows: Ends, Own, Plain and Weighted differ in length", func(l native.Level) {
			neighbours.SumRows(l, &neighbours.RowSums{Records: two, Index: []uint32{1}, Ends: []uint32{1}, Own: two})
		}},
		{"neighbours: SumRows: Ends, Own, Plain and Weighted differ in length", func(l native.Level) {
			neighbours.SumRows(l, &neighbours.RowSums{Records: two, Index: []uint32{1}, Ends: []uint32{1}, Own: two[:1], PlainValues: 1})
		}},
		{"neighbours: SumRows: Weights is shorter than Index", func(l native.Level) {
			neighbours.SumRows(l, &neighbours.RowSums{Records: two, Index: []uint32{1}, Ends: []uint32{1}, Own: two[:1], WeightedValues: 1, Weighted: two[:1]})
		}},
		{"neighbours: SumRows: no such Op", func(l native.Level) { neighbours.SumRows(l, &neighbours.RowSums{Op: neighbours.SumOps}) }},
		{"neighbours: FillRecords: columns or place do not fit", func(l native.Level) { neighbours.FillRecords(l, column, 0, nil, 0, 3, two) }},
		{"neighbours: FillRecords: records is too short", func(l native.Level) { neighbours.FillRecords(l, column, 0, nil, 0, 2, two[:1]) }},
		{"neighbours: SpreadRecords: columns or place do not fit", func(l native.Level) {
			neighbours.SpreadRecords(l, [][]neighbours.Record{two}, []int{0}, []uint32{0}, 0, 2, column)
		}},
		{"neighbours: SpreadRecords: records, value and columns differ in length", func(l native.Level) {
			neighbours.SpreadRecords(l, nil, []int{0}, []uint32{0, 1}, 0, 2, column)
		}},
		{"neighbours: SpreadRecords: value is out of range, or there are no records", func(l native.Level) {
			neighbours.SpreadRecords(l, [][]neighbours.Record{two}, []int{8}, []uint32{0, 1}, 0, 2, column)
		}},
	} {
		for _, level := range native.Levels() {
			func() {
				defer func() {
					if got := recover(); got != c.want {
						t.Errorf("level %s: got panic %v, want %q", level, got, c.want)
					}
				}()
				c.do(level)
			}()
		}
	}
}
