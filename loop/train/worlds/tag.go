package worlds

import (
	"errors"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/train"
	"github.com/evertick/evertick/spatial"
)

const (
	tagHalf      = 10 // m: half an edge of the square
	tagPursuers  = 3  // slots 0 to 2; the player is slot 0
	tagRunners   = 9  // slots behind them
	tagAll       = tagPursuers + tagRunners
	tagSight     = 8   // m
	tagReach     = 0.7 // m
	pursuerSpeed = 5   // m/s
	runnerSpeed  = 4   // m/s
	tagSteps     = 600
	tagSeen      = 4 // runners that the player observes
	tagObs       = 4 + 3*tagSeen + 3*(tagPursuers-1) + 1
	rasterEdge   = 20 // cells of a metre
	catchReward  = 1
	tickReward   = -0.01
	streamPlace  = 0
	streamWander = 1
	wanderTicks  = 32 // between two whims of who sees nobody
	tagBounds    = 2 * tagHalf
	wallSight    = 2 // m from the wall where runners turn off
)

// Tag returns the world in which the player is one of three pursuers who catch nine runners
// in a square of 20 m. An agent sees what a radius query of 8 m finds: runners flee from the
// pursuer that is nearest, the other pursuers chase the runner that is, and who sees nobody
// walks about. A runner within 0.7 m of a pursuer is caught and gone.
//
// The action is the direction in which the player runs, two numbers from -1 to 1, at up to
// 5 m/s; runners make 4. A step is a tick of 1/60 s. It earns 1 for each runner that the
// player catches, and costs 0.01. The episode ends when none is left, and is truncated
// after 600 steps.
//
// Observed are 23 numbers: position by 10 m and velocity by 5 m/s; the nearest four runners
// and the other two pursuers, as far as seen, by distance: where they are from the
// player, by 8 m, and 1, or three zeros; and what part of the runners is left.
func Tag() train.SimDefinition {
	return train.SimDefinition{
		Name: "tag", Scenario: tagScenario, Obs: train.Box(tagObs, -4, 4), Action: train.Box(2, -1, 1), MaxSteps: tagSteps,
		New: func(cfg evertick.Config) (train.Game, error) { return newTag(cfg, false) },
	}
}

// TagRaster returns Tag as it is seen from above: three images of 20 by 20 cells of a metre, a
// byte each, 255 where the player is, the other pursuers, the runners; rows by y.
func TagRaster() train.SimDefinition {
	d := Tag()
	d.Name, d.Obs = "tag-raster", train.Bytes(3, rasterEdge, rasterEdge)
	d.New = func(cfg evertick.Config) (train.Game, error) { return newTag(cfg, true) }
	return d
}

const tagScenario = "train/tag"

var tagAction = train.Box(2, -1, 1)

// tag is the game.
type tag struct {
	sim        *evertick.Sim
	velX, velY []float32 // columns, by slot
	raster     bool

	seed   uint64
	reward float32
	over   bool

	asks   spatial.Queries
	seen   spatial.Result
	row    [tagAll]int8 // of the result, by slot; -1: none
	caught [tagAll]bool
	played bool // the player has said where to run in this tick
}

func newTag(cfg evertick.Config, raster bool) (*tag, error) {
	cfg.Capacity = tagAll
	cfg.Physics.Capacity = 1
	cfg.Spatial.CellSize = tagSight
	cfg.Spatial.Bounds = spatial.Bounds{Min: [3]float32{-tagHalf, -tagHalf, 0}, Max: [3]float32{tagHalf, tagHalf, 0}}
	cfg.Inputs = evertick.InputConfig{Capacity: 16, Bytes: 1 << 10}
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, err
	}
	g := &tag{sim: sim, raster: raster}
	x, errX := ecs.AddColumn[float32](sim.World, "velocity.x")
	y, errY := ecs.AddColumn[float32](sim.World, "velocity.y")
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	g.velX, g.velY = x.Values(), y.Values()
	return g, errors.Join(
		sim.AddState("tag", g),
		sim.Add(evertick.BeforePhysics, "obey", g.obey),
		sim.Add(evertick.BeforePhysics, "run", g.run),
		sim.Add(evertick.AfterIndex, "look", g.look),
		sim.Add(evertick.AfterIndex, "catch", g.catch),
		sim.Add(evertick.AfterIndex, "decide", g.decide))
}

func (g *tag) Sim() *evertick.Sim { return g.sim }

