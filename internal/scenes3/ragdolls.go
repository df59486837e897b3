package scenes3

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

func init() {
	register(Definition{
		Name: "rain3", N: 300, Scale: "ragdolls", Few: 12, Ticks: 400, Warmup: 0, build: (*Scene).rainOfRagdolls, push: (*Scene).rainOn,
		size: func(n int) int { return bones*n + cellsOf(n)*cellsOf(n) },
		Help: "n ragdolls of 14 bodies fall from 20 m on cells of 15 m with a grid and a torus of 640 triangles, three to a cell, a row of cells every 48 steps; then rows are replaced",
	}, Definition{
		Name: "ragdolls3", N: 160, Scale: "ragdolls", Few: 10, Ticks: 300, Warmup: 30, build: (*Scene).ragdolls, size: func(n int) int { return bones * n },
		Help: "n ragdolls of 14 bodies fall in heaps of ten on a wavy mesh of 3,200 triangles",
	}, Definition{
		Name: "cars3", N: 200, Scale: "cars", Few: 16, Ticks: 600, Warmup: 60, build: (*Scene).traffic, push: (*Scene).drive, size: func(n int) int { return n },
		Help: "n cars, each on four wheels that are rays, drive in circles on a hilly height field",
	})
}

// bones is the number of bodies of a ragdoll.
const bones = 14

// ragdoll adds a ragdoll whose feet are at a position, turned at random with a seed.
func (s *Scene) ragdoll(at [3]float32, number uint64) (*rig.Ragdoll, error) {
	r := loop.NewRand(s.seed, s.tick, number, streamPlace)
	def := rig.RagdollDef{Bones: rig.Human(1.8), Position: at, Mass: 75, Shape: physics3.DefaultShapeDef(), Friction: 5}
	def.Rotation = [4]float32{r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1), r.Range(0.1, 1)}
	def.Shape.Filter.Group = -1 - int32(number)
	doll, err := rig.NewRagdoll(s.World, def)
	if err != nil {
		return nil, err
	}
	s.Bodies = append(s.Bodies, doll.Bodies...)
	s.Joints += bones - 1
	return doll, nil
}

const (
	ragdollsToCell = 3
	cell           = 15 // metres
	rowEvery       = 48 // steps between two rows of cells
)

// cellsOf is the number of cells along an edge.
func cellsOf(n int) int { return edgeOf((n+ragdollsToCell-1)/ragdollsToCell, 2) }

// rainOfRagdolls has the cells, and its first row of ragdolls.
func (s *Scene) rainOfRagdolls() error {
	edge := cellsOf(s.N)
	grid, _, err := physics3.NewMesh(waves(8, cell/8., 0, 0))
	if err != nil {
		return err
	}
	ring, _, err := physics3.NewMesh(torus(16, 16, cell/4., 1))
	if err != nil {
		return err
	}
	for i := range edge * edge {
		def := physics3.DefaultBodyDef()
		def.Position = s.cellAt(i)
		b, err := s.World.CreateBody(def)
		for _, mesh := range []*physics3.Mesh{grid, ring} {
			if err == nil {
				_, err = s.World.CreateMesh(b, physics3.DefaultShapeDef(), mesh, physics3.Placement{})
			}
		}
		if err != nil {
			return err
		}
	}
	s.dolls = make([]*rig.Ragdoll, edge*edge*ragdollsToCell)
	return s.rainRow(0)
}

// cellAt is the middle of a cell.
func (s *Scene) cellAt(i int) [3]float32 {
	edge := cellsOf(s.N)
	at := func(k int) float32 { return float32((float32(k) + 0.5 - float32(edge)/2) * cell) }
	return [3]float32{at(i / edge), 0, at(i % edge)}
}

func (s *Scene) rainOn() error {
	if s.tick == 0 || s.tick%rowEvery != 0 {
		return nil
	}
	return s.rainRow(int(s.tick / rowEvery % uint64(cellsOf(s.N))))
}

