// Package serving is what command bench/serve adds to bench: scenes that serve clients, relays and many worlds, and the
// commands on logs.
package serving

import (
	"flag"
	"io"
	"os"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/native"
)

// options are the flags of a scene of this package.
type options struct {
	*command.Options
	*serveOptions
}

func init() {
	command.OwnFlags = func(f *flag.FlagSet) any {
		o := &serveOptions{}
		f.IntVar(&o.clients, "clients", 100, "clients, relays: `number` of them; of each relay (default 1,000)")
		f.IntVar(&o.hz, "hz", 60, "clients, relays, host: `ticks` a second, and updates")
		f.IntVar(&o.visible, "visible", 100, "clients, relays: mean `number` of walkers that a client sees; -n or more: all")
		f.Float64Var(&o.slow, "slow", 0.1, "clients, relays: `share` of the clients that read 1 kB/s; relays: none by default")
		f.IntVar(&o.decode, "decode", 16, "clients, relays: `number` of clients that decode their updates; the others count them")
		f.BoolVar(&o.lead, "lead", false, "clients: clients stamp their inputs for the tick that their estimate of the lead says")
		f.IntVar(&o.relays, "relays", 10, "relays: `number` of processes that follow the log")
		f.IntVar(&o.players, "players", 1000, "relays: `number` of walkers whose inputs the log has")
		return o
	}
	command.Commands["record"], command.Commands["replay"] = runRecord, runReplay
	command.Commands[joinCommand] = func(_ []string, stdout, _ io.Writer) error { return runJoin(os.Stdin, stdout) }
	command.Commands[relayCommand] = func(_ []string, stdout, stderr io.Writer) error { return runRelay(os.Stdin, stdout, stderr) }
}

// checks and runs make functions of a scene from methods of options.

func checks(f func(o *options, given map[string]bool) error) func(*command.Options, map[string]bool) error {
	return func(o *command.Options, given map[string]bool) error { return f(optionsOf(o), given) }
}

func runs(f func(o *options, level native.Level, stdout, stderr io.Writer) error) func(*command.Options, native.Level, io.Writer, io.Writer) error {
	return func(o *command.Options, level native.Level, stdout, stderr io.Writer) error {
		return f(optionsOf(o), level, stdout, stderr)
	}
}

func optionsOf(o *command.Options) *options { return &options{o, o.Own.(*serveOptions)} }
