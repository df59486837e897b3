package inspector

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// zoo is a world with a column of each kind, special values, tags, blobs, a state, bodies, and slots that were used
// before. Nothing but the test's own lists is needed to know what it holds.
type zoo struct {
	sim     *evertick.Sim
	ids     []ecs.ID
	hp      *ecs.Column[float32]
	big     *ecs.Column[uint64]
	small   *ecs.Column[int64]
	exact   *ecs.Column[float64]
	byte    *ecs.Column[int8]
	vel     *ecs.Column[[3]float32]
	red, by ecs.Tag
}

// memo is a State.
type memo struct{ text string }

func (m *memo) AppendState(dst []byte) []byte { return append(dst, m.text...) }
func (m *memo) RestoreState(src []byte) error { m.text = string(src); return nil }

// long runs every case of the tests that otherwise take a sample.
var long = os.Getenv("EVERTICK_LONG") != ""

// some returns how many of n cases run: all of them with EVERTICK_LONG, otherwise a fifth.
func some(n int) int {
	if long {
		return n
	}
	return (n + 4) / 5
}

// seeded returns random numbers that the seed in the log repeats.
func seeded(t testing.TB) *rand.Rand {
	seed := paritytest.Seed()
	t.Logf("repeat with %s=%d", paritytest.EnvSeed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newZoo(t testing.TB, r *rand.Rand, n int) *zoo {
	t.Helper()
	sim := must(evertick.New(evertick.Config{Capacity: 4096}))
	w := sim.World
	z := &zoo{
		sim: sim, hp: must(ecs.AddColumn[float32](w, "hp")), big: must(ecs.AddColumn[uint64](w, "big")),
		small: must(ecs.AddColumn[int64](w, "small")), exact: must(ecs.AddColumn[float64](w, "exact")),
		byte: must(ecs.AddColumn[int8](w, "a<b")), vel: must(ecs.AddArrayColumn[[3]float32](w, "vel")),
		red: must(w.Tag("red")), by: must(w.Tag("by")),
	}
	names := must(w.Blobs("name"))
	must(w.Blobs("none"))
	if err := sim.AddState("memo", &memo{"hello"}); err != nil {
		t.Fatal(err)
	}
	var ids []ecs.ID
	for range n + n/2 {
		ids = append(ids, must(w.Spawn()))
	}
	for i, id := range ids { // free some slots, and use some of them again
		if i%3 == 0 {
			w.Despawn(id)
		}
	}
	ids = slices.DeleteFunc(ids, func(id ecs.ID) bool { _, ok := w.Slot(id); return !ok })
	for len(ids) < n {
		ids = append(ids, must(w.Spawn()))
	}
	for _, id := range ids[n:] {
		w.Despawn(id)
	}
	z.ids = ids[:n]
	for i, id := range z.ids {
		s, _ := w.Slot(id)
		z.hp.Values()[s] = pickOf(r, float32(math.Copysign(0, -1)), 0, 0.1, 1, -1, math.MaxFloat32, 1e-45, r.Float32()*100, r.Float32()-0.5)
		z.big.Values()[s] = pickOf(r, 0, 1, 1<<53, 1<<53+1, math.MaxUint64, r.Uint64(), r.Uint64N(10))
		z.small.Values()[s] = pickOf(r, 0, -1, math.MinInt64, math.MaxInt64, -1<<53-1, int64(r.Uint64()), r.Int64N(10)-5)
		z.exact.Values()[s] = pickOf(r, 0, math.Inf(1), math.Inf(-1), 1e300, 5e-324, r.Float64(), r.NormFloat64())
		z.byte.Values()[s] = int8(r.IntN(256) - 128)
		z.vel.Values()[s] = [3]float32{r.Float32(), -r.Float32(), float32(math.Inf(r.IntN(2)*2 - 1))}
		if err := w.SetPosition(id, r.Float32()*20-10, r.Float32()*20-10, r.Float32()); err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			z.red.Set(id)
		}
		if r.IntN(3) == 0 {
			z.by.Set(id)
		}
		if i%5 == 0 {
			if err := names.Set(id, make([]byte, i)); err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(3) == 0 {
			d := physics.DefaultBodyDef()
			d.Type = physics.DynamicBody
			s, _ := w.Slot(id)
			d.Position = [2]float32{w.Position.X[s], w.Position.Y[s]}
			b := must(sim.CreateBody(id, d))
			must(sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.1 + r.Float32()}))
		}
	}
	return z
}

