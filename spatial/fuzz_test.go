package spatial_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// fuzzInput cuts bytes into numbers; when they run out there are zeros.
type fuzzInput []byte

func (in *fuzzInput) byte() byte {
	if len(*in) == 0 {
		return 0
	}
	b := (*in)[0]
	*in = (*in)[1:]
	return b
}

func (in *fuzzInput) float() float32 {
	var b [4]byte
	for i := range b {
		b[i] = in.byte()
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
}

// scene reads points until the bytes for queries are left, a quarter of all.
func (in *fuzzInput) scene() *paritytest.Scene {
	s := &paritytest.Scene{}
	slot := uint32(0)
	for rest := len(*in) / 4; len(*in) > rest && len(s.X) < 400; slot++ {
		slot += uint32(in.byte() % 3)
		s.X, s.Y, s.Z = append(s.X, in.float()), append(s.Y, in.float()), append(s.Z, in.float())
		s.Slots = append(s.Slots, slot)
	}
	for len(*in) > 0 && len(s.Radius) < 100 {
		s.Exclude = append(s.Exclude, uint32(in.byte()))
		s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, in.float()), append(s.QueryY, in.float()), append(s.QueryZ, in.float())
		s.Radius = append(s.Radius, in.float())
	}
	return s
}

func finite(v float32) bool { return v-v == 0 }

// firstBadPoint and firstBadQuery return the name of the first value that must
// be refused, or "".
func firstBadPoint(s *paritytest.Scene) string {
	for i, slot := range s.Slots {
		for _, c := range []struct {
			name string
			v    float32
		}{{"x", s.X[i]}, {"y", s.Y[i]}, {"z", s.Z[i]}} {
			if !finite(c.v) {
				return fmt.Sprintf("spatial: Build: %s[%d] = %v: not finite", c.name, slot, c.v)
			}
		}
	}
	return ""
}

func firstBadQuery(q *spatial.Queries) string {
	for i := range q.X {
		for _, c := range []struct {
			name string
			v    float32
		}{{"X", q.X[i]}, {"Y", q.Y[i]}, {"Z", q.Z[i]}, {"Radius", q.Radius[i]}} {
			if !finite(c.v) {
				return fmt.Sprintf("spatial: Queries.%s[%d] = %v: not finite", c.name, i, c.v)
			}
		}
		if q.Radius[i] < 0 {
			return fmt.Sprintf("spatial: Queries.Radius[%d] = %v: out of range", i, q.Radius[i])
		}
	}
	return ""
}

// refused checks that an error is the expected one, and reports whether one is expected.
func refused(t *testing.T, err error, want string) bool {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Fatal(err)
		}
		return false
	}
	sentinel := spatial.ErrNotFinite
	if strings.HasSuffix(want, "out of range") {
		sentinel = spatial.ErrRange
	}
	if !errors.Is(err, sentinel) || err.Error() != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	return true
}

// bounds reads bounds of one length along every axis, or none.
func (in *fuzzInput) bounds() spatial.Bounds {
	lo, hi := in.float(), in.float()
	if !finite(lo) || !finite(hi) || lo > hi {
		return spatial.Bounds{}
	}
	return spatial.Bounds{Min: [3]float32{lo, lo, lo}, Max: [3]float32{hi, hi, hi}}
}

