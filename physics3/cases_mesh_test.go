package physics3_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// trianglesOf is a mesh of triangles that share no vertices in the input.
func trianglesOf(twoSided bool, corners ...[3]vec) *physics3.Mesh {
	d := physics3.MeshDef{TwoSided: twoSided}
	for i, c := range corners {
		d.Vertices = append(d.Vertices, c[:]...)
		d.Triangles = append(d.Triangles, [3]uint32{uint32(3 * i), uint32(3*i + 1), uint32(3*i + 2)})
	}
	return newMesh(d)
}

// triangleFloor is a square of two triangles at y = 0, which face upwards.
func triangleFloor(half float32) *physics3.Mesh {
	return trianglesOf(false, [3]vec{{-half, 0, -half}, {half, 0, half}, {half, 0, -half}}, [3]vec{{-half, 0, -half}, {-half, 0, half}, {half, 0, half}})
}

// Case 20: a capsule beside a triangle that is almost parallel to it, with known distances, and the contact that follows.
func TestCase20CapsuleBesideTriangle(t *testing.T) {
	for i, c := range []struct {
		radius, half float32
		corners      [3]vec
		distance     float64
		from         vector // from the capsule
	}{
		{0.37, 0.5, [3]vec{{-0.479988575, -1.36185002, 0.26996696}, {-0.104996204, 0.38815248, 0.269967079}, {-0.104996204, -1.36185002, 0.26996696}}, -0.080334, vector{-0.362473, 0, 0.931994}},
		{0.42, 0.675, [3]vec{{-0.0904417038, -4.72410202, 0.307858467}, {-0.0904417038, 5.27589798, 0.307857513}, {9.9095583, 5.27589798, 0.307864189}}, -0.112142, vector{0, 0, 1}},
		{0.5, 0.65, [3]vec{{-0.474807739, 17.2921791, 0.212532043}, {-0.474807739, -2.70782185, 0.212535858}, {-0.85749054, -2.70782185, -0.711341858}}, 0.019999, vector{-0.923880, 0, 0.382684}},
	} {
		w := weightlessWorld(t, physics3.Config{})
		ground := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, trianglesOf(true, c.corners), physics3.Placement{}))
		b := bodyAt(t, w, physics3.DynamicBody, 0, 0, 0)
		s := must[physics3.Shape](t)(w.CreateCapsule(b, plain, physics3.Capsule{P1: vec{0, -c.half, 0}, P2: vec{0, c.half, 0}, Radius: c.radius}))
		var d physics3.Distances
		no(t, w.Distances([]physics3.Shape{s}, []physics3.Shape{ground}, &d))
		near(t, fmt.Sprintf("distance %d", i+1), float64(d.Distance[0]), c.distance, 1e-5)
		near(t, "its direction", dot(vector{float64(d.NormalX[0]), float64(d.NormalY[0]), float64(d.NormalZ[0])}, c.from), 1, 1e-4)
		steps(t, w, 1)
		if c.distance > 0.0195 {
			continue // as far as contacts go
		}
		touch := contactOf(t, w, b)
		near(t, "direction of the contact", -dot(wide(touch.Normal), c.from), 1, 1e-2)
	}
}

// Case 24: a huge hull far away from a small triangle.
func TestCase24FarTriangle(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	small := trianglesOf(true, [3]vec{{-81.5637589, -126.987244, -146.771729}, {-81.8749924, -127.270691, -146.544403}, {-81.6972275, -127.383545, -146.773254}})
	ground := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, small, physics3.Placement{}))
	h := newHull(0, vec{125.932892, -374.71225, 364.192169}, vec{319.492218, -73.2614441, 475.009613}, vec{-122.27755, -152.200287, 192.441437},
		vec{71.2817841, 149.250519, 303.258881}, vec{-77.8921967, -359.410797, 678.579712}, vec{115.667137, -57.9600067, 789.397095},
		vec{-326.102631, -136.898834, 506.828949}, vec{-132.543304, 164.551971, 617.646362})
	b := bodyAt(t, w, physics3.DynamicBody, 0, 0, 0)
	s := must[physics3.Shape](t)(w.CreateHull(b, plain, h, physics3.Placement{}))
	var d physics3.Distances
	no(t, w.Distances([]physics3.Shape{ground}, []physics3.Shape{s}, &d))
	near(t, "distance", float64(d.Distance[0]), 342.3, 0.1)
	steps(t, w, 1)
	if all := must[[]physics3.Touch](t)(w.AppendContacts(nil, b)); len(all) > 0 {
		t.Errorf("contacts %v", all)
	}
}

