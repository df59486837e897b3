package physics_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/frame/frametest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// of returns a material of a program.
func of(user uint64, friction, restitution float32) physics.ShapeDef {
	d := material(friction, restitution)
	d.UserMaterial = user
	return d
}

const ice, rubber, wood = 1, math.MaxUint64, 7

// runway is a row of boxes that slide over a floor of one material, and one of balls that fall on it.
type runway struct {
	fixture
	boxes, balls []physics.Body
	shapes       []physics.Shape
}

func newRunway(t testing.TB, c physics.Config) *runway {
	c.Gravity, c.Capacity = [2]float32{0, -10}, 256
	s := &runway{fixture: fixture{t, newWorld(t, c)}}
	s.floor(of(wood, 0.6, 0))
	for i, user := range []uint64{0, ice, rubber, wood} {
		x := float32(30*i) - 60
		b := s.dynamic(x, 0.5, moving(5, 0, 0))
		s.shapes = append(s.shapes, s.box(b, of(user, 0.6, 0), 0.5, 0.5))
		ball := s.dynamic(x, 3)
		s.circle(ball, of(user, 0.6, 0), 0.5)
		s.boxes, s.balls = append(s.boxes, b), append(s.balls, ball)
		s.no(s.w.IgnorePair(b, ball))
	}
	return s
}

// run returns how far each box slid in three seconds, and how high each ball rose after it had hit the floor.
func (s *runway) run() (far, high [4]float64) {
	s.Helper()
	start := [4]float64{}
	for i, b := range s.boxes {
		start[i], _ = s.at(b)
	}
	for step := range 180 {
		s.steps(1)
		for i, b := range s.balls {
			if _, y := s.at(b); step > 50 {
				high[i] = max(high[i], y-0.5)
			}
		}
	}
	for i, b := range s.boxes {
		x, _ := s.at(b)
		far[i] = x - start[i]
	}
	return far, high
}

// The friction and the restitution of a pair replace those of the shapes, for that pair alone, whatever the order.
func TestMaterialPairs(t *testing.T) {
	plain := newRunway(t, physics.Config{})
	mixed, low := plain.run()
	s := newRunway(t, physics.Config{})
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: wood, B: ice, Friction: 0.1}))
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: rubber, B: wood, Friction: 1, Restitution: 0.8}))
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: ice, B: rubber, Friction: 9, Restitution: 9})) // these never meet
	far, high := s.run()
	for i, name := range []string{"none", "ice", "rubber", "wood"} {
		same := i != 1 && i != 2
		if (far[i] == mixed[i]) != same || (high[i] == low[i]) != (i != 2) {
			t.Errorf("%s: it slid %.3f and rose %.3f; mixed: %.3f and %.3f", name, far[i], high[i], mixed[i], low[i])
		}
	}
	s.near("on ice", far[1], 10.5, 0.2) // v·t - μ·g·t²/2; the others stop after v²/(2·μ·g)
	s.near("on rubber", far[2], 1.25, 0.2)
	s.near("mixed", mixed[1], 2.08, 0.2)
	if high[2] < 1.2 || high[2] > 2 || low[2] > 0.1 {
		t.Errorf("a ball rises to %.3f with rubber, and %.3f without", high[2], low[2])
	}
	if got := s.w.AppendMaterialPairs(nil); len(got) != 3 || got[0].B != wood || got[1].B != rubber || got[2].A != wood || got[2].B != rubber {
		t.Errorf("pairs: %v", got)
	}
}

// Pairs are used by shapes of later definitions, and no longer once they are removed.
func TestMaterialPairsChange(t *testing.T) {
	s := newRunway(t, physics.Config{})
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: 0, B: wood, Friction: 0.1}))
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: wood, B: 0, Friction: 0.2})) // replaces it
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: ice, B: wood, Friction: 0.1}))
	hash := s.w.Hash()
	s.no(s.w.RemoveMaterialPair(wood, ice))
	if s.w.Hash() == hash || len(s.w.AppendMaterialPairs(nil)) != 1 {
		t.Error("the pair is still there")
	}
	hash = s.w.Hash()
	s.no(s.w.RemoveMaterialPair(wood, ice))
	if s.w.Hash() != hash {
		t.Error("a pair that is not there was removed")
	}
	hash = s.w.Hash()
	d := must[physics.ShapeDef](t)(s.w.ShapeDef(s.shapes[3]))
	if d.UserMaterial != wood {
		t.Errorf("user material %d", d.UserMaterial)
	}
	d.UserMaterial = 0
	s.no(s.w.SetShapeDef(s.shapes[3], d))
	if s.w.Hash() == hash {
		t.Error("the hash ignores the user material")
	}
	far, _ := s.run()
	for i, want := range []float64{6.25, 2.08, 2.08, 6.25} {
		s.near(fmt.Sprintf("box %d", i), far[i], want, 0.3)
	}
}

