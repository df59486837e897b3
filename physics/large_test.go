package physics_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// farScene is a fixture around a point far from the origin.
type farScene struct {
	fixture
	x, y float32
}

func newFarScene(t testing.TB, x, y float32) farScene {
	return farScene{fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}, Capacity: 512})}, x, y}
}

func (r farScene) make(kind physics.BodyType, x, y float32, change ...func(*physics.BodyDef)) physics.Body {
	r.Helper()
	change = append(change, func(d *physics.BodyDef) { d.DisableSleep = false })
	return r.body(kind, r.x+x, r.y+y, change...)
}

func (r farScene) ground() physics.Body {
	b := r.make(physics.StaticBody, 0, -1)
	r.box(b, material(0.6, 0), 200, 1)
	return b
}

// farResult is what happened in a scene.
type farResult struct {
	drift  float64 // greatest distance sideways of a body from where it began, metres
	sag    float64 // greatest distance downwards
	jitter float64 // greatest speed in the last second, by the change of position in a step
	asleep bool
}

// watch runs a scene and compares the positions of bodies with those at its start.
func (r farScene) watch(seconds int, bodies []physics.Body) (got farResult) {
	r.Helper()
	type point struct{ x, y float64 }
	start := make([]point, len(bodies))
	last := make([]point, len(bodies))
	for i, b := range bodies {
		start[i].x, start[i].y = r.at(b)
	}
	for tick := range seconds * 60 {
		r.steps(1)
		for i, b := range bodies {
			x, y := r.at(b)
			got.drift = max(got.drift, math.Abs(x-start[i].x))
			got.sag = max(got.sag, start[i].y-y)
			if tick >= (seconds-1)*60 {
				got.jitter = max(got.jitter, 60*math.Hypot(x-last[i].x, y-last[i].y))
			}
			last[i] = point{x, y}
		}
	}
	got.asleep = r.w.AwakeCount() == 0
	return got
}

func tower(r farScene) farResult {
	r.ground()
	var bodies []physics.Body
	for i := range 10 {
		b := r.make(physics.DynamicBody, 0, 0.5+float32(i))
		r.box(b, material(0.6, 0), 0.5, 0.5)
		bodies = append(bodies, b)
	}
	return r.watch(10, bodies)
}

func pyramid20(r farScene) farResult {
	r.ground()
	var bodies []physics.Body
	for row := range 20 {
		for k := range 20 - row {
			b := r.make(physics.DynamicBody, float32(k)*1.125+float32(row)*0.5625-11.25, 0.5+float32(row))
			r.box(b, material(0.6, 0), 0.5, 0.5)
			bodies = append(bodies, b)
		}
	}
	return r.watch(10, bodies)
}

// hangingChain hangs from its first link, straight down.
func hangingChain(r farScene) farResult {
	last := r.make(physics.StaticBody, 0, 40)
	r.box(last, plain, 0.5, 0.125)
	var bodies []physics.Body
	for i := range 30 {
		b := r.make(physics.DynamicBody, 0, 39.5-float32(i), func(d *physics.BodyDef) { d.AngularDamping = 0.5 })
		r.box(b, plain, 0.125, 0.375)
		def := physics.DefaultRevoluteJointDef()
		def.BodyA, def.BodyB = last, b
		def.FrameA.Point, def.FrameB.Point = [2]float32{0, -0.5}, [2]float32{0, 0.5}
		if i == 0 {
			def.FrameA.Point = [2]float32{}
		}
		_, err := r.w.CreateRevoluteJoint(def)
		r.no(err)
		bodies, last = append(bodies, b), b
	}
	return r.watch(20, bodies)
}

// rollingBall returns in drift how far a ball that began with 3 m/s got in 10 s.
func rollingBall(r farScene) farResult {
	r.ground()
	b := r.make(physics.DynamicBody, 0, 0.5, moving(3, 0, -6))
	r.circle(b, material(0.6, 0), 0.5)
	return r.watch(10, []physics.Body{b})
}

