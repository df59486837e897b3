package worldlog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// rivals are writers of one log, each of which takes it although the one before still runs: the file LOCK is
// removed again and again.
type rivals struct {
	*turns
	m         *memFS
	opt       Options
	confirmed map[uint64]uint64 // hashes of the ticks that a writer has called durable
	err       error             // the first promise that was broken
	// What was met.
	writers, refused int
}

func (c *rivals) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// write is writer n. It begins the next one some time after it has removed the lock.
func (c *rivals) write(n int) {
	p := &process{memFS: c.m, turns: c.turns, safe: true}
	opt := c.opt
	opt.FS = p
	l, first, err := c.open(n, opt)
	c.writers++
	if err != nil { // it has found files that the writer before was just about to rename or to remove
		c.refused++
		return
	}
	noted := first
	hash := func(tick uint64) uint64 { return tick<<8 | uint64(n) }
	note := func() {
		for durable := l.durable.Load(); noted < durable; noted++ {
			c.confirmed[noted] = hash(noted)
		}
	}
	end := first + 4 + uint64(c.intN(20))
	removal := first + uint64(c.intN(int(end-first)))
	for tick := first; tick < end && err == nil; tick++ {
		c.wait("game")
		note()
		if tick == removal && n < 3 {
			delete(c.m.names, "log/"+lockName)
			go c.write(n + 1)
		}
		if err = l.Append(&Record{Type: Input, Seq: tick, Data: make([]byte, 1+c.intN(100))}); err == nil {
			err = l.Commit(tick, hash(tick), Counts{})
		}
		if err == nil && c.intN(4) == 0 {
			err = l.Sync()
		}
	}
	err = errors.Join(err, l.Close())
	note()
	if err == nil {
		return
	}
	c.refused++
	if !errors.Is(err, ErrPoisoned) {
		c.fail("writer %d: %w", n, err)
	}
}

// open creates the log, or recovers it, and returns the next tick.
func (c *rivals) open(n int, opt Options) (*Log, uint64, error) {
	if n == 0 {
		l, err := Create("log", testID, opt)
		return l, 0, err
	}
	l, report, err := Recover("log", opt)
	if err != nil || report.Ticks == 0 {
		return l, 0, err
	}
	return l, report.Tick + 1, nil
}

// verdict reads the log: no tick that any writer has called durable may be missing, or another one.
func (c *rivals) verdict() error {
	if c.err != nil {
		return c.err
	}
	found := map[uint64]uint64{}
	r, err := OpenReader("log", c.m)
	if err == nil {
		var t *Tick
		for t, err = r.Next(); err == nil; t, err = r.Next() {
			found[t.Tick] = t.Hash
		}
	}
	for tick, hash := range c.confirmed {
		if found[tick] != hash {
			return fmt.Errorf("tick %d of writer %d was durable, the log has %x: %w", tick, hash&0xff, found[tick], err)
		}
	}
	return nil
}

// However the operations of two writers come, of which one has lost its lock: no tick that either of them has called
// durable is lost or replaced, and the one that has lost the lock calls nothing durable any more.
func TestLostLocks(t *testing.T) {
	var writers, refused int
	check := func(seed uint64) error {
		c := rivals{turns: &turns{rng: rand.New(rand.NewPCG(seed, 0))}, m: newMemFS(), confirmed: map[uint64]uint64{}}
		c.opt = Options{SegmentTicks: 1 + uint64(c.intN(6)), Compress: c.intN(2) > 0, Durability: Durability(c.intN(2) + 1), Buffer: minBuffer}
		synctest.Test(t, func(*testing.T) {
			go c.write(0)
			c.run()
		})
		writers, refused = writers+c.writers, refused+c.refused
		return c.verdict()
	}
	// With the last seed two writers make files of the same name at the same time.
	for _, seed := range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x1945} {
		if err := check(seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d writers, %d refused", writers, refused)
	if refused == 0 || refused == writers {
		t.Error("not all cases were met")
	}
	sample(t, func(rt *rapid.T) {
		if err := check(rapid.Uint64().Draw(rt, "seed")); err != nil {
			rt.Fatal(err)
		}
	})
}

// The same with the locks of the operating system. The error says which ticks are not confirmed.
func TestLockRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	first, err := Create(dir, testID, Options{Durability: None})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, first, 0, 20)
	if err := first.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Recover(dir, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("with its lock: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	second, report, err := Recover(dir, Options{})
	if err != nil || report.Ticks != 20 {
		t.Fatalf("%+v, %v", report, err)
	}
	feed(t, first, 20, 70) // these go nowhere
	feed(t, second, 20, 40)
	if err := second.Sync(); err != nil {
		t.Fatal(err)
	}
	err = first.Sync()
	if !errors.Is(err, ErrPoisoned) || !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "after durable tick 19, ticks 20 to 69 are not confirmed: LOCK was removed or replaced") {
		t.Errorf("Sync without the lock: %v", err)
	}
	if err := first.Close(); !errors.Is(err, ErrPoisoned) {
		t.Errorf("Close without the lock: %v", err)
	}
	feed(t, second, 40, 60)
	closeLog(t, second)
	if next, err := readBack(nil, dir, 0); next != 60 || err != nil {
		t.Errorf("%d ticks, %v", next, err)
	}
}
