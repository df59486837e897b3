package loop

import "github.com/evertick/evertick/internal/enum"

// Policy decides about the steps that are due in a frame beyond its cap.
type Policy uint8

const (
	// DropToCap drops them: after a hitch the simulation has lost time.
	DropToCap Policy = iota
	// Keep leaves them to later frames, up to floor(MaxDeltaNs × rate) steps, and
	// drops the rest. If the rate is so low that MaxDeltaNs is shorter than a
	// step, it keeps nothing.
	Keep
	// DropAll drops them and the fraction of a step, too: the accumulator
	// starts again from zero, and the picture may jump by a part of a step.
	DropAll
	// SlowMotion drops them and slows the following frames. The pace is
	// multiplied by cap/owed, rounded down to 64ths, at least 16/64. It rises
	// again by 1/64 with each frame whose steps stayed within the cap.
	SlowMotion
	// CatchUp drops nothing: later frames run what this one does not run. The
	// clamp, the stall and MaxAccumNs do not apply. Only a backlog of more than
	// 1<<62 steps, some 146,000 years at a million a second, is cut there.
	CatchUp
	// Realtime lets ticks follow time: steps beyond the cap are skipped, and
	// Tick jumps over them, so that Tick + Backlog is always the number of steps
	// whose time has passed; the steps that run are the last ones. The skipped
	// ones count as dropped. The clamp, the stall and MaxAccumNs do not apply.
	Realtime
	// KeepAll leaves them to later frames, as Keep does, however many they are. So its delay grows as long as an overload
	// lasts. The clamp, the stall and MaxAccumNs apply. With ClipTime a frame subtracts the steps that it runs from the
	// accumulated time, and keeps all of the remainder.
	KeepAll

	policies // number of policies
)

var policyNames = [policies]string{"DropToCap", "Keep", "DropAll", "SlowMotion", "CatchUp", "Realtime", "KeepAll"}

// String returns the name of the constant, or "Policy(n)".
func (p Policy) String() string { return enum.Name(policyNames[:], p, "Policy") }

const (
	// fullPace is the pace of a SlowMotion loop that keeps up, in 64ths.
	fullPace = 64
	// leastPace is the slowest that SlowMotion gets: a quarter.
	leastPace = fullPace / 4
	// catchUpLimit bounds the backlog of CatchUp and KeepAll. With the steps of one more
	// frame, fewer than 2^60, it stays far from where a uint64 wraps.
	catchUpLimit = 1 << 62
)

// unclamped reports whether p counts all time: no clamp, stall or MaxAccumNs.
func (p Policy) unclamped() bool { return p == CatchUp || p == Realtime }

// applyPolicy grants the steps of a frame out of the backlog, at most limit, and
// lets the policy decide about the rest.
func (l *Loop) applyPolicy(limit uint64) (steps uint64, capHit bool) {
	steps = min(l.backlog, limit)
	over := l.backlog - steps
	l.backlog = steps
	switch l.config.Policy {
	case Keep:
		kept := min(over, l.maxBacklog)
		l.backlog += kept
		l.drop(span{steps: over - kept})
	case DropAll:
		if over > 0 {
			l.drop(span{over, l.units, l.rest})
			l.units, l.rest = 0, 0
		}
	case CatchUp, KeepAll:
		kept := min(over, catchUpLimit-steps)
		l.backlog += kept
		l.drop(span{steps: over - kept})
	case Realtime:
		l.tick += over
		l.pauseAt += over
		l.drop(span{steps: over})
	default:
		l.drop(span{steps: over})
	}
	return l.grant(steps), over > 0
}

// grant takes steps from the backlog. Those after the pause of RunThenPause stay
// in the backlog.
func (l *Loop) grant(steps uint64) uint64 {
	if l.armed {
		steps = min(steps, l.pauseAt-l.tick)
	}
	l.backlog -= steps
	l.tick += steps
	return steps
}

// adjustPace sets the pace of the following frames after one with owed steps due
// and a cap of limit.
func (l *Loop) adjustPace(owed, limit uint64) {
	if l.config.Policy != SlowMotion {
		return
	}
	if owed > limit {
		// owed < 2^61, limit <= 2^30, pace <= 2^6.
		l.pace = max(leastPace, l.pace*limit/owed)
	} else {
		l.pace = min(fullPace, l.pace+1)
	}
	l.rescale()
}
