package rig_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

func newHuman(t *testing.T, w *physics3.World, position [3]float32, change func(*rig.RagdollDef)) *rig.Ragdoll {
	t.Helper()
	def := rig.RagdollDef{Bones: rig.Human(1.8), Position: position, Mass: 75, Shape: physics3.DefaultShapeDef(), Friction: 1}
	def.Shape.Filter.Group = -1
	if change != nil {
		change(&def)
	}
	r, err := rig.NewRagdoll(w, def)
	check(t, err)
	return r
}

func bone(name string) int {
	return slices.IndexFunc(rig.Human(1.8), func(b rig.BoneDef) bool { return b.Name == name })
}

// A human of 1.8 m stands on the ground as high as it should, weighs what it should, and no joint is bent or apart.
func TestHumanBeforeFirstStep(t *testing.T) {
	w := newWorld(t, 0)
	r := newHuman(t, w, [3]float32{}, nil)
	if len(r.Bodies) != 14 {
		t.Errorf("it has %d bones", len(r.Bodies))
	}
	var mass, top float32
	bottom := float32(math.Inf(1))
	for i, b := range r.Bodies {
		m, err := w.MassData(b)
		check(t, err)
		mass += m.Mass
		d, p := rig.Human(1.8)[i], position(t, w, b)
		half := (d.P2[1] - d.P1[1]) / 2
		top, bottom = max(top, p[1]+max(half, -half)+d.Radius), min(bottom, p[1]-max(half, -half)-d.Radius)
		if i > 0 {
			state, err := w.JointState(r.Joints[i])
			check(t, err)
			if state.Length > 1e-6 || math.Abs(float64(state.Angle)) > 1e-6 || state.Cone > 1e-3 {
				t.Errorf("%s: %+v", d.Name, state)
			}
		}
	}
	if math.Abs(float64(mass-75)) > 0.01 || math.Abs(float64(top-1.8)) > 0.01 || math.Abs(float64(bottom)) > 0.01 {
		t.Errorf("%v kg, from %v to %v m", mass, bottom, top)
	}
}

// A ragdoll that is thrown stays in one piece and within its limits, and comes to rest.
func TestRagdollFallsAndSleeps(t *testing.T) {
	w := newWorld(t, 0)
	r := newHuman(t, w, [3]float32{0, 2, 0}, func(d *rig.RagdollDef) {
		d.Rotation, d.LinearVelocity = [4]float32{0.3, 0.2, 0.5, 1}, [3]float32{3, 0, 5}
	})
	bones := rig.Human(1.8)
	var apart, beyond, lastApart, lastBeyond float32 // an impact at 8 m/s pulls joints apart for some steps
	asleep := -1
	for step := range 700 {
		check(t, w.Step(dt))
		for i := 1; i < len(bones); i++ {
			state, err := w.JointState(r.Joints[i])
			check(t, err)
			apart, beyond = max(apart, state.Length), max(beyond, state.AngularSeparation)
			if step >= 600 {
				lastApart, lastBeyond = max(lastApart, state.Length), max(lastBeyond, state.AngularSeparation)
			}
		}
		if asleep < 0 && !w.Awake(r.Bodies[0]) {
			asleep = step
		}
	}
	if apart > 0.2 || beyond > 0.6 || lastApart > 0.005 || lastBeyond > 0.02 {
		t.Errorf("joints were up to %v m apart, and %v rad beyond their limits; at rest %v m and %v rad", apart, beyond, lastApart, lastBeyond)
	}
	if asleep < 0 {
		t.Error("it does not come to rest")
	}
	for i, b := range r.Bodies {
		if p := position(t, w, b); p[1] < bones[i].Radius-0.02 {
			t.Errorf("%s is %v m below the ground", bones[i].Name, bones[i].Radius-p[1])
		}
	}
}