// A change wakes the bodies with shapes of the two materials, and no others.
func TestMaterialPairsWake(t *testing.T) {
	for _, remove := range []bool{false, true} {
		s := newRunway(t, physics.Config{})
		sleepy := func(d *physics.BodyDef) { d.DisableSleep = false }
		var resting []physics.Body
		for i, user := range []uint64{ice, rubber} {
			b := s.dynamic(float32(100+9*i), 0.5, sleepy)
			s.box(b, of(user, 0.6, 0), 0.5, 0.5)
			resting = append(resting, b)
		}
		if remove {
			s.no(s.w.SetMaterialPair(physics.MaterialPair{A: wood, B: ice}))
		}
		s.seconds(2)
		if s.w.Awake(resting[0]) || s.w.Awake(resting[1]) {
			t.Fatal("they are awake")
		}
		if remove {
			s.no(s.w.RemoveMaterialPair(wood, ice))
		} else {
			s.no(s.w.SetMaterialPair(physics.MaterialPair{A: wood, B: ice}))
		}
		if !s.w.Awake(resting[0]) || s.w.Awake(resting[1]) {
			t.Errorf("removed %t: awake: %t, %t", remove, s.w.Awake(resting[0]), s.w.Awake(resting[1]))
		}
	}
}

// Pairs and user materials are state, on all levels and with any number of workers.
func TestMaterialsAreState(t *testing.T) {
	set := func(s *runway) {
		c := s.w.NewCommands()
		c.SetMaterialPair(physics.MaterialPair{A: rubber, B: wood, Friction: 0.1, Restitution: 0.7})
		c.SetMaterialPair(physics.MaterialPair{A: ice, B: ice, Friction: 1})
		c.RemoveMaterialPair(ice, ice)
		s.no(s.w.Apply(c))
		s.steps(20)
	}
	base := newRunway(t, physics.Config{Level: native.Go})
	set(base)
	data := snapshot(t, base.w)
	var runs []*physics.World
	for _, level := range native.Levels() {
		s := newRunway(t, physics.Config{Level: level, Workers: 2})
		set(s)
		w := newWorld(t, physics.Config{Level: level, Capacity: 256})
		restore(t, w, data)
		if again := snapshot(t, w); !slices.Equal(again, data) {
			t.Error("another snapshot")
		}
		runs = append(runs, s.w, w, must[*physics.World](t)(w.Clone()))
	}
	for range 60 {
		base.steps(1)
		for i, w := range runs {
			base.no(w.Step(dt))
			sameState(t, fmt.Sprintf("run %d", i), base.w, w)
		}
	}
	restore(t, base.w, snapshot(t, newWorld(t, physics.Config{})))
	if len(base.w.AppendMaterialPairs(nil)) != 0 {
		t.Error("an empty world has pairs")
	}
}

func TestMaterialErrors(t *testing.T) {
	s := newRunway(t, physics.Config{})
	hash := s.w.Hash()
	for name, c := range map[string]struct {
		p    physics.MaterialPair
		want error
	}{
		"MaterialPair.Friction":    {physics.MaterialPair{Friction: -1}, physics.ErrRange},
		"MaterialPair.Restitution": {physics.MaterialPair{Restitution: float32(math.NaN())}, physics.ErrNotFinite},
	} {
		if err := s.w.SetMaterialPair(c.p); !errors.Is(err, c.want) || !strings.Contains(err.Error(), name) || s.w.Hash() != hash {
			t.Errorf("%s: %v", name, err)
		}
		list := s.w.NewCommands()
		list.EnableSleeping(false)
		list.SetMaterialPair(c.p)
		if err := s.w.Apply(list); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "command 1 (SetMaterialPair)") || s.w.Hash() != hash {
			t.Errorf("%s, by commands: %v", name, err)
		}
	}
}

