package serving

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/evertick/evertick/bench/internal/command"
)

func TestRelays(t *testing.T) {
	t.Parallel() // it waits for ticks
	out := runRelayScene(t, "-n", "200", "-relays", "2", "-clients", "6", "-players", "20", "-hz", "50", "-decode", "6", "-ticks", "40", "-warmup", "8", "-json")
	var got struct{ Relays relaysReport }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := &got.Relays
	if r.Relays != 2 || r.Viewers != 6 || r.Entities != 200 || r.Players != 20 || r.Hz != 50 || r.Ticks != 32 || r.MasterCPU <= 0 || r.Reached <= 0 {
		t.Errorf("%+v", r)
	}
	if r.Visible < 50 || r.Visible > 150 { // six views, of a mean of 100
		t.Errorf("%v in view", r.Visible)
	}
	if len(r.Each) != 2 {
		t.Fatalf("%d relays", len(r.Each))
	}
	for i, s := range r.Each {
		if s.FollowCPU <= 0 || s.ServeCPU <= 0 || s.Cores <= 0 || s.LogRate <= 0 || s.ViewRate <= 0 || s.PerViewer <= 0 {
			t.Errorf("relay %d: a cost is missing: %+v", i, s)
		}
		if s.Behind.P50 < 1 || s.Behind.Max < s.Behind.P95 || s.Age.P50 <= 0 || s.Receipt.P50 <= 0 {
			t.Errorf("relay %d: %+v", i, s)
		}
		if s.Compared < r.Ticks || s.Expected != 6*32 || s.Missed >= s.Expected {
			t.Errorf("relay %d: %d hashes, %d of %d frames missed", i, s.Compared, s.Missed, s.Expected)
		}
	}
}

func TestRelaysText(t *testing.T) {
	t.Parallel()
	text := runRelayScene(t, "-n", "50", "-relays", "1", "-clients", "4", "-slow", "0.25", "-players", "0", "-visible", "50", "-hz", "30", "-ticks", "20", "-warmup", "5")
	for _, part := range []string{"1 relays with 4 viewers each, of 50 walkers, 0 of them with inputs, 50.0 in view", "follow ms", "log kB/s", "behind p50", "hashes with the log"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// runRelayScene runs the scene, with this binary as the processes of relays and clients.
func runRelayScene(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	err := command.Run(append([]string{"-scene", relaysScene}, args...), &out, os.Stderr)
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("not run: relays as child processes: this binary runs in an emulator only")
	}
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}
