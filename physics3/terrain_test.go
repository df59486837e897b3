package physics3_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// fieldDef is a field of samples with the heights of a function of their numbers.
func fieldDef(width, depth int, cell [2]float32, height func(i, k int) float32) physics3.HeightFieldDef {
	d := physics3.HeightFieldDef{Width: width, Depth: depth, Cell: cell}
	for n := range width * depth {
		d.Heights = append(d.Heights, height(n%width, n/width))
	}
	return d
}

func level(int, int) float32 { return 0 }

func newField(d physics3.HeightFieldDef) *physics3.HeightField {
	f, err := physics3.NewHeightField(d)
	if err != nil {
		panic(err)
	}
	return f
}

func newTerrain(t testing.TB, tiles ...physics3.TerrainTile) *physics3.Terrain {
	t.Helper()
	return must[*physics3.Terrain](t)(physics3.NewTerrain(physics3.TerrainDef{Tiles: tiles}))
}

func TestNewHeightField(t *testing.T) {
	d := fieldDef(4, 3, [2]float32{0.5, 2}, func(i, k int) float32 { return float32(i) - float32(k) })
	d.Holes = make([]bool, 6)
	d.Holes[2], d.Holes[5] = true, true // the last column
	f := newField(d)
	if w, n := f.Size(); w != 4 || n != 3 {
		t.Errorf("%d by %d samples", w, n)
	}
	if low, high := f.Bounds(); low != (vec{0, -2, 0}) || high != (vec{1, 2, 4}) {
		t.Errorf("bounds %v, %v", low, high)
	}
	terrain := newTerrain(t, physics3.TerrainTile{Field: f, X: 1, Z: -1}, physics3.TerrainTile{Field: f, X: -1, Z: -1})
	if low, high := terrain.Bounds(); low != (vec{-1.5, -2, -4}) || high != (vec{2.5, 2, 0}) {
		t.Errorf("bounds %v, %v", low, high)
	}
	if x, z, n := terrain.Locate(12 + 7); x != 1 || z != -1 || n != 7 {
		t.Errorf("triangle %d at %d, %d", n, x, z)
	}
}

func TestHeightFieldsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *physics3.HeightFieldDef)
		is    error
		words string
	}{
		"width":        {func(d *physics3.HeightFieldDef) { d.Width = 1 }, physics3.ErrRange, "physics3: HeightFieldDef.Width = 1"},
		"height":       {func(d *physics3.HeightFieldDef) { d.Heights[7] = nan }, physics3.ErrNotFinite, "physics3: HeightFieldDef.Heights[7] = NaN"},
		"heights":      {func(d *physics3.HeightFieldDef) { d.Heights = nil }, physics3.ErrRange, "physics3: len(HeightFieldDef.Heights) = 0"},
		"cell":         {func(d *physics3.HeightFieldDef) { d.Cell[1] = inf }, physics3.ErrNotFinite, "physics3: HeightFieldDef.Cell[1]"},
		"holes":        {func(d *physics3.HeightFieldDef) { d.Holes = make([]bool, 7) }, physics3.ErrRange, "physics3: len(HeightFieldDef.Holes) = 7"},
		"materials":    {func(d *physics3.HeightFieldDef) { d.MaterialOf = make([]uint8, 5) }, physics3.ErrRange, "physics3: len(HeightFieldDef.MaterialOf) = 5"},
		"no material":  {func(d *physics3.HeightFieldDef) { d.MaterialOf = []uint8{0, 0, 0, 0, 0, 1} }, physics3.ErrRange, "physics3: HeightFieldDef.MaterialOf[5] = 1"},
		"bad friction": {func(d *physics3.HeightFieldDef) { d.Materials[0].Friction = -1 }, physics3.ErrRange, "physics3: HeightFieldDef.Materials[0].Friction"},
	} {
		d := fieldDef(4, 3, [2]float32{1, 1}, level)
		d.Materials = make([]physics3.SurfaceMaterial, 1)
		c.spoil(&d)
		if f, err := physics3.NewHeightField(d); f != nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, up := newField(fieldDef(4, 3, [2]float32{1, 1}, level)), newField(fieldDef(4, 3, [2]float32{1, 1}, func(i, k int) float32 { return float32(i * k) }))
	for words, tiles := range map[string][]physics3.TerrainTile{
		"physics3: TerrainDef.Tiles[1] = nil":                            {{Field: f}, {X: 1}},
		"physics3: TerrainDef.Tiles[0].Heights[4] = 0":                   {{Field: f, X: 1}, {Field: up}},
		"physics3: len(TerrainDef.Tiles) = 0":                            {},
		"physics3: TerrainDef.Tiles[2] = [0 0]: out of range: tile 0 is": {{Field: f}, {Field: f, X: 1}, {Field: up}},
	} {
		if terrain, err := physics3.NewTerrain(physics3.TerrainDef{Tiles: tiles}); terrain != nil || !errors.Is(err, physics3.ErrRange) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %s", err, words)
		}
	}
	w := emptyWorld(t, physics3.Config{Capacity: 4})
	still, dynamic := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), bodyAt(t, w, physics3.DynamicBody, 0, 0, 0)
	terrain := newTerrain(t, physics3.TerrainTile{Field: f})
	before := w.Hash()
	for i, call := range []func() (physics3.Shape, error){
		func() (physics3.Shape, error) { return w.CreateHeightField(still, plain, nil, physics3.Placement{}) },
		func() (physics3.Shape, error) { return w.CreateTerrain(still, plain, nil, physics3.Placement{}) },
		func() (physics3.Shape, error) { return w.CreateHeightField(dynamic, plain, f, physics3.Placement{}) },
		func() (physics3.Shape, error) { return w.CreateTerrain(dynamic, plain, terrain, physics3.Placement{}) },
	} {
		want, words := physics3.ErrRange, []string{"CreateHeightField: f = nil", "CreateTerrain: t = nil", "", ""}[i]
		if i > 1 {
			want = physics3.ErrUnsupported
		}
		if _, err := call(); !errors.Is(err, want) || !strings.Contains(err.Error(), words) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if w.Hash() != before {
		t.Error("a refused call has changed the world")
	}
	c := w.NewCommands()
	b := c.CreateBody(physics3.DefaultBodyDef())
	made := []physics3.Shape{c.CreateHeightField(b, plain, f, physics3.Placement{}), c.CreateTerrain(b, plain, terrain, physics3.Placement{})}
	no(t, w.Apply(c))
	for _, s := range made {
		no(t, w.DestroyShape(c.Shape(s)))
	}
}

