package inspector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

const (
	// cacheBytes bounds the snapshots that a log keeps in memory, so that steps back are quick.
	cacheBytes = 64 << 20
	// oneThread is set where goroutines share one thread that also has other work. There, long work sleeps for a
	// moment after each slice, so that requests are answered.
	oneThread = runtime.GOOS == "js"
	slice     = 8 * time.Millisecond
	// refreshPeriod is the least time between two looks for ticks that have been written since.
	refreshPeriod = time.Second
	// growing is how long a log counts as one that is being written after it has grown.
	growing = 3 * time.Second
	// scanPeriod is the longest time for which a log that plays does not read on.
	scanPeriod = 100 * time.Millisecond
	// mostLag is the time by which play may be late. If it is later, it goes on from the present tick without making up for it.
	mostLag = 100 * time.Millisecond
	// forever is a wait that only a request or the end cuts short.
	forever = time.Hour
)

// clock is the time of a log that plays.
type clock interface {
	now() time.Duration
	after(time.Duration) <-chan time.Time
}

type wallClock struct{ start time.Time }

func (c wallClock) now() time.Duration                     { return time.Since(c.start) }
func (c wallClock) after(d time.Duration) <-chan time.Time { return time.After(d) }

// logSubject is the Sim of a log. A goroutine drives it by a replay.Player: it seeks, steps and plays as pages
// ask, and serves requests between ticks. Scenario.New is called on that goroutine.
//
// Tick T is the state in which T ticks have run, as Sim.Ticks counts: 0 is the state before the first tick, and
// the last one is the number of ticks in the log. So a hash at T equals the hash of the live Sim at T.
type logSubject struct {
	*hub
	label string
	dir   string
	sc    replay.Scenario
	fs    worldlog.FS
	clock clock
	stop  context.CancelFunc
	done  chan struct{}

	// Of the goroutine:
	player    *replay.Player // nil: not open
	scan      logScan
	rate      float64       // of play
	due       time.Duration // of the next tick that plays
	refreshAt time.Duration // earliest next refresh for what has been written
	grewAt    time.Duration // when the log was last seen to grow
	readAt    time.Duration // when the scan last read on
	yieldedAt time.Duration // when other goroutines had the thread last

	diffs diffs

	control sync.Mutex // guards what follows
	fixed   status     // what never changes
	goal    goal
	cancel  context.CancelFunc // ends the seek that runs; nil: none does
	shown   logShown
}

// goal is what pages have asked for last.
type goal struct {
	seek    bool
	target  uint64  // if seek
	rate    float64 // ticks per second to play; 0: do not
	refresh bool    // for ticks that have been written since
}

// logShown is what status and timeline show besides the summary of the hub.
type logShown struct {
	seeking  bool
	from, to uint64
	open     bool
	err      error // of opening the log, or of the last seek, step or play
	log      contents
}

func openLog(label, dir string, c *Config, cl clock) *logSubject {
	ctx, stop := context.WithCancel(context.Background())
	s := &logSubject{hub: newHub(), label: label, dir: dir, sc: c.Scenario, fs: c.FS, clock: cl, stop: stop, done: make(chan struct{})}
	s.scan.dir, s.scan.fs = dir, c.FS
	s.unbounded = true
	go s.run(ctx)
	return s
}

func (s *logSubject) name() string { return s.label }

func (s *logSubject) close() error {
	err := s.hub.close()
	s.stop()
	<-s.done
	s.diffs.close()
	return err
}

// do is hub.do that says why there is no Sim.
func (s *logSubject) do(ctx context.Context, key string, f task) ([]byte, bool, error) {
	if err := s.unopened(); err != nil {
		return nil, false, err
	}
	return s.hub.do(ctx, key, f)
}

// doCopy is hub.doCopy in the same way.
func (s *logSubject) doCopy(ctx context.Context, key string, c copying) ([]byte, bool, error) {
	if err := s.unopened(); err != nil {
		return nil, false, err
	}
	return s.hub.doCopy(ctx, key, c)
}

// unopened returns why the log has no Sim, nil if it has one, or may still get it.
func (s *logSubject) unopened() error {
	s.control.Lock()
	defer s.control.Unlock()
	if !s.shown.open && s.shown.err != nil {
		return &unopenedError{s.shown.err}
	}
	return nil
}