// fuzzConfigured fuzzes do from scenes of all kinds. The first bytes of an input are
// the workers and the cell size, and do gets the rest.
func fuzzConfigured(f *testing.F, do func(t *testing.T, cfg spatial.Config, in *fuzzInput)) {
	f.Add([]byte{})
	for seed := range uint64(40) {
		f.Add(fuzzSeed(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := fuzzInput(data)
		cfg := spatial.Config{Workers: 1 + int(in.byte()%3)}
		if cell := in.float(); finite(cell) && cell >= 0 {
			cfg.CellSize = cell
		}
		do(t, cfg, &in)
	})
}

func FuzzRadius(f *testing.F) {
	fuzzConfigured(f, func(t *testing.T, cfg spatial.Config, in *fuzzInput) {
		order := spatial.Order(in.byte() % 3)
		cfg.Bounds = in.bounds()
		fuzzRadius(t, cfg, order, in.scene())
	})
}

// fuzzSeed returns the bytes of a scene of a family, every fourth time with
// random bits among them.
func fuzzSeed(seed uint64) []byte {
	state := seed*2654435761 + 1
	data := make([]byte, 20+int(seed)*40)
	for i := range data {
		state = state*6364136223846793005 + 1442695040888963407
		data[i] = byte(state >> 56)
		if i%4 == 3 && seed%4 != 0 {
			data[i] = 0x40 | data[i]&0x83 // exponents that floats of a game have
		}
	}
	return data
}

// fuzzRadius starts from a valid index and result, to check that
// invalid input leaves them as they were.
func fuzzRadius(t *testing.T, cfg spatial.Config, order spatial.Order, s *paritytest.Scene) {
	st := newState(t)
	x, y, z := s.Columns()
	if refused(t, st.ix.Build(x, y, z, s.Slots), firstBadPoint(s)) {
		st.mustBeUnchanged(t)
		return
	}
	ix := build(t, cfg, s)
	q := queriesOf(s)
	q.Order = order
	if bad := firstBadQuery(q); bad != "" {
		st = newState(t)
		refused(t, st.ix.Radius(q, st.result), bad)
		refused(t, st.ix.RadiusOracle(q, st.result), bad)
		st.mustBeUnchanged(t)
		return
	}
	var oracle, got spatial.Result
	if err := ix.RadiusOracle(q, &oracle); err != nil {
		t.Fatal(err)
	}
	want := expected(bruteForce(s, q), order, cellNumbers(s, spatial.GridOf(ix)))
	if err := sameResult("oracle against brute force", &oracle, want, false); err != nil {
		t.Fatal(err)
	}
	for _, cfg.Level = range native.Levels() {
		ix := build(t, cfg, s)
		if err := ix.Radius(q, &got); err != nil {
			t.Fatal(err)
		}
		if err := sameResult("level "+cfg.Level.String(), &got, &oracle, false); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzSums compares Sum and SumSelf with brute force. Columns and softening are any bits that the input has.
func FuzzSums(f *testing.F) {
	fuzzConfigured(f, func(t *testing.T, cfg spatial.Config, in *fuzzInput) {
		softening, form, first := in.float(), in.byte(), int(in.byte())
		if form&2 == 0 {
			softening = max(softening, -softening)
		}
		cfg.Bounds = in.bounds()
		s := in.scene()
		of := slices.Repeat(append([]float32{softening}, s.Radius...), 1+s.Limit())[:s.Limit()]
		queries, all := &sumQuery{q: queriesOf(s), rows: len(s.Radius)}, &sumQuery{self: &spatial.Self{IncludeSelf: form&1 != 0}, rows: s.Limit()}
		if len(s.Radius) > 0 {
			all.self.Radius = s.Radius[0]
		}
		for _, k := range []*sumQuery{queries, all} {
			own := slices.Repeat(append([]float32{softening}, s.QueryY...), 1+k.rows)[:k.rows]
			terms := everyTerm(of, own)
			sums := &spatial.Sums{Terms: terms[first%len(terms):], Softening: softening, Counts: make([]uint32, k.rows), Nearest: make([]uint32, k.rows)}
			sums.Terms = sums.Terms[:min(len(sums.Terms), int(form>>2))]
			blank(sums, k.rows)
			fuzzSums(t, cfg, s, k, sums)
		}
	})
}

func fuzzSums(t *testing.T, cfg spatial.Config, s *paritytest.Scene, k *sumQuery, want *spatial.Sums) {
	if firstBadPoint(s) != "" {
		return // FuzzRadius has these
	}
	ix, bad := build(t, cfg, s), firstBadSums(k, want)
	got := cloneSums(want)
	blank(got, k.rows)
	if bad != "" {
		refused(t, k.ask(ix, got), bad)
		refused(t, k.askOracle(ix, got), bad)
		if err := sameSums("after an error", got, want); err != nil {
			t.Fatal(err)
		}
		return
	}
	cells := cellNumbers(s, spatial.GridOf(ix))
	k.bruteForce(s, cells, want)
	if err := cmp.Or(k.askOracle(ix, got), sameSums("oracle against brute force", got, want)); err != nil {
		t.Fatal(err)
	}
	for _, cfg.Level = range native.Levels() {
		blank(got, k.rows)
		if err := cmp.Or(k.ask(build(t, cfg, s), got), sameSums("level "+cfg.Level.String(), got, want)); err != nil {
			t.Fatal(err)
		}
	}
}

// firstBadSums returns the error of a batch, or "".
func firstBadSums(k *sumQuery, s *spatial.Sums) string {
	if k.q != nil {
		if bad := firstBadQuery(k.q); bad != "" {
			return bad
		}
	} else if r := k.self.Radius; !finite(r) {
		return fmt.Sprintf("spatial: Self.Radius = %v: not finite", r)
	} else if r < 0 {
		return fmt.Sprintf("spatial: Self.Radius = %v: out of range", r)
	}
	switch v := s.Softening; {
	case !finite(v):
		return fmt.Sprintf("spatial: Sums.Softening = %v: not finite", v)
	case v < 0:
		return fmt.Sprintf("spatial: Sums.Softening = %v: out of range", v)
	}
	return ""
}