// bouncingBox returns in drift how high a box of restitution 0.5 bounces from 4 m.
func bouncingBox(r farScene) (got farResult) {
	r.ground()
	b := r.make(physics.DynamicBody, 0, 4.5)
	r.box(b, material(0.6, 0.5), 0.5, 0.5)
	fell := false
	for range 180 {
		r.steps(1)
		_, y := r.at(b)
		_, vy, _ := r.velocity(b)
		fell = fell || vy > 0
		if fell {
			got.drift = max(got.drift, y-0.5-float64(r.y))
		}
	}
	r.seconds(7)
	got.asleep = r.w.AwakeCount() == 0
	return got
}

// bullets returns in drift how many of 100 bullets pass a wall of 10 cm.
func bullets(r farScene) (got farResult) {
	wall := r.make(physics.StaticBody, 0, 0)
	r.box(wall, plain, 0.0625, 100)
	var bodies []physics.Body
	for i := range 100 {
		b := r.make(physics.DynamicBody, -20, float32(i)-50, moving(100+2*float32(i), 0, 0),
			func(d *physics.BodyDef) { d.Bullet, d.GravityScale = true, 0 })
		r.circle(b, plain, 0.125)
		bodies = append(bodies, b)
	}
	r.seconds(1)
	for _, b := range bodies {
		if x, _ := r.at(b); x > float64(r.x) {
			got.drift++
		}
	}
	return got
}

// sliding returns in drift how far a box slides without friction on a chain of 100 segments in 10 s, and in sag how far it
// gets off it.
func sliding(r farScene) (got farResult) {
	ground := r.make(physics.StaticBody, 0, 0)
	d := physics.ChainDef{Shape: material(0, 0)}
	for i := range 101 {
		d.Points = append(d.Points, [2]float32{80 - float32(i), 0})
	}
	_, err := r.w.CreateChain(ground, d)
	r.no(err)
	b := r.make(physics.DynamicBody, 0, 0.5, moving(5, 0, 0))
	r.box(b, material(0, 0), 0.5, 0.5)
	return r.watch(10, []physics.Body{b})
}

// rayHits returns in drift the greatest error of where 100 rays hit the face of a box.
func rayHits(r farScene) (got farResult) {
	b := r.make(physics.StaticBody, 20, 0)
	r.box(b, plain, 4, 100)
	const n = 100
	q, hits := physics.Rays{}, physics.RayHits{}
	for i := range n {
		q.X, q.Y = append(q.X, r.x), append(q.Y, r.y+float32(i)-n/2)
		q.DX, q.DY = append(q.DX, 30), append(q.DY, float32(i%7))
	}
	r.no(r.w.RayClosest(&q, &hits))
	for i := range n {
		got.drift = max(got.drift, math.Abs(float64(hits.X[i])-(float64(r.x)+16)))
		got.sag = max(got.sag, math.Abs(float64(hits.Y[i])-(float64(q.Y[i])+16./30*float64(i%7))))
	}
	return got
}

// walk returns in drift how far a character gets in 10 s on a floor, over a step, and against a wall; and in sag how far
// below its height on the floor it ends.
func walk(r farScene) farResult {
	b := r.ground()
	for _, at := range [...][3]float32{{6, 8, 0.25}, {20, 22, 8}} {
		r.polygon(b, plain, physics.Polygon{Count: 4, Vertices: [8][2]float32{
			{at[0], 1}, {at[1], 1}, {at[1], 1 + at[2]}, {at[0], 1 + at[2]},
		}})
	}
	d := physics.DefaultMoverDef()
	m := physics.Movers{X: []float32{r.x}, Y: []float32{r.y + 1}, VX: []float32{0}, VY: []float32{0},
		Ground: make([]physics.Shape, 1), GroundX: []float32{0}, GroundY: []float32{0}}
	for range 600 {
		m.VX[0] = 4
		if m.Ground[0] == (physics.Shape{}) {
			m.VY[0] -= 10. / 60
		}
		r.no(r.w.Move(&d, &m, dt))
	}
	return farResult{drift: float64(m.X[0]) - float64(r.x), sag: 0.9 - (float64(m.Y[0]) - float64(r.y)), asleep: true}
}

