package rigid3

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// paritySurface draws a surface of some metres: a grid, flat or rough, fine or not, a soup with needles, few large triangles, or a terrain with holes.
func paritySurface(t testing.TB, run *paritytest.Run) mesh.Surface {
	steep := [4]float32{0, .05, .3, 1}[run.IntN(4)]
	height := func(x, z float32) float32 { return steep * float32(run.IntN(9)) / 8 }
	switch run.IntN(7) {
	case 0:
		return gridMesh(t, run.Rand, 20, .1, .4, height) // more near a shape than a kernel has room for
	case 1:
		var vertices [][3]float32
		var triangles [][3]uint32
		for i := range 60 {
			a := [3]float32{4*run.Float32() - 2, run.Float32(), 4*run.Float32() - 2}
			vertices = append(vertices, a)
			for range 2 {
				far := [3]float32{.01, .5, 5}[run.IntN(3)]
				b := [3]float32{a[0] + far*(run.Float32()-.5), a[1] + .1*far*(run.Float32()-.5), a[2] + far*(run.Float32()-.5)}
				if run.IntN(4) == 0 { // a needle
					b = [3]float32{run.Near(a[0]), a[1], a[2] + far}
				}
				vertices = append(vertices, b)
			}
			n := uint32(3 * i)
			triangles = append(triangles, [3]uint32{n, n + 1, n + 2})
			if i > 0 && run.IntN(2) == 0 {
				triangles = append(triangles, [3]uint32{n + 1, n, n - 1}, [3]uint32{uint32(run.IntN(int(n))), n, n + 1})
			}
		}
		return cookMesh(t, vertices, triangles)
	case 2:
		return gridMesh(t, run.Rand, 2, 40, 0, height)
	case 3, 4:
		d := mesh.HeightFieldDef{Width: 9, Depth: 8, Cell: [2]float32{.5, .6}}
		for range d.Width * d.Depth {
			d.Heights = append(d.Heights, height(0, 0))
		}
		for range (d.Width - 1) * (d.Depth - 1) {
			d.Holes = append(d.Holes, run.IntN(8) == 0)
		}
		f, err := mesh.NewHeightField(d)
		if err != nil {
			t.Fatal(err)
		}
		terrain, err := mesh.NewTerrain([]mesh.Tile{{Field: f}, {Field: f, X: -1}}[:1])
		if err != nil {
			t.Fatal(err)
		}
		return terrain
	}
	return gridMesh(t, run.Rand, 8, .3+.5*run.Float32(), .5*run.Float32(), height)
}

// surfaceParity is a scene of shapes over surfaces, and pairs of both.
type surfaceParity struct {
	scene    SurfacePairs
	pairs    broad.Pairs
	velocity [3][]float32
}

// newSurfaceParity draws n shapes over two surfaces, which come first or last.
func newSurfaceParity(t testing.TB, run *paritytest.Run, hulls *Hulls, n int) *surfaceParity {
	s := &surfaceParity{}
	flat := run.IntN(3) == 0
	turn := func() Quat {
		if flat || run.IntN(3) == 0 {
			return [4]Quat{{W: 1}, {X: 1}, {Y: 1}, {X: .5, Y: .5, Z: .5, W: .5}}[run.IntN(4)]
		}
		return randomQuat(run.Rand)
	}
	base := Pose{Vec{run.Float32(), run.Float32(), 0}, turn()}
	if flat {
		base = origin
	}
	first := uint32(0)
	last := run.IntN(2) == 0
	if last {
		first = uint32(n)
	}
	add := func(shape Shape, pose Pose) {
		s.scene.BodyOf = append(s.scene.BodyOf, uint32(len(s.scene.Shapes)))
		s.scene.Shapes, s.scene.Poses = append(s.scene.Shapes, shape), append(s.scene.Poses, pose)
		s.scene.Sensors = append(s.scene.Sensors, run.IntN(16) == 0)
	}
	surfaces := func() {
		for k := range 2 {
			hulls.SetSurface(k, Surface{paritySurface(t, run), run.IntN(3) == 0})
			local := origin
			if run.IntN(3) == 0 && !flat {
				local = Pose{Vec{.1, .2, run.Float32()}, randomQuat(run.Rand)}
			}
			add(NewSurfaceShape(uint32(k), local), base)
		}
	}
	if !last {
		surfaces()
	}
	for range n {
		shape := randomTouching(run.Rand)
		pose := Pose{Vec{3*run.Float32() - 1.5, 1.6*run.Float32() - .3, 3*run.Float32() - 1.5}, turn()}
		if flat {
			pose.P = Vec{float32(run.IntN(9)-4) / 4, float32(run.IntN(6)) / 4, float32(run.IntN(9)-4) / 4}
			shape.Half = Vec{float32(1+run.IntN(3)) / 4, float32(1+run.IntN(3)) / 4, .25}
		}
		pose.P = base.Transform(pose.P)
		add(*shape, pose)
	}
	if last {
		surfaces()
	}
	for i := range s.scene.Shapes {
		for k := range uint32(2) {
			if i := uint32(i); i < first {
				s.pairs.Add(i, first+k)
			}
		}
	}
	if !last {
		for k := range uint32(2) {
			for i := range n {
				s.pairs.Add(k, uint32(2+i))
			}
		}
	}
	s.velocity = [3][]float32{make([]float32, n+2), make([]float32, n+2), make([]float32, n+2)}
	s.scene.Hulls, s.scene.V, s.scene.W, s.scene.Time = hulls, &s.velocity, &s.velocity, dt
	return s
}

