// Package worlds has training worlds for package train: something to train in, and examples
// of how to write others.
//
//	cartpole     a pole on a cart is balanced; in columns, some nanoseconds a step
//	tag          three pursuers, one of them the player, catch runners; on a Sim, with radius queries
//	tag-team     the same with all three pursuers as agents
//	tag-raster   the same, seen from above as an image of bytes
//	pushbox      a disc pushes a box to a place; on a Sim, with rigid bodies
//
// All draw their random numbers from the seed of the episode alone and give the same bits on
// every machine.
package worlds

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/train"
)

var definitions = map[string]func() train.Definition{
	"cartpole": CartPole, "pushbox": PushBox().Definition, "tag": Tag().Definition, "tag-team": TagTeam().Definition, "tag-raster": TagRaster().Definition,
}

// Names returns the names of the definitions of this package, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(definitions)) // order-free: sorted
}

// ByName returns the definition of that name. Another is ErrRange.
func ByName(name string) (train.Definition, error) {
	if def := definitions[name]; def != nil {
		return def(), nil
	}
	return train.Definition{}, fmt.Errorf("%w: one of %v", fault.Field(fault.ErrRange, "worlds: name", fmt.Sprintf("%.80q", name)), Names())
}

// Scenarios returns the scenarios by which package replay runs the logs of these worlds. They also
// demonstrate the worlds. See train.SimDefinition.ReplayScenario for cfg.
func Scenarios(cfg evertick.Config) []replay.Scenario {
	return []replay.Scenario{PushBox().ReplayScenario(cfg), Tag().ReplayScenario(cfg), TagTeam().ReplayScenario(cfg)}
}

// clamp returns v, or the nearer bound.
func clamp(v, lo, hi float32) float32 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

// shorten returns (x, y) cut to a length of at most limit.
func shorten(x, y, limit float32) (float32, float32) {
	l2 := float32(x*x) + float32(y*y)
	if l2 <= limit*limit {
		return x, y
	}
	scale := limit / float32(math.Sqrt(float64(l2)))
	return x * scale, y * scale
}