// farScenes have no coordinate finer than 1/16 m, so float32 represents them at 100 km. The last columns are by how much
// a number may differ from that at the origin, where neighbouring positions are an ulp apart.
var farScenes = []struct {
	name             string
	run              func(farScene) farResult
	drift, sag, rest func(ulp float64) float64
}{
	{"tower of 10", tower, plusUlps(0.02, 4), plusUlps(0.01, 4), plusUlps(1e-3, 60)},
	{"pyramid of 20 rows", pyramid20, plusUlps(0.02, 4), plusUlps(0.01, 4), plusUlps(1e-3, 60)},
	{"30 joints", hangingChain, plusUlps(1e-3, 2), plusUlps(1e-3, 2), plusUlps(1e-3, 60)},
	{"rolling ball", rollingBall, plusUlps(0.01, 300), plusUlps(1e-3, 1), plusUlps(1e-3, 30)}, // half an ulp in each of 600 steps
	{"box on a chain", sliding, plusUlps(0.05, 300), plusUlps(0.01, 1), plusUlps(1e-3, 30)},
	{"bouncing box", bouncingBox, plusUlps(1e-3, 2), plusUlps(0, 0), plusUlps(0, 0)},
	{"100 bullets", bullets, plusUlps(0, 0), plusUlps(0, 0), plusUlps(0, 0)},
	{"100 rays", rayHits, plusUlps(1e-4, 2), plusUlps(1e-4, 2), plusUlps(0, 0)},
	{"character", walk, plusUlps(1e-3, 4), plusUlps(1e-3, 4), plusUlps(0, 0)},
}

// plusUlps returns the tolerance constant + ulps·ulp.
func plusUlps(constant, ulps float64) func(ulp float64) float64 {
	return func(ulp float64) float64 { return constant + ulps*ulp }
}

// The section "Large worlds" of the package comment says what the precision of float32 costs at a distance.
func TestFarFromTheOrigin(t *testing.T) {
	for _, s := range farScenes {
		want := s.run(newFarScene(t, 0, 0))
		t.Logf("%-18s at the origin: %+v", s.name, want)
		for _, at := range []float32{1024, 10 * 1024, 30 * 1024, 100 * 1024} {
			got := s.run(newFarScene(t, at, at))
			t.Logf("%-18s at %3g km:      %+v", s.name, at/1000, got)
			ulp := float64(math.Nextafter32(at, inf) - at)
			near := func(what string, got, want, tolerance float64) {
				if !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%s at %g m: %s %.4g, %.4g at the origin; more than %.4g apart", s.name, at, what, got, want, tolerance)
				}
			}
			near("drift", got.drift, want.drift, s.drift(ulp))
			near("sag", got.sag, want.sag, s.sag(ulp))
			near("speed", got.jitter, want.jitter, s.rest(ulp))
			if at < 1<<15 && got.asleep != want.asleep {
				t.Errorf("%s at %g m: asleep %v, %v at the origin", s.name, at, got.asleep, want.asleep)
			}
		}
	}
}

// After a shift a scene is, bit for bit, the one that was made there.
func TestShiftedSceneIsTheOneMadeThere(t *testing.T) {
	for _, at := range [][2]float32{{65536, 0}, {100 * 1024, -100 * 1024}, {-3 * 1024, 65536}} {
		far, near := newShiftScene(t, at), newShiftScene(t, [2]float32{})
		far.no(far.w.ShiftOrigin(at))
		if got := far.w.Origin(); got != [2]float64{float64(at[0]), float64(at[1])} {
			t.Fatalf("the origin is %v after a shift by %v", got, at)
		}
		for tick := range 300 {
			if diff := differentColumns(far.w, near.w); len(diff) != 1 || diff[0] != "Origin" {
				t.Fatalf("shift by %v, tick %d: %v differ", at, tick, diff)
			}
			if tick%50 == 0 {
				far.sameQueries(&near)
			}
			far.steps(1)
			near.steps(1)
			if a, b := far.w.Events(), near.w.Events(); !reflect.DeepEqual(a, b) {
				t.Fatalf("shift by %v, tick %d: other events:\n%+v\n%+v", at, tick, a, b)
			}
		}
		if near.w.AwakeCount() == near.moving || near.asleep == 0 {
			t.Fatalf("%d of %d bodies are awake: the scene does not show sleep", near.w.AwakeCount(), near.moving)
		}
	}
}