// Case 32: a ball rolls down a ramp of several triangles with (5/7)·g·sin 20°, and a box without friction slides with g·sin 20°. No edge pushes.
func TestCase32Ramp(t *testing.T) {
	q := turn(vector{0, 0, 1}, -20*math.Pi/180) // it falls towards x
	normal, down := rotated(q, vector{0, 1, 0}), rotated(q, vector{1, 0, 0})
	d := gridMesh(3, 24, flat) // 8 m a cell
	for kind, c := range []struct {
		friction, height float32
		acceleration     float64
	}{{1, 0.5, 2.39658}, {0, 0.3, 3.35522}, {0, 0.5, 3.35522}} {
		ground, own := plain, plain
		ground.Friction, own.Friction = c.friction, c.friction
		w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: vec{0, -9.81, 0}, DisableSleep: true, Capacity: 4}))
		tilted := physics3.DefaultBodyDef()
		tilted.Rotation = q
		must[physics3.Shape](t)(w.CreateMesh(bodyOf(t, w, tilted), ground, newMesh(d), physics3.Placement{}))
		at := dynamicAt(0, 0, 0)
		for k := range at.Position {
			at.Position[k] = float32(normal[k]*float64(c.height) - 11*down[k])
		}
		at.Position[2] += 0.7
		at.Rotation = q
		b := bodyOf(t, w, at)
		switch kind {
		case 0:
			sphere(t, w, b, own, 0.5)
		case 1:
			must[physics3.Shape](t)(w.CreateCapsule(b, own, physics3.Capsule{P1: vec{0, 0, -0.5}, P2: vec{0, 0, 0.5}, Radius: 0.3}))
		case 2:
			box(t, w, b, own, 0.5, 0.5, 0.5)
		}
		steps(t, w, 20) // it comes to rest on its contact
		from := positionOf(t, w, b)
		v0, _ := velocityOf(t, w, b)
		for way := 0.; way < 10; {
			steps(t, w, 1)
			p, _ := positionOf(t, w, b), 0
			v, _ := velocityOf(t, w, b)
			way = dot(minus(p, from), down)
			if n := dot(v, normal); math.Abs(n) > 1e-3 {
				t.Fatalf("shape %d leaves the plane at %g m/s after %g m", kind, n, way)
			}
			if z := p[2] - from[2]; math.Abs(z) > 1e-3 {
				t.Fatalf("shape %d is %g m aside after %g m", kind, z, way)
			}
			if len(w.Events().End) > 0 {
				t.Fatalf("shape %d: a contact ends after %g m", kind, way)
			}
			if way >= 10 {
				got := (dot(v, v) - dot(v0, v0)) / (2 * way)
				near(t, fmt.Sprintf("acceleration of shape %d", kind), got, c.acceleration, 0.01*c.acceleration)
			}
		}
	}
}

// Case 35: a triangle is solid from its front, whichever way a mesh is wound: for contacts, rays and casts alike. A two-sided mesh is so from both.
func TestCase35Winding(t *testing.T) {
	up := [2][3]vec{{{-3, 0, -3}, {3, 0, 3}, {3, 0, -3}}, {{-3, 0, -3}, {-3, 0, 3}, {3, 0, 3}}}
	down := [2][3]vec{}
	for i, c := range up {
		down[i] = [3]vec{c[0], c[2], c[1]}
	}
	ball, _ := physics3.SphereForm(physics3.Sphere{Radius: 0.3})
	for name, c := range map[string]struct {
		mesh                 *physics3.Mesh
		fromAbove, fromBelow bool // stopped, at x < z
	}{
		"up":        {trianglesOf(false, up[0], up[1]), true, false},
		"down":      {trianglesOf(false, down[0], down[1]), false, true},
		"two sides": {trianglesOf(true, down[0], up[1]), true, true},
		"mixed":     {trianglesOf(false, down[0], up[1]), true, false}, // up where x < z
	} {
		w := weightlessWorld(t, physics3.Config{})
		must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, c.mesh, physics3.Placement{}))
		const x, z = -1.5, 1.2
		for _, side := range []struct {
			y    float32
			want bool
		}{{2, c.fromAbove}, {-2, c.fromBelow}} {
			var rays, casts physics3.RayHits
			no(t, w.RayClosest(&physics3.Rays{X: []float32{x}, Y: []float32{side.y}, Z: []float32{z}, DX: []float32{0}, DY: []float32{-2 * side.y}, DZ: []float32{0}}, &rays))
			no(t, w.CastClosest(&physics3.Casts{Probes: physics3.Probes{Forms: []physics3.Form{ball}, X: []float32{x}, Y: []float32{side.y}, Z: []float32{z}},
				DX: []float32{0}, DY: []float32{-2 * side.y}, DZ: []float32{0}}, &casts))
			d := dynamicAt(x, side.y, z)
			d.LinearVelocity = vec{0, -3 * side.y, 0}
			b := addSphereOf(t, w, d, 0.3, plain)
			steps(t, w, 60)
			stopped := position(t, w, b)[1]*side.y > 0
			no(t, w.DestroyBody(b))
			if got := [3]bool{rays.Shapes[0] != physics3.Shape{}, casts.Shapes[0] != physics3.Shape{}, stopped}; got != [3]bool{side.want, side.want, side.want} {
				t.Errorf("%s, from y = %g: ray, cast and ball stop: %v, want %v", name, side.y, got, side.want)
			}
		}
	}
}

