package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/native"
)

// options are the flags.
type options struct {
	scene             string
	ticks             int
	warmup            int
	seed              uint64
	level             string
	workers           int
	json              bool
	hashes            string
	info              bool
	quick             bool
	csv               string
	n                 int
	ns, qs            sizes
	rs                lengths
	compare           string
	scale             bool
	budget            time.Duration
	ladder            string
	out               string
	baseline          string
	pin               int // CPU; -1: none
	hardware          bool
	paced, causes     bool
	command           string // that repeats the run
	sleep, continuous bool   // of scenes of bodies alone
}

// errUsage marks what is the caller's fault.
var errUsage = errors.New("bad usage")

func main() {
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
	o, p, err := parse(args, stderr)
	o.command = commandOf(args)
	if err != nil {
		return err
	}
	if o.info {
		_, err := fmt.Fprintf(stdout, "%s\n%s\n", profile.ThisEnvironment(), pacingInfo())
		return errors.Join(err, native.Info().Err)
	}
	if o.scene == pacingScene {
		return o.runPacing(o.pacingPlan(), stdout, stderr)
	}
	level, err := chooseLevel(o.level)
	if err != nil {
		return err
	}
	if o.scale {
		return o.runScale(level, p, stdout, stderr)
	}
	switch o.scene {
	case queriesScene:
		if o.isGrid() {
			return o.runGrid(level, stdout, stderr)
		}
		return o.runQueries(level, stdout, stderr)
	case opsScene:
		return o.runOps(level, stdout, stderr)
	}
	if o.isBodies() {
		return o.runBodies(level, stdout, stderr)
	}
	if o.isRays() {
		return o.runRays(level, stdout, stderr)
	}
	return o.runTicks(level, p, stdout, stderr)
}

