//go:build unix

package jetstream

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// Server, master and follower are killed at random moments, one of them at a time, and started again. Nothing is lost that
// the log of the master holds, and the follower ends in the same state.
func TestKill(t *testing.T) {
	tr := newTrio(t, nil)
	r := loop.NewRand(paritytest.Seed(), 0, 0, 0)
	var killed [3]int
	for i := range 3 * shortened(100, 5) {
		time.Sleep(time.Duration(r.Uint64()%60) * time.Millisecond)
		victim := []*process{tr.server, tr.master, tr.follower}[i%3]
		victim.kill()
		victim.start()
		killed[i%3]++
		if r.Uint64()%2 == 0 { // the next one dies while this one begins
			continue
		}
		victim.ready()
	}
	t.Logf("killed %d servers, masters and followers; the master has run %d ticks", killed, tr.master.status().Ticks)
	tr.server.ready()
	tr.master.ready()
	tr.follower.ready()
	tr.finish()
}

// The connection of a master is blocked: its Sim goes on, and what it has run is shipped afterwards. Meanwhile the follower
// does not claim to be in step.
func TestPartitionOfTheMaster(t *testing.T) {
	var cut *proxy
	tr := newTrio(t, func(role, address string) string {
		if role != "master" {
			return address
		}
		cut = newProxy(t, address)
		return cut.address()
	})
	tr.follower.await("in step", func(s status) bool { return s.InStep })
	cut.block(true)
	before := tr.master.status()
	time.Sleep(time.Duration(shortened(10, 3)) * time.Second)
	during := tr.master.await("behind", func(s status) bool { return s.Behind > 0 })
	if during.Ticks < before.Ticks+100 || during.Behind < 50 {
		t.Errorf("the master was at %+v, and is at %+v: its Sim has waited", before, during)
	}
	tr.follower.await("not in step", func(s status) bool { return !s.InStep })
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		if at := tr.follower.status(); at.InStep {
			t.Fatalf("in step with a master that nobody hears: %+v", at)
		}
	}
	cut.block(false)
	tr.follower.await("in step again, with what was run meanwhile", func(s status) bool { return s.InStep && s.Ticks > during.Ticks })
	tr.finish()
}

// The connection of a follower is blocked: it says that it is not in step, and catches up afterwards.
func TestPartitionOfTheFollower(t *testing.T) {
	var cut *proxy
	tr := newTrio(t, func(role, address string) string {
		if role != "follower" {
			return address
		}
		cut = newProxy(t, address)
		return cut.address()
	})
	tr.follower.await("in step", func(s status) bool { return s.InStep })
	cut.block(true)
	time.Sleep(time.Duration(shortened(10, 3)) * time.Second)
	tr.follower.await("not in step", func(s status) bool { return !s.InStep })
	at := tr.master.status()
	cut.block(false)
	tr.follower.await("in step again", func(s status) bool { return s.InStep && s.Ticks > at.Ticks })
	tr.finish()
}

// A follower that stands still for seconds, and is slow to read, catches up.
func TestSlowFollower(t *testing.T) {
	tr := newTrio(t, nil)
	for range shortened(5, 2) {
		tr.follower.signal(syscall.SIGSTOP)
		time.Sleep(1500 * time.Millisecond)
		at := tr.master.status()
		tr.follower.signal(syscall.SIGCONT)
		tr.follower.await("as far as the master was", func(s status) bool { return s.Ticks >= at.Ticks })
	}
	tr.finish()
}

// The server comes back with a store that is older than what it has confirmed.
func TestOlderStore(t *testing.T) {
	tr := newTrio(t, nil)
	older := t.TempDir() + "/copy"
	copyStore := func(from, to string) {
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	restart := func(swap func()) {
		tr.server.in.Close()
		<-tr.server.done
		tr.server.kill()
		swap()
		tr.server.start()
		tr.server.ready()
	}
	tr.follower.await("some ticks", func(s status) bool { return s.Ticks > 100 })
	restart(func() { copyStore(tr.store, older) })
	at := tr.follower.status()
	tr.follower.await("more ticks", func(s status) bool { return s.Ticks > at.Ticks+200 })
	restart(func() {
		if err := os.RemoveAll(tr.store); err != nil {
			t.Fatal(err)
		}
		copyStore(older, tr.store)
	})
	at = tr.master.status()
	tr.follower.await("what the master has run since", func(s status) bool { return s.Ticks > at.Ticks+200 })
	tr.finish()
}

// The disk of the server is full for a while. The Sim goes on, and all of it is shipped once there is room again.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("not run: a full disk of the server: mount: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", disk).Run() })
	tr := newTrioAt(t, disk, nil)
	full := tr.master.await("the stream lacks many ticks", func(s status) bool { return s.Behind > 300 })
	time.Sleep(time.Second)
	if now := tr.master.status(); now.Ticks <= full.Ticks {
		t.Errorf("the Sim has waited: %+v, then %+v", full, now)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=256m", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tr.server.kill() // a server that could not write may have switched JetStream off
	tr.server.start()
	tr.server.ready()
	tr.follower.await("more ticks than when the disk was full", func(s status) bool { return s.Ticks > full.Ticks })
	tr.finish()
}
