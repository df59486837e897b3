package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// busy is a provider that returns RetryErrors now and then, and notices when it is called too early.
type busy struct {
	mu      sync.Mutex
	rand    *rand.Rand
	most    time.Duration
	barrier time.Time // before which it may not be called, since an error
	since   time.Time // of that error: calls may begin in the same moment
	errors  int
	early   int
	calls   int
	after   int // calls after an error
}

func (b *busy) Decide(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	now := time.Now()
	if now.Before(b.barrier) && now.After(b.since) {
		b.early++
	}
	if b.errors > 0 {
		b.after++
	}
	kind, wait := b.rand.IntN(12), time.Duration(b.rand.Int64N(int64(3*b.most)))-b.most/2
	if b.calls == 8 { // in each run
		kind, wait = 0, b.most/2
	}
	switch kind {
	case 0:
		b.errors++
		if until := now.Add(min(max(wait, 0), b.most)); until.After(b.barrier) {
			b.barrier, b.since = until, now
		}
		return agent.Decision{}, fmt.Errorf("asked too often: %w", &agent.RetryError{NotBefore: now.Add(wait), Err: errors.New("busy")})
	case 1:
		return agent.Decision{}, errors.New("no")
	case 2: // a slow call, which others overtake
		slow := time.Duration(b.rand.IntN(300)) * time.Millisecond
		b.mu.Unlock()
		time.Sleep(slow)
		b.mu.Lock()
	}
	return agent.Decision{Actions: []agent.Action{{Name: "go", Args: []float32{float32(p.Turn % 3), 0}}}}, nil
}

// A provider that asks for time is not called before that time, however fast ticks run, and no agent asks it before the
// tick that the answer names; another provider is asked all the while. A replay has the same ticks and records, and
// needs no provider and no clock.
func TestRetryModel(t *testing.T) {
	for i, pace := range []time.Duration{tick / 20, tick, 3 * tick} {
		r := rand.New(rand.NewPCG(paritytest.Seed(), uint64(i)))
		b, calm := &busy{rand: r, most: 400 * time.Millisecond}, &busy{rand: rand.New(rand.NewPCG(9, 9)), most: time.Millisecond}
		config := func(first, second agent.Provider) parkConfig {
			return parkConfig{number: 8, spec: agent.Spec{IntervalTicks: 3, Radius: 8, Shed: agent.Coalesce},
				setup: func(p *park) error {
					id, err := p.sim.World.Spawn()
					return errors.Join(err, p.agents.Add(id, agent.Spec{Provider: 1, Priority: uint8(i)}))
				},
				agents: agent.Config{Providers: []agent.ProviderConfig{{Provider: first, InFlight: 3, MaxDelay: b.most}, {Provider: second}}}}
		}
		dir := t.TempDir()
		var live, again *park
		synctest.Test(t, func(t *testing.T) {
			sim, err := scenario(config(b, calm), &live).New(3)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := replay.Record(dir, "park", sim, replay.Options{SnapshotTicks: 50, Log: worldlog.Options{Durability: worldlog.None}})
			if err != nil {
				t.Fatal(err)
			}
			seen, during := uint64(0), 0
			for range 2000 {
				live.step(t, 1)
				for _, rec := range live.agents.Records(nil, seen) {
					seen = rec.Seq
					switch from := live.agents.NotBefore(0); {
					case rec.Type != agent.Issued:
					case rec.Provider == 1 && rec.Tick < from:
						during++
					case rec.Provider == 0 && rec.Tick < from:
						t.Fatalf("asked in tick %d, not from %d on", rec.Tick, from)
					}
				}
				time.Sleep(pace)
				synctest.Wait()
				if i > 0 && live.sim.Ticks() == 300 {
					break
				}
			}
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
			shut(t, live)
			s := live.agents.Stats()
			if b.early > 0 || b.errors == 0 || b.after == 0 || during == 0 || s.ShedLimit == 0 || s.Reason(agent.ProviderBusy) == 0 {
				t.Errorf("pace %v: %d of %d calls too early, %d after one of %d errors, %d of the other one meanwhile, %+v", pace, b.early, b.calls, b.after, b.errors, during, s)
			}
			if i == 0 && s.Reason(agent.ProviderBusy) <= uint64(b.errors) {
				t.Error("no decision was rejected without a call")
			}
		})
		nobody := mustNotAsk(t)
		rep, err := replay.Verify(dir, scenario(config(nobody, nobody), &again), replay.VerifyOptions{})
		if err != nil || rep.Hash != live.sim.Hash() || live.agents.Chain() != again.agents.Chain() || live.agents.NotBefore(0) != again.agents.NotBefore(0) {
			t.Errorf("replay: %+v, %v", rep, err)
		}
		for _, at := range []uint64{77, 151} { // from a snapshot, which has the delay
			if _, err := replay.Seek(dir, scenario(config(nobody, nobody), nil), at, nil); err != nil {
				t.Errorf("tick %d: %v", at, err)
			}
		}
	}
}