// randomField has holes and materials, or not.
func randomField(r *rand.Rand, border float32) *physics3.HeightField {
	d := fieldDef(6, 4, [2]float32{1, 0.5}, func(i, k int) float32 {
		if i%5 == 0 || k%3 == 0 {
			return border
		}
		return r.Float32()
	})
	if r.IntN(2) == 0 {
		d.Holes = make([]bool, 15)
		d.Holes[r.IntN(15)] = true
	}
	if r.IntN(2) == 0 {
		d.Materials = []physics3.SurfaceMaterial{{Friction: r.Float32()}, {Restitution: 0.5, UserMaterial: 9}}
		if r.IntN(2) == 0 {
			d.MaterialOf = make([]uint8, 15)
			d.MaterialOf[r.IntN(15)] = 1
		}
	}
	return newField(d)
}

// Worlds know fields and terrains by their content, and restore them from snapshots.
func TestFieldsInSnapshots(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 4))
	w := emptyWorld(t, physics3.Config{Capacity: 30})
	other := emptyWorld(t, physics3.Config{Capacity: 30})
	var shapes []physics3.Shape
	for i := range 16 {
		b := bodyAt(t, w, physics3.StaticBody, float32(9*i), 0, 0)
		border := float32(r.IntN(3))
		f := randomField(r, border)
		var s physics3.Shape
		switch i % 3 {
		case 0:
			s = must[physics3.Shape](t)(w.CreateHeightField(b, plain, f, physics3.Placement{Rotation: quat{0, 1, 0, 1}}))
		case 1:
			s = must[physics3.Shape](t)(w.CreateTerrain(b, plain, newTerrain(t, physics3.TerrainTile{Field: f, X: -1}, physics3.TerrainTile{Field: randomField(r, border)},
				physics3.TerrainTile{Field: f, X: 2, Z: -1}), physics3.Placement{}))
		default:
			s = must[physics3.Shape](t)(w.CreateTerrain(b, plain, newTerrain(t, physics3.TerrainTile{Field: f}), physics3.Placement{}))
		}
		shapes = append(shapes, s)
	}
	for len(shapes) > 0 {
		i := r.IntN(len(shapes))
		no(t, w.DestroyShape(shapes[i]))
		shapes = slices.Delete(shapes, i, i+1)
		sameWhenSaved(t, w, other)
	}
}

