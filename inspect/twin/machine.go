package twin

import (
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/inspector"
	"github.com/evertick/evertick/loop"
)

// machine is all of a twin but the page. The goroutine of run owns it; post reaches that goroutine from any other.
type machine struct {
	config Config
	dial   dialer
	clock  loop.Clock

	inbox inbox

	sim     *evertick.Sim // what the page sees as live
	alone   bool          // no one else runs sim
	at      time.Duration // up to which sim has run, if it is alone; -1: it begins
	link    connection
	compare comparison
	dropped log

	mu sync.Mutex // guards in, which other goroutines ask
	in *inspector.Inspector
}

// log is what the user has dropped on the page.
type log struct {
	pending *files // until they are opened
	open    *files // nil: none
	err     string // of the last one
}

const (
	pollEvery = 4 * time.Millisecond // between two looks at the time: a worker's timers are no finer
	leastIdle = time.Millisecond
	// mostElapsed is the most time that a Sim which is alone makes up for, as after a laptop slept.
	mostElapsed = 250 * time.Millisecond
)

// newMachine returns a machine with a Sim at tick 0.
func newMachine(c Config, dial dialer, clock loop.Clock) (*machine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = c.Scenario.Name
	}
	m := &machine{config: c, dial: dial, clock: clock, inbox: inbox{wake: make(chan struct{}, 1)}}
	m.link.machine, m.link.state = m, alone
	return m, m.beAlone()
}

// beAlone shows a new Sim. Without Config.Alone, time stands in it until the page lets it go on.
func (m *machine) beAlone() error {
	sim, err := m.config.Scenario.New(m.config.Seed)
	if err != nil {
		return err
	}
	sim.SetInputs(m.config.Alone)
	sim.Loop().SetPaused(m.config.Alone == nil)
	return m.show(sim, true)
}

// show makes the page see a Sim as live.
func (m *machine) show(sim *evertick.Sim, alone bool) error {
	m.sim, m.alone, m.at = sim, alone, -1
	return m.inspect()
}

// inspect begins to answer for the Sim and the logs that there are. The page notices by Inspector's run.
func (m *machine) inspect() error {
	c := inspector.Config{Name: m.config.Name, Control: m.alone, Scenario: m.config.Scenario}
	if f := m.dropped.open; f != nil {
		c.FS = f
		dirs := f.logs()
		if c.Log = dirs[0]; len(dirs) > 1 {
			c.Other = dirs[1]
		}
	}
	in, err := inspector.New(m.sim, c)
	if err != nil {
		return err
	}
	m.mu.Lock()
	old := m.in
	m.in = in
	m.mu.Unlock()
	if old != nil {
		return old.Close()
	}
	return nil
}

func (m *machine) inspector() *inspector.Inspector {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.in
}

// run does what is posted, and what is due, until done is closed.
func (m *machine) run(done <-chan struct{}) {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	for {
		select {
		case <-done:
			return
		case <-m.inbox.wake:
			for _, f := range m.inbox.take() {
				f()
			}
		case <-timer.C:
		}
		start := time.Now()
		m.poll(m.now())
		// The page and the network have their turn while all goroutines wait, also if ticks take longer than they last.
		timer.Reset(max(pollEvery-time.Since(start), leastIdle))
	}
}

// now returns the time of the clock.
func (m *machine) now() time.Duration { return time.Duration(m.clock.Now()) }

// poll does what is due, and lets the Inspector answer.
func (m *machine) poll(now time.Duration) {
	m.link.poll(now)
	if m.alone {
		var elapsed time.Duration
		if m.at >= 0 {
			elapsed = min(now-m.at, mostElapsed)
		}
		m.at = now
		if _, err := m.sim.Advance(int64(elapsed)); err == nil {
			return
		}
	}
	m.inspector().Between()
}

// openLog shows the files that have come, instead of those before.
func (m *machine) openLog() {
	f, before := m.dropped.pending, m.dropped.open
	m.dropped.pending, m.dropped.err = nil, ""
	if f == nil || len(f.logs()) == 0 {
		m.dropped.err = "no file of a log among them: drop its folder, with the files segment-…"
		return
	}
	m.dropped.open = f
	if err := m.inspect(); err != nil {
		m.dropped.open, m.dropped.err = before, err.Error()
	}
}

// inbox is what other goroutines want done: none of them may wait in a callback of the page.
type inbox struct {
	mu   sync.Mutex
	list []func()
	wake chan struct{}
}

func (b *inbox) post(f func()) {
	b.mu.Lock()
	b.list = append(b.list, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list = nil
	return list
}
