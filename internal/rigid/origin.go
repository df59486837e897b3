package rigid

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/evertick/evertick/native"
)

// Origins are columns with an element per body: its origin, and its centre of mass relative to that, in the
// axes of the body.
type Origins struct {
	X, Y             []float32
	CentreX, CentreY []float32
}

func (o *Origins) check(p *Poses) {
	p.check()
	if n := len(p.X); len(o.X) != n || len(o.Y) != n || len(o.CentreX) != n || len(o.CentreY) != n {
		panic("rigid: Origins: columns of bodies differ in length")
	}
}

// UpdateCentresOfMass sets the positions of bodies [lo, hi) to those of their centres of mass.
func (o *Origins) UpdateCentresOfMass(level native.Level, p *Poses, lo, hi int) {
	o.check(p)
	_ = p.X[lo:hi]
	kernelsFor(level, hi-lo).updateCentres(*o, *p, lo, hi)
}

func (o Origins) updateCentresGo(p Poses, lo, hi int) {
	for i := lo; i < hi; i++ {
		x, y := o.centreOffset(&p, i)
		p.X[i], p.Y[i] = o.X[i]+x, o.Y[i]+y
	}
}

// UpdateOrigins sets the origins of the bodies of [lo, hi) that have moved or turned in their states, from their
// poses. It writes the numbers of these bodies to moved, which has room for all, and returns their number. The rest
// of moved is then unspecified.
func (o *Origins) UpdateOrigins(level native.Level, states []State, p *Poses, lo, hi int, moved []uint32) int {
	o.check(p)
	if len(states) != len(p.X) || len(moved) < hi-lo {
		panic("rigid: Origins.UpdateOrigins: a state for each body, and room for all that can move, are needed")
	}
	_ = states[lo:hi]
	return kernelsFor(level, hi-lo).updateOrigins(*o, states, *p, lo, hi, moved)
}

func (o Origins) updateOriginsGo(states []State, p Poses, lo, hi int, moved []uint32) int {
	n := 0
	for i := lo; i < hi; i++ {
		if st := &states[i]; st.DX != 0 || st.DY != 0 || st.S != 0 {
			x, y := o.centreOffset(&p, i)
			o.X[i], o.Y[i] = p.X[i]-x, p.Y[i]-y
			moved[n] = uint32(i)
			n++
		}
	}
	return n
}

// centreOffset is the centre of mass relative to the origin, in the axes of the world.
func (o *Origins) centreOffset(p *Poses, i int) (x, y float32) {
	cos, sin := p.Cos[i], p.Sin[i]
	x, y = o.CentreX[i], o.CentreY[i]
	return float32(cos*x) - float32(sin*y), float32(sin*x) + float32(cos*y)
}

// AllInRange reports whether the first n elements of each of some columns are numbers between
// -2^63 and 2^63. Column k begins at memory[k*stride].
func AllInRange(level native.Level, memory []float32, stride, columns, n int) bool {
	if columns <= 0 || n <= 0 {
		return true
	}
	_ = memory[(columns-1)*stride:][:n]
	return kernelsFor(level, n).allInRange(memory, stride, columns, n)
}

func allInRangeGo(memory []float32, stride, columns, n int) bool {
	for k := range columns {
		if anyOutOfRange(memory[k*stride:][:n]) {
			return false
		}
	}
	return true
}

// anyOutOfRange reports whether a number is out of range. Read as integers, the bits of such a float without its
// sign, and of a NaN, are at least those of 2^63. One addition handles two numbers, because no carry leaves its half.
func anyOutOfRange(x []float32) bool {
	const (
		lanes = 1<<32 + 1
		mask  = 0x7fffffff * lanes
		lift  = (1<<31 - (127+63)<<23) * lanes
	)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
	var a0, a1, a2, a3 uint64
	i := 0
	for ; i+32 <= len(b); i += 32 {
		c := (*[32]byte)(b[i : i+32])
		a0 |= binary.NativeEndian.Uint64(c[0:8])&mask + lift
		a1 |= binary.NativeEndian.Uint64(c[8:16])&mask + lift
		a2 |= binary.NativeEndian.Uint64(c[16:24])&mask + lift
		a3 |= binary.NativeEndian.Uint64(c[24:32])&mask + lift
	}
	for _, v := range x[i/4:] {
		a0 |= uint64(math.Float32bits(v))&mask + lift
	}
	return (a0|a1|a2|a3)&(1<<31*lanes) != 0
}