// spoil puts what a scene should not have into shapes and poses.
func (s *surfaceParity) spoil(run *paritytest.Run) {
	p := pairScene{shapes: s.scene.Shapes, poses: s.scene.Poses}
	for i := range p.shapes {
		words, all := words(p.shapes[i : i+1])[:11], words(p.poses[i:i+1])
		switch run.IntN(12) {
		case 0:
			all[run.IntN(len(all))] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 1:
			words[run.IntN(len(words))] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		case 2:
			k := run.IntN(len(all))
			all[k] = run.Near(all[k])
		case 3:
			p.shapes[i].Kind = Kind(run.IntN(7))
		case 4:
			p.shapes[i].Hull = uint32(run.IntN(testHulls.Len() + 2))
		case 5:
			p.shapes[i].Half = Vec{X: p.shapes[i].Half.X}
		case 6:
			p.poses[i].P = p.poses[i].P.Times(float32(run.IntN(1 << 22)))
		}
	}
}

// guardedSurface is a scene with meshes in memory that kernels must not leave.
type guardedSurface [12]*paritytest.Buffer[uint32]

// place returns a copy of a scene in this memory.
func (g *guardedSurface) place(t *testing.T, s SurfacePairs, run *paritytest.Run, side paritytest.Side) SurfacePairs {
	next := 0
	buffer := func(words int) *paritytest.Buffer[uint32] {
		if g[next] == nil {
			g[next] = paritytest.NewBuffer[uint32](t, 1<<16)
		}
		if words > 1<<16 {
			t.Fatalf("a scene of %d words", words)
		}
		next++
		return g[next-1]
	}
	gap := run.IntN(paritytest.MaxGap + 1)
	s.Shapes = placed3(buffer(13*len(s.Shapes)), s.Shapes, side, gap)
	s.BodyOf = placed3(buffer(len(s.BodyOf)), s.BodyOf, side, gap)
	s.Poses = placed3(buffer(7*len(s.Poses)), s.Poses, side, gap)
	hulls := *s.Hulls
	hulls.surfaces = nil
	for _, surface := range s.Hulls.surfaces {
		if m, ok := surface.Surface.(*mesh.Mesh); ok {
			surface.Surface = &mesh.Mesh{
				Vertices:  placed3(buffer(3*len(m.Vertices)), m.Vertices, side, gap),
				Triangles: placed3(buffer(8*len(m.Triangles)), m.Triangles, side, gap),
				Nodes:     placed3(buffer(64*len(m.Nodes)), m.Nodes, side, gap),
			}
		}
		hulls.surfaces = append(hulls.surfaces, surface)
	}
	s.Hulls = &hulls
	return s
}

