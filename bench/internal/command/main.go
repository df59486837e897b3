// Package command is what the commands bench and bench/serve do.
package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
)

type options struct {
	scene             string
	ticks             int
	warmup            int
	seed              uint64
	level             string
	workers           int
	json              bool
	hashes            string
	info, list        bool
	quick             bool
	csv               string
	n                 int
	ns, qs            sizes
	rs                lengths
	bodies            int
	spread            string
	compare           string
	scale             bool
	budget            time.Duration
	ladder            string
	out               string
	baseline          string
	pin               int // CPU; -1: none
	hardware          bool
	paced, causes     bool
	sleep, continuous bool // of scenes of bodies alone
	viewed            bool
	addr              string // of the page
	clientsOptions

	command string        // that repeats the run
	params  scenes.Params // of a simulation
}

// errUsage marks errors in the command line.
var errUsage = errors.New("bad usage")

// Main runs a command with the arguments of the program, and exits if it fails. pages are nil for a command that has none.
func Main(p *Pages) {
	pages = p
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage) || errors.Is(err, errNoVerdict):
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && (args[0] == "record" || args[0] == "replay") {
		return runLogs(args, stdout, stderr)
	}
	if len(args) > 0 && args[0] == "compare" {
		return runCompare(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == joinCommand {
		return runJoin(os.Stdin, stdout)
	}
	if len(args) > 0 && args[0] == relayCommand {
		return runRelay(os.Stdin, stdout, stderr)
	}
	o := &options{command: commandOf(args)}
	s, err := o.parse(args, stderr)
	if err != nil {
		return err
	}
	switch {
	case o.list:
		writeList(stdout)
		return nil
	case o.info:
		_, err := fmt.Fprintf(stdout, "%s\n%s\n", profile.ThisEnvironment(), pacingInfo())
		return errors.Join(err, native.Info().Err)
	}
	level := native.Auto
	if slices.Contains(s.flags, "level") {
		if level, err = chooseLevel(o.level); err != nil {
			return err
		}
	}
	if o.viewed {
		if pages == nil {
			return fmt.Errorf("%w: -view: this command has no pages; go run ./bench/serve %s", errUsage, strings.TrimPrefix(o.command, profiler))
		}
		ctx, stop := interruptible()
		defer stop()
		return o.view(ctx, s, level, stdout)
	}
	if o.scale {
		return o.runScale(s.size, level, stdout, stderr)
	}
	return s.run(o, level, stdout, stderr)
}

// parse reads the flags and returns the scene, which provides the values of flags that are left
// out.
func (o *options) parse(args []string, stderr io.Writer) (*scene, error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the error, once
	f.BoolVar(&o.list, "list", false, "print all scenes with their flags, and exit")
	f.StringVar(&o.scene, "scene", "capstone", "what to measure: one of -list")
	ops := f.Bool("ops", false, "short for -scene ops")
	f.IntVar(&o.ticks, "ticks", 0, "ticks to run, warm-up included (default: depends on the scene)")
	f.IntVar(&o.warmup, "warmup", 0, "ticks that are not measured (default: depends on the scene; at most half of -ticks)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the scene's random numbers")
	f.StringVar(&o.level, "level", "auto", "level of the kernels: auto, go, c, avx2, avx512 or neon")
	f.IntVar(&o.workers, "workers", 1, "workers of the phases that can use several")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.hashes, "hashes", "", "write the hash of every column after every tick to this `file`")
	f.BoolVar(&o.info, "info", false, "print which kernels run here, and exit")
	f.BoolVar(&o.quick, "quick", false, "fewer rounds, and no large sets")
	f.StringVar(&o.csv, "csv", "", "also write every figure to this `file`")
	f.Var(&o.ns, "n", "`size` of the scene; host: at most so many worlds; of queries several, 2256,16384 for a table over -n, -q and -r")
	f.Var(&o.qs, "q", "clusters: `queries` in a tick; queries: in a batch, several")
	f.Var(&o.rs, "r", "swarm, clusters: `radius` of perception in m; queries: several")
	f.IntVar(&o.bodies, "bodies", 0, "swarm: `number` of bodies of an arena in the same world, which boids perceive, too")
	f.StringVar(&o.spread, "spread", "", "swarm: distribution of the boids: "+strings.Join(scenes.Spreads, ", ")+" (default "+scenes.Spreads[0]+")")
	f.BoolVar(&o.sleep, "sleep", false, "bodies at rest fall asleep, also in scenes that are not about that")
	f.StringVar(&o.compare, "compare", "", "run the `engine` "+engineBox2D+" beside ours, by turns")
	f.BoolVar(&o.scale, "scale", false, "double the size until the budget is exceeded, and report cost against size")
	f.BoolVar(&o.viewed, "view", false, "bench/serve: run the scene at 60 Hz, without measuring, and print the address of a page that looks into it, until Ctrl-C")
	f.StringVar(&o.addr, "addr", usualAddr, "view: `address` of the page")
	f.DurationVar(&o.budget, "budget", 0, "time for p95 of a step, as in 4ms; the exit status is 1 if it takes longer (default: that of 60 Hz, and no such status)")
	f.StringVar(&o.ladder, "ladder", ladderAuto, "compare the levels by turns in the same run: auto (if it takes less than 2 s), on or off")
	f.StringVar(&o.out, "out", "", "write summary.json, steps.csv, bench.txt, trace.json and report.html into this `directory`, or "+outNone+" (default out/SCENE, with -json "+outNone+")")
	f.StringVar(&o.baseline, "baseline", "", "compare with the run that -out wrote to this `directory`")
	f.IntVar(&o.pin, "pin", -1, "run the steps on this `CPU`")
	f.BoolVar(&o.hardware, "hardware", false, "count instructions, cycles and misses, where the system allows")
	f.BoolVar(&o.paced, "paced", false, "run steps when they are due, at 60 Hz, by turns with steps back to back, and report how late they are")
	f.BoolVar(&o.causes, "causes", false, "with -paced: more turns, each without one cause of longer paced steps")
	f.BoolVar(&o.continuous, "continuous", false, "continuous collision, also in scenes that are not about that; without -compare by turns with a run without it")
	f.IntVar(&o.clients, "clients", 100, "clients, relays: `number` of them; of each relay (default 1,000)")
	f.IntVar(&o.hz, "hz", 60, "clients, relays, host: `ticks` a second, and updates")
	f.IntVar(&o.visible, "visible", 100, "clients, relays: mean `number` of walkers that a client sees; -n or more: all")
	f.Float64Var(&o.slow, "slow", 0.1, "clients, relays: `share` of the clients that read 1 kB/s; relays: none by default")
	f.IntVar(&o.decode, "decode", 16, "clients, relays: `number` of clients that decode their updates; the others count them")
	f.BoolVar(&o.lead, "lead", false, "clients: clients stamp their inputs for the tick that their estimate of the lead says")
	f.IntVar(&o.relays, "relays", 10, "relays: `number` of processes that follow the log")
	f.IntVar(&o.players, "players", 1000, "relays: `number` of walkers whose inputs the log has")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(stderr)
			f.Usage()
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%w: argument %q: flags only", errUsage, f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	if *ops {
		if given["scene"] && o.scene != "ops" {
			return nil, fmt.Errorf("%w: -ops: not with -scene %s", errUsage, o.scene)
		}
		o.scene = "ops"
	}
	s, err := findScene(o.scene)
	if err != nil {
		return nil, err
	}
	if err := s.checkFlags(given); err != nil {
		return nil, err
	}
	if o.budget < 0 || given["budget"] && o.budget == 0 {
		return nil, fmt.Errorf("%w: -budget %v: above 0", errUsage, o.budget)
	}
	if s.check != nil {
		err = s.check(o, given)
	}
	return s, err
}

