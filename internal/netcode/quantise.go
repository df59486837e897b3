package netcode

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/native"
)

// Bits of the lanes that Quantise and the functions after it write.
const (
	MinLaneBits     = 2
	MaxQuantiseBits = 25 // a float32 holds all whole numbers of 25 bits
	MaxAngleBits    = 16
	MaxQuatBits     = 16
)

// Quantise computes dst[i] = src[i]*scale, with the product rounded to float32 and then to the nearest whole number,
// ties to even. A result beyond ±(1<<(bits-1) - 1), or infinite, becomes that bound. If the product is NaN the result is
// -1<<(bits-1), which no number gives.
//
// It panics unless dst and src have one length and 2 <= bits <= 25, and on a level that Resolve refuses. dst and src do
// not overlap. It allocates nothing.
func Quantise(level native.Level, dst []int32, src []float32, scale float32, bits int) {
	if len(dst) != len(src) {
		panic("netcode: Quantise: dst and src differ in length")
	}
	if bits < MinLaneBits || bits > MaxQuantiseBits {
		panic("netcode: Quantise: bits is out of range")
	}
	limit := int32(1)<<(bits-1) - 1
	if level = must(level); level == native.Go || len(dst) == 0 {
		quantiseGo(dst, src, scale, limit)
	} else {
		quantiseC(level, dst, src, scale, limit)
	}
}

func quantiseGo(dst []int32, src []float32, scale float32, limit int32) {
	for i, v := range src {
		p := v * scale
		if p != p {
			dst[i] = -limit - 1
		} else {
			dst[i] = roundWithin(p, limit)
		}
	}
}

// roundWithin returns the whole number nearest to v, which is not NaN, ties to even, or limit with the sign of v if v is
// beyond it.
func roundWithin(v float32, limit int32) int32 {
	if v > float32(limit) {
		return limit
	}
	if v < float32(-limit) {
		return -limit
	}
	return int32(math.RoundToEven(float64(v)))
}

// QuantiseAngle turns angles in radians into codes of 1<<bits steps a turn, which wrap:
//
//	t := src[i] * (1/(2π)) // rounded to float32, as is the factor
//	t -= RoundToEven(t)    // exact
//	dst[i] = RoundToEven(t * (1<<bits)) // 1<<(bits-1) becomes -1<<(bits-1)
//
// NaN and infinities give 0, and so do angles of 2^24 turns and more.
//
// It panics unless 2 <= bits <= 16; the rest is as with Quantise.
func QuantiseAngle(level native.Level, dst []int32, src []float32, bits int) {
	if len(dst) != len(src) {
		panic("netcode: QuantiseAngle: dst and src differ in length")
	}
	if bits < MinLaneBits || bits > MaxAngleBits {
		panic("netcode: QuantiseAngle: bits is out of range")
	}
	if level = must(level); level == native.Go || len(dst) == 0 {
		quantiseAngleGo(dst, src, bits)
	} else {
		quantiseAngleC(level, dst, src, bits)
	}
}

func quantiseAngleGo(dst []int32, src []float32, bits int) {
	for i, angle := range src {
		dst[i] = angleCode(angle, bits)
	}
}

func angleCode(angle float32, bits int) int32 {
	const turns = 1 / (2 * math.Pi)
	t := float32(angle * turns)
	t -= float32(math.RoundToEven(float64(t)))
	if t != t {
		return 0
	}
	return signExtend(int32(math.RoundToEven(float64(t*float32(int32(1)<<bits)))), bits)
}

// signExtend returns the number of which the low bits of v are the two's complement.
func signExtend(v int32, bits int) int32 { return v << (32 - bits) >> (32 - bits) }

// QuantisePlanar computes the code of QuantiseAngle for the angle 2*Atan2(sin[i], cos[i]), with Atan2 of package
// internal/rigid. This is the angle of a rotation in a plane, of which the quaternion has sin[i] along the normal and
// cos[i] as its w; it need not have length one. NaN gives 0.
//
// It panics unless 2 <= bits <= 16; the rest is as with Quantise.
func QuantisePlanar(level native.Level, dst []int32, sin, cos []float32, bits int) {
	if len(dst) != len(sin) || len(dst) != len(cos) {
		panic("netcode: QuantisePlanar: dst, sin and cos differ in length")
	}
	if bits < MinLaneBits || bits > MaxAngleBits {
		panic("netcode: QuantisePlanar: bits is out of range")
	}
	if level = must(level); level == native.Go || len(dst) == 0 {
		quantisePlanarGo(dst, sin, cos, bits)
	} else {
		quantisePlanarC(level, dst, sin, cos, bits)
	}
}

func quantisePlanarGo(dst []int32, sin, cos []float32, bits int) {
	for i := range dst {
		dst[i] = angleCode(2*trig.Atan2(sin[i], cos[i]), bits)
	}
}

// QuatLanes are the lanes of rotations: A, B and C have the bits that QuantiseQuat takes, Index has 2.
type QuatLanes struct{ Index, A, B, C []int32 }

// QuantiseQuat writes the smallest three components of quaternions of length one. dst.Index gets the place of the
// component with the largest magnitude, the first of equals: 0, 1, -2, -1 for x, y, z, w, which are the 2-bit numbers
// 0 to 3. If that component is negative all change their sign, which leaves the rotation the same. dst.A, B and C get
// the other components in order, each as Quantise(…, scale, bits) would: with limit = 1<<(bits-1) - 1 the scale is
// limit*√2, rounded to float32, as none of them exceeds 1/√2. If a component is NaN, or all are zero, the index is that
// of w and the others are 0, which is the identity.
//
// It panics unless 2 <= bits <= 16; the rest is as with Quantise.
func QuantiseQuat(level native.Level, dst QuatLanes, src native.Quat, bits int) {
	n := len(dst.Index)
	if len(dst.A) != n || len(dst.B) != n || len(dst.C) != n || len(src.X) != n || len(src.Y) != n || len(src.Z) != n || len(src.W) != n {
		panic("netcode: QuantiseQuat: lanes and components differ in length")
	}
	if bits < MinLaneBits || bits > MaxQuatBits {
		panic("netcode: QuantiseQuat: bits is out of range")
	}
	limit := int32(1)<<(bits-1) - 1
	scale := float32(float64(limit) * math.Sqrt2)
	if level = must(level); level == native.Go || n == 0 {
		quantiseQuatGo(dst, src, scale, limit)
	} else {
		quantiseQuatC(level, dst, src, scale, limit)
	}
}

func quantiseQuatGo(dst QuatLanes, src native.Quat, scale float32, limit int32) {
	for i := range dst.Index {
		q := [4]float32{src.X[i], src.Y[i], src.Z[i], src.W[i]}
		largest, nan := 0, false
		for k, v := range q {
			nan = nan || v != v
			if abs(v) > abs(q[largest]) {
				largest = k
			}
		}
		if nan || q[largest] == 0 {
			q, largest = [4]float32{}, 3
		}
		factor := scale
		if q[largest] < 0 {
			factor = -scale
		}
		copy(q[largest:], q[largest+1:])
		dst.Index[i] = signExtend(int32(largest), 2)
		dst.A[i], dst.B[i], dst.C[i] = roundWithin(q[0]*factor, limit), roundWithin(q[1]*factor, limit), roundWithin(q[2]*factor, limit)
	}
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }
