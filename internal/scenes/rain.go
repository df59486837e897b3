package scenes

import (
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

func init() {
	registerBodies(Definition{
		Name: "rain", N: 900, Ticks: 600, Warmup: 300, build: (*Scene).rain, push: (*Scene).rainOn, size: func(n int) int { return n * len(limbs) },
		Help: "n dolls of 11 boxes and 10 joints fall on bumpy floors, at even intervals; each is destroyed 256 steps later and falls anew",
	})
}

const (
	rainPeriod = 256 // steps between two falls of a doll
	rainFloors = 5   // one above the other
	rainStack  = 4   // dolls that fall on the same place, at even intervals

	rainPitch  = 2.2 // m between places on a floor
	rainHeight = 6   // m between floors
	rainDrop   = 4   // m from a floor to the middle of a doll
)

// rainPlaces returns the number of places, and of those on a floor.
func (s *Scene) rainPlaces() (all, onFloor int) {
	all = (s.N + rainStack - 1) / rainStack
	return all, (all + rainFloors - 1) / rainFloors
}

// rain begins without dolls. The floors are slabs at two heights, by turns, between two walls.
func (s *Scene) rain() error {
	const bump, thick, margin = 0.3, 0.25, 2
	ground, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	_, onFloor := s.rainPlaces()
	slabs := onFloor + 2*margin
	left := -float32(float32(slabs) / 2 * rainPitch)
	for i := range rainFloors * slabs {
		floor, column := i/slabs, i%slabs
		x, y := left+float32((float32(column)+0.5)*rainPitch), float32(float32(floor)*rainHeight)+float32(float32(column%2)*bump)
		if err := s.polygons(ground, boxAt(x, y-thick, rainPitch/2, thick)); err != nil {
			return err
		}
	}
	const half = rainFloors * rainHeight / 2
	return s.polygons(ground, boxAt(left-1, half, 1, half+1), boxAt(1-left, half, 1, half+1))
}

// rainOn lets the dolls fall that are due, in the order of their numbers: in each period, a doll falls once.
func (s *Scene) rainOn() error {
	phase := int(s.tick % rainPeriod)
	for i := (phase*s.N + rainPeriod - 1) / rainPeriod; i*rainPeriod < (phase+1)*s.N; i++ {
		if err := s.fall(i); err != nil {
			return err
		}
	}
	return nil
}

// fall destroys doll i, if it exists, and creates it above its place.
func (s *Scene) fall(i int) error {
	bodies, first := s.Bodies, i*len(limbs)
	if first < len(bodies) {
		for _, b := range bodies[first : first+len(limbs)] {
			if err := s.destroy(b); err != nil {
				return err
			}
		}
		s.Joints -= len(limbs) - 1
	}
	places, onFloor := s.rainPlaces()
	place := i % places
	x := float32((float32(place/rainFloors) + 0.5 - float32(onFloor)/2) * rainPitch)
	y := float32(float32(place%rainFloors)*rainHeight) + rainDrop
	turn := loop.NewRand(s.seed, s.tick, uint64(i), streamPlace)
	s.Bodies = bodies[:first]
	err := s.ragdoll(i, x, y, turn.Uint32n(uint32(len(quarters))))
	if len(bodies) > len(s.Bodies) {
		s.Bodies = bodies
	}
	return err
}