// rainRow puts ragdolls above a row of cells, in place of those that it has.
func (s *Scene) rainRow(row int) error {
	edge := cellsOf(s.N)
	for i := row * edge * ragdollsToCell; i < (row+1)*edge*ragdollsToCell && i < s.N; i++ {
		if old := s.dolls[i]; old != nil {
			if err := old.Destroy(s.World); err != nil {
				return err
			}
			s.Joints -= bones - 1
		}
		at := s.cellAt(i / ragdollsToCell)
		at[0], at[1] = at[0]+float32(0.75*float32(i%ragdollsToCell)), 20
		var err error
		if s.dolls[i], err = s.ragdoll(at, uint64(i)); err != nil {
			return fmt.Errorf("ragdoll %d: %w", i, err)
		}
	}
	return nil
}

// ragdolls has heaps in a square, 8 m apart.
func (s *Scene) ragdolls() error {
	const heap, pitch = 10, 8
	if err := s.hills(40, 1.5, 0.6, 0.3); err != nil {
		return err
	}
	edge := edgeOf((s.N+heap-1)/heap, 2)
	at := func(k int) float32 { return float32((float32(k) + 0.5 - float32(edge)/2) * pitch) }
	for i := range s.N {
		pile := i / heap
		if _, err := s.ragdoll([3]float32{at(pile % edge), float32(2 + 1.5*float32(i%heap)), at(pile / edge)}, uint64(i)); err != nil {
			return err
		}
	}
	return nil
}

// traffic has cars 20 m apart on a field of hills, 1 m high.
func (s *Scene) traffic() error {
	const pitch, side = 20, 2
	edge := edgeOf(s.N, 2)
	n := edge*pitch/side + 41
	heights := make([]float32, n*n)
	half := float32((n - 1) * side / 2)
	for i := range heights {
		x, z := float32(i%n*side)-half, float32(i/n*side)-half
		sin, _ := trig.SinCos(float32(x * 0.1))
		_, cos := trig.SinCos(float32(z * 0.08))
		heights[i] = float32(sin * cos)
	}
	field, err := physics3.NewHeightField(physics3.HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{side, side}, Heights: heights})
	if err != nil {
		return err
	}
	ground, err := s.World.CreateBody(physics3.DefaultBodyDef())
	if err == nil {
		_, err = s.World.CreateHeightField(ground, physics3.DefaultShapeDef(), field, physics3.Placement{Position: [3]float32{-half, 0, -half}})
	}
	s.cars = rig.NewVehicles(s.World)
	for i := 0; i < s.N && err == nil; i++ {
		at := func(k int) float32 { return float32((float32(k) + 0.5 - float32(edge)/2) * pitch) }
		err = s.car([3]float32{at(i % edge), 2.2, at(i / edge)}, i)
	}
	return err
}

// car adds a car of 1,200 kg that drives with its rear wheels.
func (s *Scene) car(at [3]float32, number int) error {
	r := loop.NewRand(s.seed, 0, uint64(number), streamPlace)
	sin, cos := trig.SinCos(r.Range(0, math.Pi))
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	def.Position, def.Rotation = at, [4]float32{0, sin, 0, cos}
	b, err := s.add(def)
	if err != nil {
		return err
	}
	shape.Density = 1200 / (1.8 * 0.6 * 4)
	if _, err = s.World.CreateBox(b, shape, physics3.Box{Half: [3]float32{0.9, 0.3, 2}}); err != nil {
		return err
	}
	vehicle := rig.VehicleDef{Chassis: b, MaxSpeed: 20, Differentials: []rig.Differential{{A: 2, B: 3}}}
	for i := range 4 {
		wheel := rig.DefaultWheelDef()
		wheel.Attachment = [3]float32{0.8 - 1.6*float32(i%2), 0, 1.3 - 2.6*float32(i/2)}
		if i < 2 {
			wheel.SteeringAngle = 0.5
		} else {
			wheel.DriveForce = 2400
		}
		vehicle.Wheels = append(vehicle.Wheels, wheel)
	}
	_, err = s.cars.Add(vehicle)
	s.cars.Controls[number] = rig.Controls{Throttle: r.Range(0.3, 0.7), Steering: r.Range(-1, 1)}
	return err
}

func (s *Scene) drive() error { return s.cars.Step(Dt) }