// An error with a time delays the next request by this time in ticks, rounded up, from the tick that takes the answer
// on, and no longer than MaxDelay.
func TestRetryTicks(t *testing.T) {
	for _, c := range []struct {
		name      string
		wait      time.Duration // -1 h: no time
		most      time.Duration
		spec      agent.Spec
		second    uint64 // tick of the second request
		fallbacks uint64
	}{
		{"no time", -time.Hour, 0, agent.Spec{}, 1, 0},
		{"past", -time.Second, 0, agent.Spec{}, 1, 0},
		{"now", 0, 0, agent.Spec{}, 1, 0},
		{"one ns", 1, 0, agent.Spec{}, 2, 0},
		{"a tick", tick, 0, agent.Spec{}, 2, 0},
		{"more than a tick", tick + 2, 0, agent.Spec{}, 3, 0},
		{"a second", time.Second, 0, agent.Spec{}, 61, 0},
		{"an hour", time.Hour, time.Second / 2, agent.Spec{}, 31, 0},
		{"a second, due every seven ticks", time.Second, 0, agent.Spec{IntervalTicks: 7}, 63, 0},
		{"a second, due every seven ticks, coalesced", time.Second, 0, agent.Spec{IntervalTicks: 7, Shed: agent.Coalesce}, 61, 0},
		{"a second, with a fallback", time.Second, 0, agent.Spec{Shed: agent.Fallback}, 61, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []uint64
				var failed []string
				p := mustPark(t, parkConfig{number: 1, spec: c.spec, agents: agent.Config{
					Fallback:  func(_ *agent.Perception, dst []agent.Action) []agent.Action { return dst },
					OnFailure: func(r *agent.Record, text string) { failed = append(failed, fmt.Sprint(r.Reason, ": ", text)) },
					Providers: []agent.ProviderConfig{{MaxDelay: c.most, Provider: agent.Func(func(_ context.Context, p *agent.Perception) (agent.Decision, error) {
						if asked = append(asked, p.Tick); len(asked) > 1 {
							return agent.Decision{}, nil
						}
						e := &agent.RetryError{Err: errors.New("busy")}
						if c.wait > -time.Hour {
							e.NotBefore = time.Now().Add(c.wait)
						}
						return agent.Decision{}, e
					})}},
				}})
				runLive(t, p, 70)
				if asked[0] != 0 || asked[1] != c.second || p.agents.Stats().Fallbacks != c.fallbacks || !slices.Equal(failed, []string{"provider_busy: busy"}) {
					t.Errorf("asked in %d, %d fallbacks, %q", asked, p.agents.Stats().Fallbacks, failed)
				}
				shut(t, p)
			})
		})
	}
	if s := (&agent.RetryError{}).Error(); !strings.Contains(s, "busy") {
		t.Error(s)
	}
	err := agent.Config{Providers: []agent.ProviderConfig{{Provider: agent.Random{}, MaxDelay: -1}}}.Validate()
	if !errors.Is(err, fault.ErrRange) || !strings.Contains(err.Error(), "Config.Providers[0].MaxDelay = -1") {
		t.Error(err)
	}
}

// The answers in a log, as a provider, ask for the same time as the recorded one.
func TestRecordedRetries(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	var chains [2]uint64
	for i, dir := range dirs {
		synctest.Test(t, func(t *testing.T) {
			var provider agent.Provider = agent.Func(func(_ context.Context, p *agent.Perception) (agent.Decision, error) {
				if p.Turn%3 == 0 {
					return agent.Decision{}, &agent.RetryError{NotBefore: time.Now().Add(10 * tick)}
				}
				return agent.Decision{}, nil
			})
			if i == 1 {
				answers, err := agent.ReadAnswers(dirs[0], nil, agent.Config{})
				if err != nil {
					t.Fatal(err)
				}
				provider = agent.NewRecorded(answers)
			}
			var p *park
			sim, err := scenario(parkConfig{number: 2, agents: agent.Config{Providers: one(provider)}}, &p).New(3)
			if err != nil {
				t.Fatal(err)
			}
			rec, err := replay.Record(dir, "park", sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
			if err != nil {
				t.Fatal(err)
			}
			runLive(t, p, 60)
			if s := p.agents.Stats(); s.Reason(agent.ProviderBusy) < 4 || s.Reason(agent.ProviderError) > 0 {
				t.Errorf("%+v", s)
			}
			chains[i] = p.agents.Chain()
			shut(t, p)
			if err := rec.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
	if chains[0] != chains[1] {
		t.Error("other records")
	}
}
