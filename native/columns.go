package native

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
)

var (
	scale  = rowOp{scaleRows, scaleKernel, 192}
	affine = rowOp{affineRows, affineKernel, 144}
	damp   = rowOp{dampRows, dampKernel, 40}
	clamp  = rowOp{clampRows, clampKernel, 64}
	wrap   = rowOp{wrapRows, wrapKernel, 56}
	lerp   = rowOp{lerpRows, lerpKernel, 96}
)

// Scale computes
//
//	for i := range x { x[i] *= a }
func (o *Ops) Scale(x []float32, a float32) error {
	o.set(x)
	o.scalars[0] = a
	return o.do(len(x), &scale)
}

func scaleRows(o *Ops, lo, hi int) {
	x, a := o.columns[0][lo:hi], o.scalars[0]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		v := (*[4]float32)(x[i : i+4])
		v[0] *= a
		v[1] *= a
		v[2] *= a
		v[3] *= a
	}
	for ; i < len(x); i++ {
		x[i] *= a
	}
}

// Add computes
//
//	for i := range x { x[i] += a }
func (o *Ops) Add(x []float32, a float32) error { return o.Affine(x, x, 1, a) }

// Affine computes, with the product rounded before the sum,
//
//	for i := range out { out[i] = x[i]*a + b }
//
// out may be x. If b is 0 it is Scale from one column to another, up to the sign of a zero.
func (o *Ops) Affine(out, x []float32, a, b float32) error {
	checkRows("native: Ops.Affine: out and x differ in length", len(out), x)
	o.set(out, x)
	o.scalars[0], o.scalars[1] = a, b
	return o.do(len(out), &affine)
}

func affineRows(o *Ops, lo, hi int) {
	out, x, a, b := o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0], o.scalars[1]
	x = x[:len(out)]
	i := 0
	for ; i+4 <= len(out); i += 4 {
		to, v := (*[4]float32)(out[i:i+4]), (*[4]float32)(x[i:i+4])
		to[0] = float32(v[0]*a) + b
		to[1] = float32(v[1]*a) + b
		to[2] = float32(v[2]*a) + b
		to[3] = float32(v[3]*a) + b
	}
	for ; i < len(out); i++ {
		out[i] = float32(x[i]*a) + b
	}
}

// Damp slows down by c per second, implicitly, so that no step is too long for it:
//
//	for i := range v { v[i] /= 1 + dt*c[i] }
//
// with the product rounded before the sum. v and c are columns of one length, dt is
// in seconds. Where dt*c[i] is not negative, |v[i]| does not grow and its sign does not change. A negative one speeds
// up, gives infinity (or NaN, of zero) where dt*c[i] is -1, and reverses the sign beyond that. If c is the same in all
// rows, Scale by 1/(1+dt*c) needs no column for it; results may differ in their last bit.
func (o *Ops) Damp(v, c []float32, dt float32) error {
	checkRows("native: Ops.Damp: v and c differ in length", len(v), c)
	o.set(v, c)
	o.scalars[0] = dt
	return o.do(len(v), &damp)
}

func dampRows(o *Ops, lo, hi int) {
	v, c, dt := o.columns[0][lo:hi], o.columns[1][lo:hi], o.scalars[0]
	c = c[:len(v)]
	for i := range v {
		v[i] /= 1 + float32(c[i]*dt)
	}
}

// Clamp sets values below lo to lo and values above hi to hi. Values between keep their bits, and so do NaN and a
// zero that equals a bound. With lo -Inf it is the minimum of x and hi, with hi +Inf the maximum of x and lo. lo above
// hi is ErrRange, a NaN ErrNotFinite.
func (o *Ops) Clamp(x []float32, lo, hi float32) error {
	switch {
	case lo != lo:
		return fault.Field(ErrNotFinite, "native: Clamp.lo", lo)
	case hi != hi:
		return fault.Field(ErrNotFinite, "native: Clamp.hi", hi)
	case lo > hi:
		return fault.Field(ErrRange, "native: Clamp.lo above Clamp.hi: lo", lo)
	}
	o.set(x)
	o.scalars[0], o.scalars[1] = lo, hi
	return o.do(len(x), &clamp)
}

