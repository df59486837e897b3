package scenes3

import "github.com/evertick/evertick/physics3"

func init() {
	register(Definition{
		Name: "jointgrid3", N: 100, Scale: "rows", Few: 20, Ticks: 160, Warmup: 40, build: (*Scene).jointgrid, size: func(n int) int { return n * n },
		Help: "n rows of n balls, each joined to its neighbours, hang from seven in the middle of the upper row",
	}, Definition{
		Name: "bridge3", N: 60, Scale: "planks", Few: 30, Ticks: 300, Warmup: 60, build: (*Scene).bridge, size: func(n int) int { return n + n/ballEvery },
		Help: "a bridge of n planks of 1 m between two banks, each plank joined to the next by two hinges, with a ball on every third",
	}, Definition{
		Name: "crane3", N: 20, Scale: "links", Few: 10, Ticks: 300, Warmup: 60, build: (*Scene).crane, push: (*Scene).turnCrane,
		size: func(n int) int { return n + 3 },
		Help: "a crane turns and lifts a box of a tonne on a chain of n links of 20 kg",
	})
}

// commonJoint joins two bodies at points in the coordinates of each.
func (s *Scene) commonJoint(a, b physics3.Body, atA, atB [3]float32) physics3.JointDef {
	s.Joints++
	return physics3.JointDef{BodyA: a, BodyB: b, FrameA: physics3.JointFrame{Point: atA}, FrameB: physics3.JointFrame{Point: atB}}
}

func (s *Scene) ballJoint(a, b physics3.Body, atA, atB [3]float32) error {
	_, err := s.World.CreateJoint(&physics3.SphericalJointDef{JointDef: s.commonJoint(a, b, atA, atB)})
	return err
}

// jointgrid hangs from seven balls in the middle of its upper row, or from all of that row. The balls collide with nothing.
func (s *Scene) jointgrid() error {
	shape := physics3.DefaultShapeDef()
	shape.Filter = physics3.Filter{Category: 2, Mask: 1}
	grid := make([]physics3.Body, 0, s.N*s.N)
	for i := range s.N * s.N {
		row, col := i/s.N, i%s.N
		def := physics3.DefaultBodyDef()
		def.Position = [3]float32{float32(col), -float32(row), 0}
		create := s.add
		if row == 0 && max(col-s.N/2, s.N/2-col) <= 3 {
			create = s.World.CreateBody
		}
		b, err := create(def)
		if err == nil {
			_, err = s.World.CreateSphere(b, shape, physics3.Sphere{Radius: 0.4})
		}
		if err == nil && row > 0 {
			err = s.ballJoint(grid[i-s.N], b, [3]float32{0, -0.5, 0}, [3]float32{0, 0.5, 0})
		}
		if err == nil && col > 0 {
			err = s.ballJoint(grid[i-1], b, [3]float32{0.5, 0, 0}, [3]float32{-0.5, 0, 0})
		}
		if err != nil {
			return err
		}
		grid = append(grid, b)
	}
	return nil
}

// alongZ turns the x axis of a frame to the z axis: a hinge with it turns about z.
var alongZ = [4]float32{0, -0.70710677, 0, 0.70710677}

// hinge joins two bodies so that they turn about z.
func (s *Scene) hinge(a, b physics3.Body, atA, atB [3]float32) error {
	d := &physics3.RevoluteJointDef{JointDef: s.commonJoint(a, b, atA, atB)}
	d.FrameA.Rotation, d.FrameB.Rotation = alongZ, alongZ
	_, err := s.World.CreateJoint(d)
	return err
}

// ballEvery is the number of planks of a bridge for each ball on it.
const ballEvery = 3

