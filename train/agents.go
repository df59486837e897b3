package train

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Worlds with several agents. An agent takes part until a step has terminated it. A world has ended when
// no agent is left; when its time is up, all agents that are left are truncated. An agent that has
// ended is skipped: its action is ignored, its reward is 0, its flags are false, and it is
// observed with the others.

// liveOf returns the flags of the agents of world i: none if there is one agent.
func (b *Batch) liveOf(i int) []bool {
	if b.live == nil {
		return nil
	}
	return b.live[i*b.agents:][:b.agents]
}

// revive lets all agents of a world take part.
func (b *Batch) revive(i int) {
	for k := range b.liveOf(i) {
		b.live[i*b.agents+k] = true
	}
}

// writeLive writes Buffers.Live of a world.
func (b *Batch) writeLive(i int) {
	to := b.buf.Live[i*b.agents:][:b.agents]
	if copy(to, b.liveOf(i)) == 0 {
		to[0] = b.stages[i] == running
	}
}

// rowName returns the name of a row in errors.
func (b *Batch) rowName(row int) string {
	if b.live == nil {
		return fmt.Sprintf("world %d", row)
	}
	return fmt.Sprintf("world %d, agent %q", row/b.agents, b.def.Agents[row%b.agents])
}

// checkAgents checks the actions of all agents of a world that take part.
func (b *Batch) checkAgents(i int) error {
	over := b.stages[i] == ended
	for row := i * b.agents; row < (i+1)*b.agents; row++ {
		b.skip[row] = over || !b.live[row]
		if b.skip[row] {
			continue
		}
		if err := b.checkAction(row); err != nil {
			return err
		}
	}
	return nil
}

// finishAgents finishes the step of worlds with agents, as finishSteps and observeRange do of others.
func (b *Batch) finishAgents(lo, hi int) error {
	for i := lo; i < hi; i++ {
		if err := b.finishWorld(i); err != nil {
			return err
		}
		b.observe(i)
	}
	return nil
}

func (b *Batch) finishWorld(i int) error {
	begins := b.stages[i] == ended // by NextStep: this step does nothing else
	if !begins {
		b.steps[i]++
		if !b.endAgents(i, b.steps[i] >= b.limit) {
			b.stages[i] = ended
		}
	} else {
		b.clearOutcomes(i)
	}
	if b.cfg.Autoreset == SameStep {
		begins = b.stages[i] == ended
		b.finalAgents(i, begins)
	}
	if !begins {
		return nil
	}
	b.episodes[i].episode++
	return b.begin(i)
}

// endAgents sets the flags of a step, and returns whether an agent is left.
func (b *Batch) endAgents(i int, late bool) (left bool) {
	buf := b.buf
	for row := i * b.agents; row < (i+1)*b.agents; row++ {
		if !b.live[row] {
			buf.Reward[row], buf.Terminated[row], buf.Truncated[row] = 0, false, false
			continue
		}
		buf.Truncated[row] = late
		b.live[row] = !late && !buf.Terminated[row]
		left = left || b.live[row]
	}
	return left
}

func (b *Batch) clearOutcomes(i int) {
	lo, hi := i*b.agents, (i+1)*b.agents
	clear(b.buf.Reward[lo:hi])
	clear(b.buf.Terminated[lo:hi])
	clear(b.buf.Truncated[lo:hi])
}

// finalAgents writes the last observations and masks of all agents of a world that has ended.
func (b *Batch) finalAgents(i int, over bool) {
	for row := i * b.agents; row < (i+1)*b.agents; row++ {
		if b.buf.Final[row] = over; over {
			b.observeFinal(row)
		}
	}
}

// checkLive checks the flags of a saved world.
func checkLive(live []bool, stage uint8) error {
	left := 0
	for _, l := range live {
		if l {
			left++
		}
	}
	if len(live) > 0 && (left > 0) != (stage == running) {
		return fault.Field(fault.ErrCorrupt, savedName+"agents that take part", left)
	}
	return nil
}
