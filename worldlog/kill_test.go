package worldlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/paritytest"
)

// childVar makes the test binary a writer: "durability directory".
const childVar = "EVERTICK_TEST_WORLDLOG"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		if err := child(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func killOptions(d Durability) Options {
	return Options{Durability: d, Interval: 3 * time.Millisecond, SegmentBytes: 20_000, Compress: true, KeepSnapshots: 3, Buffer: minBuffer}
}

// child continues the log, or begins it, and prints the tick after each that has
// become durable, until it is killed.
func child(job string) error {
	var d Durability
	name, dir, _ := strings.Cut(job, " ")
	for d.String() != name {
		d++
	}
	next := uint64(0)
	l, report, err := Recover(dir, killOptions(d))
	if errors.Is(err, os.ErrNotExist) {
		l, err = Create(dir, testID, killOptions(d))
	} else if err == nil && report.Ticks > 0 {
		next = report.Tick + 1
	}
	if err != nil {
		return err
	}
	reported := uint64(0)
	for ; ; next++ {
		if err := feedTick(l, next); err != nil {
			return err
		}
		if next%64 == 0 {
			if err := l.WriteSnapshot(next, hashOf(next), stateOf(next)); err != nil && !errors.Is(err, ErrBusy) {
				return err
			}
		}
		durable := l.durable.Load() // first, so that it is the smaller one
		written := l.written.Load()
		if durable > reported {
			reported = durable
			fmt.Println(written, durable)
		}
		if d == None {
			fmt.Println(written, durable)
		}
		time.Sleep(20 * time.Microsecond)
	}
}

// A writer that is killed at any moment leaves every tick that it has reported
// durable or written, whole; its successor goes on from there.
func TestKill(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not run: takes seconds")
	}
	kills := 15 // under each durability
	if long {
		kills = 400
	}
	seed := paritytest.Seed()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, d := range []Durability{EveryTick, Interval, None} {
		var dir string
		total, cut, ticks := 0, 0, uint64(0)
		for k := range kills {
			if k%20 == 0 || !long && k%5 == 0 { // then a new log, so that its beginning is tried too
				dir = t.TempDir()
			}
			reported, err := kill(d, dir, time.Duration(rng.IntN(40_000))*time.Microsecond)
			if err != nil {
				t.Fatalf("%v, kill %d: %v", d, k, err)
			}
			l, report, err := Recover(dir, killOptions(d))
			if errors.Is(err, os.ErrNotExist) && reported == 0 {
				continue
			}
			if err != nil {
				t.Fatalf("%v, kill %d: %v", d, k, err)
			}
			closeLog(t, l)
			next, err := readBack(nil, dir, 0)
			if err != nil || next != report.Ticks || next < reported {
				t.Fatalf("%v, kill %d: %d ticks (%v), %d were reported; %+v", d, k, next, err, reported, report)
			}
			for _, tick := range report.Snapshots {
				if s, err := LoadSnapshot(dir, nil, tick); err != nil || s.Hash != hashOf(tick) || string(s.Data) != string(stateOf(tick)) {
					t.Fatalf("%v, kill %d: snapshot of tick %d: %v", d, k, tick, err)
				}
			}
			total++
			if ticks += next; report.Cut != nil {
				cut++
			}
		}
		t.Logf("%v: %d logs left by a kill, %d torn, %d ticks checked", d, total, cut, ticks)
	}
}

// kill runs a writer for a while after its first sign of life, and returns how
// many ticks it has reported as written.
func kill(d Durability, dir string, after time.Duration) (uint64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVar+"="+d.String()+" "+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	stop := time.AfterFunc(10*time.Millisecond+after, func() { cmd.Process.Kill() })
	defer func() {
		stop.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	}()
	var written, durable, last uint64
	for in := bufio.NewReader(out); ; {
		line, err := in.ReadString('\n')
		if err == io.EOF { // a line that was cut off is no report
			break
		}
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Sscan(line, &written, &durable); err != nil || written < durable {
			return 0, fmt.Errorf("the writer says %q (%v)", line, err)
		}
		last = max(last, written)
	}
	if cmd.Wait(); stderr.Len() > 0 {
		return 0, errors.New(stderr.String())
	}
	return last, nil
}
