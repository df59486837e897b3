package worlds

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/train"
)

// TagTeam returns Tag with all three pursuers as agents, each with the action, the observation and the reward
// of the player there. They end together.
func TagTeam() train.SimDefinition {
	d := Tag()
	d.Name, d.Scenario, d.Agents = "tag-team", "train/tag-team", []string{"pursuer0", "pursuer1", "pursuer2"}
	d.New = func(cfg evertick.Config) (train.Game, error) {
		g, err := newTag(cfg, false)
		if err != nil {
			return nil, err
		}
		g.players = tagPursuers
		return tagTeam{g}, g.sim.AddState("tag.team", tagTeam{g})
	}
	return d
}

// tagTeam is the game of several players. Its state is the rewards of those after the first, whose reward is in the
// state of tag.
type tagTeam struct{ *tag }

func (g tagTeam) OutcomeOf(agent int) (float32, bool) { return g.rewards[agent], g.over }

func (g tagTeam) ObserveOf(agent int, row train.Row) { g.view(uint32(agent), row.Float32) }

// AppendState implements evertick.State.
func (g tagTeam) AppendState(dst []byte) []byte { return wire.AppendF32s(dst, g.rewards[1:]...) }

// RestoreState implements evertick.State.
func (g tagTeam) RestoreState(src []byte) error {
	if len(src) != 4*(tagPursuers-1) {
		return fault.Field(fault.ErrCorrupt, "worlds: tag-team: length of the state", len(src))
	}
	for k := range tagPursuers - 1 {
		if v := wire.F32At(src, k); !fault.Finite(v) {
			return fault.Element(fault.ErrCorrupt, "worlds: tag-team: reward", k+1, v)
		}
	}
	for k := range tagPursuers - 1 {
		g.rewards[k+1] = wire.F32At(src, k)
	}
	return nil
}