// Case 41 on triangles: friction is the same in every direction on a floor of two.
func TestCase41IsotropyOnTriangles(t *testing.T) {
	least, most := math.Inf(1), 0.
	for heading := 0; heading < 360; heading += 30 {
		w, _ := meshWorld(t, physics3.Config{Capacity: 4, DisableSleep: true}, material(0.8, 0), triangleFloor(100))
		x, z := math.Cos(float64(heading)*math.Pi/180), math.Sin(float64(heading)*math.Pi/180)
		d := dynamicAt(0, 1, 0)
		d.LinearVelocity = [3]float32{float32(20 * x), 0, float32(20 * z)}
		b := addBoxOf(t, w, d, [3]float32{1, 1, 1}, material(0.9, 0))
		steps(t, w, 60)
		at, q := positionOf(t, w, b), rotationOf(t, w, b)
		v, _ := velocityOf(t, w, b)
		speed, way := length(v), at[0]*x+at[2]*z
		near(t, "the speed", speed, 11.6759, 0.05)
		if way < 15.77 || way > 15.84 {
			t.Errorf("heading %d°: the way is %g", heading, way)
		}
		near(t, "the way to the side", at[2]*x-at[0]*z, 0, 0.01)
		near(t, "the turn", angleOf(q), 0, 0.5*math.Pi/180)
		least, most = min(least, speed), max(most, speed)
	}
	if most > least*1.005 {
		t.Errorf("speeds from %g to %g", least, most)
	}
}

// Case 45 on triangles: a box on a slope of 30° slides with g(sin 30° − μ cos 30°), or rests.
func TestCase45SlopesOfTriangles(t *testing.T) {
	m := newMesh(gridMesh(12, 60, flat))
	for _, heading := range []float64{0, 17, 45, 90} {
		for _, mu := range []float32{0, 0.2, 0.4, 0.6, 1} {
			w := must[*physics3.World](t)(physics3.New(physics3.Config{Gravity: [3]float32{0, -9.81, 0}, DisableSleep: true, Capacity: 4}))
			sin, cos := math.Sincos(heading * math.Pi / 180)
			q := turn(vector{sin, 0, cos}, -math.Pi/6)
			d := physics3.DefaultBodyDef()
			d.Rotation = q
			normal, down := rotated(q, vector{0, 1, 0}), rotated(q, vector{cos, 0, -sin})
			must[physics3.Shape](t)(w.CreateMesh(bodyOf(t, w, d), material(mu, 0), m, physics3.Placement{}))
			d = dynamicAt(0, 0, 0)
			for axis := range d.Position {
				d.Position[axis] = float32(normal[axis] * 0.5)
			}
			d.Rotation = q
			b := addBoxOf(t, w, d, [3]float32{0.5, 0.5, 0.5}, material(mu, 0))
			steps(t, w, 60)
			before, _ := velocityOf(t, w, b)
			from := positionOf(t, w, b)
			want := 9.81 * max(0, 0.5-float64(mu)*math.Cos(math.Pi/6))
			if want == 0 {
				steps(t, w, 540)
				near(t, "the creep in 9 s", length(minus(positionOf(t, w, b), from)), 0, 1e-3)
				continue
			}
			steps(t, w, 60)
			after, _ := velocityOf(t, w, b)
			near(t, "the acceleration", dot(minus(after, before), down), want, 0.01*want)
			near(t, "the acceleration off the plane", dot(minus(after, before), normal), 0, 0.01)
		}
	}
}

