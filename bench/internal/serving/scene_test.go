package serving

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/bench/internal/pages"
)

// asCommand makes the test binary behave as the command, for the processes that scenes start.
const asCommand = "EVERTICK_SERVE_AS_COMMAND"

func TestMain(m *testing.M) {
	command.SimPage, LogPage = pages.Sim, pages.Log
	if os.Getenv(asCommand) != "" {
		command.Main()
		os.Exit(0)
	}
	os.Setenv(asCommand, "1") // for child processes
	os.Exit(m.Run())
}

// mustRun runs the command in this process.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := command.Run(args, &out, io.Discard); err != nil {
		t.Fatalf("serve %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

func TestBadFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string
	}{
		{"-scene clients -clients 0", []string{"-clients 0"}},
		{"-scene clients -n 5 -clients 6", []string{"-clients 6", "-n 5"}},
		{"-scene clients -n 5,6", []string{"-n", "queries"}},
		{"-scene clients -n 0", []string{"-n 0"}},
		{"-scene clients -hz 0", []string{"-hz 0"}},
		{"-scene clients -visible 0", []string{"-visible 0"}},
		{"-scene clients -slow 1", []string{"-slow 1"}},
		{"-scene clients -slow nan", []string{"-slow NaN"}},
		{"-scene clients -decode 0", []string{"-decode 0"}},
		{"-scene clients -ticks 5 -warmup 5", []string{"-warmup 5"}},
		{"-scene clients -budget 1s", []string{"-budget", "clients"}},
		{"-scene clients -relays 2", []string{"-relays", "clients"}},
		{"-scene relays -relays 0", []string{"-relays 0"}},
		{"-scene relays -n 5 -clients 5 -players 6", []string{"-players 6", "-n 5"}},
		{"-scene relays -clients 0", []string{"-clients 0"}},
		{"-scene relays -lead", []string{"-lead", "relays"}},
		{"-scene host -n 0", []string{"-n 0"}},
		{"-scene host -n 5,6", []string{"-n", "queries"}},
		{"-scene host -hz 0", []string{"-hz 0"}},
		{"-scene host -ticks 5 -warmup 5", []string{"-warmup 5"}},
		{"-scene host -visible 5", []string{"-visible", "host"}},
		{"-scene arena -clients 4", []string{"-clients", "arena"}},
	} {
		var out bytes.Buffer
		err := command.Run(strings.Fields(c.args), &out, io.Discard)
		if !errors.Is(err, command.ErrUsage) {
			t.Errorf("serve %s: %v, want bad usage", c.args, err)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("serve %s: %q does not say %q", c.args, err, part)
			}
		}
		if out.Len() > 0 {
			t.Errorf("serve %s: printed %q before the error", c.args, out.String())
		}
	}
}

func TestHelpHasOwnFlags(t *testing.T) {
	var usage bytes.Buffer
	command.Run([]string{"-h"}, io.Discard, &usage)
	for _, name := range []string{"-clients", "-hz", "-visible", "-slow", "-decode", "-lead", "-relays", "-players"} {
		if !strings.Contains(usage.String(), name) {
			t.Errorf("the usage lacks %s", name)
		}
	}
}
