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

type Options struct {
	Scene             string
	Ticks             int
	Warmup            int
	Seed              uint64
	level             string
	Workers           int
	json              bool
	hashes            string
	info, list        bool
	quick             bool
	csv               string
	N                 int
	Ns, qs            sizes
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
	stages, busy      bool
	first             bool
	addr              string // of the page

	Own any // the flags that OwnFlags defines

	command string        // that repeats the run
	params  scenes.Params // of a simulation
}

// ErrUsage marks errors in the command line.
var ErrUsage = errors.New("bad usage")

// ErrNoVerdict marks that a command reached no verdict, which is exit status 2.
var ErrNoVerdict = errors.New("no verdict")

// What bench/serve adds. Package bench/internal/serving fills these in.
var (
	// Commands are beside scenes: the first argument is the name, args are the rest.
	Commands = map[string]func(args []string, stdout, stderr io.Writer) error{}
	// OwnFlags defines flags, and returns where their values go; nil: there are none.
	OwnFlags func(f *flag.FlagSet) any
)

// served are the scenes and commands that only bench/serve has.
var served = []string{"clients", "relays", "host", "record", "replay"}

// checkServed returns an error if the arguments ask for what this program does not link.
func checkServed(args []string) error {
	for i, arg := range args {
		_, scene, _ := strings.Cut(arg, "-scene=")
		if i == 0 && !strings.HasPrefix(arg, "-") || i > 0 && strings.HasSuffix(args[i-1], "-scene") {
			scene = arg
		}
		if slices.Contains(served, scene) && registered[scene] == nil && Commands[scene] == nil {
			return fmt.Errorf("%w: %s: go run ./bench/serve %s", ErrUsage, scene, strings.Join(args, " "))
		}
	}
	return nil
}

// Main runs a command with the arguments of the program, and exits if it fails.
func Main() {
	err := Run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, ErrUsage) || errors.Is(err, ErrNoVerdict):
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func Run(args []string, stdout, stderr io.Writer) error {
	if err := checkServed(args); err != nil {
		return err
	}
	if len(args) > 0 && Commands[args[0]] != nil {
		return Commands[args[0]](args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "compare" {
		return runCompare(args[1:], stdout, stderr)
	}
	o := &Options{command: commandOf(args)}
	s, err := o.Parse(args, stderr)
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
	if slices.Contains(s.Flags, "level") {
		if level, err = ChooseLevel(o.level); err != nil {
			return err
		}
	}
	if o.viewed {
		if SimPage == nil {
			return fmt.Errorf("%w: -view: this command has no pages; go run ./bench/serve %s", ErrUsage, strings.TrimPrefix(o.command, profiler))
		}
		ctx, stop := Interruptible()
		defer stop()
		return o.View(ctx, s, level, stdout)
	}
	if o.scale {
		return o.runScale(s.size, level, stdout, stderr)
	}
	switch {
	case o.stages && o.paced:
		return o.runStagesPaced(s, level, stdout, stderr)
	case o.stages && o.first:
		return o.runStagesFirst(s, level, stdout, stderr)
	case o.stages:
		return o.runStages(s, level, stdout, stderr)
	}
	return s.Run(o, level, stdout, stderr)
}

// Parse reads the flags and returns the scene, which provides the values of flags that are left
// out.
func (o *Options) Parse(args []string, stderr io.Writer) (*Scene, error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the error, once
	f.BoolVar(&o.list, "list", false, "print all scenes with their flags, and exit")
	f.StringVar(&o.Scene, "scene", "capstone", "what to measure: one of -list")
	ops := f.Bool("ops", false, "short for -scene ops")
	f.IntVar(&o.Ticks, "ticks", 0, "ticks to run, warm-up included (default: depends on the scene)")
	f.IntVar(&o.Warmup, "warmup", 0, "ticks that are not measured (default: depends on the scene; at most half of -ticks)")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the scene's random numbers")
	f.StringVar(&o.level, "level", "auto", "level of the kernels: auto, go, c, avx2, avx512 or neon")
	f.IntVar(&o.Workers, "workers", 1, "workers of the phases that can use several")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.hashes, "hashes", "", "write the hash of every column after every tick to this `file`")
	f.BoolVar(&o.info, "info", false, "print which kernels run here, and exit")
	f.BoolVar(&o.quick, "quick", false, "fewer rounds, and no large sets")
	f.StringVar(&o.csv, "csv", "", "also write every figure to this `file`")
	f.Var(&o.Ns, "n", "`size` of the scene; host: at most so many worlds; of queries several, 2256,16384 for a table over -n, -q and -r")
	f.Var(&o.qs, "q", "clusters: `queries` in a tick; queries: in a batch, several")
	f.Var(&o.rs, "r", "swarm, clusters: `radius` of perception in m; queries: several")
	f.IntVar(&o.bodies, "bodies", 0, "swarm: `number` of bodies of an arena in the same world, which boids perceive, too")
	f.StringVar(&o.spread, "spread", "", "swarm: distribution of the boids: "+strings.Join(scenes.Spreads, ", ")+" (default "+scenes.Spreads[0]+")")
	f.BoolVar(&o.sleep, "sleep", false, "bodies at rest fall asleep, also in scenes that are not about that")
	f.StringVar(&o.compare, "compare", "", "run the `engine` "+engineBox2D+" beside ours, by turns")
	f.BoolVar(&o.scale, "scale", false, "double the size until the budget is exceeded, and report cost against size")
	f.BoolVar(&o.stages, "stages", false, "step worlds with one worker and with -workers (default 2) by turns, and report what helpers gain in each stage")
	f.BoolVar(&o.busy, "busy", false, "stages: a busy loop competes for the CPUs, and helpers take part only while they save time, as in any program")
	f.BoolVar(&o.first, "first", false, "stages: only the first steps of fresh worlds, to see when helpers take part")
	f.BoolVar(&o.viewed, "view", false, "bench/serve: run the scene at 60 Hz, without measuring, and print the address of a page that looks into it, until Ctrl-C")
	f.StringVar(&o.addr, "addr", UsualAddr, "view: `address` of the page")
	f.DurationVar(&o.budget, "budget", 0, "time for p95 of a step, as in 4ms; the exit status is 1 if it takes longer (default: that of 60 Hz, and no such status)")
	f.StringVar(&o.ladder, "ladder", ladderAuto, "compare the levels by turns in the same run: auto (if it takes less than 2 s), on or off")
	f.StringVar(&o.out, "out", "", "write summary.json, steps.csv, bench.txt, trace.json and report.html into this `directory`, or "+outNone+" (default out/SCENE, with -json "+outNone+")")
	f.StringVar(&o.baseline, "baseline", "", "compare with the run that -out wrote to this `directory`")
	f.IntVar(&o.pin, "pin", -1, "run the steps on this `CPU`")
	f.BoolVar(&o.hardware, "hardware", false, "count instructions, cycles and misses, where the system allows")
	f.BoolVar(&o.paced, "paced", false, "run steps when they are due, at 60 Hz, by turns with steps back to back, and report how late they are; with -stages by turns of one worker and several")
	f.BoolVar(&o.causes, "causes", false, "with -paced: more turns, each without one cause of longer paced steps")
	f.BoolVar(&o.continuous, "continuous", false, "continuous collision, also in scenes that are not about that; without -compare by turns with a run without it")
	if OwnFlags != nil {
		o.Own = OwnFlags(f)
	}
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(stderr)
			f.Usage()
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%w: argument %q: flags only", ErrUsage, f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	if *ops {
		if given["scene"] && o.Scene != "ops" {
			return nil, fmt.Errorf("%w: -ops: not with -scene %s", ErrUsage, o.Scene)
		}
		o.Scene = "ops"
	}
	s, err := findScene(o.Scene)
	if err != nil {
		return nil, err
	}
	if err := s.checkFlags(given); err != nil {
		return nil, err
	}
	if o.budget < 0 || given["budget"] && o.budget == 0 {
		return nil, fmt.Errorf("%w: -budget %v: above 0", ErrUsage, o.budget)
	}
	if o.stages && !given["workers"] {
		o.Workers = 2
	}
	if s.Check != nil {
		err = s.Check(o, given)
	}
	if err == nil && o.stages {
		err = o.checkStages()
	}
	return s, err
}