func clampRows(o *Ops, lo, hi int) {
	x, low, high := o.columns[0][lo:hi], o.scalars[0], o.scalars[1]
	for i, v := range x {
		if v < low {
			x[i] = low
		} else if v > high {
			x[i] = high
		}
	}
}

// Wrap brings x into [lo, hi), as a torus does, by multiples of its width:
//
//	for i := range x {
//		if !(lo <= x[i] && x[i] < hi) {
//			x[i] -= floor((x[i]-lo) / (hi-lo)) * (hi-lo)
//			if x[i] < lo || x[i] >= hi { x[i] = lo }
//		}
//	}
//
// with each operation rounded. Values inside keep their bits. A finite number always ends inside, never at hi: one so
// little below lo that it would round to hi becomes lo, and so does one so large that a difference overflows. Other
// results are off by at most 2^-22 of |x[i]| + |lo| + |hi|, along the torus: after millions of widths no precision is
// left. NaN and infinities give NaN.
//
// lo, hi and hi-lo are finite, else the error is ErrNotFinite or, for the difference,
// ErrRange; lo not below hi is ErrRange.
func (o *Ops) Wrap(x []float32, lo, hi float32) error {
	switch {
	case !finite(lo):
		return fault.Field(ErrNotFinite, "native: Wrap.lo", lo)
	case !finite(hi):
		return fault.Field(ErrNotFinite, "native: Wrap.hi", hi)
	case lo >= hi:
		return fault.Field(ErrRange, "native: Wrap.lo not below Wrap.hi: lo", lo)
	case !finite(hi - lo):
		return fault.Field(ErrRange, "native: Wrap.hi - Wrap.lo", hi-lo)
	}
	o.set(x)
	o.scalars[0], o.scalars[1] = lo, hi
	return o.do(len(x), &wrap)
}

func wrapRows(o *Ops, lo, hi int) {
	x, low, high := o.columns[0][lo:hi], o.scalars[0], o.scalars[1]
	width := high - low
	for i, v := range x {
		if low <= v && v < high {
			continue
		}
		laps := float32(math.Floor(float64((v - low) / width)))
		if v -= float32(laps * width); v < low || v >= high {
			v = low
		}
		x[i] = v
	}
}

// Lerp interpolates between prev and cur, for a renderer that draws between two steps:
//
//	for i := range out { out[i] = prev[i] + (cur[i]-prev[i])*alpha }
//
// with each operation rounded, and out[i] = cur[i] in the rows that teleported names, a bitmap like Live, or nil for
// none. out may be prev or cur. A value that does not change stays the same for every alpha. alpha 0 gives prev, up
// to the sign of a zero, where the difference is finite; alpha 1 gives cur to within half a unit in the last place of
// the difference. Other values extrapolate beyond 0 and 1; one that is not finite is ErrNotFinite.
func (o *Ops) Lerp(out, prev, cur []float32, alpha float32, teleported []uint64) error {
	checkRows("native: Ops.Lerp: columns differ in length", len(out), prev, cur)
	if !finite(alpha) {
		return fault.Field(ErrNotFinite, "native: Lerp.alpha", alpha)
	}
	o.set(out, prev, cur)
	o.scalars[0], o.bitmap = alpha, teleported
	return o.do(len(out), &lerp)
}

func lerpRows(o *Ops, lo, hi int) { o.split(lo, hi, lerpBetween, lerpJump) }

func lerpJump(o *Ops, lo, hi int) { copy(o.columns[0][lo:hi], o.columns[2][lo:hi]) }

func lerpBetween(o *Ops, lo, hi int) {
	out, alpha := o.columns[0][lo:hi], o.scalars[0]
	prev, cur := o.columns[1][lo:hi], o.columns[2][lo:hi]
	prev, cur = prev[:len(out)], cur[:len(out)]
	for i := range out {
		out[i] = prev[i] + float32((cur[i]-prev[i])*alpha)
	}
}