// A shift towards the bodies and back changes nothing, at any time: nothing wakes, and the world goes on as before.
func TestShiftThereAndBack(t *testing.T) {
	at := [2]float32{65536, -2 * 65536}
	for _, ticks := range []int{0, 1, 37, 200} {
		a, b := newShiftScene(t, at), newShiftScene(t, at)
		a.steps(ticks)
		b.steps(ticks)
		before := a.w.AwakeCount()
		a.no(a.w.ShiftOrigin(at))
		a.exactly(&b, at)
		if a.w.AwakeCount() != before {
			t.Fatalf("%d ticks: %d bodies are awake, not %d", ticks, a.w.AwakeCount(), before)
		}
		a.no(a.w.ShiftOrigin([2]float32{-at[0], -at[1]}))
		for tick := range 100 {
			if diff := differentColumns(a.w, b.w); len(diff) > 0 {
				t.Fatalf("%d ticks, %d after: %v differ", ticks, tick, diff)
			}
			if !bytes.Equal(snapshot(t, a.w), snapshot(t, b.w)) {
				t.Fatalf("%d ticks, %d after: other snapshots", ticks, tick)
			}
			a.steps(1)
			b.steps(1)
		}
	}
}

// Nothing wakes even where a shift rounds, and a body is where its rounded position is.
func TestShiftAwayFromSleepers(t *testing.T) {
	r := newShiftScene(t, [2]float32{})
	r.seconds(10)
	awake := r.w.AwakeCount()
	if awake == r.moving {
		t.Fatal("nothing has fallen asleep")
	}
	was := append([]float32(nil), r.w.Columns().X[:r.w.Rows()]...)
	r.no(r.w.ShiftOrigin([2]float32{-100 * 1024, 0}))
	r.steps(1)
	if e := r.w.Events(); r.w.AwakeCount() > awake || len(e.Woke) > 0 {
		t.Errorf("%d bodies are awake, %d before; %v woke", r.w.AwakeCount(), awake, e.Woke)
	}
	for i, x := range was {
		if b, ok := r.w.BodyAt(i); ok && !r.w.Awake(b) && r.w.Columns().X[i] != x+100*1024 {
			t.Errorf("body %d is at %v, was at %v", i, r.w.Columns().X[i], x)
		}
	}
}

// A program writes to a sleeper and shifts so far that rounding hides the difference: the body wakes all the same.
func TestShiftDoesNotHideWrites(t *testing.T) {
	r := newShiftScene(t, [2]float32{})
	r.seconds(10)
	i := slices.IndexFunc(r.w.Columns().Flags, func(f uint8) bool { return f&physics.FlagAsleep != 0 })
	if i < 0 {
		t.Fatal("nothing has fallen asleep")
	}
	for _, write := range []bool{false, true} {
		w := must[*physics.World](t)(r.w.Clone())
		if x := &w.Columns().X[i]; write {
			*x = math.Nextafter32(*x, inf)
		}
		r.no(w.ShiftOrigin([2]float32{-100 * 1024, 0}))
		r.no(w.Step(dt))
		if b, _ := w.BodyAt(i); w.Awake(b) != write {
			t.Errorf("written: %v, awake: %v", write, w.Awake(b))
		}
	}
}

// A shifted world goes on like one that is restored from it, which keeps nothing of the old coordinates.
func TestShiftedWorldGoesOnAsARestoredOne(t *testing.T) {
	at := [2]float32{65536, 1024}
	for _, ticks := range []int{0, 1, 37, 200, 500} {
		r := newShiftScene(t, at)
		r.steps(ticks)
		r.no(r.w.ShiftOrigin(at))
		other := newWorld(t, r.w.Config())
		restore(t, other, snapshot(t, r.w))
		for tick := range 60 {
			r.steps(1)
			r.no(other.Step(dt))
			if diff := differentColumns(r.w, other); len(diff) > 0 {
				t.Fatalf("%d ticks, %d after: %v differ", ticks, tick, diff)
			}
		}
	}
}

// A list with a shift does what the calls do. Its later commands use the new coordinates.
func TestShiftByCommand(t *testing.T) {
	at := [2]float32{65536, 1024}
	r := newShiftScene(t, at)
	r.steps(20)
	twin := must[*physics.World](t)(r.w.Clone())
	list := r.w.NewCommands()
	list.ShiftOrigin(at)
	list.SetTransform(r.tip, [2]float32{3, 4}, 0)
	r.no(r.w.Apply(list))
	r.no(twin.ShiftOrigin(at))
	r.no(twin.SetTransform(r.tip, [2]float32{3, 4}, 0))
	if r.w.Hash() != twin.Hash() {
		t.Fatal("the list and the calls differ")
	}
	if p, err := r.w.Position(r.tip); err != nil || p != [2]float32{3, 4} {
		t.Errorf("the body is at %v, %v", p, err)
	}
	before := r.w.Hash()
	list.ShiftOrigin(at)
	list.ShiftOrigin([2]float32{0, 512})
	if err := r.w.Apply(list); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), "command 1 (ShiftOrigin)") {
		t.Errorf("Apply: %v", err)
	}
	if r.w.Hash() != before {
		t.Error("a refused list changed the world")
	}
}

// The sum of all shifts is bounded, also within a list.
func TestShiftRefusesOriginsTooFarAway(t *testing.T) {
	w := newWorld(t, physics.Config{})
	list := frametest.Split(snapshot(t, w))
	binary.LittleEndian.PutUint64(list[len(list)-1], math.Float64bits(0x1p62))
	restore(t, w, frametest.Forge("evtk.rig", 3, list))
	further := [2]float32{1 << 37, 0}
	if err := w.ShiftOrigin(further); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), "Origin[0]") {
		t.Errorf("ShiftOrigin: %v", err)
	}
	c := w.NewCommands()
	c.ShiftOrigin([2]float32{-1 << 37, 0})
	c.ShiftOrigin(further)
	c.ShiftOrigin(further)
	if err := w.Apply(c); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), "command 2 (ShiftOrigin)") {
		t.Errorf("Apply: %v", err)
	}
	if w.Origin() != [2]float64{0x1p62, 0} {
		t.Errorf("the origin is %v", w.Origin())
	}
}

func TestShiftRefuses(t *testing.T) {
	r := newShiftScene(t, [2]float32{})
	before := r.w.Hash()
	for _, c := range []struct {
		offset [2]float32
		want   error
		words  string
	}{
		{[2]float32{nan, 0}, physics.ErrNotFinite, "offset[0]"},
		{[2]float32{0, -inf}, physics.ErrNotFinite, "offset[1]"},
		{[2]float32{1, 0}, physics.ErrRange, "offset[0] = 1"},
		{[2]float32{0, 1536}, physics.ErrRange, "offset[1] = 1536"},
		{[2]float32{0, -1 << 38}, physics.ErrRange, "beyond 2^37"},
	} {
		if err := r.w.ShiftOrigin(c.offset); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%v: %v", c.offset, err)
		}
	}
	if r.w.Hash() != before {
		t.Error("a refused shift changed the world")
	}
	other := must[*physics.World](t)(box2d.New(physics.Config{}))
	if err := other.ShiftOrigin([2]float32{1024, 0}); !errors.Is(err, physics.ErrUnsupported) || other.Origin() != [2]float64{} {
		t.Errorf("another engine: %v", err)
	}
}

// Values below 2^63 stay below it: a shift disables no body.
func TestShiftKeepsExtremesInRange(t *testing.T) {
	r := newFixture(t, 0)
	most := math.Nextafter32(0x1p63, 0)
	a, b := r.dynamic(most, -most), r.dynamic(0, 0)
	d := physics.DefaultMouseJointDef()
	d.BodyA, d.BodyB, d.Target = r.body(physics.StaticBody, 0, 0), b, [2]float32{-most, most}
	_, err := r.w.CreateMouseJoint(d)
	r.no(err)
	r.no(r.w.ShiftOrigin([2]float32{-1 << 37, 1 << 37}))
	if p, err := r.w.Position(a); err != nil || p != [2]float32{most, -most} {
		t.Errorf("position %v, %v", p, err)
	}
	restore(t, newWorld(t, r.w.Config()), snapshot(t, r.w))
}

// Snapshot, Restore, Clone and CopyFrom keep the origin, and it counts for the hash.
func TestOriginIsState(t *testing.T) {
	r := newShiftScene(t, [2]float32{})
	empty := r.w.Hash()
	r.no(r.w.ShiftOrigin([2]float32{1 << 37, -1024}))
	want := [2]float64{1 << 37, -1024}
	if r.w.Hash() == empty {
		t.Error("the hash is the same")
	}
	data := snapshot(t, r.w)
	into := newWorld(t, r.w.Config())
	restore(t, into, data)
	clone := must[*physics.World](t)(r.w.Clone())
	for name, w := range map[string]*physics.World{"restored": into, "clone": clone} {
		if w.Origin() != want || w.Hash() != r.w.Hash() {
			t.Errorf("%s: origin %v", name, w.Origin())
		}
	}
	list := frametest.Split(data)
	frame := &list[len(list)-1]
	good := append([]byte(nil), *frame...)
	hash := into.Hash()
	for name, v := range map[string]float64{"NaN": math.NaN(), "fraction": 1.5, "512 m": 512, "far": 0x1p63, "-0": math.Copysign(0, -1)} {
		binary.LittleEndian.PutUint64(*frame, math.Float64bits(v))
		if err := into.Restore(frametest.Forge("evtk.rig", 3, list)); !errors.Is(err, physics.ErrCorrupt) || !strings.Contains(err.Error(), "origin[0]") {
			t.Errorf("%s: %v", name, err)
		}
	}
	*frame = good[:15]
	if err := into.Restore(frametest.Forge("evtk.rig", 3, list)); !errors.Is(err, physics.ErrCorrupt) || !strings.Contains(err.Error(), "length of the origin") {
		t.Errorf("a shorter frame: %v", err)
	}
	if into.Hash() != hash {
		t.Error("a refused snapshot changed the world")
	}
}

// Entities that a program shifts likewise have not moved for Pull; others get their new positions by Sync.
func TestShiftWithEntities(t *testing.T) {
	at := [2]float32{65536, 1024}
	r := newShiftScene(t, at)
	r.seconds(10)
	f := func() []float32 { return make([]float32, 4) }
	e := physics.Transforms{X: f(), Y: f(), Z: f(), QX: f(), QY: f(), QZ: f(), QW: f()}
	r.no(r.w.Sync(e))
	r.no(r.w.ShiftOrigin(at))
	before, hash := r.w.AwakeCount(), r.w.Hash()
	for i := range e.X {
		if e.QW[i] != 0 { // a body drives it
			e.X[i] -= at[0]
			e.Y[i] -= at[1]
		}
	}
	r.no(r.w.Pull(e))
	if r.w.AwakeCount() != before || r.w.Hash() != hash {
		t.Error("Pull has moved bodies")
	}
	x := append([]float32(nil), e.X...)
	r.no(r.w.Sync(e))
	if !slices.Equal(x, e.X) {
		t.Errorf("the entities are at %v, the bodies at %v", x, e.X)
	}
}

func TestShiftAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	r := newShiftScene(t, [2]float32{})
	r.steps(5)
	offset := [2]float32{1024, 1024}
	if n := testing.AllocsPerRun(20, func() {
		_ = r.w.ShiftOrigin(offset)
		offset[0], offset[1] = -offset[0], -offset[1]
		_ = r.w.Step(dt)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// shiftScene has something of everything whose coordinates a shift could miss.
type shiftScene struct {
	farScene
	tip            physics.Body
	moving, asleep int // bodies that are not static, and that began asleep
}

func newShiftScene(t testing.TB, at [2]float32) shiftScene {
	r := shiftScene{farScene: newFarScene(t, at[0], at[1])}
	add := func(kind physics.BodyType, x, y float32, change ...func(*physics.BodyDef)) physics.Body {
		if kind != physics.StaticBody {
			r.moving++
		}
		return r.make(kind, x, y, change...)
	}
	r.ground()
	terrain := add(physics.StaticBody, 30, 2)
	chain := physics.ChainDef{Shape: plain}
	for i := range 8 {
		chain.Points = append(chain.Points, [2]float32{10 - float32(i)*3, float32(i%3) * 0.5})
	}
	_, err := r.w.CreateChain(terrain, chain)
	r.no(err)
	for i := range 6 {
		r.circle(add(physics.DynamicBody, 24+2*float32(i), 8), material(0.5, 0.25), 0.5)
		b := add(physics.DynamicBody, -20, 0.5+float32(i), func(d *physics.BodyDef) {
			if i < 3 {
				d.HasSlot, d.Slot = true, uint32(i)
			}
		})
		r.box(b, material(0.6, 0), 0.5, 0.5)
	}
	for i := range 4 {
		b := add(physics.DynamicBody, -40, 0.5+float32(i), func(d *physics.BodyDef) { d.Asleep = true })
		r.box(b, material(0.6, 0), 0.5, 0.5)
		r.asleep++
	}
	r.tip = add(physics.StaticBody, 0, 20)
	for i := range 5 {
		b := add(physics.DynamicBody, 1+2*float32(i), 20)
		r.capsule(b, plain, -0.75, 0, 0.75, 0, 0.125)
		d := physics.DefaultRevoluteJointDef()
		d.BodyA, d.BodyB = r.tip, b
		d.FrameA.Point, d.FrameB.Point = [2]float32{min(float32(i), 1), 0}, [2]float32{-1, 0}
		_, err := r.w.CreateRevoluteJoint(d)
		r.no(err)
		r.tip = b
	}
	mouse := physics.DefaultMouseJointDef()
	mouse.BodyA, mouse.BodyB = terrain, r.tip
	mouse.Target, mouse.MaxForce = [2]float32{at[0] + 6, at[1] + 18}, 100
	_, err = r.w.CreateMouseJoint(mouse)
	r.no(err)
	r.box(add(physics.KinematicBody, -30, 3, moving(0.5, 0.25, 0.5)), plain, 2, 0.25)
	sensor := plain
	sensor.Sensor = true
	r.box(add(physics.StaticBody, -30, 4), sensor, 3, 3)
	r.circle(add(physics.DynamicBody, -30, 8), plain, 0.5)
	oneWay := plain
	oneWay.OneWay = [2]float32{0, 1}
	r.box(add(physics.StaticBody, -50, 3), oneWay, 2, 0.25)
	r.circle(add(physics.DynamicBody, -50, 1, moving(0, 9, 0)), plain, 0.5)
	r.circle(add(physics.DynamicBody, -60, 1.5, moving(300, 0, 0), func(d *physics.BodyDef) { d.Bullet = true }), plain, 0.25)
	gone := add(physics.DynamicBody, 60, 1)
	r.moving--
	r.no(r.w.DestroyBody(gone))
	return r
}

// exactly checks that each position of r plus the offset is that of far, without rounding.
func (r *shiftScene) exactly(far *shiftScene, offset [2]float32) {
	r.Helper()
	a, b := r.w.Columns(), far.w.Columns()
	for i := range r.w.Rows() {
		if a.Alive[i] == 0 {
			continue
		}
		if float64(a.X[i])+float64(offset[0]) != float64(b.X[i]) || float64(a.Y[i])+float64(offset[1]) != float64(b.Y[i]) {
			r.Fatalf("body %d is at (%v, %v), and was at (%v, %v)", i, a.X[i], a.Y[i], b.X[i], b.Y[i])
		}
	}
}

// sameQueries compares what rays and probes find in two worlds of the same coordinates.
func (r *shiftScene) sameQueries(other *shiftScene) {
	r.Helper()
	var q physics.Rays
	for i := range 40 {
		q.X, q.Y = append(q.X, float32(i)*3-60), append(q.Y, 30)
		q.DX, q.DY = append(q.DX, float32(i%5)-2), append(q.DY, -40)
	}
	var a, b physics.RayHits
	r.no(r.w.RayAll(&q, &a))
	r.no(other.w.RayAll(&q, &b))
	if len(a.X) < 20 || !reflect.DeepEqual(a, b) {
		r.Fatalf("%d hits and %d, or others", len(a.X), len(b.X))
	}
}

// differentColumns names the columns whose hashes differ.
func differentColumns(a, b *physics.World) (names []string) {
	hashes := map[string]uint64{}
	for _, h := range a.AppendColumnHashes(nil) {
		hashes[h.Name] = h.Hash
	}
	for _, h := range b.AppendColumnHashes(nil) {
		if was, ok := hashes[h.Name]; !ok || was != h.Hash {
			names = append(names, h.Name)
		}
		delete(hashes, h.Name)
	}
	for name := range hashes {
		names = append(names, name)
	}
	return names
}