// Case 76 with a mesh: nothing is found beyond the greatest distance, and all that is before it.
func TestCase76GreatestDistanceOfMeshes(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	ground := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, triangleFloor(4), physics3.Placement{}))
	point, _ := physics3.SphereForm(physics3.Sphere{Radius: 1e-3})
	for _, c := range []struct {
		far  float32
		hits bool
	}{{5, false}, {9.998, false}, {10.002, true}, {1e18, true}, {math.MaxFloat32, true}} {
		for _, length := range []float32{1, 0.25} { // of the direction
			var rays, casts physics3.RayHits
			down := -length
			end := min(c.far/length, 1e18)
			no(t, w.RayClosest(&physics3.Rays{X: []float32{1}, Y: []float32{10}, Z: []float32{-1}, DX: []float32{0}, DY: []float32{down}, DZ: []float32{0}, MaxFraction: []float32{end}}, &rays))
			no(t, w.CastClosest(&physics3.Casts{Probes: physics3.Probes{Forms: []physics3.Form{point}, X: []float32{1}, Y: []float32{10}, Z: []float32{-1}},
				DX: []float32{0}, DY: []float32{down}, DZ: []float32{0}, MaxFraction: []float32{end}}, &casts))
			if got := [2]bool{rays.Shapes[0] == ground, casts.Shapes[0] == ground}; got != [2]bool{c.hits, c.hits} {
				t.Errorf("within %g: ray and cast hit: %v", c.far, got)
			}
			if c.hits {
				near(t, "fraction of the ray", float64(rays.Fractions[0]*length), 10, 1e-5)
				near(t, "fraction of the cast", float64(casts.Fractions[0]*length), 9.999, 1e-5)
			}
		}
	}
	var d physics3.Distances
	for _, within := range []float32{1.9, 2.1, 1e18} {
		no(t, w.Nearest(&physics3.Probes{Forms: []physics3.Form{point}, X: []float32{1}, Y: []float32{2}, Z: []float32{1}}, []float32{within}, &d))
		if (d.Shapes[0] == ground) != (within > 2) {
			t.Errorf("within %g: %+v", within, d)
		}
	}
}

// Case 77 with a mesh: a closed mesh has no inside. A ray that begins there passes through the backs of triangles, and hits what is
// outside. It hits a two-sided mesh.
func TestCase77InsideOfMeshes(t *testing.T) {
	for _, twoSided := range []bool{false, true} {
		d := physics3.MeshDef{Vertices: []vec{{1, 0, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 0, -1}, {0, 1, 0}, {0, -1, 0}}, TwoSided: twoSided}
		for i := range uint32(4) {
			d.Triangles = append(d.Triangles, [3]uint32{(i + 1) % 4, i, 4}, [3]uint32{i, (i + 1) % 4, 5})
		}
		w := weightlessWorld(t, physics3.Config{})
		shell := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, newMesh(d), physics3.Placement{}))
		behind := box(t, w, bodyAt(t, w, physics3.StaticBody, 6, 0, 0), plain, 1, 1, 1)
		want := behind
		if twoSided {
			want = shell
		}
		ball, _ := physics3.SphereForm(physics3.Sphere{Radius: 0.1})
		var rays, casts physics3.RayHits
		no(t, w.RayClosest(&physics3.Rays{X: []float32{0.1, 3}, Y: []float32{0.05, 0.05}, Z: []float32{0.02, 0.02}, DX: []float32{8, -8}, DY: []float32{0, 0}, DZ: []float32{0, 0}}, &rays))
		no(t, w.CastClosest(&physics3.Casts{Probes: physics3.Probes{Forms: []physics3.Form{ball}, X: []float32{0.1, 3}, Y: []float32{0.05, 0.05}, Z: []float32{0.02, 0.02}},
			DX: []float32{8, -8}, DY: []float32{0, 0}, DZ: []float32{0, 0}}, &casts))
		if rays.Shapes[0] != want || casts.Shapes[0] != want || rays.Shapes[1] != shell || casts.Shapes[1] != shell {
			t.Errorf("two sides %v: rays hit %v, casts %v", twoSided, rays.Shapes, casts.Shapes)
		}
	}
}

