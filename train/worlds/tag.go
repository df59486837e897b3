package worlds

import (
	"errors"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/spatial"
	"github.com/evertick/evertick/train"
)

const (
	tagHalf      = 10 // m: half an edge of the square
	tagPursuers  = 3  // slots 0 to 2; the player is slot 0
	tagRunners   = 9  // the slots after them
	tagAll       = tagPursuers + tagRunners
	tagSight     = 8   // m
	tagReach     = 0.7 // m
	pursuerSpeed = 5   // m/s
	runnerSpeed  = 4   // m/s
	tagSteps     = 600
	tagSeen      = 4 // maximum number of runners in an observation
	tagObs       = 4 + 3*tagSeen + 3*(tagPursuers-1) + 1
	rasterEdge   = 20 // cells of a metre
	catchReward  = 1
	tickReward   = -0.01
	streamPlace  = 0
	streamWander = 1
	wanderTicks  = 32 // between two random directions of an agent that sees no other
	tagBounds    = 2 * tagHalf
	wallSight    = 2 // m from the wall where runners turn away
)

// Tag returns the world in which the player is one of three pursuers that catch nine runners
// in a square of 20 m. An agent sees what a radius query of 8 m finds: runners flee from the
// nearest pursuer, the other pursuers chase the nearest runner, and an agent that sees no other
// walks in random directions. A runner within 0.7 m of a pursuer is caught and removed.
//
// The action is the direction in which the player runs, two numbers from -1 to 1, at up to
// 5 m/s; runners run at 4 m/s. A step is a tick of 1/60 s. Its reward is 1 for each runner that the
// player catches, less 0.01. The episode ends when no runner is left, and is truncated
// after 600 steps.
//
// The observation has 23 numbers: position in units of 10 m and velocity in units of 5 m/s; the nearest four
// runners and then the other two pursuers within sight, by distance: each as its offset from the
// player in units of 8 m and 1, or three zeros; and the fraction of runners that is left.
func Tag() train.SimDefinition {
	return train.SimDefinition{
		Name: "tag", Scenario: tagScenario, Obs: train.Box(tagObs, -4, 4), Action: train.Box(2, -1, 1), MaxSteps: tagSteps,
		View: room(tagHalf), Draw: drawTag,
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
	players    int // pursuers that have actions: the first slots

	seed    uint64
	rewards [tagPursuers]float32 // of players
	over    bool

	queries spatial.Queries
	seen    spatial.Result
	row     [tagAll]int8 // of the result, by slot; -1: none
	caught  [tagAll]bool
	played  bool // the players have actions in this tick
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
	g := &tag{sim: sim, raster: raster, players: 1}
	x, errX := ecs.AddColumn[float32](sim.World, "velocity.x")
	y, errY := ecs.AddColumn[float32](sim.World, "velocity.y")
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	g.velX, g.velY = x.Values(), y.Values()
	return g, errors.Join(
		sim.AddState("tag", g),
		sim.Add(evertick.BeforePhysics, "action", g.applyAction),
		sim.Add(evertick.BeforePhysics, "move", g.move),
		sim.Add(evertick.AfterIndex, "look", g.look),
		sim.Add(evertick.AfterIndex, "catch", g.catch),
		sim.Add(evertick.AfterIndex, "decide", g.decide))
}

func (g *tag) Sim() *evertick.Sim { return g.sim }

func (g *tag) Outcome() (float32, bool) { return g.rewards[0], g.over }

// AppendState implements evertick.State.
func (g *tag) AppendState(dst []byte) []byte {
	return wire.AppendBool(wire.AppendF32s(wire.AppendU64s(dst, g.seed), g.rewards[0]), g.over)
}

// RestoreState implements evertick.State.
func (g *tag) RestoreState(src []byte) error {
	r := wire.NewReader(src)
	seed, reward, over := r.U64(), r.F32(), r.Bool()
	if r.Done() != nil {
		return fault.Field(fault.ErrCorrupt, "worlds: tag: length of the state", len(src))
	}
	if !fault.Finite(reward) {
		return fault.Field(fault.ErrCorrupt, "worlds: tag: reward", reward)
	}
	g.seed, g.rewards[0], g.over = seed, reward, over
	return nil
}

// applyAction creates the world in the first tick, and moves the players as the actions say. Without
// actions, as in a demonstration, a player runs as the other pursuers do.
func (g *tag) applyAction(t *evertick.Tick) error {
	o, err := train.TeamOrders(t, tagAction, g.players)
	if err != nil {
		return err
	}
	g.played = o.Begin || len(o.Data) > 0
	if o.Begin {
		return g.create(o.Seed)
	}
	for p := 0; p < g.players && g.played; p++ {
		part := o.Of(p)
		x, y := shorten(clamp(part.Float(0), -1, 1), clamp(part.Float(1), -1, 1), 1)
		g.velX[p], g.velY[p] = x*pursuerSpeed, y*pursuerSpeed
	}
	return nil
}

// create creates pursuers near the centre and runners anywhere.
func (g *tag) create(seed uint64) error {
	g.seed, g.rewards, g.over = seed, [tagPursuers]float32{}, false
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

// move moves all agents, within the walls.
func (g *tag) move(t *evertick.Tick) error {
	x, y := g.sim.World.Position.X, g.sim.World.Position.Y
	for i := range tagAll {
		x[i] = clamp(x[i]+float32(g.velX[i]*t.Dt), -tagHalf, tagHalf)
		y[i] = clamp(y[i]+float32(g.velY[i]*t.Dt), -tagHalf, tagHalf)
	}
	return nil
}

// look finds what all agents see, in one batch, the nearest first.
func (g *tag) look(*evertick.Tick) error {
	q, pos := &g.queries, &g.sim.World.Position
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

// catch removes the runners in reach, in the order of pursuers.
func (g *tag) catch(t *evertick.Tick) error {
	g.rewards = [tagPursuers]float32{tickReward, tickReward, tickReward}
	g.caught = [tagAll]bool{}
	for p := range tagPursuers {
		row := int(g.row[p])
		if row < 0 {
			continue // a forged state has none
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
			g.rewards[p] += catchReward
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

// decide sets the velocities of all agents but the players for the next tick.
func (g *tag) decide(t *evertick.Tick) error {
	for i := range tagAll {
		if g.row[i] < 0 || i < g.players && g.played {
			continue
		}
		speed := float32(pursuerSpeed)
		if i >= tagPursuers {
			speed = runnerSpeed
		}
		x, y := g.direction(t, i)
		x, y = shorten(x*1e3, y*1e3, 1) // of length 1 unless it is zero
		g.velX[i], g.velY[i] = x*speed, y*speed
	}
	return nil
}

// direction returns the direction in which agent i wants to go.
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

// alongWall turns the direction of a runner away from a near wall.
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

// nearest returns the nearest runner, or pursuer, that agent i sees.
func (g *tag) nearest(i int, runner bool) (uint32, bool) {
	for _, other := range g.seen.Row(int(g.row[i])) {
		if (other >= tagPursuers) == runner && !g.caught[other] {
			return other, true
		}
	}
	return 0, false
}

// Observe implements train.Game.
func (g *tag) Observe(row train.Row) {
	if g.raster {
		g.draw(row.Uint8)
		return
	}
	g.view(0, row.Float32)
}

// view writes what a pursuer sees.
func (g *tag) view(self uint32, o []float32) {
	pos := &g.sim.World.Position
	clear(o)
	x, y := pos.X[self], pos.Y[self]
	o[0], o[1], o[2], o[3] = x/tagHalf, y/tagHalf, g.velX[self]/pursuerSpeed, g.velY[self]/pursuerSpeed
	g.others(self, o[4:4+3*tagSeen], true)
	g.others(self, o[4+3*tagSeen:tagObs-1], false)
	n := 0
	for slot := uint32(tagPursuers); slot < tagAll; slot++ {
		if _, alive := g.sim.World.ID(slot); alive {
			n++
		}
	}
	o[tagObs-1] = float32(n) / tagRunners
}

// others writes the runners, or pursuers, that a pursuer sees. It searches again, as the result of
// the last query is not in a snapshot.
func (g *tag) others(self uint32, o []float32, runner bool) {
	pos := &g.sim.World.Position
	var done [tagAll]bool
	for ; len(o) > 0; o = o[3:] {
		best, at := float32(tagSight*tagSight), -1
		for slot := range uint32(tagAll) {
			if _, alive := g.sim.World.ID(slot); !alive || slot == self || done[slot] || (slot >= tagPursuers) != runner {
				continue
			}
			dx, dy := pos.X[slot]-pos.X[self], pos.Y[slot]-pos.Y[self]
			if d := float32(dx*dx) + float32(dy*dy); d <= best && (at < 0 || d < best) {
				best, at = d, int(slot)
			}
		}
		if at < 0 {
			return
		}
		done[at] = true
		o[0], o[1], o[2] = (pos.X[at]-pos.X[self])/tagSight, (pos.Y[at]-pos.Y[self])/tagSight, 1
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

// cell returns the column or row of the image of a coordinate.
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
