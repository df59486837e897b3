package replica

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/netcode"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

// degreesBetween returns the angle of the rotation that leads from a to b, which need not have length 1. q and -q are one rotation.
func degreesBetween(a, b [4]float32) float64 {
	var plus, minus, aa, bb float64
	for c := range a {
		aa, bb = aa+float64(a[c])*float64(a[c]), bb+float64(b[c])*float64(b[c])
	}
	for c := range a {
		x, y := float64(a[c])/math.Sqrt(aa), float64(b[c])/math.Sqrt(bb)
		plus, minus = plus+(x-y)*(x-y), minus+(x+y)*(x+y)
	}
	return 4 * math.Asin(math.Sqrt(min(plus, minus))/2) * 180 / math.Pi
}

// quatError returns the largest error of a rotation of length 1, in degrees. Each of the three codes is off by at most half a step, of
// 1/(√2·limit), and the fourth component by at most the sum of that, where all four are 1/2: together by √(3+9) half steps, and the
// angle is twice as much. The remainder is of the second order, and of float32.
func quatError(bits uint8) float64 {
	step := 1 / (math.Sqrt2 * float64(int(1)<<(bits-1)-1))
	return (2*math.Sqrt(12)*step/2*(1+4*step) + 1e-6) * 180 / math.Pi
}

// quatLanes returns the lanes of rotations, as a server computes them.
func quatLanes(bits uint8, rotations [][4]float32) [][]int32 {
	n := len(rotations)
	lanes := [][]int32{make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)}
	var c [4][]float32
	for k := range c {
		for _, q := range rotations {
			c[k] = append(c[k], q[k])
		}
	}
	netcode.QuantiseQuat(native.Go, netcode.QuatLanes{Index: lanes[0], A: lanes[1], B: lanes[2], C: lanes[3]},
		native.Quat{X: c[0], Y: c[1], Z: c[2], W: c[3]}, int(bits))
	return lanes
}

// unit returns a rotation of length 1.
func unit(q [4]float64) (u [4]float32) {
	length := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	for c := range q {
		u[c] = float32(q[c] / length)
	}
	return u
}

// rotationCases returns rotations of length 1: any, those where two or more components are the largest, and those about an axis.
func rotationCases(r *rand.Rand, n int) (all [][4]float32) {
	for i := range n {
		q := [4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		switch i % 4 {
		case 1: // near all four equal, where the error is largest
			for c := range q {
				q[c] = math.Copysign(0.5+r.Float64()/500, q[c])
			}
		case 2: // two are equal
			q[r.IntN(2)], q[2+r.IntN(2)] = 3, -3
		case 3:
			q[r.IntN(4)], q[r.IntN(4)] = 0, 0
		}
		all = append(all, unit(q))
	}
	return append(all, [4]float32{0, 0, 0, 1}, [4]float32{-1, 0, 0, 0}, [4]float32{.5, .5, -.5, .5}, [4]float32{-.5, -.5, -.5, -.5})
}

// The error of a rotation is at most what its bits allow, and at most 0.1° by default; q and -q are the same on the wire.
func TestQuatError(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 3))
	for bits := uint8(4); bits <= mostAngleBits; bits++ {
		rotations := rotationCases(r, casesOf(4000, 100_000))
		negative := make([][4]float32, len(rotations))
		for i, q := range rotations {
			negative[i] = [4]float32{-q[0], -q[1], -q[2], -q[3]}
		}
		lanes, same := quatLanes(bits, rotations), quatLanes(bits, negative)
		worst := 0.0
		for i, q := range rotations {
			value := Field{Bits: bits}.quat(lanes, i)
			by := degreesBetween(q, value)
			if worst = max(worst, by); by > quatError(bits) {
				t.Fatalf("seed %d: %v with %d bits is %v, off by %.4f°, more than %.4f°", paritytest.Seed(), q, bits, value, by, quatError(bits))
			}
			for l := range lanes {
				if other := same[l][i]; other != lanes[l][i] {
					t.Fatalf("seed %d: lane %d of %v is %d, and of its negative %d", paritytest.Seed(), l, q, lanes[l][i], other)
				}
			}
			if again := (Field{Bits: bits}).quat(same, i); degreesBetween(value, again) > 2*quatError(bits) {
				t.Fatalf("seed %d: %v is %v, and its negative %v", paritytest.Seed(), q, value, again)
			}
		}
		if bits >= 10 && worst < 0.6*quatError(bits) { // fewer bits have few errors near the corner
			t.Errorf("%d bits: the largest error of all is %.4f°, far less than %.4f°", bits, worst, quatError(bits))
		}
	}
	if quatError(defaultQuatBits) > 0.1 || quatError(defaultQuatBits-1) <= 0.1 || 141.0/(1<<(defaultQuatBits-1)-1) < quatError(defaultQuatBits) {
		t.Errorf("by default the error is at most %.4f°", quatError(defaultQuatBits))
	}
}

