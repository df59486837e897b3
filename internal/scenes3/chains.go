package scenes3

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

func init() {
	register(Definition{
		Name: "chain3", N: 60, Scale: "chains", Few: 8, Ticks: 300, Warmup: 60, build: (*Scene).chains, push: (*Scene).pushLoads,
		size: func(n int) int { return n * (chainLinks + 1) },
		Help: "n chains of 10 links of 1 kg, each with a ball of a tonne at its end, which is pushed every 2 s",
	}, Definition{
		Name: "rope3", N: 30, Scale: "ropes", Few: 4, Ticks: 300, Warmup: 0, build: (*Scene).ropes, size: func(n int) int { return n * (ropeLinks + 1) },
		Help: "n ropes of 20 links of 1 kg with springs between them, each with a ball of a tonne at its end, swing from their side",
	})
}

const (
	chainLinks, ropeLinks = 10, 20
	hookHeight            = 12
	loadRadius            = 0.5
)

// hang joins a ball of a tonne to a body by links of 1 kg. The def has the ends and the springs.
func (s *Scene) hang(hook physics3.Body, def rig.ChainDef) error {
	var along [3]float32
	length := float32(0)
	for k := range along {
		length += max(def.To[k]-def.From[k], def.From[k]-def.To[k]) // chains are along an axis
	}
	ball, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	for k := range along {
		along[k] = (def.To[k] - def.From[k]) / length
		ball.Position[k] = def.To[k] + float32(loadRadius*along[k])
	}
	load, err := s.add(ball)
	if err != nil {
		return err
	}
	shape.Density = 1000 / (4. / 3 * math.Pi * loadRadius * loadRadius * loadRadius)
	if _, err := s.World.CreateSphere(load, shape, physics3.Sphere{Radius: loadRadius}); err != nil {
		return err
	}
	link, r := length/float32(def.Links), def.Radius
	def.BodyA, def.BodyB, def.Shape = hook, load, physics3.DefaultShapeDef()
	def.Shape.Density = 1 / (math.Pi * float32(r*r) * (link + float32(4./3*r)))
	def.Shape.Filter.Group = -1
	row, err := rig.NewChain(s.World, def)
	if err != nil {
		return err
	}
	s.Bodies = append(s.Bodies, row.Bodies...)
	s.Joints += len(row.Joints)
	return nil
}

func (s *Scene) chains() error {
	const length, pitch = 5, 3
	hook, err := s.World.CreateBody(physics3.DefaultBodyDef())
	edge := edgeOf(s.N, 2)
	for i := 0; i < s.N && err == nil; i++ {
		x, z := float32(i%edge*pitch), float32(i/edge*pitch)
		err = s.hang(hook, rig.ChainDef{From: [3]float32{x, hookHeight, z}, To: [3]float32{x, hookHeight - length, z}, Links: chainLinks, Radius: 0.05})
		if err != nil {
			err = fmt.Errorf("chain %d: %w", i, err)
		}
	}
	return err
}

// pushLoads pushes all balls the same way, which is another one each time.
func (s *Scene) pushLoads() error {
	const period, impulse = 120, 2000
	if s.tick%period != 0 {
		return nil
	}
	push := [][3]float32{{impulse}, {0, 0, impulse}, {-impulse}, {0, 0, -impulse}}[s.tick/period%4]
	for i := 0; i < len(s.Bodies); i += chainLinks + 1 {
		if err := s.World.ApplyLinearImpulseToCenter(s.Bodies[i], push); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scene) ropes() error {
	const length, pitch = 5, 2
	hook, err := s.World.CreateBody(physics3.DefaultBodyDef())
	for i := 0; i < s.N && err == nil; i++ {
		z := float32(i * pitch)
		err = s.hang(hook, rig.ChainDef{From: [3]float32{0, hookHeight, z}, To: [3]float32{length, hookHeight, z}, Links: ropeLinks, Radius: 0.03, BendHertz: 2, BendDamping: 0.5})
		if err != nil {
			err = fmt.Errorf("rope %d: %w", i, err)
		}
	}
	return err
}
