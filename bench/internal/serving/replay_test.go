package serving

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/replay"
)

// logs runs a command on logs, and returns what it printed.
func logs(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := command.Run(args, &out, io.Discard)
	return out.String(), err
}

// All commands, one after the other, of a short run.
func TestLogCommands(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	branch := filepath.Join(t.TempDir(), "branch")
	table := filepath.Join(t.TempDir(), "log.csv")
	for _, c := range []struct {
		args []string
		says []string
		err  error
	}{
		{[]string{"record", "-ticks", "60", "-commands", "250", "-snapshots", "20", dir}, []string{"60 ticks, 250 commands", "bytes a command"}, nil},
		{[]string{"record", dir}, nil, command.ErrNoVerdict}, // there is a log
		{[]string{"replay", "verify", dir}, []string{"verified: 60 ticks and 250 inputs of capstone"}, nil},
		{[]string{"replay", "seek", dir, "-tick", "55"}, []string{"tick 55: hash ", "nearest snapshot"}, nil},
		{[]string{"replay", "seek", dir, "-tick", "60"}, nil, command.ErrNoVerdict},
		{[]string{"replay", "fork", "-tick", "30", "-ticks", "10", dir, branch}, []string{"after tick 30", "10 ticks"}, nil},
		{[]string{"replay", "verify", branch}, []string{"verified: 41 ticks"}, nil},
		{[]string{"replay", "diff", dir, dir}, []string{"equal"}, nil},
		{[]string{"replay", "diff", dir, branch}, nil, errVerdict},
		{[]string{"replay", "export", "-out", table, dir}, nil, nil},
		{[]string{"replay", "export", "-format", "trace", dir}, []string{`"tick 59"`}, nil},
		{[]string{"replay", "rollback", "-frames", "2", "-ticks", "20"}, []string{"going 2 ticks back", "36 ticks run again"}, nil},
		{[]string{"replay", "rollback", "-ticks", "5"}, nil, command.ErrNoVerdict},
		{[]string{"replay", "verify", branch + "x"}, nil, command.ErrNoVerdict},
	} {
		out, err := logs(t, c.args...)
		if !errors.Is(err, c.err) {
			t.Errorf("bench %v: %v, want %v", c.args, err, c.err)
		}
		for _, s := range c.says {
			if !strings.Contains(out, s) {
				t.Errorf("bench %v: %q does not say %q", c.args, out, s)
			}
		}
	}
	data, err := os.ReadFile(table)
	if err != nil || bytes.Count(data, []byte("\n")) != 1+60+250 {
		t.Errorf("%d lines, %v", bytes.Count(data, []byte("\n")), err)
	}
}

// A log that came out otherwise is a verdict; one that is damaged is none.
func TestLogVerdict(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	sc, err := loggedScene("capstone", evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := sc.New(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if i == 3 {
			sim.World.Position.X[7] += 1 // from outside: in no log
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := logs(t, "replay", "verify", dir); !errors.Is(err, errVerdict) || !strings.Contains(fmt.Sprint(err), "tick 3") {
		t.Errorf("%v; want a verdict on tick 3", err)
	}
	name := filepath.Join(dir, "segment-0000000000.evlog")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 1
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := logs(t, "replay", "verify", dir); !errors.Is(err, command.ErrNoVerdict) || errors.Is(err, errVerdict) {
		t.Errorf("%v; want no verdict", err)
	}
}

func TestLogUsage(t *testing.T) {
	for _, args := range []string{
		"record", "replay", "replay look x", "replay verify", "replay verify a b", "replay seek a", "replay fork a b",
		"record -scene arena x", "replay rollback -frames 0", "replay rollback x", "record -ticks 0 x", "record -workers 0 x", "replay export -format xml a", "record -level avx3 x", "replay verify -bogus x",
	} {
		if _, err := logs(t, strings.Fields(args)...); !errors.Is(err, command.ErrUsage) {
			t.Errorf("bench %s: %v, want bad usage", args, err)
		}
	}
	if _, err := logs(t, "record", "-h"); !errors.Is(err, flag.ErrHelp) {
		t.Error(err)
	}
}

// What a scene keeps is all in its snapshots.
func TestLoggedSceneSync(t *testing.T) {
	for _, name := range loggedScenes {
		sc, err := loggedScene(name, evertick.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var data [64][scenes.CommandBytes]byte
		err = replay.SyncTest(sc, 1, 12, func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
			for i := range uint64(4) {
				dst = append(dst, scenes.CommandAt(1, tick, 4*tick+i, &data[i]))
			}
			return dst, nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A command takes at most 40 bytes of the log, its share of the commits included.
func TestBytesOfCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	const ticks, commands = 305, 1280
	if _, err := logs(t, "record", "-ticks", fmt.Sprint(ticks), "-commands", fmt.Sprint(commands), "-snapshots", "0", dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "segment-0000000000.evlog"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 40*commands {
		t.Errorf("%d bytes for %d commands", info.Size(), commands)
	}
}
