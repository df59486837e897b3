package scenes3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
)

func init() {
	register(Definition{
		Name: "walkers3", N: 1000, Scale: "characters", Few: 64, Ticks: 600, Warmup: 60,
		build: (*Scene).crossing, push: (*Scene).steer, query: (*Scene).walk, size: func(n int) int { return n + crates(n) },
		Help: "n characters walk, jump and turn on a hilly mesh of about 32 n triangles, and push n/16 crates",
	})
}

const (
	walkerPitch  = 4 // metres between two characters
	walkerSpeed  = 4 // m/s
	walkerJump   = 4
	turnEvery    = 64     // ticks between two headings
	ghosts       = 1 << 1 // the category of the bodies of characters, which nothing collides with
	crateHeight  = 3
	walkerHeight = 3
)

func crates(n int) int { return n/16 + 1 }

// crowd is the characters of a scene. Each has a kinematic body that goes along, so that the hash of the world depends on where it is.
type crowd struct {
	def    physics3.MoverDef
	movers physics3.Movers
	bodies []physics3.Body
}

// crossing has the characters on a square grid, with crates between them.
func (s *Scene) crossing() error {
	edge := edgeOf(s.N, 2)
	if err := s.hills(edge*walkerPitch+8, 1, 0.8, 0.5); err != nil {
		return err
	}
	of := func() []float32 { return make([]float32, s.N) }
	c := &s.crowd
	c.def = physics3.DefaultMoverDef()
	c.def.PushForce = 400
	c.movers = physics3.Movers{
		X: of(), Y: of(), Z: of(), VX: of(), VY: of(), VZ: of(), Ground: make([]physics3.Shape, s.N), GroundX: of(), GroundY: of(), GroundZ: of(),
		GroundVX: of(), GroundVY: of(), GroundVZ: of(), QueryFilter: physics3.QueryFilter{Mask: ^uint64(ghosts)},
	}
	at := func(k int, off float32) float32 {
		return float32((float32(k)-float32(float32(edge)/2))*walkerPitch) + off
	}
	for i := range s.N {
		m := &c.movers
		m.X[i], m.Y[i], m.Z[i] = at(i%edge, 1), walkerHeight, at(i/edge, 1)
		def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
		def.Type, def.Position = physics3.KinematicBody, [3]float32{m.X[i], m.Y[i], m.Z[i]}
		b, err := s.World.CreateBody(def)
		if err != nil {
			return err
		}
		shape.Filter.Category, shape.Filter.Mask = ghosts, ghosts
		if _, err = s.World.CreateCapsule(b, shape, c.def.Capsule); err != nil {
			return err
		}
		c.bodies = append(c.bodies, b)
	}
	for i := range crates(s.N) {
		k := i * 16 % max(s.N, 1)
		if err := s.addCube([3]float32{at(k%edge, 3), crateHeight, at(k/edge, 3)}, 0.4, 50); err != nil {
			return err
		}
	}
	return nil
}

// steer gives each character a heading, which turns now and then, at random, towards the middle if it is far out. It jumps when it turns.
func (s *Scene) steer() error {
	m := &s.crowd.movers
	limit := float32(edgeOf(s.N, 2)) * walkerPitch / 2
	for i := range m.X {
		phase := s.tick + uint64(i%turnEvery)
		r := loop.NewRand(s.seed, phase/turnEvery, uint64(i), streamPlace)
		sin, cos := trig.SinCos(r.Range(-math.Pi, math.Pi))
		if m.X[i] > limit || m.X[i] < -limit {
			cos = -m.X[i] / limit
		}
		if m.Z[i] > limit || m.Z[i] < -limit {
			sin = -m.Z[i] / limit
		}
		m.VX[i], m.VZ[i] = float32(walkerSpeed*cos), float32(walkerSpeed*sin)
		switch {
		case m.Ground[i] == (physics3.Shape{}):
			m.VY[i] -= float32(gravity * Dt)
		case phase%turnEvery == 0:
			m.VY[i] = walkerJump
		default:
			m.VY[i] = 0
		}
	}
	return nil
}

// walk moves the characters, and their bodies with them.
func (s *Scene) walk() error {
	c := &s.crowd
	if err := s.World.Move(&c.def, &c.movers, Dt); err != nil {
		return err
	}
	columns := s.World.Columns()
	for i, b := range c.bodies {
		k := b.Index()
		columns.X[k], columns.Y[k], columns.Z[k] = c.movers.X[i], c.movers.Y[i], c.movers.Z[i]
	}
	return nil
}