// Case 78 with a mesh: a query sees what has just been made, moved and destroyed.
func TestCase78NothingStaleOfMeshes(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	last := box(t, w, bodyAt(t, w, physics3.StaticBody, 0, -5, 0), plain, 4, 1, 4)
	ray := physics3.Rays{X: []float32{0.5}, Y: []float32{9}, Z: []float32{0.3}, DX: []float32{0}, DY: []float32{-20}, DZ: []float32{0}}
	var hits physics3.RayHits
	sees := func(what string, want physics3.Shape) {
		t.Helper()
		no(t, w.RayClosest(&ray, &hits))
		if hits.Shapes[0] != want {
			t.Errorf("%s: a ray hits %v, want %v", what, hits.Shapes[0], want)
		}
	}
	for i := range 20 {
		b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
		s := must[physics3.Shape](t)(w.CreateMesh(b, plain, triangleFloor(1+float32(i)), physics3.Placement{}))
		sees("made", s)
		no(t, w.SetTransform(b, vec{50, 0, 0}, unit))
		sees("moved away", last)
		no(t, w.SetTransform(b, vec{0, 2, 0}, unit))
		sees("moved back", s)
		if i%2 == 0 {
			steps(t, w, 1)
		}
		no(t, w.DestroyBody(b))
		sees("destroyed", last)
	}
}

// Case 79: a ray and two forms find a triangle that is awkward, in its place and nearer to the origin.
func TestCase79AwkwardTriangle(t *testing.T) {
	corners := [3]vec{{2832.862, 200, -641.5822}, {2834.611, 200.0066, -643.3685}, {2834.289, 200, -640.1809}}
	ball, _ := physics3.SphereForm(physics3.Sphere{Radius: 0.3})
	capsule, _ := physics3.CapsuleForm(physics3.Capsule{P1: vec{0, -0.2, 0}, P2: vec{0, 0.2, 0}, Radius: 0.2})
	for _, c := range []struct {
		by        vec
		tolerance float64
	}{{vec{}, 1e-3}, {vec{-2834, -198, 644}, 1e-4}} {
		at := corners
		for i := range at {
			for k := range at[i] {
				at[i][k] += c.by[k]
			}
		}
		w := weightlessWorld(t, physics3.Config{})
		must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0, 0), plain, trianglesOf(true, at), physics3.Placement{}))
		p := vec{2833.92067 + c.by[0], 202 + c.by[1], -641.71053 + c.by[2]}
		var hits physics3.RayHits
		no(t, w.RayClosest(&physics3.Rays{X: []float32{p[0]}, Y: []float32{p[1]}, Z: []float32{p[2]}, DX: []float32{0}, DY: []float32{-4}, DZ: []float32{0}}, &hits))
		near(t, "height of the ray's hit", float64(p[1]-4*hits.Fractions[0]), 200.0022+float64(c.by[1]), c.tolerance)
		q := physics3.Casts{Probes: physics3.Probes{Forms: []physics3.Form{ball, capsule}, X: []float32{p[0], p[0]}, Y: []float32{p[1], p[1]}, Z: []float32{p[2], p[2]}},
			DX: []float32{0, 0}, DY: []float32{-4, -4}, DZ: []float32{0, 0}}
		no(t, w.CastClosest(&q, &hits))
		near(t, "height of the ball", float64(p[1]-4*hits.Fractions[0]), 200.3022+float64(c.by[1]), c.tolerance)
		near(t, "lowest point of the capsule", float64(p[1]-4*hits.Fractions[1])-0.4, 200.0022+float64(c.by[1]), c.tolerance)
	}
}

// Case 89: a ball that rolls over 400 triangles begins to touch the mesh once, and so it does with a mesh as a sensor.
func TestCase89OneBegin(t *testing.T) {
	w, ground := meshWorld(t, physics3.Config{Capacity: 4, DisableSleep: true}, plain, newMesh(gridMesh(14, 24, flat)))
	sensing := plain
	sensing.Sensor = true
	gate := must[physics3.Shape](t)(w.CreateMesh(bodyAt(t, w, physics3.StaticBody, 0, 0.4, 0), sensing, newMesh(gridMesh(14, 24, flat)), physics3.Placement{}))
	d := dynamicAt(-10.3, 0.5, 0.4)
	d.LinearVelocity, d.AngularVelocity = vec{5, 0, 0.3}, vec{0, 0, -10}
	b := addSphereOf(t, w, d, 0.5, plain)
	ball := shapesOf(t, w, b)[0]
	var begun []physics3.Touch
	var sensed []physics3.Sensed
	for position(t, w, b)[0] < 9.7 {
		steps(t, w, 1)
		e := w.Events()
		begun, sensed = append(begun, e.Begin...), append(sensed, e.SensorBegin...)
		if len(e.End)+len(e.SensorEnd) > 0 {
			t.Fatalf("ends %v, %v", e.End, e.SensorEnd)
		}
	}
	if !slices.Equal(begun, []physics3.Touch{{A: ground, B: ball}}) || !slices.Equal(sensed, []physics3.Sensed{{Sensor: gate, Visitor: ball}}) {
		t.Errorf("begun %v, sensed %v", begun, sensed)
	}
}
