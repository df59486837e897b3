package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// Func is a Provider that is a function.
type Func func(ctx context.Context, p *Perception) (Decision, error)

// Decide implements Provider.
func (f Func) Decide(ctx context.Context, p *Perception) (Decision, error) { return f(ctx, p) }

// Scripted is a Provider that follows a script: the decision of turn n is entry n of the script
// of the agent, whatever it perceives. After the end the agent does nothing, or with Loop
// the script begins again. It must not change while it is used.
type Scripted struct {
	// Scripts has the scripts of single agents, and Script is the one of all others.
	Scripts map[ecs.ID][]Decision
	Script  []Decision
	Loop    bool
}

// Decide implements Provider.
func (s *Scripted) Decide(_ context.Context, p *Perception) (Decision, error) {
	script, own := s.Scripts[p.Agent]
	if !own {
		script = s.Script
	}
	n := uint64(len(script))
	if n == 0 || p.Turn >= n && !s.Loop {
		return Decision{}, nil
	}
	return script[p.Turn%n], nil
}

// Random is a Provider of up to MaxActions random actions, all equally likely, with arguments
// from all of their range and a target among the neighbours. A decision is a function of
// seed, agent, turn, actions and neighbours, and not of earlier calls.
type Random struct {
	Seed uint64
	// MaxActions of a decision. 0: 1.
	MaxActions int
}

// randomStream is the only stream of loop.Rand that is used under the seed.
const randomStream = 0x6e64

// Decide implements Provider.
func (r Random) Decide(_ context.Context, p *Perception) (Decision, error) {
	if r.MaxActions < 0 {
		return Decision{}, fault.Field(fault.ErrRange, "agent: Random.MaxActions", r.MaxActions)
	}
	rand := loop.NewRand(r.Seed, p.Turn, uint64(p.Agent), randomStream)
	var d Decision
	if len(p.Actions) == 0 {
		return d, nil
	}
	for range rand.IntN(max(1, r.MaxActions) + 1) {
		if a, ok := randomAction(&rand, &p.Actions[rand.IntN(len(p.Actions))], p); ok {
			d.Actions = append(d.Actions, a)
		}
	}
	return d, nil
}

// randomAction fails if an action needs a target and there is none.
func randomAction(rand *loop.Rand, def *ActionDef, p *Perception) (Action, bool) {
	a := Action{Name: def.Name}
	if def.Target == NeedTarget && len(p.Neighbours) == 0 {
		return a, false
	}
	if def.Target != NoTarget && len(p.Neighbours) > 0 && (def.Target == NeedTarget || rand.Bool()) {
		a.Target = p.Neighbours[rand.IntN(len(p.Neighbours))].ID
	}
	for i := range def.Args {
		lo, hi := def.Args[i].Bounds()
		span := float64(hi) - float64(lo)
		v := float32(float64(lo) + float64(rand.Float64()*span))
		a.Args = append(a.Args, min(max(v, lo), hi))
	}
	return a, true
}

// Recorded is a Provider of the answers in a log: it finds them by the agent and the hash of its
// perception. It continues a recorded run with the decisions of that run as long as the agents perceive
// the same. It also serves for comparisons: see Agents.Redecide.
type Recorded struct {
	answers map[recordedKey]Answer
}

type recordedKey struct {
	agent ecs.ID
	hash  uint64
}

// ErrUnknown is returned by Recorded for a perception that the log does not have.
var ErrUnknown = errors.New("a perception that was not recorded")

// NewRecorded makes a provider of answers. If an agent has several for the same perception,
// the first counts.
func NewRecorded(answers []Answer) *Recorded {
	r := &Recorded{make(map[recordedKey]Answer, len(answers))}
	for _, ans := range answers {
		key := recordedKey{ans.Agent, ans.Hash}
		if _, exists := r.answers[key]; !exists {
			r.answers[key] = ans
		}
	}
	return r
}

