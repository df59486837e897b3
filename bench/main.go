package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick"
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
	sleep, continuous bool // of scenes of bodies alone
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
	o, p, err := parse(args, stderr)
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
	s, err := newScene(p, evertick.Config{Seed: o.seed, Level: level, Workers: o.workers})
	if err != nil {
		return err
	}
	if !o.json {
		fmt.Fprintf(stdout, "evertick bench · scene %s · level %s · %d worker(s)\n%s\n", o.scene, s.sim.Level(), o.workers, profile.ThisEnvironment())
	}
	var theirs *rival
	if o.compare != "" {
		if theirs, err = newRival(p, evertick.Config{Seed: o.seed, Level: level, Workers: o.workers}, o.warmup); err != nil {
			return err
		}
	}
	r, err := o.measure(s, theirs)
	if err != nil {
		return err
	}
	rep := newReport(o, s, r)
	if theirs != nil {
		rep.Compare = newComparison(&o, r.steps, theirs.steps)
	}
	return o.deliver(stdout, &rep)
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
	f.Var(&o.ns, "n", "the `size` of the scene; of queries several, 2256,16384 (default: "+crowdSizes()+", "+bodySizes()+")")
	f.Var(&o.qs, "q", "clusters: `queries` in a tick (default "+fmt.Sprint(clusterAsks)+")")
	f.Var(&o.rs, "r", "swarm, clusters: the `radius` of perception in m")
	f.BoolVar(&o.sleep, "sleep", false, "bodies alone: those at rest fall asleep, also in scenes that are not about that")
	f.StringVar(&o.compare, "compare", "", "scenes with bodies: run the `engine` "+compareBox2D+" beside ours, by turns")
	f.BoolVar(&o.scale, "scale", false, "double the size until the budget breaks, and tell cost against size: swarm, clusters, churn, arena, tumbler, pyramid, queries")
	f.DurationVar(&o.budget, "budget", 0, "what p95 of a step may take, 4ms; if it takes longer the exit status is 1 (default: that of 60 Hz, and no such status)")
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

// foreignFlag returns an error if a flag was given that the scene has no use for.
func foreignFlag(scene string, given map[string]bool) error {
	foreign := []string{"quick", "csv", "sleep", "continuous"} // and what sizeParams says
	switch {
	case isCrowd(scene):
		foreign = append(foreign, "compare") // no bodies
	case scene == pacingScene:
		foreign = []string{"ticks", "warmup", "seed", "level", "workers", "hashes", "n", "q", "r", "sleep", "continuous", "compare"}
	case hasNoTicks(scene):
		foreign = []string{"ticks", "warmup", "workers", "hashes", "n", "q", "r", "sleep", "continuous", "compare"}
	case scene == proof.SceneName:
		foreign = append(foreign, "compare") // no other engine has all that is in it
	case scene == raysScene:
		foreign = []string{"quick", "csv", "hashes", "q", "r", "sleep", "continuous"}
	case slices.Contains(bodyNames(), scene):
		foreign = []string{"quick", "csv", "hashes", "q", "r"}
	}
	for _, name := range foreign {
		if given["scale"] && (name == "quick" || name == "csv") {
			continue
		}
		if given[name] {
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

// measure runs the scene, beside a rival if there is one, and writes the hashes if they
// were asked for.
func (o *options) measure(s *scene, theirs *rival) (*recorder, error) {
	var each []func() error
	if theirs != nil {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		each = append(each, theirs.follow)
	}
	if o.hashes == "" {
		return measure(s, o.ticks, o.warmup, each...)
	}
	file, err := os.Create(o.hashes)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(file)
	each = append(each, func() error { return s.columnHashes().write(w) })
	r, err := measure(s, o.ticks, o.warmup, each...)
	return r, errors.Join(err, w.Flush(), file.Close())
}
