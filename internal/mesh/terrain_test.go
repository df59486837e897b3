package mesh

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

func field(t testing.TB, d HeightFieldDef) *HeightField {
	t.Helper()
	f, err := NewHeightField(d)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// randomTerrain returns up to 3 by 3 tiles with holes and gaps. Heights are of a lattice, so that many are equal, or not.
func randomTerrain(t testing.TB, rng *rand.Rand) *Terrain {
	t.Helper()
	w, d := 2+rng.IntN(12), 2+rng.IntN(12)
	if rng.IntN(3) == 0 {
		w, d = 2+rng.IntN(40), 2+rng.IntN(3)
	}
	cell := [2]float32{0.1 + rng.Float32(), 0.3 + rng.Float32()}
	wide := 3*(w-1) + 1
	heights := make([]float32, wide*(3*(d-1)+1))
	lattice := rng.IntN(2) == 0
	for i := range heights {
		heights[i] = 4*rng.Float32() - 2
		if lattice {
			heights[i] = float32(rng.IntN(4)) - 1
		}
	}
	shift := [2]int{rng.IntN(5) - 3, rng.IntN(5) - 3}
	var tiles []Tile
	for i := range 9 {
		if i > 0 && rng.IntN(4) == 0 {
			continue
		}
		x, z := i%3, i/3
		def := HeightFieldDef{Width: w, Depth: d, Cell: cell}
		for k := range w * d {
			def.Heights = append(def.Heights, heights[(z*(d-1)+k/w)*wide+x*(w-1)+k%w])
		}
		if rng.IntN(2) == 0 {
			def.Holes = make([]bool, (w-1)*(d-1))
			for k := 1; k < len(def.Holes); k++ {
				def.Holes[k] = rng.IntN(4) == 0
			}
		}
		tiles = append(tiles, Tile{field(t, def), x + shift[0], z + shift[1]})
	}
	rng.Shuffle(len(tiles), func(i, j int) { tiles[i], tiles[j] = tiles[j], tiles[i] })
	terrain, err := NewTerrain(tiles)
	if err != nil {
		t.Fatal(err)
	}
	return terrain
}

// cooked returns a mesh of the triangles of a terrain, and their numbers in it.
func cooked(t testing.TB, terrain *Terrain) (m *Mesh, numbers []uint32) {
	t.Helper()
	var vertices [][3]float32
	var triangles [][3]uint32
	for i := range terrain.Len() {
		f := terrain.Face(uint32(i))
		if f.Number == None {
			continue
		}
		n := uint32(len(vertices))
		vertices = append(vertices, f.Vertices[:]...)
		triangles = append(triangles, [3]uint32{n, n + 1, n + 2})
		numbers = append(numbers, uint32(i))
	}
	m, _ = cook(t, vertices, triangles)
	return m, numbers
}

// The faces of a terrain are those of a mesh of the same triangles.
func TestTerrainIsAMesh(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	kinds, seams := [4]int{}, 0
	for range 60 {
		terrain := randomTerrain(t, rng)
		m, numbers := cooked(t, terrain)
		if m.Bounds() != terrain.Bounds() {
			t.Fatalf("bounds %v, want %v", terrain.Bounds(), m.Bounds())
		}
		for i := range m.Triangles {
			want := m.Face(uint32(i))
			want.Number = numbers[m.Triangles[i].Number]
			for k, n := range want.Neighbours {
				if n != None {
					want.Neighbours[k] = numbers[m.Triangles[n].Number]
					if int(want.Neighbours[k])/terrain.perTile() != int(want.Number)/terrain.perTile() {
						seams++
					}
				}
				kinds[want.Edges[k]]++
			}
			if got := terrain.Face(want.Number); got != want {
				t.Fatalf("face %d is\n%+v, want\n%+v", want.Number, got, want)
			}
		}
	}
	if kinds[Open] == 0 || kinds[Flat] == 0 || kinds[Convex] == 0 || kinds[Concave] == 0 || seams == 0 {
		t.Errorf("edges of kinds %v, %d over seams", kinds, seams)
	}
}

func TestFacesOfTerrainInBox(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	found := 0
	for range 40 {
		terrain := randomTerrain(t, rng)
		bounds := terrain.Bounds()
		for n := range 60 {
			box := Box{}
			for k := range 3 {
				extent := bounds.Max[k] - bounds.Min[k] + 0.5
				box.Min[k] = bounds.Min[k] - 0.25 + extent*rng.Float32()
				box.Max[k] = box.Min[k] + extent*rng.Float32()*rng.Float32()
				if n%3 == 0 && k != 1 { // on the coordinates of samples
					at := terrain.coordinate(k/2, rng.IntN(40)-20)
					box.Min[k], box.Max[k] = at, at
				}
			}
			switch n {
			case 1:
				box = Box{[3]float32{-inf, -inf, -inf}, [3]float32{inf, inf, inf}}
			case 2:
				box.Max[rng.IntN(3)] = nan
			case 4:
				box.Min[1], box.Max[1] = -inf, inf
			}
			var want []Face
			for i := range terrain.Len() {
				f := terrain.Face(uint32(i))
				b := empty
				for _, v := range f.Vertices {
					b.join(&Box{v, v})
				}
				if f.Number != None && b.Overlaps(&box) {
					want = append(want, f)
				}
			}
			got := terrain.AppendFaces(nil, &box)
			if len(got) != len(want) {
				t.Fatalf("box %v meets %d faces, want %d", box, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("box %v: face %d is %+v, want %+v", box, i, got[i], want[i])
				}
			}
			found += len(got)
		}
	}
	if found == 0 {
		t.Error("no box met a triangle")
	}
}

// One tile may be replaced, and one field may be in several places.
func TestTilesAreShared(t *testing.T) {
	flat := field(t, HeightFieldDef{Width: 3, Depth: 2, Cell: [2]float32{1, 1}, Heights: make([]float32, 6)})
	terrain, err := NewTerrain([]Tile{{flat, 1, 0}, {flat, 0, 0}, {flat, 5, -2}})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Box{[3]float32{0, 0, -2}, [3]float32{12, 0, 1}}); terrain.Bounds() != want || terrain.Len() != 12 {
		t.Errorf("bounds %v, %d triangles", terrain.Bounds(), terrain.Len())
	}
	if f := terrain.Tile(1); f.Field != flat || f.X != 0 || terrain.Tiles() != 3 {
		t.Errorf("tile %+v of %d", f, terrain.Tiles())
	}
}