// Decide implements Provider. The error wraps ErrUnknown, or says why the recorded decision
// was refused.
func (r *Recorded) Decide(_ context.Context, p *Perception) (Decision, error) {
	ans, ok := r.answers[recordedKey{p.Agent, p.Hash}]
	switch {
	case !ok:
		return Decision{}, fmt.Errorf("agent: Recorded: tick %d, %v: %w", p.Tick, p.Agent, ErrUnknown)
	case ans.Reason == ProviderBusy:
		return Decision{}, &RetryError{Err: fmt.Errorf("agent: Recorded: %v: %s", ans.Reason, ans.Text), ticks: ans.Ticks}
	case ans.Reason != NoReason:
		return Decision{}, fmt.Errorf("agent: Recorded: %v: %s", ans.Reason, ans.Text)
	}
	return Decision{ans.Actions}, nil
}

// ReadAnswers reads the answers in a log of package replay, in the order in which they were
// applied, with the Config of the recorded agents. Answers that Config does not allow are
// included, with their Reason. Errors are those of the log.
func ReadAnswers(dir string, fsys worldlog.FS, cfg Config) ([]Answer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	rules := rulesOf(&cfg)
	var answers []Answer
	for in, err := range replay.Inputs(dir, fsys) {
		if err != nil {
			return answers, err
		}
		if in.Input.Kind != cfg.Kind || in.Input.Source != cfg.Source {
			continue
		}
		ans, err := rules.decode(in.Input.Data)
		ans.refuse(err)
		answers = append(answers, ans)
	}
	return answers, nil
}

// refuse sets the reason for which an answer is refused, if err is not nil.
func (a *Answer) refuse(err error) {
	if err != nil {
		a.Reason, a.Text = reasonOf(err, Malformed), err.Error()
	}
}

// redecider calls another provider in a replay, and compares its decisions with the logged ones.
type redecider struct {
	ctx      context.Context
	provider Provider
	report   func(Comparison)
	answers  map[uint64]redecision
}

type redecision struct {
	tick uint64
	data []byte
}

// Comparison is the decisions of two providers for the same perception.
type Comparison struct {
	Decision uint64
	Agent    ecs.ID
	Tick     uint64 // in which the decision was requested
	Same     bool   // the actions are the same, bit for bit; or neither decided
	Was, Now Answer // of the log, and of the other provider
}

// Redecide calls another provider for every decision that replayed ticks request from now on,
// with the recorded perception. The run still follows the log; when the recorded answer
// arrives, report is called on the tick. Redecide is for a replay, whose ticks may wait: the provider is
// called within the tick, with ctx.
func (a *Agents) Redecide(ctx context.Context, p Provider, report func(Comparison)) {
	if p == nil || report == nil {
		panic("agent: Redecide: nil provider or report")
	}
	a.redecider = &redecider{ctx, p, report, make(map[uint64]redecision)}
}

// ask calls the other provider, unless the tick is live.
func (s *redecider) ask(a *Agents, h head, p *Perception) {
	if a.live {
		return
	}
	mine, data := *p, []byte(nil)
	d, err := s.provider.Decide(s.ctx, &mine)
	if err != nil {
		data = a.refusal(h, err, defaultMaxDelay)
	} else {
		data = a.rules.encodeOrFail(h, &d)
	}
	s.answers[h.decision] = redecision{p.Tick, data}
}

// compare reports the recorded answer and the other provider's.
func (s *redecider) compare(rules *rules, was *receivedAnswer) {
	mine, ok := s.answers[was.Decision]
	if !ok {
		return
	}
	delete(s.answers, was.Decision)
	now, err := rules.decode(mine.data)
	c := Comparison{Decision: was.Decision, Agent: was.Agent, Tick: mine.tick, Was: was.Answer, Now: now}
	c.Now.refuse(err)
	c.Was.refuse(was.err)
	c.Same = sameActions(&c.Was, &c.Now)
	s.report(c)
}

// sameActions reports whether two answers have the same actions, bit for bit.
func sameActions(x, y *Answer) bool {
	return (x.Reason == NoReason) == (y.Reason == NoReason) && slices.EqualFunc(x.Actions, y.Actions, func(a, b Action) bool {
		return a.Name == b.Name && a.Target == b.Target && a.After == b.After && string(a.Data) == string(b.Data) &&
			slices.EqualFunc(a.Args, b.Args, func(v, w float32) bool { return math.Float32bits(v) == math.Float32bits(w) })
	})
}