func TestMaterialPairsAllocateNothing(t *testing.T) {
	s := newRunway(t, physics.Config{})
	run := func() {
		s.no(s.w.SetMaterialPair(physics.MaterialPair{A: rubber, B: wood, Friction: 0.1}))
		s.steps(1)
		s.no(s.w.RemoveMaterialPair(rubber, wood))
		s.steps(1)
	}
	for range 30 {
		run()
	}
	if n := testing.AllocsPerRun(20, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRestoreRefusesForgedMaterials(t *testing.T) {
	s := newRunway(t, physics.Config{})
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: 1, B: 2, Friction: 1}))
	s.no(s.w.SetMaterialPair(physics.MaterialPair{A: 1, B: 3, Friction: 1}))
	good := snapshot(t, s.w)
	at := frameOf(t, good) + 1
	n := 4 + 12*int(frametest.Split(good)[at][0])
	for name, c := range map[string]struct {
		forge func(b []byte) []byte
		words string
	}{
		"empty":             {func([]byte) []byte { return nil }, "length of the materials"},
		"too many":          {func(b []byte) []byte { b[3] = 0x7f; return b }, "length of the materials"},
		"one byte less":     {func(b []byte) []byte { return b[:len(b)-1] }, "length of the materials"},
		"no such shape":     {func(b []byte) []byte { b[5] = 9; return b }, "user material[0]"},
		"out of order":      {func(b []byte) []byte { copy(b[16:20], b[4:8]); return b }, "user material[1]"},
		"no material":       {func(b []byte) []byte { clear(b[8:16]); return b }, "user material[0]"},
		"twice":             {func(b []byte) []byte { copy(b[n+24:], b[n:n+24]); return b }, "material pair[1]"},
		"upside down":       {func(b []byte) []byte { b[n] = 9; return b }, "material pair[0]"},
		"negative friction": {func(b []byte) []byte { b[n+19] |= 0x80; return b }, "material pair[0]"},
	} {
		into := newWorld(t, physics.Config{Capacity: 256})
		list := frametest.Split(good)
		list[at] = c.forge(slices.Clone(list[at]))
		refuses(t, into, list, name, c.words)
	}
}

// Each segment of a chain has its own material, which can be changed.
func TestChainMaterials(t *testing.T) {
	r := newFixture(t, -10)
	def := physics.ChainDef{Shape: plain, Points: [][2]float32{{90, 0}, {60, 0}, {30, 0}, {0, 0}, {-30, 0}, {-60, 0}}}
	def.Materials = []physics.SurfaceMaterial{{Friction: 0.05, UserMaterial: ice}, {Friction: 0.6, TangentSpeed: 2}, {Friction: 1.5, Restitution: 0.5}}
	c := r.chain(r.body(physics.StaticBody, 0, 0), def)
	shapes := must[[]physics.Shape](t)(r.w.AppendChainShapes(nil, c))
	slid := func(x float32) float64 {
		b := r.dynamic(x, 0.5, moving(-4, 0, 0))
		r.box(b, material(0.6, 0), 0.5, 0.5)
		r.seconds(2)
		after, _ := r.at(b)
		r.no(r.w.DestroyBody(b))
		return float64(x) - after
	}
	for i, want := range def.Materials {
		if got := must[physics.SurfaceMaterial](t)(r.w.ChainMaterial(c, i)); got != want {
			t.Errorf("segment %d: %v, want %v", i, got, want)
		}
		if d := must[physics.ShapeDef](t)(r.w.ShapeDef(shapes[i])); d.UserMaterial != want.UserMaterial || d.Filter != plain.Filter {
			t.Errorf("segment %d: %v", i, d)
		}
	}
	smooth, rough := slid(55), slid(-10)
	r.near("smooth", smooth, 4*2-0.5*10*math.Sqrt(0.05*0.6)*4, 0.2) // v·t - μ·g·t²/2
	r.near("rough", rough, 16/(2*10*math.Sqrt(1.5*0.6)), 0.2)
	hash := r.w.Hash()
	r.no(r.w.SetChainMaterial(c, 0, def.Materials[2]))
	if got := must[physics.SurfaceMaterial](t)(r.w.ChainMaterial(c, 0)); got != def.Materials[2] || r.w.Hash() == hash {
		t.Errorf("after a change: %v", got)
	}
	r.near("rough now", slid(55), rough, 0.05)

	hash = r.w.Hash()
	bad := def.Materials[0]
	bad.Restitution = -1
	for name, err := range map[string]error{
		"a segment too far": r.w.SetChainMaterial(c, 3, def.Materials[0]),
		"a negative number": second(r.w.ChainMaterial(c, -1)),
		"restitution":       r.w.SetChainMaterial(c, 0, bad),
	} {
		if !errors.Is(err, physics.ErrRange) || r.w.Hash() != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, list := range map[string][]physics.SurfaceMaterial{
		"number of ChainDef.Materials": make([]physics.SurfaceMaterial, 2), "ChainDef.Materials[2].Restitution": {{}, {}, bad},
	} {
		d := def
		d.Materials = list
		b, _ := r.w.BodyAt(0)
		if _, err := r.w.CreateChain(b, d); !errors.Is(err, physics.ErrRange) || !strings.Contains(err.Error(), name) || r.w.Hash() != hash {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := def
	one.Materials = def.Materials[:1]
	b, _ := r.w.BodyAt(0)
	all := r.chain(b, one)
	for i := range 3 {
		if got := must[physics.SurfaceMaterial](t)(r.w.ChainMaterial(all, i)); got != def.Materials[0] {
			t.Errorf("segment %d: %v", i, got)
		}
	}
	r.no(r.w.DestroyChain(c))
	if err := r.w.SetChainMaterial(c, 0, def.Materials[0]); !errors.Is(err, physics.ErrStale) {
		t.Errorf("a chain that is gone: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
