package guide_test

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

func Example_ragdoll() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	w, err := physics3.New(physics3.Config{Capacity: 100, Gravity: [3]float32{0, -10, 0}})
	check(err)
	ground, err := w.CreateBody(physics3.DefaultBodyDef())
	check(err)
	shape := physics3.DefaultShapeDef()
	_, err = w.CreateBox(ground, shape, physics3.Box{Half: [3]float32{50, 1, 50}, Center: [3]float32{0, -1, 0}})
	check(err)

	// A human of 1.8 m and 75 kg, whose bones do not collide with each other, stands on the ground.
	shape.Filter.Group = -1
	human, err := rig.NewRagdoll(w, rig.RagdollDef{Bones: rig.Human(1.8), Mass: 75, Friction: 2, Shape: shape})
	check(err)
	fmt.Println(len(human.Bodies), "bones; the last one is the", rig.Human(1.8)[13].Name)

	// It follows an animation: here one pose, with the left arm raised to the side.
	const chest, arm, forearm = 2, 4, 5
	pose := make([][4]float32, len(human.Bodies))
	raised := [4]float32{0, 0, float32(math.Sin(0.6)), float32(math.Cos(0.6))} // by 1.2 about z
	pose[arm], pose[forearm] = raised, raised
	for range 60 {
		check(human.Follow(w, pose, rig.Muscles{Hertz: 10, Damping: 1}))
		check(w.Step(1. / 60))
	}
	shoulder, err := w.JointState(human.Joints[arm])
	check(err)
	fmt.Printf("the arm is raised by %.1f, while the body falls over\n", shoulder.Cone)

	// A blow on the chest, and it is limp.
	check(human.Follow(w, pose, rig.Muscles{}))
	check(w.ApplyLinearImpulseToCenter(human.Bodies[chest], [3]float32{0, 0, -150}))
	steps := 0
	for ; w.Awake(human.Bodies[chest]); steps++ {
		check(w.Step(1. / 60))
	}
	var apart float32
	for _, j := range human.Joints[1:] {
		state, err := w.JointState(j)
		check(err)
		apart = max(apart, state.Length)
	}
	fmt.Printf("it lies still after %d s, and is in one piece: %t\n", 1+steps/60, apart < 0.005)
	// Output:
	// 14 bones; the last one is the right foot
	// the arm is raised by 1.0, while the body falls over
	// it lies still after 3 s, and is in one piece: true
}