// Elbows bend forwards and knees backwards, and neither the other way.
func TestHumanHinges(t *testing.T) {
	for _, c := range []struct {
		bone   string
		torque float32 // about +x, which carries what hangs backwards
		bends  bool
	}{{"left forearm", -20, true}, {"left forearm", 20, false}, {"right shin", 20, true}, {"right shin", -20, false}} {
		w := newWorld(t, 0)
		check(t, w.SetGravity([3]float32{}))
		r := newHuman(t, w, [3]float32{0, 5, 0}, func(d *rig.RagdollDef) { d.Friction = 0 })
		i := bone(c.bone)
		for range 15 {
			check(t, w.ApplyTorque(r.Bodies[i], [3]float32{c.torque, 0, 0}))
			check(t, w.ApplyTorque(r.Bodies[rig.Human(1.8)[i].Parent], [3]float32{-c.torque, 0, 0}))
			check(t, w.Step(dt))
		}
		state, err := w.JointState(r.Joints[i])
		check(t, err)
		if bent := state.Angle > 0.3; bent != c.bends || state.Angle < -0.1 {
			t.Errorf("%s by %v N·m: %v rad", c.bone, c.torque, state.Angle)
		}
	}
}

// Muscles bring all joints to the pose of an animation, and let go again.
func TestRagdollFollows(t *testing.T) {
	w := newWorld(t, 0)
	check(t, w.SetGravity([3]float32{}))
	r := newHuman(t, w, [3]float32{0, 5, 0}, nil)
	pose := make([][4]float32, len(r.Bodies))
	turn := func(axis [3]float64, angle float64) [4]float32 {
		sin, cos := math.Sincos(angle / 2)
		return [4]float32{float32(sin * axis[0]), float32(sin * axis[1]), float32(sin * axis[2]), float32(cos)}
	}
	arm, forearm, head := bone("left upper arm"), bone("left forearm"), bone("head")
	pose[arm] = turn([3]float64{0, 0, 1}, 1.2)
	pose[forearm] = turn([3]float64{0, 0, 1}, 1.2) // with the upper arm: the elbow stays straight
	pose[head] = turn([3]float64{0, 1, 0}, 0.5)
	muscles := rig.Muscles{Hertz: 4, Damping: 1}
	for range 420 {
		check(t, r.Follow(w, pose, muscles))
		check(t, w.Step(dt))
	}
	for i, want := range map[int][2]float64{arm: {1.2, 0}, forearm: {0, 0}, head: {0, 0.5}} {
		state, err := w.JointState(r.Joints[i])
		check(t, err)
		if cone, angle := float64(state.Cone), float64(state.Angle); math.Abs(cone-want[0]) > 0.03 || math.Abs(angle-want[1]) > 0.03 {
			t.Errorf("%s: it swings %v and twists %v, not %v", rig.Human(1.8)[i].Name, cone, angle, want)
		}
	}
	// Nothing holds it as a whole: momentum stays zero.
	var momentum [3]float64
	for _, b := range r.Bodies {
		m, err := w.MassData(b)
		check(t, err)
		for k, v := range velocity(t, w, b) {
			momentum[k] += float64(m.Mass * v)
		}
	}
	if math.Hypot(math.Hypot(momentum[0], momentum[1]), momentum[2]) > 0.05 {
		t.Errorf("it has a momentum of %v kg·m/s", momentum)
	}
	check(t, r.Follow(w, pose, rig.Muscles{}))
	check(t, w.SetGravity([3]float32{0, -10, 0}))
	for range 120 {
		check(t, w.Step(dt))
	}
	if state, err := w.JointState(r.Joints[arm]); err != nil || math.Abs(float64(state.Cone)-1.2) < 0.03 {
		t.Errorf("a limp arm keeps its pose: %v", state)
	}
}

