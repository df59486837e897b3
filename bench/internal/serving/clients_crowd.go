package serving

import (
	"encoding/binary"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

// Kinds of inputs of the crowd.
const (
	inputJoined uint32 = 1 + iota
	inputLeft
	inputTurn // uint16 act, and a byte: index of turns
)

const (
	crowdRadius  = 20 // m: how far a client sees
	crowdSlack   = 1  // m: how much farther an entity is when it leaves the view
	crowdStart   = 1  // stream of random numbers
	crowdWander  = 2
	crowdPlayers = 3
)

// turns are the turn rates of the walkers that clients own, in radians a second. All are to the left, so that
// these walk in circles, and two that begin side by side stay in view of each other.
var turns = [...]float32{0.4, 0.7, 1, 1.4}

// crowd is n walkers in a walled square. All move in every tick. Once a second, each in a tick of its
// own, a walker chooses another speed, up to 4 m/s, and another turn rate, up to 1 rad/s. Those that clients own
// turn as their inputs say.
type crowd struct {
	sim  *evertick.Sim
	n    int
	edge float32 // m
	crowdColumns
}

type crowdColumns struct {
	Owner *ecs.Column[uint32]  // session that owns the walker, or 0
	Act   *ecs.Column[uint16]  // of the last input that changed it; 0: none did
	Speed *ecs.Column[float32] // m/s
	Turn  *ecs.Column[float32] // rad/s
}

// newCrowd returns a crowd in which a walker sees as many as visible says, itself among them. cfg provides seed,
// level, workers and clock.
func newCrowd(n, visible, hz, clients int, cfg evertick.Config) (*crowd, error) {
	c := &crowd{n: n, edge: crowdEdge(float64(visible) / float64(n))}
	cfg.Capacity, cfg.Loop.RateNum, cfg.Spatial.CellSize, cfg.Inputs.Capacity = n, int64(hz), crowdRadius, 4096+8*clients
	var err error
	if c.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	if err := c.sim.Register(&c.crowdColumns); err != nil {
		return nil, err
	}
	ids := make([]ecs.ID, n)
	if err := c.sim.World.SpawnN(ids); err != nil {
		return nil, err
	}
	for slot, id := range ids { // the slots of a new world are in the order of its ids
		c.begin(slot, id, clients, cfg.Seed)
	}
	return c, c.sim.Add(evertick.BeforePhysics, "walk", c.walk)
}

// crowdEdge returns the edge of a square in which, on average, such a share of all points is in view of one of
// them. Those in view are within crowdRadius and half of crowdSlack. For a radius of r edges, up to 1, the share is πr² - 8/3 r³ + r⁴/2:
// the disc, less what is beyond the walls.
func crowdEdge(share float64) float32 {
	low, high := 0.0, 1.0
	for range 50 {
		r := (low + high) / 2
		if float64(math.Pi*r*r)-float64(8*r*r*r/3)+float64(r*r*r*r/2) < share {
			low = r
		} else {
			high = r
		}
	}
	return float32((crowdRadius + crowdSlack/2.0) / high)
}

// begin draws where a walker begins. The walkers of clients 2i and 2i+1 begin side by side.
func (c *crowd) begin(slot int, id ecs.ID, clients int, seed uint64) {
	key := id
	if slot < clients && slot%2 == 1 {
		key-- // the id of the slot before
	}
	r := loop.NewRand(seed, 0, uint64(key), crowdStart)
	pos, rot := &c.sim.World.Position, &c.sim.World.Rotation
	pos.X[slot], pos.Y[slot] = r.Range(0, c.edge), r.Range(0, c.edge)
	half := r.Float64() * math.Pi
	rot.Z[slot], rot.W[slot] = float32(math.Sin(half)), float32(math.Cos(half))
	own := loop.NewRand(seed, 0, uint64(id), crowdStart)
	c.Speed.Values()[slot], c.Turn.Values()[slot] = own.Range(0, 4), turns[0]
}

// walk moves all walkers by a tick.
func (c *crowd) walk(t *evertick.Tick) error {
	c.act(t.Inputs())
	c.wander(t)
	w := c.sim.World
	x, y, s, co := w.Position.X, w.Position.Y, w.Rotation.Z, w.Rotation.W
	speed, turn := c.Speed.Values(), c.Turn.Values()
	for i := range c.n {
		// A quarter of the turn, as its tangent, turns the half angle that a quaternion holds.
		tan := turn[i] * t.Dt / 4
		tan2 := float32(tan * tan)
		k := 1 / (1 + tan2)
		sin, cos := 2*float32(tan*k), float32((1-tan2)*k)
		s[i], co[i] = float32(s[i]*cos)+float32(co[i]*sin), float32(co[i]*cos)-float32(s[i]*sin)
		near1 := 1.5 - float32(0.5*(float32(s[i]*s[i])+float32(co[i]*co[i]))) // keeps the length at 1
		s[i], co[i] = s[i]*near1, co[i]*near1
		dx, dy := float32(co[i]*co[i])-float32(s[i]*s[i]), 2*s[i]*co[i] // the direction
		x[i] += float32(dx * speed[i] * t.Dt)
		y[i] += float32(dy * speed[i] * t.Dt)
		if x[i] < 0 && dx < 0 || x[i] > c.edge && dx > 0 {
			s[i], co[i] = co[i], s[i] // π minus the angle
		}
		if y[i] < 0 && dy < 0 || y[i] > c.edge && dy > 0 {
			s[i] = -s[i]
		}
	}
	w.Position.Touch()
	w.Rotation.Touch()
	return nil
}

// act applies the inputs of a tick.
func (c *crowd) act(inputs []evertick.Input) {
	owner, act, turn := c.Owner.Values(), c.Act.Values(), c.Turn.Values()
	for i := range inputs {
		in := &inputs[i]
		if len(in.Data) < 4 {
			continue
		}
		slot := binary.LittleEndian.Uint32(in.Data) // that of a client is its index
		switch {
		case int64(slot) >= int64(c.n):
		case in.Kind == inputJoined:
			owner[slot] = in.Source
			c.Owner.Touch()
		case in.Kind == inputTurn && owner[slot] == in.Source && len(in.Data) == turnBytes:
			turn[slot] = turns[int(in.Data[6])%len(turns)]
			if n := binary.LittleEndian.Uint16(in.Data[4:]); n != 0 {
				act[slot] = n
				c.Act.Touch()
			}
		}
	}
}

// turnBytes is the length of the data of an inputTurn: the slot as a uint32, the number of the act
// as a uint16, or 0, and the index of the turn rate.
const turnBytes = 7

func appendTurn(dst []byte, slot uint32, act uint16, turn uint8) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, slot)
	return append(binary.LittleEndian.AppendUint16(dst, act), turn)
}

// wander lets each walker whose tick this is choose its speed and turn rate.
func (c *crowd) wander(t *evertick.Tick) {
	num, den := c.sim.Loop().Rate()
	second := uint64((num + den - 1) / den)
	speed, turn, owner := c.Speed.Values(), c.Turn.Values(), c.Owner.Values()
	for slot := t.N % second; slot < uint64(c.n); slot += second {
		if owner[slot] != 0 {
			continue
		}
		r := t.Rand(ecs.ID(slot), crowdWander)
		speed[slot], turn[slot] = r.Range(0, 4), r.Range(-1, 1)
	}
}