// bridge hangs between two banks, with balls on it.
func (s *Scene) bridge() error {
	const half, thick, wide = 0.5, 0.125, 1
	banks, err := s.World.CreateBody(physics3.DefaultBodyDef())
	if err != nil {
		return err
	}
	length := float32(s.N)
	for _, x := range []float32{-length/2 - 10, length/2 + 10} {
		if _, err := s.World.CreateBox(banks, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{10, 10, 4}, Center: [3]float32{x, -10, 0}}); err != nil {
			return err
		}
	}
	plank := physics3.DefaultShapeDef()
	plank.Density = 20
	last, at := banks, [3]float32{-length / 2, -thick, 0}
	join := func(b physics3.Body, onB [3]float32) error {
		for _, z := range [2]float32{-wide, wide} {
			if err := s.hinge(last, b, [3]float32{at[0], at[1], z}, [3]float32{onB[0], onB[1], z}); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range s.N {
		def := physics3.DefaultBodyDef()
		def.Position, def.AngularDamping = [3]float32{float32(i) + half - length/2, -thick, 0}, 0.1
		b, err := s.add(def)
		if err == nil {
			_, err = s.World.CreateBox(b, plank, physics3.Box{Half: [3]float32{half, thick, wide}})
		}
		if err == nil {
			err = join(b, [3]float32{-half, 0, 0})
		}
		if err != nil {
			return err
		}
		last, at = b, [3]float32{half, 0, 0}
	}
	if err := join(banks, [3]float32{length / 2, -thick, 0}); err != nil {
		return err
	}
	for i := range s.N / ballEvery {
		def := physics3.DefaultBodyDef()
		def.Position = [3]float32{float32((float32(i)+0.5)*ballEvery) - float32(length/2), 1, 0}
		b, err := s.add(def)
		if err == nil {
			_, err = s.World.CreateSphere(b, physics3.DefaultShapeDef(), physics3.Sphere{Radius: 0.5})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The crane has a tower, an arm that turns about the tower, and a trolley on the arm from which the chain hangs.
const (
	craneHeight = 30
	armLength   = 20
	linkLength  = 0.8
)

func (s *Scene) crane() error {
	tower, err := s.World.CreateBody(physics3.DefaultBodyDef())
	if err == nil {
		_, err = s.World.CreateBox(tower, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{1, craneHeight / 2, 1}, Center: [3]float32{0, craneHeight / 2, 0}})
	}
	if err != nil {
		return err
	}
	body := func(position, half [3]float32, mass float32) (physics3.Body, error) {
		def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
		def.Position, shape.Density = position, mass/(8*half[0]*half[1]*half[2])
		b, err := s.add(def)
		if err == nil {
			_, err = s.World.CreateBox(b, shape, physics3.Box{Half: half})
		}
		return b, err
	}
	const top = craneHeight + 1
	arm, err := body([3]float32{armLength / 2, top, 0}, [3]float32{armLength / 2, 0.5, 0.5}, 4000)
	if err != nil {
		return err
	}
	up := [4]float32{0, 0, 0.70710677, 0.70710677} // turns the x axis to y
	turn := &physics3.RevoluteJointDef{JointDef: s.commonJoint(tower, arm, [3]float32{0, top, 0}, [3]float32{-armLength / 2, 0, 0}), EnableMotor: true, MaxMotorTorque: 1e6}
	turn.FrameA.Rotation, turn.FrameB.Rotation = up, up
	if s.drives[0], err = s.World.CreateJoint(turn); err != nil {
		return err
	}
	trolley, err := body([3]float32{armLength * 0.75, top - 1, 0}, [3]float32{0.5, 0.3, 0.5}, 300)
	if err != nil {
		return err
	}
	slide := &physics3.PrismaticJointDef{
		JointDef: s.commonJoint(arm, trolley, [3]float32{0, -1, 0}, [3]float32{}), EnableMotor: true, MaxMotorForce: 1e5,
		EnableLimit: true, LowerTranslation: 0, UpperTranslation: armLength / 2,
	}
	if s.drives[1], err = s.World.CreateJoint(slide); err != nil {
		return err
	}
	last, at, y := trolley, [3]float32{0, -0.3, 0}, float32(top-1.3)
	for range s.N {
		y -= linkLength
		b, err := body([3]float32{armLength * 0.75, y + linkLength/2, 0}, [3]float32{0.1, linkLength / 2, 0.1}, 20)
		if err == nil {
			err = s.ballJoint(last, b, at, [3]float32{0, linkLength / 2, 0})
		}
		if err != nil {
			return err
		}
		last, at = b, [3]float32{0, -linkLength / 2, 0}
	}
	load, err := body([3]float32{armLength * 0.75, y - 1, 0}, [3]float32{1, 1, 1}, 1000)
	if err == nil {
		err = s.ballJoint(last, load, at, [3]float32{0, 1, 0})
	}
	return err
}

// turnCrane drives the arm one way and the other, and the trolley out and in.
func (s *Scene) turnCrane() error {
	const period = 300 // steps
	if s.tick%period != 0 {
		return nil
	}
	sign := float32(1)
	if s.tick/period%2 == 1 {
		sign = -1
	}
	var turn physics3.RevoluteJointDef
	if err := s.World.JointDef(s.drives[0], &turn); err != nil {
		return err
	}
	turn.MotorSpeed = 0.2 * sign
	var slide physics3.PrismaticJointDef
	if err := s.World.JointDef(s.drives[1], &slide); err != nil {
		return err
	}
	slide.MotorSpeed = -sign
	if err := s.World.SetJointDef(s.drives[0], &turn); err != nil {
		return err
	}
	return s.World.SetJointDef(s.drives[1], &slide)
}