// parse returns the flags and the parameters of the scene that they name. Flags
// that are left out take their defaults from the scene.
func parse(args []string, stderr io.Writer) (options, params, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the error, once
	f.StringVar(&o.scene, "scene", "capstone", "what to simulate: "+strings.Join(slices.Concat(sceneNames, crowdNames), ", ")+" or "+proof.SceneName+"; "+strings.Join(bodyNames(), ", ")+": bodies alone; "+
		raysScene+": rays through an arena; "+queriesScene+": the spatial index alone; "+opsScene+": operations on columns, and the entity table, alone; or "+
		pacingScene+": how late frames are")
	ops := f.Bool("ops", false, "the scene "+opsScene)
	f.IntVar(&o.ticks, "ticks", 0, "ticks to run, warm-up included (default 3600; limina 400; bodies alone 40 to 600)")
	f.IntVar(&o.warmup, "warmup", 0, "ticks that are not measured (default 300, limina 60, bodies alone 8 to 120, and at most half of -ticks)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the scene's random numbers")
	f.StringVar(&o.level, "level", "auto", "level of the kernels: auto, go, c, avx2, avx512 or neon")
	f.IntVar(&o.workers, "workers", 1, "workers of the phases that can use several")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.hashes, "hashes", "", "write the hash of every column after every tick to this `file`")
	f.BoolVar(&o.info, "info", false, "print which kernels run here, and exit")
	f.BoolVar(&o.quick, "quick", false, "queries, ops, pacing, -scale: fewer rounds, and no large sets")
	f.StringVar(&o.csv, "csv", "", "queries, ops, pacing, -scale: write every figure to this `file` as well")
	f.Var(&o.ns, "n", "the `size` of the scene; of queries several, 2256,16384 for a table over -n, -q and -r (default: "+crowdSizes()+", "+bodySizes()+")")
	f.Var(&o.qs, "q", "clusters: `queries` in a tick (default "+fmt.Sprint(clusterAsks)+"); of the scene queries in a batch, several")
	f.Var(&o.rs, "r", "swarm, clusters: the `radius` of perception in m; of queries, several")
	f.BoolVar(&o.sleep, "sleep", false, "bodies alone: those at rest fall asleep, also in scenes that are not about that")
	f.StringVar(&o.compare, "compare", "", "scenes with bodies: run the `engine` "+compareBox2D+" beside ours, by turns")
	f.BoolVar(&o.scale, "scale", false, "double the size until the budget breaks, and tell cost against size: swarm, clusters, churn, arena, tumbler, pyramid, queries")
	f.DurationVar(&o.budget, "budget", 0, "what p95 of a step may take, 4ms; if it takes longer the exit status is 1 (default: that of 60 Hz, and no such status)")
	f.StringVar(&o.ladder, "ladder", ladderAuto, "the levels by turns in the same run: auto (if it takes less than 2 s), on or off")
	f.StringVar(&o.out, "out", "", "write summary.json, steps.csv, bench.txt, trace.json and report.html into this `directory`, or "+outNone+" (default out/SCENE, with -json "+outNone+")")
	f.StringVar(&o.baseline, "baseline", "", "compare with the run that -out has kept in this `directory`")
	f.IntVar(&o.pin, "pin", -1, "keep to this `CPU`")
	f.BoolVar(&o.hardware, "hardware", false, "count instructions, cycles and misses, where the system allows")
	f.BoolVar(&o.paced, "paced", false, "run the steps when they are due, at 60 Hz, by turns with steps back to back, and report how late they are; not for bodies alone")
	f.BoolVar(&o.causes, "causes", false, "with -paced: more turns, each without one cause of what paced steps take longer")
	f.BoolVar(&o.continuous, "continuous", false, "bodies alone: continuous collision, also in scenes that are not about that; by turns without it if there is no -compare")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(stderr)
			f.Usage()
			return o, params{}, err
		}
		return o, params{}, fmt.Errorf("%w: %w", errUsage, err)
	}
	if f.NArg() > 0 {
		return o, params{}, fmt.Errorf("%w: argument %q: flags only", errUsage, f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	if *ops {
		if given["scene"] && o.scene != opsScene {
			return o, params{}, fmt.Errorf("%w: -ops: not with -scene %s", errUsage, o.scene)
		}
		o.scene = opsScene
	}
	if err := foreignFlag(o.scene, given); err != nil {
		return o, params{}, err
	}
	if o.budget < 0 || given["budget"] && o.budget == 0 {
		return o, params{}, fmt.Errorf("%w: -budget %v: above 0", errUsage, o.budget)
	}
	if o.scale {
		if err := o.checkScale(given); err != nil {
			return o, params{}, err
		}
	}
	if o.isGrid() {
		return o, params{}, o.gridDefaults()
	}
	if hasNoTicks(o.scene) {
		return o, params{}, nil
	}
	if o.isBodies() {
		return o, params{}, o.bodyDefaults(given)
	}
	if o.isRays() {
		return o, params{}, o.rayDefaults(given)
	}
	p, err := sceneParams(o.scene)
	if err != nil {
		return o, params{}, fmt.Errorf("%w: -scene: %w", errUsage, err)
	}
	if err := o.sizeParams(&p); err != nil {
		return o, params{}, err
	}
	if !given["ticks"] {
		o.ticks = p.ticks
	}
	if !given["warmup"] {
		o.warmup = min(p.warmup, o.ticks/2)
	}
	return o, p, errors.Join(o.checkCompare(), o.check())
}

// budgetNs is what p95 of a step may take.
func (o *options) budgetNs() int64 {
	if o.budget > 0 {
		return int64(o.budget)
	}
	return budgetNs
}

// hasNoTicks tells a scene that is a comparison of ways to do things.
func hasNoTicks(scene string) bool {
	return scene == queriesScene || scene == opsScene || scene == pacingScene
}

// profileFlags are of scenes whose steps are profiled.
var profileFlags = []string{"ladder", "out", "baseline", "pin", "hardware", "paced", "causes"}

// foreignFlags are those that a scene has no use for, besides what sizeParams says.
func foreignFlags(scene string) []string {
	switch {
	case scene == pacingScene:
		return append([]string{"ticks", "warmup", "seed", "level", "workers", "hashes", "n", "q", "r", "sleep", "continuous", "compare", "budget"}, profileFlags...)
	case scene == opsScene:
		return append([]string{"ticks", "warmup", "workers", "hashes", "n", "q", "r", "sleep", "continuous", "compare", "budget"}, profileFlags...)
	case scene == queriesScene:
		return append([]string{"ticks", "warmup", "workers", "hashes", "sleep", "continuous", "compare", "budget"}, profileFlags...)
	case scene == raysScene:
		return append([]string{"quick", "csv", "hashes", "q", "r", "sleep", "continuous", "budget"}, profileFlags...)
	case slices.Contains(bodyNames(), scene):
		return []string{"quick", "csv", "hashes", "q", "r", "paced", "causes"}
	case scene == proof.SceneName || isCrowd(scene):
		return []string{"quick", "csv", "sleep", "continuous", "compare"} // no other engine has what is in them
	}
	return []string{"quick", "csv", "sleep", "continuous"}
}

// foreignFlag returns an error if a flag was given that the scene has no use for.
func foreignFlag(scene string, given map[string]bool) error {
	for _, name := range foreignFlags(scene) {
		ofScale := name == "quick" || name == "csv" || name == "budget"
		if given[name] && !(given["scale"] && ofScale) {
			return fmt.Errorf("%w: -%s: not for the scene %s", errUsage, name, scene)
		}
	}
	return nil
}

func (o *options) check() error {
	switch {
	case o.ticks < 1:
		return fmt.Errorf("%w: -ticks %d: at least 1", errUsage, o.ticks)
	case o.warmup < 0 || o.warmup >= o.ticks:
		return fmt.Errorf("%w: -warmup %d: at least 0 and less than -ticks %d", errUsage, o.warmup, o.ticks)
	case o.workers < 1 || o.workers > 1024:
		return fmt.Errorf("%w: -workers %d: 1 to 1024", errUsage, o.workers)
	case !slices.Contains([]string{ladderAuto, ladderOn, ladderOff}, o.ladder):
		return fmt.Errorf("%w: -ladder %q: %s, %s or %s", errUsage, o.ladder, ladderAuto, ladderOn, ladderOff)
	case o.causes && !o.paced:
		return fmt.Errorf("%w: -causes: only with -paced", errUsage)
	case o.pin < -1:
		return fmt.Errorf("%w: -pin %d: a CPU, from 0", errUsage, o.pin)
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