// poison writes NaN, which no tick allows.
func (z *zoo) poison(r *rand.Rand) {
	for _, id := range z.ids {
		if s, _ := z.sim.World.Slot(id); r.IntN(4) == 0 {
			z.hp.Values()[s] = float32(math.NaN())
			z.exact.Values()[s] = math.NaN()
		}
	}
}

func pickOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// slots returns the live slots, ascending.
func (z *zoo) slots() []ecs.Slot { return z.sim.World.LiveSlots(nil) }

// text is what JSON has for a value, written by another rule than that of the package: the text that parses back to the
// same number.
func text(v any) string {
	switch v := v.(type) {
	case float32:
		return floatText(float64(v), 32)
	case float64:
		return floatText(v, 64)
	case uint64:
		if v > 1<<53 {
			return fmt.Sprintf("%q", fmt.Sprint(v))
		}
	case int64:
		if v > 1<<53 || v < -1<<53 {
			return fmt.Sprintf("%q", fmt.Sprint(v))
		}
	}
	return fmt.Sprint(v)
}

func floatText(v float64, bits int) string {
	switch {
	case v != v:
		return `"NaN"`
	case math.IsInf(v, 1):
		return `"+Inf"`
	case math.IsInf(v, -1):
		return `"-Inf"`
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

func TestValues(t *testing.T) {
	for _, v := range []any{
		float32(0), float32(math.Copysign(0, -1)), float32(0.1), float32(math.MaxFloat32), float32(1e-45), float32(16777216),
		0.1, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), float32(math.NaN()), 9007199254740993.0, 1e15, 123456789012345678.0,
	} {
		var got value
		switch v := v.(type) {
		case float32:
			got = single(v)
		case float64:
			got = double(v)
		}
		if string(got) != text(v) {
			t.Errorf("%v is %s", v, got)
		}
		var back any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Errorf("%v: %s: %v", v, got, err)
		}
		switch w := v.(type) {
		case float32:
			if f, ok := back.(float64); ok && math.Float32bits(float32(f)) != math.Float32bits(w) {
				t.Errorf("%v comes back as %v", v, f)
			}
		case float64:
			if f, ok := back.(float64); ok && math.Float64bits(f) != math.Float64bits(w) {
				t.Errorf("%v comes back as %v", v, f)
			}
		}
	}
	if b := encode(struct{ V value }{}); string(b) != `{"V":null}` {
		t.Errorf("no value is %s", b)
	}
}

// raw is an answer with columns and rows.
type rawPage struct {
	Tick    uint64
	Total   int
	Columns []string
	Rows    []struct {
		Slot   ecs.Slot
		ID     ecs.ID
		Body   bool
		Values []json.RawMessage
	}
}

// at returns a number of the zoo by its name, as the page has it, and as a float64 with a sign of its difference from the
// exact value: both decide an exact order.
func (z *zoo) at(name string, s ecs.Slot) any {
	switch name {
	case "hp":
		return z.hp.Values()[s]
	case "big":
		return z.big.Values()[s]
	case "small":
		return z.small.Values()[s]
	case "exact":
		return z.exact.Values()[s]
	case "a<b":
		return z.byte.Values()[s]
	case "vel[1]":
		return z.vel.Values()[s][1]
	case "vel[2]":
		return z.vel.Values()[s][2]
	}
	return z.sim.World.Position.X[s]
}

var zooNames = []string{"hp", "big", "small", "exact", "a<b", "vel[1]", "vel[2]", "position.x"}

func TestEntities(t *testing.T) {
	r := seeded(t)
	for round := range 6 {
		z := newZoo(t, r, 300*min(round, 1)) // the first has no entities
		if round%2 == 0 {
			z.poison(r)
		}
		in := newInspector(t, z.sim, Config{})
		for range 60 {
			z.checkEntities(t, r, in)
		}
	}
}

