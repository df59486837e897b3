package spatial_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

// mustBe checks the sentinel and the message of an error.
func mustBe(t *testing.T, err, sentinel error, message string) {
	t.Helper()
	if !errors.Is(err, sentinel) || err.Error() != message {
		t.Errorf("got  %v\nwant %s, which is %v", err, message, sentinel)
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []struct {
		cfg      spatial.Config
		sentinel error
		message  string
	}{
		{spatial.Config{CellSize: -1}, spatial.ErrRange, "spatial: Config.CellSize = -1: out of range"},
		{spatial.Config{CellSize: nan}, spatial.ErrNotFinite, "spatial: Config.CellSize = NaN: not finite"},
		{spatial.Config{CellSize: inf}, spatial.ErrNotFinite, "spatial: Config.CellSize = +Inf: not finite"},
		{spatial.Config{Workers: -1}, spatial.ErrRange, "spatial: Config.Workers = -1: out of range"},
		{spatial.Config{Workers: 1025}, spatial.ErrRange, "spatial: Config.Workers = 1025: out of range"},
		{spatial.Config{Bounds: spatial.Bounds{Min: [3]float32{0, nan, 0}}}, spatial.ErrNotFinite,
			"spatial: Config.Bounds.Min[1] = NaN: not finite"},
		{spatial.Config{Bounds: spatial.Bounds{Max: [3]float32{0, 0, inf}}}, spatial.ErrNotFinite,
			"spatial: Config.Bounds.Max[2] = +Inf: not finite"},
		{spatial.Config{Bounds: spatial.Bounds{Min: [3]float32{2, 0, 0}, Max: [3]float32{1, 0, 0}}}, spatial.ErrRange,
			"spatial: Config.Bounds.Max[0] = 1: out of range"},
	} {
		ix, err := spatial.New(c.cfg)
		mustBe(t, err, c.sentinel, c.message)
		if ix != nil {
			t.Errorf("%s: an index nevertheless", c.message)
		}
	}
	_, err := spatial.New(spatial.Config{Level: native.Level(99)})
	if !errors.Is(err, spatial.ErrUnsupported) || !strings.Contains(err.Error(), "Level(99)") {
		t.Errorf("Level(99): %v", err)
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	cfg := spatial.Config{CellSize: -1, Workers: -2, Bounds: spatial.Bounds{Min: [3]float32{nan, 5, 0}, Max: [3]float32{0, 1, inf}}}
	got := cfg.Validate().Error()
	for _, want := range []string{"CellSize = -1", "Workers = -2", "Min[0] = NaN", "Max[1] = 1", "Max[2] = +Inf"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// state is an index and a result, which an error must leave as they were.
type state struct {
	ix     *spatial.Index
	q      *spatial.Queries
	result *spatial.Result
	before spatial.Result
	n      int
	cell   float32
}

func newState(t *testing.T) *state {
	s := &paritytest.Scene{X: []float32{1, 2, 3}, Y: []float32{0, 0, 0}, Z: []float32{1, 1, 1}, Slots: []uint32{0, 2, 3}}
	st := &state{ix: build(t, spatial.Config{CellSize: 1}, s), result: &spatial.Result{}, n: 3}
	st.q = &spatial.Queries{X: []float32{2, 0}, Y: []float32{0, 0}, Z: []float32{1, 1}, Radius: []float32{1, 1}}
	st.cell = st.ix.CellSize()
	if err := st.ix.Radius(st.q, st.result); err != nil {
		t.Fatal(err)
	}
	st.before = spatial.Result{
		Offsets: append([]uint32{}, st.result.Offsets...), Slots: append([]uint32{}, st.result.Slots...),
		Dist2: append([]float32{}, st.result.Dist2...),
	}
	return st
}

func (st *state) mustBeUnchanged(t *testing.T) {
	t.Helper()
	if err := sameResult("result after an error", st.result, &st.before, false); err != nil {
		t.Error(err)
	}
	var again spatial.Result
	if err := st.ix.Radius(st.q, &again); err != nil {
		t.Error(err)
	}
	if err := sameResult("index after an error", &again, &st.before, false); err != nil {
		t.Error(err)
	}
	if st.ix.Len() != st.n || st.ix.CellSize() != st.cell {
		t.Errorf("the index now has %d points and cells of %g", st.ix.Len(), st.ix.CellSize())
	}
}

func TestBadPoints(t *testing.T) {
	st := newState(t)
	good := []float32{5, 6, 7, 8}
	for _, c := range []struct {
		x, y, z  []float32
		slots    []uint32
		sentinel error
		message  string
	}{
		{[]float32{5, 6, nan, 8}, good, good, []uint32{0, 2}, spatial.ErrNotFinite, "spatial: Build: x[2] = NaN: not finite"},
		{good, []float32{5, 6, -inf, 8}, good, []uint32{0, 2}, spatial.ErrNotFinite, "spatial: Build: y[2] = -Inf: not finite"},
		{good, good, []float32{5, 6, inf, 8}, []uint32{2, 3}, spatial.ErrNotFinite, "spatial: Build: z[2] = +Inf: not finite"},
		{[]float32{inf, 6, 7, nan}, []float32{-inf, 6, 7, 8}, []float32{nan, 6, 7, 8}, []uint32{0, 3}, spatial.ErrNotFinite,
			"spatial: Build: x[0] = +Inf: not finite"},
		{good, good, good, []uint32{0, 2, 1}, spatial.ErrRange, "spatial: Build: slots[2] = 1: out of range"},
		{good, good, good, []uint32{0, 2, 2}, spatial.ErrRange, "spatial: Build: slots[2] = 2: out of range"},
		{good, good, good, []uint32{0, 4}, spatial.ErrRange, "spatial: Build: slots[1] = 4: out of range"},
		{good, good, good, []uint32{spatial.NoSlot}, spatial.ErrRange, "spatial: Build: slots[0] = 4294967295: out of range"},
		{nil, nil, nil, []uint32{0}, spatial.ErrRange, "spatial: Build: slots[0] = 0: out of range"},
	} {
		mustBe(t, st.ix.Build(c.x, c.y, c.z, c.slots), c.sentinel, c.message)
		st.mustBeUnchanged(t)
	}
}

// A slot of 1<<24 is refused even where the columns are long enough.
func TestSlotBeyondTheLast(t *testing.T) {
	st := newState(t)
	column := make([]float32, native.MaxSlots+1)
	mustBe(t, st.ix.Build(column, column, column, []uint32{native.MaxSlots - 1, native.MaxSlots}), spatial.ErrRange,
		"spatial: Build: slots[1] = 16777216: out of range")
	st.mustBeUnchanged(t)
}

// Rows that are not live may have any value.
func TestDeadSlotsAreNotRead(t *testing.T) {
	st := newState(t)
	column := []float32{nan, 1, inf, 2, nan}
	if err := st.ix.Build(column, column, column, []uint32{1, 3}); err != nil {
		t.Error(err)
	}
}

func TestBadQueries(t *testing.T) {
	st := newState(t)
	for _, c := range []struct {
		set      func(q *spatial.Queries)
		sentinel error
		message  string
	}{
		{func(q *spatial.Queries) { q.X[1] = nan }, spatial.ErrNotFinite, "spatial: Queries.X[1] = NaN: not finite"},
		{func(q *spatial.Queries) { q.Y[0] = inf }, spatial.ErrNotFinite, "spatial: Queries.Y[0] = +Inf: not finite"},
		{func(q *spatial.Queries) { q.Z[1] = -inf }, spatial.ErrNotFinite, "spatial: Queries.Z[1] = -Inf: not finite"},
		{func(q *spatial.Queries) { q.Radius[1] = nan }, spatial.ErrNotFinite, "spatial: Queries.Radius[1] = NaN: not finite"},
		{func(q *spatial.Queries) { q.Radius[0] = inf }, spatial.ErrNotFinite, "spatial: Queries.Radius[0] = +Inf: not finite"},
		{func(q *spatial.Queries) { q.Radius[1] = -1 }, spatial.ErrRange, "spatial: Queries.Radius[1] = -1: out of range"},
		{func(q *spatial.Queries) { q.Radius[1], q.X[0] = -1, nan }, spatial.ErrNotFinite, "spatial: Queries.X[0] = NaN: not finite"},
		{func(q *spatial.Queries) { q.Order = 3 }, spatial.ErrRange, "spatial: Queries.Order = 3: out of range"},
	} {
		q := &spatial.Queries{X: []float32{2, 0}, Y: []float32{0, 0}, Z: []float32{1, 1}, Radius: []float32{1, 1}}
		c.set(q)
		mustBe(t, st.ix.Radius(q, st.result), c.sentinel, c.message)
		st.mustBeUnchanged(t)
		mustBe(t, st.ix.RadiusOracle(q, st.result), c.sentinel, c.message)
		st.mustBeUnchanged(t)
	}
}

func TestMisusePanics(t *testing.T) {
	ix, out := newState(t).ix, &spatial.Result{}
	two, three := make([]float32, 2), make([]float32, 3)
	const unequal = "spatial: Queries: X, Y, Z and Radius differ in length"
	for i, c := range []struct {
		want string
		do   func()
	}{
		{"spatial: Build: x, y and z differ in length", func() { _ = ix.Build(two, three, three, nil) }},
		{"spatial: Build: x, y and z differ in length", func() { _ = ix.Build(three, three, two, nil) }},
		{unequal, func() { _ = ix.Radius(&spatial.Queries{X: two, Y: three, Z: two, Radius: two}, out) }},
		{unequal, func() { _ = ix.Radius(&spatial.Queries{X: two, Y: two, Z: three, Radius: two}, out) }},
		{unequal, func() { _ = ix.RadiusOracle(&spatial.Queries{X: two, Y: two, Z: two}, out) }},
		{"spatial: Queries: Exclude and X differ in length", func() {
			_ = ix.Radius(&spatial.Queries{X: two, Y: two, Z: two, Radius: two, Exclude: []uint32{}}, out)
		}},
	} {
		mustPanic(t, fmt.Sprint("case ", i), c.want, c.do)
	}
}

// mustPanic checks the message of a panic.
func mustPanic(t *testing.T, name, want string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); got != want {
			t.Errorf("%s: panic %q, want %q", name, got, want)
		}
	}()
	do()
}
