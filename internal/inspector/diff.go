package inspector

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// comparison is what GET diff asks for: tick a of the log with tick b of it, or of the other log.
type comparison struct {
	a, b  uint64
	with  string
	limit int
}

const (
	// maxDifferences is how many differences an answer can have.
	maxDifferences = 10_000
	// keptDiffs is how many answers are kept.
	keptDiffs = 4
	// abandonAfter is the time after which a comparison ends if nobody has asked for it again.
	abandonAfter = 5 * time.Second
)

// diffs runs comparisons, one at a time, on Sims of their own.
type diffs struct {
	mu      sync.Mutex
	closed  bool
	running *diffJob
	results []diffResult // the newest last
	done    sync.WaitGroup
}

type diffResult struct {
	comparison
	answer Answer
}

// diffJob is a comparison that runs. diffs.mu guards progress and asked.
type diffJob struct {
	comparison
	cancel   context.CancelFunc
	progress float64
	asked    time.Time
}

// diffAnswer is the answer of GET diff. Ticks are those of logSubject.
type diffAnswer struct {
	A           uint64       `json:"a"`
	B           uint64       `json:"b"`
	With        string       `json:"with"`
	Total       int          `json:"total"`
	Truncated   bool         `json:"truncated"`
	Differences []difference `json:"differences"`
	First       string       `json:"first"`      // where two logs diverge, in the ticks of package replay
	FirstTick   *uint64      `json:"first_tick"` // the first tick here in which they differ
}

func (in *Inspector) diff(_ context.Context, r *Request, _ subject) Answer {
	l, c, err := in.parseComparison(r)
	if err != nil {
		return errorAnswer(err)
	}
	d := &l.diffs
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.results, func(r diffResult) bool { return r.comparison == c }); i >= 0 {
		a := d.results[i].answer
		if a.Status != 200 { // another request tries again
			d.results = slices.Delete(d.results, i, i+1)
		}
		return a
	}
	if d.closed {
		return errorAnswer(errClosed)
	}
	now := time.Now()
	if d.running == nil {
		ctx, cancel := context.WithCancel(context.Background())
		d.running = &diffJob{comparison: c, cancel: cancel, asked: now}
		d.done.Add(1)
		go in.compare(ctx, l, d.running)
	}
	progress := 0.0
	if j := d.running; j.comparison == c {
		j.asked, progress = now, j.progress
	} else if now.Sub(j.asked) > abandonAfter {
		j.cancel()
	}
	a := JSON(map[string]float64{"progress": progress})
	a.Status = 202
	return a
}

// close ends the comparison that runs.
func (d *diffs) close() {
	d.mu.Lock()
	d.closed = true
	if d.running != nil {
		d.running.cancel()
	}
	d.mu.Unlock()
	d.done.Wait()
}

func (in *Inspector) parseComparison(r *Request) (*logSubject, comparison, error) {
	var c comparison
	l := in.log("log")
	if l == nil {
		return nil, c, fault.Field(fault.ErrUnsupported, "inspector: diff without Config.Log", true)
	}
	if c.with = r.Query.Get("with"); c.with == "" {
		c.with = "log"
	}
	second := in.log(c.with)
	if second == nil {
		return nil, c, fault.Field(fault.ErrRange, "inspector: with", fmt.Sprintf("%.80q", c.with))
	}
	var errs [3]error
	var limit uint64
	c.a, errs[0] = wholeNumber(r.Query, "a", 0)
	c.b, errs[1] = wholeNumber(r.Query, "b", 0)
	limit, errs[2] = wholeNumber(r.Query, "limit", 1000)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, c, err
	}
	if limit < 1 || limit > maxDifferences {
		return nil, c, fault.Field(fault.ErrRange, "inspector: limit", limit)
	}
	c.limit = int(limit)
	return l, c, errors.Join(l.holds(c.a), second.holds(c.b))
}

// holds returns an error unless the log has the tick, or may have it.
func (s *logSubject) holds(tick uint64) error {
	s.control.Lock()
	defer s.control.Unlock()
	c := &s.shown.log
	if tick < c.first || c.complete && tick > c.last() {
		return s.outside(tick)
	}
	return nil
}

// compare runs a job.
func (in *Inspector) compare(ctx context.Context, l *logSubject, j *diffJob) {
	d := &l.diffs
	defer d.done.Done()
	defer j.cancel()
	var a *diffAnswer
	err := guarded(func() (err error) {
		a, err = in.compareSims(ctx, j, func(progress float64) {
			d.mu.Lock()
			defer d.mu.Unlock()
			j.progress = progress
		})
		return err
	})
	answer := JSON(a)
	if err != nil {
		answer = errorAnswer(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = nil
	if ctx.Err() != nil {
		return
	}
	if d.results = append(d.results, diffResult{j.comparison, answer}); len(d.results) > keptDiffs {
		d.results = slices.Delete(d.results, 0, 1)
	}
}

// compareSims lists the differences of two ticks.
func (in *Inspector) compareSims(ctx context.Context, j *diffJob, progress func(float64)) (*diffAnswer, error) {
	p := &pacer{report: progress, stages: 2}
	dirB := in.log(j.with).dir
	if j.with == "other" {
		p.stages = 3 // and what replay.Diff does
	}
	a, err := in.simAt(ctx, in.config.Log, j.a, p)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	p.stage++
	b, err := in.simAt(ctx, dirB, j.b, p)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	answer := &diffAnswer{A: j.a, B: j.b, With: j.with}
	answer.Differences, answer.Total = differences(a.Sim(), b.Sim(), j.limit, p.pause)
	answer.Truncated = answer.Total > len(answer.Differences)
	if j.with != "other" {
		return answer, nil
	}
	p.stage++
	first, err := replay.DiffContext(ctx, in.config.Log, dirB, in.config.Scenario, in.config.FS, func(tick uint64) { p.at(tick+1, max(j.a, j.b)) })
	if first != nil {
		answer.First = first.String()
		if err != nil {
			answer.First += "; " + err.Error()
		}
		tick := first.Tick + 1
		answer.FirstTick, err = &tick, ctx.Err()
	}
	return answer, err
}

// simAt returns a Player at a tick.
func (in *Inspector) simAt(ctx context.Context, dir string, tick uint64, p *pacer) (*replay.Player, error) {
	player, err := replay.Play(dir, in.config.Scenario, in.config.FS)
	if err != nil {
		return nil, err
	}
	if tick > 0 {
		err = player.SeekContext(ctx, tick-1, func(at uint64) { p.at(at+1, tick) })
	}
	if err != nil {
		return nil, errors.Join(err, player.Close())
	}
	return player, nil
}

// pacer reports progress, and lets others have the thread if there is only one.
type pacer struct {
	report        func(float64)
	stage, stages int
	last          time.Time
}

// at reports how much of a stage is done, now and then.
func (p *pacer) at(done, all uint64) {
	if time.Since(p.last) < slice {
		return
	}
	p.report((float64(p.stage) + min(1, float64(done)/float64(max(all, 1)))) / float64(p.stages))
	p.pause()
	p.last = time.Now()
}

func (p *pacer) pause() {
	if oneThread {
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
}
