package worlds

import (
	"math"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/train"
)

// Constants of CartPole-v1 of Gymnasium, in SI units.
const (
	gravity    = 9.8
	massPole   = 0.1
	massTotal  = 1.0 + massPole // with the cart
	halfLength = 0.5            // of the pole
	poleMoment = massPole * halfLength
	pushForce  = 10.0
	cartTick   = 0.02
	cartLimit  = 2.4
	poleLimit  = 12 * 2 * math.Pi / 360 // 12°
	startRange = 0.05
	cartSteps  = 500
)

// CartPole returns the world of Barto, Sutton and Anderson, "Neuronlike adaptive elements
// that can solve difficult learning control problems" (IEEE Transactions on Systems, Man, and
// Cybernetics 13, 1983), without friction, with the constants of CartPole-v1 of Gymnasium: a
// pole stands on a cart, and choices 0 and 1 push the cart left and right with 10 N for 0.02 s.
//
// The observation is the position of the cart in m, its speed in m/s, the angle of the pole in
// radians, 0 upright, and its speed in rad/s. The reward of each step is 1. The episode ends when
// the cart is beyond 2.4 m or the pole beyond 12°, and is truncated after 500 steps. It begins
// with four random numbers from -0.05 to 0.05.
//
// With force F, cart x, pole θ, masses m of the pole and M of all, half-length l of the pole,
// each step computes in float32
//
//	a   = (F + m l θ'² sin θ) / M
//	θ'' = (g sin θ - a cos θ) / (l (4/3 - m cos²θ / M))
//	x'' = a - m l θ'' cos θ / M
//
// and integrates by Euler's explicit method.
func CartPole() train.Definition {
	inf := float32(math.Inf(1))
	obs := train.Box(4, -inf, inf)
	obs.Low[0], obs.High[0] = -2*cartLimit, 2*cartLimit
	obs.Low[2], obs.High[2] = -2*poleLimit, 2*poleLimit
	return train.Definition{
		Name: "cartpole", Obs: obs, Action: train.Choice(2), MaxSteps: cartSteps, Chunk: 256, View: cartView, Rate: 1 / cartTick,
		New: func(n int, _ bool) (train.Worlds, error) { return newCarts(n), nil },
	}
}

// carts has all worlds in columns.
type carts struct {
	x, speed, angle, turn []float32
}

func newCarts(n int) *carts {
	return &carts{make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)}
}

func (c *carts) Begin(i int, seed uint64) error {
	r := loop.NewRand(seed, 0, 0, 0)
	for _, column := range [...][]float32{c.x, c.speed, c.angle, c.turn} {
		column[i] = r.Range(-startRange, startRange)
	}
	return nil
}

func (c *carts) Step(lo, hi int, in *train.Actions, out *train.Outcomes) error {
	reward, ends, skip := out.Reward[lo:hi], out.Terminated[lo:hi], out.Skip[lo:hi]
	x, speed, angle, turn := c.x[lo:hi], c.speed[lo:hi], c.angle[lo:hi], c.turn[lo:hi]
	ends, skip = ends[:len(reward)], skip[:len(reward)] // the compiler then checks no index
	x, speed, angle, turn = x[:len(reward)], speed[:len(reward)], angle[:len(reward)], turn[:len(reward)]
	for i := range reward {
		if skip[i] {
			continue
		}
		force := float32(-pushForce)
		if in.Choice(lo+i) == 1 {
			force = pushForce
		}
		x[i], speed[i], angle[i], turn[i] = balance(force, x[i], speed[i], angle[i], turn[i])
		reward[i] = 1
		// Negated, so that NaN ends the episode, too.
		ends[i] = !(x[i] >= -cartLimit && x[i] <= cartLimit && angle[i] >= -poleLimit && angle[i] <= poleLimit)
	}
	return nil
}

// balance is one step of one cart.
func balance(force, x, speed, angle, turn float32) (float32, float32, float32, float32) {
	sin, cos := rigid.SinCos(angle)
	a := (force + float32(float32(poleMoment*float32(turn*turn))*sin)) / massTotal
	down := float32(gravity*sin) - float32(cos*a)
	inertia := halfLength * (float32(4.0/3) - float32(massPole*float32(cos*cos))/massTotal)
	turning := down / inertia
	pushing := a - float32(float32(poleMoment*turning)*cos)/massTotal
	return x + float32(cartTick*speed), speed + float32(cartTick*pushing),
		angle + float32(cartTick*turn), turn + float32(cartTick*turning)
}

func (c *carts) numbers(i int) [4]float32 {
	return [4]float32{c.x[i], c.speed[i], c.angle[i], c.turn[i]}
}

func (c *carts) Observe(i int, row train.Row) {
	o := row.Float32[:4]
	o[0], o[1], o[2], o[3] = c.x[i], c.speed[i], c.angle[i], c.turn[i]
}

// ObserveRange implements train.RangeObserver.
func (c *carts) ObserveRange(lo, hi int, rows train.Rows) {
	x, speed, angle, turn := c.x[lo:hi], c.speed[lo:hi], c.angle[lo:hi], c.turn[lo:hi]
	to := rows.Float32[lo*rows.Stride:]
	for i := range x {
		o := to[i*rows.Stride:][:4]
		o[0], o[1], o[2], o[3] = x[i], speed[i], angle[i], turn[i]
	}
}

func (c *carts) Hash(i int) uint64 {
	state := c.numbers(i)
	return statehash.Rows(state[:])
}

func (c *carts) AppendState(i int, dst []byte) ([]byte, error) {
	numbers := c.numbers(i)
	return wire.AppendF32s(dst, numbers[:]...), nil
}

// RestoreState accepts any numbers that a cart can reach: beyond its limits
// the next step ends the episode.
func (c *carts) RestoreState(i int, src []byte) error {
	const most = 1e4 // rad: far more than 500 steps can reach, and within rigid.MaxAngle
	var state [4]float32
	if len(src) != int(unsafe.Sizeof(state)) {
		return fault.Field(fault.ErrCorrupt, "worlds: cartpole: length of the state", len(src))
	}
	for k := range state {
		state[k] = wire.F32At(src, k)
		if !(state[k] >= -most && state[k] <= most) {
			return fault.Element(fault.ErrCorrupt, "worlds: cartpole: state", k, state[k])
		}
	}
	c.x[i], c.speed[i], c.angle[i], c.turn[i] = state[0], state[1], state[2], state[3]
	return nil
}
