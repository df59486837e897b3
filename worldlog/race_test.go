package worldlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// race is a log that several processes write one after the other, each until it closes the log or dies, while
// readers open, follow and seek it.
type race struct {
	*turns
	m       *memFS
	opt     Options
	begun   bool   // Create has returned
	ended   bool   // nothing more will be written
	written uint64 // ticks that no crash can take
	err     error  // the first promise that was broken
	// What was met, for the test that all of it is.
	crashes, torn, packed, refreshes, misses int
}

func (c *race) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// commit commits a tick whose content depends on the process, so that two processes write different bytes in its
// place.
func (c *race) commit(l *Log, tick uint64, process int) error {
	data := bytes.Repeat([]byte{byte(process)}, 1+c.intN(1500))
	for range c.intN(3) {
		if err := l.Append(&Record{Type: Input, Seq: tick, Data: data}); err != nil {
			return err
		}
	}
	return l.Commit(tick, hashOf(tick), Counts{})
}

// write runs the processes that write the log.
func (c *race) write() {
	defer func() { c.ended = true }()
	for n := range 2 + c.intN(3) {
		p := &process{memFS: c.m, turns: c.turns}
		opt := c.opt
		opt.FS = p
		if err := c.runProcess(n, p, opt); err != nil {
			c.fail("process %d: %w", n, err)
			return
		}
		if p.dead {
			c.crashes++
		}
	}
}

func (c *race) runProcess(n int, p *process, opt Options) error {
	var l *Log
	var err error
	next := uint64(0)
	if !c.begun {
		l, err = Create("log", testID, opt)
	} else {
		var report *Report
		if l, report, err = Recover("log", opt); err == nil && report.Ticks > 0 {
			next = report.Tick + 1
		}
	}
	if p.dead {
		return nil
	}
	if err != nil {
		return err
	}
	c.begun = true
	if next < c.written {
		return fmt.Errorf("%d ticks of %d that were written", next, c.written)
	}
	for range 4 + c.intN(16) {
		c.wait("game")
		if err = c.commit(l, next, n); err != nil {
			break
		}
		next++
	}
	err = errors.Join(err, l.Close())
	c.written = l.written.Load()
	c.packed += int(l.Stats().Packed)
	if p.dead {
		return nil
	}
	return err
}

// read opens readers until the log has ended, and one after that.
func (c *race) read() {
	p := &process{memFS: c.m, turns: c.turns}
	for last := false; c.err == nil && !last; {
		c.wait("read")
		last = c.ended
		c.follow(p)
	}
}

func (c *race) follow(p *process) {
	c.m.mu.Lock()
	begun := c.begun
	c.m.mu.Unlock()
	r, err := OpenReader("log", p)
	if err != nil {
		c.misses++
		if begun || !errors.Is(err, fs.ErrNotExist) {
			c.fail("OpenReader: %w", err)
		}
		return
	}
	defer r.Close()
	next := uint64(0)
	for range c.intN(8) {
		if c.intN(8) == 0 {
			next = uint64(c.intN(int(next) + 1))
			if err := r.Seek(next); err != nil {
				c.fail("Seek to tick %d: %w", next, err)
			}
		}
		for range 1 + c.intN(20) {
			t, err := r.Next()
			if errors.Is(err, ErrTorn) {
				c.torn++
			}
			if err != nil && unlessEnd(err) == nil {
				break
			}
			if err != nil {
				c.fail("tick %d: %w", next, err)
				return
			}
			if t.Tick != next || t.Hash != hashOf(next) {
				c.fail("tick %d where %d comes next", t.Tick, next)
				return
			}
			next++
		}
		c.refreshes++
		if err := r.Refresh(); err != nil {
			c.fail("Refresh after tick %d: %w", next, err)
			return
		}
	}
	if c.ended { // a reader that has followed the log has what one has that is opened now
		have, err := c.end(p)
		got, errNow := c.rest(r, next)
		if err != nil || errNow != nil || got != have || have < c.written {
			c.fail("after %d ticks a reader ends at %d (%w), another one at %d (%w), %d were written", next, got, errNow, have, err, c.written)
		}
	}
}

// rest reads on to the end, and returns the number of the tick after the last.
func (c *race) rest(r *Reader, next uint64) (uint64, error) {
	for refreshed := false; ; {
		_, err := r.Next()
		switch {
		case err == nil:
			next++
		case err != io.EOF && !errors.Is(err, ErrTorn) || refreshed:
			return next, unlessEnd(err)
		default:
			refreshed = true
			if err := r.Refresh(); err != nil {
				return next, err
			}
		}
	}
}

// end counts the ticks of a log that has ended.
func (c *race) end(p *process) (uint64, error) {
	r, err := OpenReader("log", p)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return c.rest(r, 0)
}

// Whatever the order in which the operations of a writer and of readers come, segments end and are packed, and
// processes die and are succeeded: a reader of a log that nobody has damaged never finds damage, gets each tick
// once and in order, and gets all that was written.
func TestReadersOfAHealthyLog(t *testing.T) {
	var sum race
	check := func(seed uint64) error {
		c := race{turns: &turns{rng: rand.New(rand.NewPCG(seed, 0))}, m: newMemFS()}
		c.opt = Options{Durability: EveryTick, SegmentTicks: 1 + uint64(c.intN(4)), Compress: c.intN(4) > 0, Buffer: minBuffer}
		if c.intN(3) == 0 {
			c.opt.Durability = None
		}
		synctest.Test(t, func(*testing.T) {
			go c.write()
			go c.read()
			c.run()
		})
		sum.crashes, sum.torn, sum.packed = sum.crashes+c.crashes, sum.torn+c.torn, sum.packed+c.packed
		sum.refreshes, sum.misses = sum.refreshes+c.refreshes, sum.misses+c.misses
		return c.err
	}
	for seed := range uint64(20) {
		if err := check(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d crashes, %d torn ends, %d segments packed, %d refreshes, %d times no log yet", sum.crashes, sum.torn, sum.packed, sum.refreshes, sum.misses)
	if sum.crashes == 0 || sum.torn == 0 || sum.packed == 0 || sum.refreshes == 0 || sum.misses == 0 {
		t.Error("not all cases were met")
	}
	sample(t, func(rt *rapid.T) {
		if err := check(rapid.Uint64().Draw(rt, "seed")); err != nil {
			rt.Fatal(err)
		}
	})
}

// unlessEnd returns err, unless that is the end of a log.
func unlessEnd(err error) error {
	if err == io.EOF || errors.Is(err, ErrTorn) {
		return nil
	}
	return err
}