// Equal content has one hash, whatever it was made of; any difference has another.
func TestContentOfFieldsDecidesTheHash(t *testing.T) {
	hash := func(f *physics3.HeightField, terrain *physics3.Terrain) uint64 {
		w := emptyWorld(t, physics3.Config{Capacity: 2})
		b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
		if terrain != nil {
			must[physics3.Shape](t)(w.CreateTerrain(b, plain, terrain, physics3.Placement{}))
		} else {
			must[physics3.Shape](t)(w.CreateHeightField(b, plain, f, physics3.Placement{}))
		}
		return w.Hash()
	}
	tile := func(f *physics3.HeightField, x, z int) physics3.TerrainTile {
		return physics3.TerrainTile{Field: f, X: x, Z: z}
	}
	base := func() physics3.HeightFieldDef {
		d := fieldDef(3, 3, [2]float32{1, 1}, level)
		d.Materials = make([]physics3.SurfaceMaterial, 2)
		return d
	}
	f, again := newField(base()), base()
	again.Heights[4] = float32(math.Copysign(0, -1))
	again.Holes, again.MaterialOf = make([]bool, 4), make([]uint8, 4)
	g := newField(again)
	if hash(f, nil) != hash(g, nil) || hash(nil, newTerrain(t, tile(f, 0, 0), tile(f, 1, 0))) != hash(nil, newTerrain(t, tile(f, 1, 0), tile(g, 0, 0))) {
		t.Error("equal content has two hashes")
	}
	seen := map[uint64]int{hash(f, nil): -1}
	for i, change := range []func(d *physics3.HeightFieldDef){
		func(d *physics3.HeightFieldDef) { d.Heights[4] = 1e-9 },
		func(d *physics3.HeightFieldDef) { d.Cell[1] = 2 },
		func(d *physics3.HeightFieldDef) { d.Holes = []bool{false, true, false, false} },
		func(d *physics3.HeightFieldDef) { d.MaterialOf = []uint8{0, 1, 0, 0} },
		func(d *physics3.HeightFieldDef) { d.Materials[1].Friction = 1 },
		func(d *physics3.HeightFieldDef) { d.Materials = d.Materials[:1] },
	} {
		d := base()
		change(&d)
		h := hash(newField(d), nil)
		if k, ok := seen[h]; ok {
			t.Errorf("changes %d and %d have one hash", i, k)
		}
		seen[h] = i
	}
	for i, terrain := range []*physics3.Terrain{
		newTerrain(t, tile(f, 0, 0)), newTerrain(t, tile(f, 1, 0)), newTerrain(t, tile(f, 0, 1)), newTerrain(t, tile(f, 0, 0), tile(f, 1, 0)),
	} {
		h := hash(nil, terrain)
		if k, ok := seen[h]; ok {
			t.Errorf("terrain %d and %d have one hash", i, k)
		}
		seen[h] = 100 + i
	}
}

// Any change of a byte of an encoded surface is refused, or makes another surface that is whole.
func TestDamagedFields(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 5))
	w := emptyWorld(t, physics3.Config{Capacity: 4})
	b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	d := fieldDef(4, 3, [2]float32{1.25, 0.75}, func(i, k int) float32 { return 7 })
	d.Holes = []bool{true, false, false, false, false, false}
	d.Materials, d.MaterialOf = make([]physics3.SurfaceMaterial, 2), []uint8{0, 1, 0, 1, 0, 0}
	f := newField(d)
	must[physics3.Shape](t)(w.CreateHeightField(b, plain, f, physics3.Placement{}))
	must[physics3.Shape](t)(w.CreateTerrain(b, plain, newTerrain(t, physics3.TerrainTile{Field: f, X: -1}, physics3.TerrainTile{Field: f}), physics3.Placement{}))
	data := snapshot(t, w)
	into := emptyWorld(t, physics3.Config{Capacity: 4})
	first := strings.Index(string(data), string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(1.25)))) - 17
	n := 300
	if testing.Short() {
		n = 100
	}
	for range n {
		forged := slices.Clone(data)
		at := first + r.IntN(360)
		switch r.IntN(3) {
		case 0:
			forged[at] ^= 1 << r.IntN(8)
		case 1:
			copy(forged[at:], []byte{0xff, 0xff, 0xff, 0xff})
		case 2:
			forged[at] = 0
		}
		forged = frametest.Reseal(forged)
		before := into.Hash()
		if err := into.Restore(forged); err != nil {
			if into.Hash() != before {
				t.Fatal("a refused snapshot has changed the world")
			}
			continue
		}
		if !slices.Equal(snapshot(t, into), forged) {
			t.Fatal("a snapshot that was accepted is not that of the restored world")
		}
	}
}