// run is the goroutine.
func (s *logSubject) run(ctx context.Context) {
	defer close(s.done)
	defer s.closeFiles()
	s.open()
	for ctx.Err() == nil {
		wait := s.turn(ctx)
		if wait == 0 {
			s.yield()
			select {
			case <-s.wake:
				s.serveNow()
			default:
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
			s.serveNow()
		case <-s.clock.after(wait):
		}
	}
}

// turn does the next piece of work. It returns the time for which there is nothing to do: 0 if there may be more.
func (s *logSubject) turn(root context.Context) time.Duration {
	g, ctx, wait := s.take(root)
	if g.refresh && wait <= 0 {
		s.refresh()
		return 0
	}
	return min(wait, s.work(root, ctx, g))
}

// work seeks, plays, or reads on.
func (s *logSubject) work(root, ctx context.Context, g goal) time.Duration {
	switch {
	case s.player == nil:
	case g.seek:
		s.seekTo(root, ctx, g.target)
		return 0
	case g.rate > 0:
		return s.readOn(s.play(root, g.rate))
	}
	return s.readOn(forever)
}

// take takes the goals that are due, and returns the time until a refresh is due. A seek gets a context that the
// next goal ends.
func (s *logSubject) take(ctx context.Context) (goal, context.Context, time.Duration) {
	wait := s.refreshAt - s.clock.now()
	s.control.Lock()
	defer s.control.Unlock()
	g := s.goal
	switch {
	case g.refresh && wait <= 0:
		s.goal.refresh = false
		return g, ctx, wait
	case !g.refresh:
		wait = forever
	}
	if g.seek && s.player != nil {
		s.goal.seek = false
		ctx, s.cancel = context.WithCancel(ctx)
		s.shown.seeking, s.shown.from, s.shown.to, s.shown.err = true, s.at(), g.target, nil
	}
	return g, ctx, wait
}

// at returns the tick that the hub has seen last.
func (s *logSubject) at() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.summary.at.tick
}

// yield lets requests run where there is one thread.
func (s *logSubject) yield() {
	if now := s.clock.now(); oneThread && now-s.yieldedAt >= slice {
		runtime.Gosched()
		time.Sleep(time.Millisecond)
		s.yieldedAt = s.clock.now()
	}
}

// serveNow is a safe point.
func (s *logSubject) serveNow() {
	if s.player != nil {
		s.between(s.player.Sim(), true)
	}
}

// ticked is the safe point after a tick.
func (s *logSubject) ticked() {
	watchForces(s.player.Sim())
	s.tick(s.player.Sim())
	s.yield()
}

// open opens the log, and reports in shown if it cannot.
func (s *logSubject) open() {
	var p *replay.Player
	err := guarded(func() (err error) {
		p, err = replay.Play(s.dir, s.sc, s.fs)
		return err
	})
	var fixed status
	if err == nil {
		p.CacheSnapshots(cacheBytes)
		s.player = p
		fixed.describe(p.Sim())
		watchForces(p.Sim())
		s.serveNow()
	}
	s.control.Lock()
	defer s.control.Unlock()
	s.shown.open, s.shown.err, s.fixed = err == nil, err, fixed
}

func (s *logSubject) closeFiles() {
	if s.player != nil {
		_ = s.player.Close() // was only read
	}
	s.scan.close()
}

// refresh looks for ticks that have been written since the log was opened.
func (s *logSubject) refresh() {
	s.refreshAt = s.clock.now() + refreshPeriod
	if s.player == nil {
		s.control.Lock()
		missing := errors.Is(s.shown.err, fs.ErrNotExist)
		s.control.Unlock()
		if missing {
			s.open()
		}
	}
	if s.scan.refresh(); s.player != nil {
		_ = s.player.Refresh() // the scan shows what is wrong with the files
	}
}

// readOn lists more of what the log holds, for at most a slice, and returns what is left of the wait.
func (s *logSubject) readOn(wait time.Duration) time.Duration {
	now := s.clock.now()
	if s.scan.complete || wait < slice && now-s.readAt < scanPeriod {
		return wait
	}
	s.scan.readOn(slice)
	s.readAt = s.clock.now()
	if s.scan.grown() {
		s.grewAt = s.readAt
	}
	s.control.Lock()
	s.shown.log = s.scan.contents
	s.control.Unlock()
	if wait == forever {
		return 0
	}
	return max(0, wait-(s.readAt-now))
}

// fail shows an error of the Player. It leaves the Sim after a whole tick, or in the one that differs from the log.
func (s *logSubject) fail(root context.Context, err error) {
	if err == nil {
		return
	}
	if diverged := (*replay.DivergedError)(nil); !errors.As(err, &diverged) {
		err = errors.Join(err, s.goTo(root, s.player.Sim().Ticks()))
	}
	s.serveNow()
	s.control.Lock()
	defer s.control.Unlock()
	s.shown.err, s.goal.rate = err, 0
}

// seekTo goes to a tick.
func (s *logSubject) seekTo(root, ctx context.Context, tick uint64) {
	err := s.goTo(ctx, tick)
	cancelled := ctx.Err() != nil
	s.serveNow()
	s.control.Lock()
	s.cancel()
	s.cancel, s.shown.seeking = nil, false
	s.control.Unlock()
	if !cancelled {
		s.fail(root, err)
	}
}

// goTo brings the Player to a tick.
func (s *logSubject) goTo(ctx context.Context, tick uint64) error {
	return guarded(func() error {
		if tick == 0 {
			return s.player.Rewind()
		}
		return s.player.SeekContext(ctx, tick-1, func(uint64) { s.ticked() })
	})
}