func TestBadFields(t *testing.T) {
	good := func() HeightFieldDef {
		return HeightFieldDef{Width: 3, Depth: 2, Cell: [2]float32{1, 2}, Heights: make([]float32, 6), Holes: make([]bool, 2)}
	}
	for _, c := range []struct {
		change func(d *HeightFieldDef)
		want   string
	}{
		{func(d *HeightFieldDef) { d.Width = 1 }, "HeightFieldDef.Width = 1: out of range: must be 2 to 65536"},
		{func(d *HeightFieldDef) { d.Depth = MaxSamples + 1 }, "HeightFieldDef.Depth = 65537: out of range: must be 2 to 65536"},
		{func(d *HeightFieldDef) { d.Width, d.Depth = 60000, 60000 }, "HeightFieldDef.Width = 60000: out of range: more than 2^30 triangles"},
		{func(d *HeightFieldDef) { d.Depth = math.MinInt }, "HeightFieldDef.Depth = -9223372036854775808: out of range: must be 2 to 65536"},
		{func(d *HeightFieldDef) { d.Cell[1] = nan }, "HeightFieldDef.Cell[1] = NaN: not finite"},
		{func(d *HeightFieldDef) { d.Cell[0] = 0 }, "HeightFieldDef.Cell[0] = 0: out of range: must be 2^-20 m to 2^20 m"},
		{func(d *HeightFieldDef) { d.Cell[0] = -1 }, "HeightFieldDef.Cell[0] = -1: out of range: must be 2^-20 m to 2^20 m"},
		{func(d *HeightFieldDef) { d.Cell[0] = 1 << 20 }, "HeightFieldDef.Cell[0] = 1.048576e+06: out of range: the field ends beyond 2^20 m"},
		{func(d *HeightFieldDef) { d.Heights = d.Heights[:5] }, "len(HeightFieldDef.Heights) = 5: out of range: must be Width*Depth"},
		{func(d *HeightFieldDef) { d.Holes = d.Holes[:1] }, "len(HeightFieldDef.Holes) = 1: out of range: must be 0 or (Width-1)*(Depth-1)"},
		{func(d *HeightFieldDef) { d.Holes[0], d.Holes[1] = true, true }, "HeightFieldDef.Holes = 2: out of range: all cells are holes"},
		{func(d *HeightFieldDef) { d.Heights[4] = -inf }, "HeightFieldDef.Heights[4] = -Inf: not finite"},
		{func(d *HeightFieldDef) { d.Heights[5] = 1.1e6 }, "HeightFieldDef.Heights[5] = 1.1e+06: out of range: beyond 2^20 m"},
	} {
		d := good()
		c.change(&d)
		_, err := NewHeightField(d)
		want := fault.ErrRange
		if strings.Contains(c.want, "finite") {
			want = fault.ErrNotFinite
		}
		if !errors.Is(err, want) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	field(t, good())
}

func TestBadTerrains(t *testing.T) {
	one := func(w, d int, cell float32, last float32) *HeightField {
		heights := make([]float32, w*d)
		heights[w*d-1] = last
		return field(t, HeightFieldDef{Width: w, Depth: d, Cell: [2]float32{cell, 1}, Heights: heights})
	}
	f, up := one(3, 2, 1, 0), one(3, 2, 1, 0.5)
	for _, c := range []struct {
		tiles []Tile
		want  string
	}{
		{nil, "len(TerrainDef.Tiles) = 0: out of range"},
		{[]Tile{{f, 0, 0}, {nil, 1, 0}}, "TerrainDef.Tiles[1] = nil: out of range"},
		{[]Tile{{f, 0, 0}, {one(2, 2, 1, 0), 1, 0}}, "TerrainDef.Tiles[1] = [2 2]: out of range: its samples are not as many as those of the first"},
		{[]Tile{{f, 0, 0}, {one(3, 2, 2, 0), 1, 0}}, "TerrainDef.Tiles[1] = [2 1]: out of range: its cells are not as large as those of the first"},
		{[]Tile{{f, 0, 0}, {f, 0, math.MinInt}}, "TerrainDef.Tiles[1] = [0 -9223372036854775808]: out of range: beyond 2^20 m"},
		{[]Tile{{one(3, 2, 0.001, 0), 1 << 20, 0}, {one(3, 2, 0.001, 0), 1<<20 + 1, 0}}, "TerrainDef.Tiles[1] = [1048577 0]: out of range: beyond 2^20 m"},
		{[]Tile{{one(9, 2, 0.001, 0), 1 << 19, 0}}, "TerrainDef.Tiles[0] = [524288 0]: out of range: beyond 2^22 samples"},
		{[]Tile{{f, -9000, 0}, {f, 0, 4000}}, "places around TerrainDef.Tiles = 36013001: out of range: more than 2^20"},
		{[]Tile{{f, 1, 0}, {f, 0, 0}, {f, 1, 0}}, "TerrainDef.Tiles[2] = [1 0]: out of range: tile 0 is there"},
		{[]Tile{{f, 1, 0}, {up, 0, 0}}, "TerrainDef.Tiles[0].Heights[3] = 0: out of range: tile 1 has 0.5 there"},
		{[]Tile{{f, 0, 0}, {f, 1, 0}, {up, 0, -1}}, "TerrainDef.Tiles[0].Heights[2] = 0: out of range: tile 2 has 0.5 there"},
		{[]Tile{{f, 1, 1}, {up, 0, 0}}, "TerrainDef.Tiles[0].Heights[0] = 0: out of range: tile 1 has 0.5 there"},
		{[]Tile{{f, -1, 1}, {one(3, 2, 1, 0), 0, 0}}, ""},
	} {
		_, err := NewTerrain(c.tiles)
		if c.want == "" && err == nil {
			continue
		}
		if !errors.Is(err, fault.ErrRange) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A million samples take at most five bytes each.
func TestMemoryOfFields(t *testing.T) {
	const n = 1000
	f := field(t, HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{1, 1}, Heights: make([]float32, n*n), Holes: append(make([]bool, (n-1)*(n-1)-1), true)})
	bytes := 4*cap(f.heights) + 8*cap(f.holes)
	for i := range f.levels {
		bytes += 8 * cap(f.levels[i].blocks)
	}
	if per := float64(bytes) / (n * n); per > 4.3 {
		t.Errorf("%.3f bytes a sample", per)
	}
	s := f.Surface()
	if extra := 4 * cap(s.places); extra > 4 {
		t.Errorf("%d bytes of places", extra)
	}
}

// hills returns n by n samples, in metres.
func hills(t testing.TB, n int) *Terrain {
	heights := make([]float32, n*n)
	for i := range heights {
		heights[i] = float32(3 * math.Sin(float64(i%n)/9) * math.Cos(float64(i/n)/7))
	}
	return field(t, HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{1, 1}, Heights: heights}).Surface()
}

func BenchmarkFacesOfTerrain(b *testing.B) {
	s := hills(b, 1000)
	var faces []Face
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		half [3]float32
	}{{"small", [3]float32{0.5, 0.5, 0.5}}, {"wide", [3]float32{5, 5, 5}}, {"above", [3]float32{500, 0.01, 500}}} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				x, z := 100+800*rng.Float32(), 100+800*rng.Float32()
				y := float32(3 * math.Sin(float64(x)/9) * math.Cos(float64(z)/7))
				if c.name == "above" {
					y = 4
				}
				box := Box{[3]float32{x - c.half[0], y - c.half[1], z - c.half[2]}, [3]float32{x + c.half[0], y + c.half[1], z + c.half[2]}}
				faces = s.AppendFaces(faces[:0], &box)
				n += len(faces)
			}
			b.ReportMetric(float64(n)/float64(b.N), "faces/op")
		})
	}
}
