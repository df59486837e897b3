package valley

import (
	"encoding/binary"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics3"
)

// Throw is the kind of an input by which a ball is thrown along a ray. Its Data is that of Ray.Append.
const Throw = 1

const (
	mostBalls    = 40
	ballRadius   = 0.6
	ballTicks    = 1200 // for which a ball is there
	ballSpeed    = 28
	approach     = 12  // a ball comes into being at most so far from what it is thrown at
	sight        = 400 // length of a ray
	mostAtOnce   = 4   // throws of a tick: others are ignored
	mostFromHere = 1e5 // of a coordinate of a ray

	cannonEvery, cannonAt = 480, 240 // ticks between two balls that nobody throws, and when the first one comes
)

// Ray is where somebody points to: from the eye in a direction of any length.
type Ray struct{ Origin, Direction [3]float32 }

// rayBytes is the length of the Data of Throw.
const rayBytes = 24

// Append appends the Data of a Throw to dst: six float32, little-endian.
func (r *Ray) Append(dst []byte) []byte {
	for _, x := range []*[3]float32{&r.Origin, &r.Direction} {
		for _, f := range x {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
		}
	}
	return dst
}

// parseRay returns the ray of a Throw with a direction of length one, and false if the Data is none.
func parseRay(data []byte) (r Ray, ok bool) {
	if len(data) != rayBytes {
		return r, false
	}
	for i := range 6 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if !(f >= -mostFromHere && f <= mostFromHere) { // also NaN
			return r, false
		}
		if i < 3 {
			r.Origin[i] = f
		} else {
			r.Direction[i-3] = f
		}
	}
	d := &r.Direction
	n := float32(math.Sqrt(float64(float32(d[0]*d[0]) + float32(d[1]*d[1]) + float32(d[2]*d[2]))))
	if n < 1e-6 {
		return r, false
	}
	for i := range d {
		d[i] /= n
	}
	return r, true
}

// throwBalls throws the balls of the inputs, and now and then one that nobody has thrown, and removes the old ones.
func (v *valley) throwBalls(t *evertick.Tick) error {
	v.removeBalls(func(slot ecs.Slot) bool {
		return uint32(t.N)-v.Thrown.Values()[slot] > ballTicks || v.sim.World.Position.Y[slot] < -20
	})
	thrown := 0
	for _, in := range t.Inputs() {
		if in.Kind != Throw || thrown == mostAtOnce {
			continue
		}
		if r, ok := parseRay(in.Data); ok {
			thrown++
			if err := v.throw(r, t.N); err != nil {
				return err
			}
		}
	}
	if t.N%cannonEvery != cannonAt {
		return nil
	}
	r := Ray{Origin: [3]float32{-4, 9, -16}, Direction: [3]float32{8, -6, 16}} // at the tower, and between on the bridge
	if t.N/cannonEvery%4 != 0 {
		random := t.Rand(0, 0)
		r = Ray{Origin: [3]float32{random.Range(24.5, 29.5), 16, random.Range(-0.8, 0.8)}, Direction: [3]float32{0, -1, 0}}
	}
	data, _ := parseRay(r.Append(make([]byte, 0, rayBytes))) // the direction gets its length
	return v.throw(data, t.N)
}

// throw makes a ball near what the ray meets, flying there. If there are too many the oldest one goes.
func (v *valley) throw(r Ray, now uint64) error {
	if v.Ball.Count() == mostBalls {
		oldest, found := ecs.Slot(0), false
		for slot := range v.sim.World.Query(ecs.With(v.Ball)) {
			if !found || v.Thrown.Values()[slot] < v.Thrown.Values()[oldest] {
				oldest, found = slot, true
			}
		}
		v.removeBalls(func(slot ecs.Slot) bool { return slot == oldest })
	}
	d := r.Direction
	ray := physics3.Rays{
		X: r.Origin[:1], Y: r.Origin[1:2], Z: r.Origin[2:],
		DX: []float32{sight * d[0]}, DY: []float32{sight * d[1]}, DZ: []float32{sight * d[2]}, SkipInside: true,
	}
	if err := v.world.RayClosest(&ray, &v.hits); err != nil {
		return err
	}
	far := float32(sight * v.hits.Fractions[0])
	if v.hits.Shapes[0] == (physics3.Shape{}) {
		far = 2 * approach
	}
	skip := max(0, far-approach)
	drop := float32(gravity / 2 / ballSpeed * (far - skip)) // m/s upwards, so that it gets there in spite of gravity
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	for i := range d {
		def.Position[i], def.LinearVelocity[i] = r.Origin[i]+float32(skip*d[i]), float32(ballSpeed*d[i])
	}
	def.LinearVelocity[1] += drop
	def.Bullet = true
	shape.Density, shape.RollingResistance = 1500, 0.02
	id, _, err := v.spawn(def, shape, func(body physics3.Body, shape physics3.ShapeDef) error {
		_, err := v.world.CreateSphere(body, shape, physics3.Sphere{Radius: ballRadius})
		return err
	})
	if err != nil {
		return err
	}
	slot, _ := v.sim.World.Slot(id)
	v.Ball.Set(id)
	v.Thrown.Values()[slot] = uint32(now)
	v.Thrown.Touch()
	return nil
}

// removeBalls removes the balls of which which is true.
func (v *valley) removeBalls(which func(ecs.Slot) bool) {
	v.gone = v.gone[:0]
	for slot := range v.sim.World.Query(ecs.With(v.Ball)) {
		if which(slot) {
			id, _ := v.sim.World.ID(slot)
			v.gone = append(v.gone, id)
		}
	}
	for _, id := range v.gone {
		v.sim.World.Despawn(id)
	}
}