func (g *tag) Outcome() (float32, bool) { return g.reward, g.over }

// AppendState is that of evertick.State.
func (g *tag) AppendState(dst []byte) []byte {
	return wire.AppendBool(wire.AppendF32s(wire.AppendU64s(dst, g.seed), g.reward), g.over)
}

// RestoreState is that of evertick.State.
func (g *tag) RestoreState(src []byte) error {
	r := wire.NewReader(src)
	seed, reward, over := r.U64(), r.F32(), r.Bool()
	if r.Done() != nil {
		return fault.Field(fault.ErrCorrupt, "worlds: tag: length of the state", len(src))
	}
	if !fault.Finite(reward) {
		return fault.Field(fault.ErrCorrupt, "worlds: tag: reward", reward)
	}
	g.seed, g.reward, g.over = seed, reward, over
	return nil
}

// obey makes the world in the first tick, and lets the player run where he wants to. Without
// a word from him, as in a show, he runs as the other pursuers do.
func (g *tag) obey(t *evertick.Tick) error {
	o, err := train.Orders(t, tagAction)
	if err != nil {
		return err
	}
	g.played = o.Begin || len(o.Data) > 0
	if o.Begin {
		return g.place(o.Seed)
	}
	if g.played {
		x, y := shorten(clamp(o.Float(0), -1, 1), clamp(o.Float(1), -1, 1), 1)
		g.velX[0], g.velY[0] = x*pursuerSpeed, y*pursuerSpeed
	}
	return nil
}

// place puts pursuers near the middle and runners anywhere.
func (g *tag) place(seed uint64) error {
	g.seed, g.reward, g.over = seed, 0, false
	for i := range tagAll {
		id, err := g.sim.World.Spawn()
		if err != nil {
			return err
		}
		r := loop.NewRand(seed, 0, uint64(i), streamPlace)
		reach := float32(tagHalf)
		if i < tagPursuers {
			reach = 2
		}
		if err := g.sim.World.SetPosition(id, r.Range(-reach, reach), r.Range(-reach, reach), 0); err != nil {
			return err
		}
	}
	return nil
}

// run moves everybody, who stays within the walls.
func (g *tag) run(t *evertick.Tick) error {
	x, y := g.sim.World.Position.X, g.sim.World.Position.Y
	for i := range tagAll {
		x[i] = clamp(x[i]+float32(g.velX[i]*t.Dt), -tagHalf, tagHalf)
		y[i] = clamp(y[i]+float32(g.velY[i]*t.Dt), -tagHalf, tagHalf)
	}
	return nil
}

// look asks for what everybody sees, in one batch, the nearest first.
func (g *tag) look(*evertick.Tick) error {
	q, pos := &g.asks, &g.sim.World.Position
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	q.Order = spatial.ByDistance
	for slot := range uint32(tagAll) {
		g.row[slot] = -1
		if _, alive := g.sim.World.ID(slot); !alive {
			continue
		}
		g.row[slot] = int8(len(q.X))
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, pos.Y[slot]), append(q.Z, pos.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, tagSight), append(q.Exclude, slot)
	}
	return g.sim.Index.Radius(q, &g.seen)
}

// catch takes away who is in reach, in the order of pursuers.
func (g *tag) catch(t *evertick.Tick) error {
	g.reward = tickReward
	g.caught = [tagAll]bool{}
	for p := range tagPursuers {
		row := int(g.row[p])
		if row < 0 {
			continue // where somebody has forged the world
		}
		dist2 := g.seen.Dist2Row(row)
		for k, other := range g.seen.Row(row) {
			if dist2[k] > tagReach*tagReach {
				break
			}
			if other < tagPursuers || g.caught[other] {
				continue
			}
			g.caught[other] = true
			if p == 0 {
				g.reward += catchReward
			}
			if id, ok := g.sim.World.ID(other); ok {
				t.Commands().Despawn(id)
			}
		}
	}
	g.over = g.left() == 0
	return nil
}

// left counts runners.
func (g *tag) left() (n int) {
	for i := tagPursuers; i < tagAll; i++ {
		if g.row[i] >= 0 && !g.caught[i] {
			n++
		}
	}
	return n
}

// decide says where everybody but the player runs in the next tick.
func (g *tag) decide(t *evertick.Tick) error {
	for i := range tagAll {
		if g.row[i] < 0 || i == 0 && g.played {
			continue
		}
		speed := float32(pursuerSpeed)
		if i >= tagPursuers {
			speed = runnerSpeed
		}
		x, y := g.direction(t, i)
		x, y = shorten(x*1e3, y*1e3, 1) // of length 1, but for those who have none
		g.velX[i], g.velY[i] = x*speed, y*speed
	}
	return nil
}