// budgetNs is the time that p95 of a step may take.
func (o *Options) budgetNs() int64 {
	if o.budget > 0 {
		return int64(o.budget)
	}
	return budgetNs
}

// CheckSteps fills in the flags of a scene that runs steps, and checks them.
func (o *Options) CheckSteps(given map[string]bool, ticks, warmup int) error {
	if !given["ticks"] {
		o.Ticks = ticks
	}
	if !given["warmup"] {
		o.Warmup = min(warmup, o.Ticks/2)
	}
	switch {
	case o.Ticks < 1:
		return fmt.Errorf("%w: -ticks %d: at least 1", ErrUsage, o.Ticks)
	case o.Warmup < 0 || o.Warmup >= o.Ticks:
		return fmt.Errorf("%w: -warmup %d: at least 0 and less than -ticks %d", ErrUsage, o.Warmup, o.Ticks)
	case o.Workers < 1 || o.Workers > native.MaxWorkers:
		return fmt.Errorf("%w: -workers %d: 1 to %d", ErrUsage, o.Workers, native.MaxWorkers)
	case !slices.Contains([]string{ladderAuto, ladderOn, ladderOff}, o.ladder):
		return fmt.Errorf("%w: -ladder %q: %s, %s or %s", ErrUsage, o.ladder, ladderAuto, ladderOn, ladderOff)
	case o.causes && !o.paced:
		return fmt.Errorf("%w: -causes: only with -paced", ErrUsage)
	case o.pin < -1:
		return fmt.Errorf("%w: -pin %d: a CPU, from 0", ErrUsage, o.pin)
	case o.compare != "" && o.compare != engineBox2D:
		return fmt.Errorf("%w: -compare %q: only %s", ErrUsage, o.compare, engineBox2D)
	}
	return nil
}

func ChooseLevel(name string) (native.Level, error) {
	level, err := native.ParseLevel(name)
	if err == nil {
		level, err = native.Resolve(level)
	}
	if err != nil {
		return level, fmt.Errorf("%w: -level: %w", ErrUsage, err)
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

// Single returns the one value of a flag that takes several values only in the scene queries, or
// the default if it was not given.
func Single[T any](flag string, given []T, otherwise T) (T, error) {
	switch len(given) {
	case 0:
		return otherwise, nil
	case 1:
		return given[0], nil
	}
	return otherwise, fmt.Errorf("%w: -%s: one value; several only for the scene queries", ErrUsage, flag)
}