func (g *guardedSurface) check() error {
	for _, b := range g {
		if b == nil {
			continue
		}
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

// chunkBits compares the results of Collide bit by bit.
func chunkBits(got, want *SurfaceChunk) error {
	if len(got.runs) != len(want.runs) || got.count != want.count {
		return fmt.Errorf("%d manifolds of %d pairs, want %d of %d", got.count, len(got.runs), want.count, len(want.runs))
	}
	for i := range want.runs {
		r, w := &got.runs[i], &want.runs[i]
		pair := fmt.Sprintf("pair %d, %d", want.Pairs.A[i], want.Pairs.B[i])
		if r.count != w.count || r.recycled != w.recycled || r.first != w.first || r.last != w.last {
			return fmt.Errorf("%s: %+v, want %+v", pair, *r, *w)
		}
		for n := range int32(w.count) {
			a, b := got.manifold(i, n), want.manifold(i, n)
			if err := paritytest.Bits(fmt.Sprintf("manifold %d of %s", n, pair), buffer.Words[uint32]([]SurfaceManifold{a}), buffer.Words[uint32]([]SurfaceManifold{b})); err != nil {
				return fmt.Errorf("%w\n%+v\n%+v", err, a, b)
			}
		}
	}
	return nil
}

// manifold returns a manifold of pair i. The face of one that was recycled is the contact of the last step.
func (k *SurfaceChunk) manifold(i int, n int32) SurfaceManifold {
	r := &k.runs[i]
	if r.recycled {
		return SurfaceManifold{k.recycled[r.from+n], uint32(k.from[r.from+n])}
	}
	return k.made[r.from+n]
}

// contacts makes the contacts of a chunk.
func (k *SurfaceChunk) contacts(s *SurfacePairs) SurfaceContacts {
	n := k.Count()
	c := SurfaceContacts{make([]Contact, n), make([]SurfaceTouch, n), make([]BaseManifold, n), make([]Manifold, n)}
	k.Match(s, c)
	return c
}

func TestParitySurfaces(t *testing.T) {
	run := paritytest.Start(t, "SurfaceChunk.Collide")
	hulls := testHulls
	g := &guardedSurface{}
	counts := map[string]int{}
	for round := range paritytest.Sample(150) {
		s := newSurfaceParity(t, run, &hulls, []int{0, 1, 2, 3, 16, 17, 40}[round%7])
		if run.IntN(4) == 0 {
			s.spoil(run)
		}
		someHull(run.Rand)
		hulls.polytopes, hulls.flat, hulls.floats, hulls.indices = testHulls.polytopes, testHulls.flat, testHulls.floats, testHulls.indices
		want := &SurfaceChunk{Pairs: s.pairs}
		s.scene.Level = native.Go
		want.Collide(&s.scene)
		made := want.contacts(&s.scene)
		for i := range made.Manifolds {
			m := &made.Manifolds[i]
			for _, p := range m.Points[:m.Count] {
				b := s.scene.Shapes[made.Contacts[i].B]
				if b.Kind == KindSurface {
					b = s.scene.Shapes[made.Contacts[i].A]
				}
				counts[fmt.Sprintf("kind %d, points %d, feature %d", b.Kind, m.Count, p.ID>>30)]++
			}
		}
		again := &SurfaceChunk{Pairs: s.pairs, Last: len(made.Contacts)} // a part of the pairs is recycled
		scene := s.scene
		scene.Old, scene.Touches, scene.Bases = made.Contacts, made.Touches, made.Bases
		again.Collide(&scene)
		for _, level := range native.Levels() {
			for _, side := range paritytest.Sides {
				run.Case(level)
				for k, c := range []*SurfaceChunk{want, again} {
					from := s.scene
					if k == 1 {
						from = scene
					}
					placed := g.place(t, from, run, side)
					placed.Level = level
					got := &SurfaceChunk{Pairs: c.Pairs, Last: c.Last}
					for range 2 { // with memory that was used
						got.Collide(&placed)
						run.Check(g.check(), chunkBits(got, c), paritytest.Bits("shapes", buffer.Words[uint32](placed.Shapes), buffer.Words[uint32](s.scene.Shapes)))
					}
				}
			}
		}
	}
	t.Logf("%d kinds of cases: %v", len(counts), counts)
	if len(counts) < 20 {
		t.Errorf("few cases: %v", counts)
	}
}

// A shape that meets more triangles than a kernel has room for is left to Go, with the same result.
func TestCrowdedSurface(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hulls := &Hulls{}
	hulls.SetSurface(0, Surface{Surface: gridMesh(t, rng, 40, .05, .3, func(x, z float32) float32 { return .02 * rng.Float32() })})
	columns := [3][]float32{make([]float32, 3), make([]float32, 3), make([]float32, 3)}
	s := &SurfacePairs{
		Level: native.Go, Shapes: []Shape{NewSurfaceShape(0, origin), *box(.5, .5, .5), *ball(.02)}, Hulls: hulls, BodyOf: []uint32{0, 1, 2},
		Sensors: make([]bool, 3), Poses: []Pose{origin, {Vec{.1, .505, 0}, Identity}, {Vec{.1, .03, 0}, Identity}}, V: &columns, W: &columns, Time: dt,
	}
	want := &SurfaceChunk{Pairs: broad.Pairs{A: []uint32{0, 0}, B: []uint32{1, 2}}}
	want.Collide(s)
	if !want.Touches(0) || !want.Touches(1) {
		t.Fatalf("no contacts: %v", want.runs)
	}
	for _, level := range native.Levels() {
		s.Level = level
		got := &SurfaceChunk{Pairs: want.Pairs}
		got.Collide(s)
		if err := chunkBits(got, want); err != nil {
			t.Errorf("%v: %v", level, err)
		}
		if w := got.waiting.counts; level != native.Go && (w[0] != surfaceLeft || w[1] == surfaceLeft) {
			t.Errorf("%v: a kernel made %v manifolds", level, w)
		}
	}
}