func TestRagdollRefuses(t *testing.T) {
	w := newWorld(t, 0)
	for name, spoil := range map[string]func(*rig.RagdollDef){
		"no bones": func(d *rig.RagdollDef) { d.Bones = nil },
		"mass":     func(d *rig.RagdollDef) { d.Mass = 0 },
		"parent":   func(d *rig.RagdollDef) { d.Bones[3].Parent = 3 },
		"radius":   func(d *rig.RagdollDef) { d.Bones[2].Radius = -1 },
		"twist":    func(d *rig.RagdollDef) { d.Bones[2].LowerTwist = 1 },
		"cone":     func(d *rig.RagdollDef) { d.Bones[2].Cone = 4 },
		"NaN":      func(d *rig.RagdollDef) { d.Bones[2].Joint[1] = float32(math.NaN()) },
		"axis":     func(d *rig.RagdollDef) { d.Bones[2].Axis, d.Bones[2].P2 = [3]float32{}, d.Bones[2].P1 },
		"friction": func(d *rig.RagdollDef) { d.Shape.Friction = -1 },
	} {
		before := w.Len()
		d := rig.RagdollDef{Bones: rig.Human(1.8), Mass: 75, Shape: physics3.DefaultShapeDef()}
		spoil(&d)
		if _, err := rig.NewRagdoll(w, d); err == nil || w.Len() != before {
			t.Errorf("%s: %v; %d bodies were made", name, err, w.Len()-before)
		}
	}
	r := newHuman(t, w, [3]float32{}, nil)
	if err := r.Follow(w, make([][4]float32, 14), rig.Muscles{Hertz: -1}); err == nil {
		t.Error("muscles of -1 Hz")
	}
	check(t, r.Destroy(w))
	if w.Len() != 1 || w.JointCount() != 0 {
		t.Errorf("%d bodies and %d joints are left", w.Len(), w.JointCount())
	}
}

// Ragdolls that are thrown down stairs come to rest and fall asleep. Then no joint is apart by more than two millimetres, or more than two degrees
// beyond a limit: limits of light bones on which the trunk lies yield that much. With twice the stiffness it is a quarter of that.
func TestRagdollsOnStairs(t *testing.T) {
	t.Run("usual", func(t *testing.T) { ragdollsOnStairs(t, physics3.Config{}, 2) })
	t.Run("stiff", func(t *testing.T) { ragdollsOnStairs(t, physics3.Config{SubSteps: 8, JointHertz: 120}, 0.5) })
}

func ragdollsOnStairs(t *testing.T, c physics3.Config, degrees float32) {
	w := newWorldOf(t, 0, c)
	ground := physics3.DefaultBodyDef()
	for i := range 12 { // 0.3 m deep, 0.18 m high, down along x
		ground.Position = [3]float32{0.3 * float32(i), 1.08 - 0.09*float32(i), 0}
		b, err := w.CreateBody(ground)
		check(t, err)
		_, err = w.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.15, 1.08 - 0.09*float32(i), 6}})
		check(t, err)
	}
	var dolls []*rig.Ragdoll
	for i := range 4 {
		dolls = append(dolls, newHuman(t, w, [3]float32{0.4, 2.6, 2.5*float32(i) - 4}, func(d *rig.RagdollDef) {
			d.Rotation, d.LinearVelocity = [4]float32{0.3 * float32(i), 0.2, 0.5 - 0.3*float32(i), 1}, [3]float32{1 + float32(i), 0, 0.3}
		}))
	}
	asleep := -1
	for step := range 1500 {
		check(t, w.Step(dt))
		if w.AwakeCount() == 0 {
			asleep = step
			break
		}
	}
	if asleep < 0 {
		t.Errorf("%d bodies are awake after 25 s", w.AwakeCount())
	}
	var apart, beyond float32
	where := ""
	for _, r := range dolls {
		for i, j := range r.Joints[1:] {
			state, err := w.JointState(j)
			check(t, err)
			if apart = max(apart, state.Separation); state.AngularSeparation > beyond {
				beyond, where = state.AngularSeparation, rig.Human(1)[i+1].Name
			}
		}
	}
	t.Logf("asleep after %d steps: joints are up to %.2f mm apart, and %.2f degrees beyond limits, at a %s", asleep, 1000*apart, beyond*180/math.Pi, where)
	if apart > 0.002 || beyond > degrees*math.Pi/180 {
		t.Errorf("at rest joints are up to %v m apart, and %v rad beyond their limits", apart, beyond)
	}
}
