package valley

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics3"
)

const (
	ring, layers = 10, 14 // bricks in a layer, and layers
	bricks       = ring * layers
	towerRadius  = 2.2
	towerX       = 4 // its middle

	lookEvery   = 30  // ticks between two looks at the tower
	ruinTicks   = 480 // for which it lies
	outOfPlace  = 1   // how far a brick is from its place if the tower has fallen
	clearAround = 4   // from the middle: there is no ball when the tower is built again
)

// brick of the tower, and its place.
type brick struct {
	id       ecs.ID
	position [3]float32
	rotation [4]float32
}

// sin9 and cos9 are those of 9°, half of the angle between a brick and the one above it.
const sin9, cos9 = 0.15643446504, 0.98768834060

// plan returns the places of the bricks: rings in which each brick lies on two others.
func plan() (all []brick) {
	half := brickBox().Half
	for layer := range layers {
		s, c := float32(0), float32(1) // of half of the angle about y
		if layer%2 == 1 {
			s, c = sin9, cos9
		}
		for range ring {
			sin, cos := float32(2*s*c), float32(c*c)-float32(s*s)
			all = append(all, brick{
				position: [3]float32{towerX + float32(towerRadius*cos), half[1] + float32(2*half[1]*float32(layer)), -float32(towerRadius * sin)},
				rotation: [4]float32{0, s, 0, c},
			})
			for range 2 { // on by 36°
				s, c = float32(s*cos9)+float32(c*sin9), float32(c*cos9)-float32(s*sin9)
			}
		}
	}
	return all
}

func brickBox() physics3.Box { return physics3.Box{Half: [3]float32{0.35, 0.3, 0.6}} }

func (v *valley) buildTower() error {
	v.tower = plan()
	shape := physics3.DefaultShapeDef()
	shape.Density = 150
	for i := range v.tower {
		b := &v.tower[i]
		def := physics3.DefaultBodyDef()
		def.Position, def.Rotation = b.position, b.rotation
		var err error
		if b.id, _, err = v.spawn(def, shape, func(body physics3.Body, shape physics3.ShapeDef) error {
			_, err := v.world.CreateBox(body, shape, brickBox())
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// spawn makes an entity with a dynamic body, and its shapes.
func (v *valley) spawn(def physics3.BodyDef, shape physics3.ShapeDef, shapes func(physics3.Body, physics3.ShapeDef) error) (ecs.ID, physics3.Body, error) {
	id, err := v.sim.World.Spawn()
	if err != nil {
		return 0, physics3.Body{}, err
	}
	if err := v.sim.World.SetPosition(id, def.Position[0], def.Position[1], def.Position[2]); err != nil {
		return 0, physics3.Body{}, err
	}
	def.Type = physics3.DynamicBody
	body, err := v.bodies.Create(id, def)
	if err != nil {
		return 0, physics3.Body{}, err
	}
	return id, body, shapes(body, shape)
}

// rebuild puts all bricks back some time after the first one has left its place.
func (v *valley) rebuild(t *evertick.Tick) error {
	if t.N == 0 || t.N%lookEvery != 0 {
		return nil
	}
	if v.fallen == 0 {
		if v.isOutOfPlace() {
			v.fallen = t.N
		}
		return nil
	}
	if t.N-v.fallen < ruinTicks {
		return nil
	}
	v.fallen = 0
	v.removeBalls(func(slot ecs.Slot) bool {
		p := &v.sim.World.Position
		return length(p.X[slot]-towerX, p.Z[slot]) < clearAround
	})
	for _, b := range v.tower {
		body, _ := v.bodies.Body(b.id)
		if err := v.world.SetTransform(body, b.position, b.rotation); err != nil {
			return err
		}
		if err := v.world.SetVelocity(body, [3]float32{}, [3]float32{}); err != nil {
			return err
		}
	}
	return nil
}

// isOutOfPlace reports whether a brick has left its place.
func (v *valley) isOutOfPlace() bool {
	p := &v.sim.World.Position
	for _, b := range v.tower {
		slot, _ := v.sim.World.Slot(b.id)
		x, y, z := p.X[slot]-b.position[0], p.Y[slot]-b.position[1], p.Z[slot]-b.position[2]
		if float32(x*x)+float32(y*y)+float32(z*z) > outOfPlace*outOfPlace {
			return true
		}
	}
	return false
}
