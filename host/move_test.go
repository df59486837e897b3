package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

// movedTicks is the number of ticks that the second process runs of each world.
const movedTicks = 200

// asReceiver names the folder from which this binary, as the second process, takes worlds.
const asReceiver = "EVERTICK_TEST_HOST_RECEIVER"

// arrived is what the second process reports of a world: the hash after each tick.
type arrived struct {
	Name   string
	First  uint64 // tick
	Hashes []uint64
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(asReceiver); dir != "" {
		if err := receive(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func logOf(dir, name string) string { return filepath.Join(dir, name+".log") }

// receive is the second process: it hosts the worlds of a folder for some ticks, and writes their hashes.
func receive(dir string) error {
	var all []host.Saved
	text, err := os.ReadFile(filepath.Join(dir, "worlds.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return err
	}
	h, err := host.New(host.Config{Workers: 2, Budget: 100})
	if err != nil {
		return err
	}
	hashes := make(chan arrived, len(all))
	for _, s := range all {
		if err := continueWorld(h, dir, s, hashes); err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	for range all {
		select {
		case a := <-hashes:
			if err := out.Encode(a); err != nil {
				return err
			}
		case <-time.After(time.Minute):
			return errors.New("the worlds do not run")
		}
	}
	return h.Close()
}

// continueWorld adds a world, which reports its hashes.
func continueWorld(h *host.Host, dir string, s host.Saved, hashes chan<- arrived) (err error) {
	w := host.World{Name: s.Name, Scenario: walkers, Seed: s.Seed, Snapshot: s.Snapshot, Weight: s.Weight, EstimateNs: 1}
	if s.Recorded {
		w.Recorder, w.Sim, _, err = replay.Resume(logOf(dir, s.Name), walkers, replay.Options{})
	} else if w.Sim, err = walkers.New(s.Seed); err == nil {
		err = w.Sim.Restore(s.Snapshot)
		w.Snapshot = nil
	}
	if err != nil {
		return err
	}
	a := arrived{Name: s.Name, First: s.Ticks}
	w.Sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		if a.Hashes = append(a.Hashes, t.Sim.Hash()); len(a.Hashes) == movedTicks {
			hashes <- arrived{a.Name, a.First, a.Hashes}
		}
		return nil
	}})
	return h.Add(w)
}

// Worlds move to another process, with the inputs that wait and with their logs, and go on as twins do that did not move.
func TestMoveToAnotherProcess(t *testing.T) {
	const before, late = 60, 90 // ticks in this process, and the tick of an input that waits then
	dir := t.TempDir()
	clock := new(loop.ManualClock)
	h := newHost(t, host.Config{Workers: 2, Budget: 100, Clock: clock})
	inputs := []evertick.Input{{Tick: 3, Seq: 1, Data: []byte{7}}, {Tick: late, Seq: 2, Data: []byte{9}}}
	for i := range 4 {
		w := host.World{Name: fmt.Sprint("world ", i), Scenario: walkers, Seed: uint64(i), Weight: 1 + i, EstimateNs: 1}
		var err error
		if i%2 == 0 {
			if w.Sim, err = walkers.New(w.Seed); err == nil {
				w.Recorder, err = replay.Record(logOf(dir, w.Name), walkers.Name, w.Sim, replay.Options{SnapshotTicks: 20})
			}
		}
		if err = errors.Join(err, h.Add(w)); err != nil {
			t.Fatal(err)
		}
		for _, in := range inputs {
			if err := h.Push(w.Name, in); err != nil {
				t.Fatal(err)
			}
		}
	}
	var s host.Stats
	for tick := range uint64(before) {
		clock.Add(int64(time.Second)/480 + 1)
		until(t, "all worlds have run the tick", func() bool {
			h.Stats(&s)
			return !slices.ContainsFunc(s.Worlds, func(w host.WorldStats) bool { return w.Ticks <= tick })
		})
	}
	var all []host.Saved
	save := func(s host.Saved) error {
		if s.Ticks != before || s.Recorded != (s.Seed%2 == 0) || s.Weight != int(s.Seed)+1 {
			t.Errorf("saved %q: %d ticks, weight %d, recorded: %t", s.Name, s.Ticks, s.Weight, s.Recorded)
		}
		if err := h.Push(s.Name, inputs[0]); err == nil {
			t.Errorf("world %q has left and takes an input", s.Name)
		}
		all = append(all, s)
		return nil
	}
	if err := h.Drain(t.Context(), save); err != nil || len(all) != 4 {
		t.Fatalf("%d worlds saved, %v", len(all), err)
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "worlds.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	runReceiver(t, dir, func(a arrived) {
		seen++
		i := slices.IndexFunc(all, func(s host.Saved) bool { return s.Name == a.Name })
		if i < 0 || a.First != before || len(a.Hashes) != movedTicks {
			t.Fatalf("%q: %d hashes from tick %d", a.Name, len(a.Hashes), a.First)
		}
		compareWithTwin(t, all[i].Seed, inputs, a)
	})
	if seen != len(all) {
		t.Errorf("%d worlds arrived", seen)
	}
	for _, s := range all { // the log has the ticks of both processes
		if !s.Recorded {
			continue
		}
		rep, err := replay.Verify(logOf(dir, s.Name), walkers, replay.VerifyOptions{})
		if err != nil || rep.Ticks < before+movedTicks || rep.Inputs != 2 {
			t.Errorf("log of %q: %+v, %v", s.Name, rep, err)
		}
	}
}

// compareWithTwin compares the hashes of each tick with those of a Sim that ran alone.
func compareWithTwin(t *testing.T, seed uint64, inputs []evertick.Input, a arrived) {
	t.Helper()
	twin, err := walkers.New(seed)
	for _, in := range inputs {
		err = errors.Join(err, twin.Push(in))
	}
	if err = errors.Join(err, twin.StepN(a.First)); err != nil {
		t.Fatal(err)
	}
	for i, hash := range a.Hashes {
		if err := twin.Step(); err != nil {
			t.Fatal(err)
		}
		if twin.Hash() != hash {
			t.Fatalf("%q: hash %016x after tick %d, the twin has %016x", a.Name, hash, a.First+uint64(i), twin.Hash())
		}
	}
}

// runReceiver starts this binary as the second process.
func runReceiver(t *testing.T, dir string, each func(arrived)) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("not run: the second process: there are no processes in WebAssembly")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), asReceiver+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("not run: the second process: this binary runs in an emulator only")
	} else if err != nil {
		t.Fatal(err)
	}
	for from := json.NewDecoder(out); from.More(); {
		var a arrived
		if err := from.Decode(&a); err != nil {
			t.Fatal(err)
		}
		each(a)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