// guarded returns a panic of a scenario or of a system as an error: it must not end a program that only looks.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("inspector: panic: %v", v)
		}
	}()
	return f()
}

// play runs the next tick if it is due, and returns the time until the one after. It skips no tick: if ticks take
// longer than the rate allows, it plays slower.
func (s *logSubject) play(root context.Context, rate float64) time.Duration {
	if s.rate != rate {
		s.rate, s.due = rate, s.clock.now()
	}
	if wait := s.due - s.clock.now(); wait > 0 {
		return wait
	}
	err := guarded(s.player.Step)
	if err == io.EOF || errors.Is(err, worldlog.ErrTorn) {
		return s.atEnd()
	}
	if err != nil {
		s.fail(root, err)
		return 0
	}
	s.ticked()
	s.due += time.Duration(float64(time.Second) / rate)
	if now := s.clock.now(); s.due < now-mostLag {
		s.due = now
	}
	return max(0, s.due-s.clock.now())
}

// atEnd stops at the end of a log, or waits if the log grows.
func (s *logSubject) atEnd() time.Duration {
	if s.clock.now() >= s.refreshAt {
		s.refresh()
		return 0
	}
	now := s.clock.now()
	if !s.scan.complete || s.scan.ticks > s.at() {
		_ = s.player.Refresh() // as in refresh
		return slice           // it has grown, or that is not known yet
	}
	if s.grewAt > 0 && now-s.grewAt < growing {
		return max(slice, s.refreshAt-now)
	}
	s.control.Lock()
	defer s.control.Unlock()
	s.goal.rate = 0
	return 0
}

// command changes what the log is to do, and ends the seek that runs if ends is set. change may return an error, and
// then changes nothing. It gets the tick at which the present goal leads.
func (s *logSubject) command(ends bool, change func(g *goal, at uint64) error) error {
	at := s.at()
	s.control.Lock()
	defer s.control.Unlock()
	if !s.shown.open && s.shown.err != nil {
		return s.shown.err
	}
	switch {
	case s.goal.seek:
		at = s.goal.target
	case s.shown.seeking:
		at = s.shown.to
	}
	if err := change(&s.goal, at); err != nil {
		return err
	}
	if ends && s.cancel != nil {
		s.cancel()
	}
	s.signal()
	return nil
}

// seek makes the log go to a tick.
func (s *logSubject) seek(tick uint64) error {
	return s.command(true, func(g *goal, _ uint64) error { return s.aim(g, tick) })
}

// step makes it go n ticks on, or back.
func (s *logSubject) step(n int64) error {
	return s.command(true, func(g *goal, at uint64) error {
		if n < 0 && uint64(-n) > at {
			return s.outside(n)
		}
		return s.aim(g, at+uint64(n))
	})
}

func (s *logSubject) aim(g *goal, tick uint64) error {
	if c := &s.shown.log; tick < c.first || c.complete && tick > c.last() {
		return s.outside(tick)
	}
	g.seek, g.target, g.rate = true, tick, 0
	return nil
}

func (s *logSubject) outside(tick any) error {
	c := &s.shown.log
	return fmt.Errorf("%w: the log has ticks %d to %d", fault.Field(fault.ErrRange, "inspector: tick", tick), c.first, c.last())
}

// maxRate is the highest rate of play, in ticks per second.
const maxRate = 1e6

// playAt makes it play at a rate in ticks per second, once a seek that runs has ended. 0 stops the seek too.
func (s *logSubject) playAt(rate float64) error {
	if !(rate >= 0 && rate <= maxRate) {
		return fault.Field(fault.ErrRange, "inspector: ticks per second to play", rate)
	}
	return s.command(rate == 0, func(g *goal, _ uint64) error {
		if rate == 0 {
			g.seek = false
		}
		g.rate = rate
		return nil
	})
}

// report implements subject.
func (s *logSubject) report(st *status) {
	s.wantRefresh()
	s.control.Lock()
	defer s.control.Unlock()
	s.fixed.copyFixed(st)
	s.hub.report(st)
	st.State = s.state(st.Tick)
	if s.shown.err != nil {
		st.Error = s.shown.err.Error()
	}
}

// state is called with control locked.
func (s *logSubject) state(at uint64) string {
	switch c := &s.shown.log; {
	case s.shown.seeking || s.goal.seek:
		return "seeking"
	case s.shown.err != nil:
		return "failed"
	case c.complete && at >= c.last():
		return "ended"
	case s.goal.rate > 0:
		return "playing"
	}
	return "paused"
}

// wantRefresh asks for a refresh, since a page is there.
func (s *logSubject) wantRefresh() {
	s.control.Lock()
	defer s.control.Unlock()
	if !s.goal.refresh {
		s.goal.refresh = true
		s.signal()
	}
}
