package sleep

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/wire"
)

// fake is an engine on a line: a body has a position, a velocity and a force. Which bodies touch is set by the test, and each
// body is its own shape.
type fake struct {
	State
	pool            handle.Pool
	kinds, marks    []uint8
	x, v, f, rest   []float32
	contacts, still []Edge // of active bodies, and of others
	joints          []Edge
	touched         []Edge // of this step
	carried         []uint32
	lost, gained    []uint32 // events
	collections     int
}

func newFake(n int, enabled bool) *fake {
	e := &fake{pool: handle.NewPool(n, n), kinds: make([]uint8, n), marks: make([]uint8, n),
		x: make([]float32, n), v: make([]float32, n), f: make([]float32, n)}
	e.Open(Config{Engine: e, Bodies: &e.pool, Types: e.kinds, Flags: e.marks, Slept: &e.lost, Woke: &e.gained, Enabled: enabled})
	return e
}

func (e *fake) add(kind uint8, asleep bool) int {
	i, _ := e.pool.Next()
	e.kinds[i], e.marks[i] = kind, 0
	e.x[i], e.v[i], e.f[i] = 0, 0, 0
	e.Add(i, DefaultThreshold, asleep)
	e.pool.Claim(i)
	return i
}

func (e *fake) remove(i int) {
	e.Remove(i)
	e.pool.Release(i)
	e.kinds[i], e.marks[i] = 0, 0
	e.x[i], e.v[i], e.f[i] = 0, 0, 0
}

// step takes one step of a tenth of a second, in which these bodies touch.
func (e *fake) step(n uint64, touch []Edge) {
	e.lost, e.gained = e.lost[:0], e.gained[:0]
	e.UpdateActive()
	find := func() {
		e.touched = e.touched[:0]
		for _, t := range touch {
			if e.pool.Occupied(int(t.A)) && e.pool.Occupied(int(t.B)) && (e.Active.Has(int(t.A)) || e.Active.Has(int(t.B))) {
				e.touched = append(e.touched, t)
			}
		}
	}
	for find(); e.WakeTouched(); find() {
	}
	for _, c := range e.contacts {
		if c.A != Gone && c.B != Gone && !contains(e.touched, c) {
			e.Separated(c.A)
			e.Separated(c.B)
		}
	}
	e.contacts = append(e.contacts[:0], e.touched...)
	if e.EndStep(0.1) {
		for at, s := range e.Spans {
			ready := 0
			for i := s.Lo; i < s.Hi; i++ {
				if e.Awake(i) && e.State.Rest(i, e.Moving(i)) {
					ready++
				}
			}
			e.SetReady(at, ready)
		}
		e.SleepIslands(n)
	}
	for i := range e.f {
		e.f[i] = 0
	}
}

func contains(edges []Edge, e Edge) bool {
	for _, c := range edges {
		if c == e {
			return true
		}
	}
	return false
}

func (e *fake) Allocate() { e.rest = make([]float32, len(e.x)) }

func (e *fake) ActiveChanged() {
	e.collections++
	moves := make([]bool, e.pool.Used())
	for i := range moves {
		moves[i] = e.Active.Has(i)
	}
	e.SetShapes(moves)
	all := append(append([]Edge(nil), e.contacts...), e.still...)
	e.contacts, e.still = nil, nil
	for _, c := range all {
		switch {
		case c.A == Gone || c.B == Gone || e.Active.Has(int(c.A)) || e.Active.Has(int(c.B)) || (e.marks[c.A]|e.marks[c.B])&Asleep == 0:
			e.contacts = append(e.contacts, c)
		default:
			e.still = append(e.still, c)
		}
	}
}

func (e *fake) Store(i int)            { e.rest[i] = e.x[i] }
func (e *fake) Forget(i int)           { e.rest[i] = 0 }
func (e *fake) PoseWritten(i int) bool { return e.rest[i] != e.x[i] }
func (e *fake) Written(i int) bool     { return e.PoseWritten(i) || e.v[i] != 0 || e.f[i] != 0 }
func (e *fake) Unwritten(lo, hi int) bool {
	for i := lo; i < hi; i++ {
		if e.Written(i) {
			return false
		}
	}
	return true
}
func (e *fake) InRange(i int) bool { return e.x[i] < 1e9 }
func (e *fake) Moving(i int) bool {
	if e.kinds[i] == Dynamic {
		return e.v[i] > e.Threshold[i]
	}
	return e.v[i] != 0
}
func (e *fake) Stop(i int)                           { e.v[i] = 0 }
func (e *fake) ClearMotion(i int)                    { e.v[i], e.f[i] = 0, 0 }
func (e *fake) Clear(i int)                          { e.x[i], e.v[i], e.f[i] = 0, 0, 0 }
func (e *fake) EncodePose(enc *frame.Encoder, i int) { enc.F32(e.rest[i]) }
func (e *fake) DecodePose(b []byte, i int)           { e.rest[i] = wire.F32At(b, 0) }
func (e *fake) AppendJoints(dst []Edge) []Edge       { return append(dst, e.joints...) }
func (e *fake) AppendCarried(dst []uint32) []uint32  { return append(dst, e.carried...) }
func (e *fake) AppendContacts(d []Edge, rest bool) []Edge {
	if rest {
		return append(d, e.still...)
	}
	return append(d, e.contacts...)
}

func (e *fake) AppendTouched(dst []Edge) []Edge {
	for _, t := range e.touched {
		if e.Sleeper(t.A) || e.Sleeper(t.B) {
			dst = append(dst, t)
		}
	}
	return dst
}

// encode returns the state with the columns of bodies, of which decode makes another fake.
func (e *fake) encode() []byte {
	var enc frame.Encoder
	e.Encode(&enc, len(e.still))
	enc.Rows(buffer.Bytes(e.still), 4)
	return enc.Buf
}