// What is no rotation becomes what the comment of Quat says, and is always a state that a decoder takes.
func TestQuatOfNoRotation(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	identity := [4]float32{0, 0, 0, 1}
	for _, bits := range []uint8{2, defaultQuatBits, 16} {
		for _, q := range [][4]float32{{}, {nan, 0, 0, 1}, {0, 0, 0, nan}, {inf, nan, 0, 1}, {0, -0, 0, 0}} {
			if got := (Field{Bits: bits}).quat(quatLanes(bits, [][4]float32{q}), 0); got != identity {
				t.Errorf("%v with %d bits is %v", q, bits, got)
			}
		}
		r := rand.New(rand.NewPCG(paritytest.Seed(), 5))
		rotations := [][4]float32{{inf, -inf, inf, 1}, {0, 0, 0, 9}, {0, 0, 1e-30, 0}, {3e38, 3e38, 3e38, 3e38}}
		for range 2000 {
			scale := float32(math.Exp(20 * r.NormFloat64()))
			rotations = append(rotations, [4]float32{scale * float32(r.NormFloat64()), scale * float32(r.NormFloat64()), scale, float32(r.NormFloat64())})
		}
		lanes := quatLanes(bits, rotations)
		limit := int32(1)<<(bits-1) - 1
		for i, q := range rotations {
			for l, lane := range lanes[1:] {
				if lane[i] < -limit || lane[i] > limit {
					t.Fatalf("%v: code %d is %d of %d bits", q, l, lane[i], bits)
				}
			}
			length := 0.0
			for _, v := range (Field{Bits: bits}).quat(lanes, i) {
				length += float64(v) * float64(v)
			}
			if !(length > 0.99 && length < 1.51) { // three components of 1/√2 at most
				t.Fatalf("%v: a square of the length of %g", q, length)
			}
		}
	}
}

// A body that turns evenly through all of its left-out components is drawn without a jump, on the shortest arc, between all states.
func TestQuatTurnsWithoutJump(t *testing.T) {
	r := rand.New(rand.NewPCG(paritytest.Seed(), 8))
	f := Field{Codec: KindQuat, Bits: defaultQuatBits}
	limit := quatError(defaultQuatBits)
	indices := map[int32]int{}
	for range casesOf(40, 400) {
		axis := unit([4]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 0})
		at, by := r.Float64()*7, 0.01+0.3*r.Float64() // radians a state
		rotation := func(angle float64) [4]float32 {
			s, c := math.Sincos(angle / 2)
			return unit([4]float64{s * float64(axis[0]), s * float64(axis[1]), s * float64(axis[2]), c})
		}
		for step := range 300 {
			a, b := at+float64(step)*by, at+float64(step+1)*by
			lanes := quatLanes(f.Bits, [][4]float32{rotation(a), rotation(b)})
			from, to := f.quat(lanes, 0), f.quat(lanes, 1)
			if lanes[0][0] != lanes[0][1] {
				indices[lanes[0][0]]++
			}
			for _, alpha := range []float64{0, 0.25, 0.5, 0.75, 1} {
				drawn := nlerp(from, to, float32(alpha))
				// The linear arc is within by³/100 of the even one.
				if off := degreesBetween(drawn, rotation(a+alpha*by)); off > limit+by*by*by*180/math.Pi/100 {
					t.Fatalf("seed %d: %.2f of the way from %v to %v is %v, off by %.3f°", paritytest.Seed(), alpha, from, to, drawn, off)
				}
			}
		}
	}
	if len(indices) != 4 {
		t.Errorf("the component that is left out changes from %v", indices)
	}
}

// What clients get of bodies in space is within 0.1° of the column, by default.
func TestQuatOfBodies(t *testing.T) {
	clock := new(loop.ManualClock)
	sim, err := evertick.New(evertick.Config{Capacity: 128, Clock: clock})
	check(t, err)
	bodies, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -9.81, 0}})
	check(t, err)
	floor, err := bodies.World().CreateBody(physics3.DefaultBodyDef())
	check(t, err)
	_, err = bodies.World().CreateBox(floor, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{50, 1, 50}})
	check(t, err)
	r := rand.New(rand.NewPCG(paritytest.Seed(), 9))
	ids := make([]ecs.ID, 60)
	check(t, sim.World.SpawnN(ids))
	for _, id := range ids {
		def := physics3.DefaultBodyDef()
		def.Type, def.Position = physics3.DynamicBody, [3]float32{8 * r.Float32(), 2 + 4*r.Float32(), 8 * r.Float32()}
		for k := range 3 {
			def.AngularVelocity[k] = 20*r.Float32() - 10
		}
		b, err := bodies.Create(id, def)
		check(t, err)
		_, err = bodies.World().CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{0.2, 0.3, 0.4}})
		check(t, err)
	}
	server, err := New(sim, Config{Inline: true})
	check(t, err)
	defer server.Close()
	c := &recorder{}
	client, err := NewClient(ClientConfig{Ordered: true, Clock: clock, Send: func(m []byte) bool {
		if m[0] == kindHello {
			_, err = server.Join(t.Context(), c, m)
		}
		return true
	}})
	check(t, err)
	check(t, client.Connect())
	worst := 0.0
	for range 90 {
		check(t, sim.Step())
		for _, m := range c.take() {
			check(t, client.Receive(m))
		}
		s := client.State()
		if s.Tick() != sim.Ticks() {
			t.Fatalf("tick %d of %d", s.Tick(), sim.Ticks())
		}
		var got [4][]float32
		for k := range got {
			got[k], err = AppendValues[float32](nil, s, Rotation, k)
			check(t, err)
		}
		w := &sim.World.Rotation
		for i, slot := range s.Slots() {
			worst = max(worst, degreesBetween([4]float32{got[0][i], got[1][i], got[2][i], got[3][i]}, [4]float32{w.X[slot], w.Y[slot], w.Z[slot], w.W[slot]}))
		}
	}
	if worst > 0.1 || worst < 0.02 {
		t.Errorf("seed %d: rotations are off by up to %.4f°", paritytest.Seed(), worst)
	}
}