// budgetNs is the time that p95 of a step may take.
func (o *options) budgetNs() int64 {
	if o.budget > 0 {
		return int64(o.budget)
	}
	return budgetNs
}

// checkSteps fills in the flags of a scene that runs steps, and checks them.
func (o *options) checkSteps(given map[string]bool, ticks, warmup int) error {
	if !given["ticks"] {
		o.ticks = ticks
	}
	if !given["warmup"] {
		o.warmup = min(warmup, o.ticks/2)
	}
	switch {
	case o.ticks < 1:
		return fmt.Errorf("%w: -ticks %d: at least 1", errUsage, o.ticks)
	case o.warmup < 0 || o.warmup >= o.ticks:
		return fmt.Errorf("%w: -warmup %d: at least 0 and less than -ticks %d", errUsage, o.warmup, o.ticks)
	case o.workers < 1 || o.workers > native.MaxWorkers:
		return fmt.Errorf("%w: -workers %d: 1 to %d", errUsage, o.workers, native.MaxWorkers)
	case !slices.Contains([]string{ladderAuto, ladderOn, ladderOff}, o.ladder):
		return fmt.Errorf("%w: -ladder %q: %s, %s or %s", errUsage, o.ladder, ladderAuto, ladderOn, ladderOff)
	case o.causes && !o.paced:
		return fmt.Errorf("%w: -causes: only with -paced", errUsage)
	case o.pin < -1:
		return fmt.Errorf("%w: -pin %d: a CPU, from 0", errUsage, o.pin)
	case o.compare != "" && o.compare != engineBox2D:
		return fmt.Errorf("%w: -compare %q: only %s", errUsage, o.compare, engineBox2D)
	}
	return nil
}

func chooseLevel(name string) (native.Level, error) {
	level, err := native.ParseLevel(name)
	if err == nil {
		level, err = native.Resolve(level)
	}
	if err != nil {
		return level, fmt.Errorf("%w: -level: %w", errUsage, err)
	}
	return level, nil
}

// sizes and lengths are values of flags: whole numbers, or numbers of metres, with commas between.
type (
	sizes   []int
	lengths []float64
)

func (s *sizes) String() string   { return listed(*s) }
func (l *lengths) String() string { return listed(*l) }

// Set implements flag.Value.
func (s *sizes) Set(text string) (err error) {
	*s, err = parseList(text, "a whole number", strconv.Atoi)
	return err
}

// Set implements flag.Value.
func (l *lengths) Set(text string) (err error) {
	*l, err = parseList(text, "a number", func(part string) (float64, error) { return strconv.ParseFloat(part, 32) })
	return err
}

func listed[T any](items []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(items), "[]"), " ", ",")
}

func parseList[T any](text, what string, parse func(string) (T, error)) (all []T, err error) {
	for _, part := range strings.Split(text, ",") {
		v, err := parse(part)
		if err != nil {
			return nil, fmt.Errorf("%q is not %s", part, what)
		}
		all = append(all, v)
	}
	return all, nil
}

// single returns the one value of a flag that takes several values only in the scene queries, or
// the default if it was not given.
func single[T any](flag string, given []T, otherwise T) (T, error) {
	switch len(given) {
	case 0:
		return otherwise, nil
	case 1:
		return given[0], nil
	}
	return otherwise, fmt.Errorf("%w: -%s: one value; several only for the scene queries", errUsage, flag)
}