// checkEntities compares the answer to a random query with one by brute force.
func (z *zoo) checkEntities(t *testing.T, r *rand.Rand, in *Inspector) {
	t.Helper()
	q := url.Values{}
	want := z.slots()
	for range r.IntN(3) {
		tag := pickOf(r, z.red, z.by)
		with := r.IntN(2) == 0
		if with {
			q.Add("tag", tag.Name())
		} else {
			q.Add("without", tag.Name())
		}
		want = slices.DeleteFunc(want, func(s ecs.Slot) bool { id, _ := z.sim.World.ID(s); return tag.Has(id) != with })
	}
	for range r.IntN(3) {
		name, op := pickOf(r, zooNames...), pickOf(r, "<", "<=", ">", ">=", "==", "!=", "is nan")
		bound := pickOf(r, "0", "-1", "0.1", "9007199254740993", "18446744073709551615", "-9223372036854775808", "1e300", "inf", "-Inf", "2.5", "-0", "3e38", "1e19", "-1e19", "18446744073709551616")
		if live := z.slots(); len(live) > 0 && r.IntN(2) == 0 {
			bound = fmt.Sprint(z.at(name, live[r.IntN(len(live))]))
			if bound == "NaN" {
				bound = "5"
			}
		}
		clause := name + op + bound
		if op == "is nan" {
			clause = name + " is NaN"
		}
		q.Add("where", clause)
		want = slices.DeleteFunc(want, func(s ecs.Slot) bool { return !satisfies(z.at(name, s), op, bound) })
	}
	sort := pickOf(r, "", "slot", "-slot", pickOf(r, zooNames...), "-"+pickOf(r, zooNames...))
	z.sort(want, sort)
	offset, count := r.IntN(40), r.IntN(60)
	if r.IntN(4) == 0 {
		offset = r.IntN(400)
	}
	shown := zooNames[:1+r.IntN(len(zooNames))]
	if by, descending := strings.CutPrefix(sort, "-"); descending {
		q.Set("sort", by)
		q.Set("descending", "1")
	} else {
		q.Set("sort", by)
	}
	q.Set("offset", fmt.Sprint(offset))
	q.Set("count", fmt.Sprint(count))
	for _, name := range shown {
		q.Add("columns", name)
	}
	p := decode[rawPage](t, get(t, in, "entities?"+q.Encode()))
	total := len(want)
	want = want[min(offset, total):min(offset+count, total)]
	if p.Total != total || p.Tick != z.sim.Ticks() || !slices.Equal(p.Columns, shown) || len(p.Rows) != len(want) {
		t.Fatalf("%v: total %d, %d rows, columns %v; want %d, %d", q, p.Total, len(p.Rows), p.Columns, total, len(want))
	}
	for i, s := range want {
		row := p.Rows[i]
		id, _ := z.sim.World.ID(s)
		if _, body := z.sim.Body(id); row.Slot != s || row.ID != id || row.Body != body {
			t.Fatalf("%v: row %d is %+v, want slot %d of %v, body %v", q, i, row, s, id, body)
		}
		for j, name := range shown {
			if got, want := string(row.Values[j]), text(z.at(name, s)); got != want {
				t.Fatalf("%v: %s of slot %d is %s, want %s", q, name, s, got, want)
			}
		}
	}
}

// satisfies evaluates a clause in arithmetic of any precision.
func satisfies(v any, op, bound string) bool {
	o := exactOrder(v, bound)
	switch op {
	case "<":
		return o == -1
	case "<=":
		return o == -1 || o == 0
	case ">":
		return o == 1
	case ">=":
		return o == 1 || o == 0
	case "==":
		return o == 0
	case "!=":
		return o != 0
	}
	return o == 2
}

// sort sorts slots as the page should: by value, NaN last, equal ones by slot.
func (z *zoo) sort(list []ecs.Slot, by string) {
	sign := 1
	if by != "" && by[0] == '-' {
		sign, by = -1, by[1:]
	}
	slices.SortStableFunc(list, func(a, b ecs.Slot) int {
		if by == "" || by == "slot" {
			return sign * cmp.Compare(a, b)
		}
		x, y := z.at(by, a), z.at(by, b)
		xNaN, yNaN := fmt.Sprint(x) == "NaN", fmt.Sprint(y) == "NaN"
		switch {
		case xNaN && yNaN:
			return 0
		case xNaN:
			return 1
		case yNaN:
			return -1
		}
		return sign * exactOrder(x, fmt.Sprint(y))
	})
}