// direction is where agent i wants to go.
func (g *tag) direction(t *evertick.Tick, i int) (x, y float32) {
	pos := &g.sim.World.Position
	if other, ok := g.nearest(i, i < tagPursuers); ok {
		x, y = pos.X[other]-pos.X[i], pos.Y[other]-pos.Y[i]
		if i < tagPursuers {
			return x, y
		}
		return g.alongWall(i, -x, -y)
	}
	r := loop.NewRand(g.seed, t.N/wanderTicks, uint64(i), streamWander)
	return r.Range(-tagHalf, tagHalf) - pos.X[i], r.Range(-tagHalf, tagHalf) - pos.Y[i]
}

// alongWall bends the way of a runner back from a wall that is near.
func (g *tag) alongWall(i int, x, y float32) (float32, float32) {
	pos := &g.sim.World.Position
	x, y = shorten(x*1e3, y*1e3, 1)
	return x + fromWall(pos.X[i]), y + fromWall(pos.Y[i])
}

func fromWall(v float32) float32 {
	const edge = tagHalf - wallSight
	if v > edge {
		return (edge - v) / wallSight
	}
	if v < -edge {
		return (-edge - v) / wallSight
	}
	return 0
}

// nearest returns the nearest agent that i sees of the other side.
func (g *tag) nearest(i int, runner bool) (uint32, bool) {
	for _, other := range g.seen.Row(int(g.row[i])) {
		if (other >= tagPursuers) == runner && !g.caught[other] {
			return other, true
		}
	}
	return 0, false
}

// Observe is that of train.Game.
func (g *tag) Observe(row train.Row) {
	if g.raster {
		g.draw(row.Uint8)
		return
	}
	pos, o := &g.sim.World.Position, row.Float32
	clear(o)
	x, y := pos.X[0], pos.Y[0]
	o[0], o[1], o[2], o[3] = x/tagHalf, y/tagHalf, g.velX[0]/pursuerSpeed, g.velY[0]/pursuerSpeed
	g.others(o[4:4+3*tagSeen], true)
	g.others(o[4+3*tagSeen:tagObs-1], false)
	n := 0
	for slot := uint32(tagPursuers); slot < tagAll; slot++ {
		if _, alive := g.sim.World.ID(slot); alive {
			n++
		}
	}
	o[tagObs-1] = float32(n) / tagRunners
}

// others writes where those are whom the player sees of one side. It asks again, one by one,
// for what the last query has found is not in a snapshot.
func (g *tag) others(o []float32, runner bool) {
	pos := &g.sim.World.Position
	var done [tagAll]bool
	for ; len(o) > 0; o = o[3:] {
		best, at := float32(tagSight*tagSight), -1
		for slot := uint32(1); slot < tagAll; slot++ {
			if _, alive := g.sim.World.ID(slot); !alive || done[slot] || (slot >= tagPursuers) != runner {
				continue
			}
			dx, dy := pos.X[slot]-pos.X[0], pos.Y[slot]-pos.Y[0]
			if d := float32(dx*dx) + float32(dy*dy); d <= best && (at < 0 || d < best) {
				best, at = d, int(slot)
			}
		}
		if at < 0 {
			return
		}
		done[at] = true
		o[0], o[1], o[2] = (pos.X[at]-pos.X[0])/tagSight, (pos.Y[at]-pos.Y[0])/tagSight, 1
	}
}

// draw writes the images.
func (g *tag) draw(o []uint8) {
	clear(o)
	pos := &g.sim.World.Position
	for slot := range uint32(tagAll) {
		if _, alive := g.sim.World.ID(slot); !alive {
			continue
		}
		plane := 2
		if slot == 0 {
			plane = 0
		} else if slot < tagPursuers {
			plane = 1
		}
		o[(plane*rasterEdge+cell(pos.Y[slot]))*rasterEdge+cell(pos.X[slot])] = 255
	}
}

// cell is the column or row of the image in which a coordinate is.
func cell(v float32) int {
	at := (v + tagHalf) * (rasterEdge / float32(tagBounds))
	if !(at > 0) { // NaN, too
		return 0
	}
	if at >= rasterEdge {
		return rasterEdge - 1
	}
	return int(at)
}
