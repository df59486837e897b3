package serving

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/scenes"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replay"
	inspace "github.com/evertick/evertick/space/worlds"
	"github.com/evertick/evertick/train/worlds"
	"github.com/evertick/evertick/worldlog"
)

// errVerdict marks the verdict that runs or logs are not the same: exit status 1. Every other error
// of a command on logs is status 2.
var errVerdict = errors.New("not the same")

// loggedScenes are the simulations that commands from outside act on.
var loggedScenes = []string{"capstone", "limina"}

type logOptions struct {
	scene     string
	seed      uint64
	ticks     uint64
	commands  uint64
	snapshots uint64
	columns   uint64
	compress  bool
	level     string
	workers   int
	tick      uint64
	format    string
	out       string
	frames    int
	addr      string
	dirs      []string
	drawing   drawOptions

	stdout   io.Writer
	progress *command.Progress
	given    map[string]bool
}

const logUsage = `usage: bench record [flags] DIR
       bench replay verify DIR
       bench replay seek -tick N DIR
       bench replay diff DIR DIR
       bench replay fork -tick N [-ticks M] DIR NEWDIR
       bench replay export [-format csv|trace] [-out FILE] DIR
       bench replay rollback [-frames N] [-ticks M]
       bench replay view [-addr A] DIR [DIR]
       bench replay draw -out FILE [-from N] [-to N] [-every N] [-size WxH] [-view X,Y,X,Y] DIR
exit status: 0 the same, or done; 1 not the same; 2 anything else`

func runRecord(args []string, stdout, stderr io.Writer) error {
	return runLogs("record", args, stdout, stderr)
}

func runReplay(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("%w: replay which command?\n%s", command.ErrUsage, logUsage)
	}
	return runLogs(args[0], args[1:], stdout, stderr)
}

// runLogs runs a command on logs: record, or one of replay.
func runLogs(name string, args []string, stdout, stderr io.Writer) error {
	o := logOptions{stdout: stdout, progress: command.NewProgress(stderr)}
	if err := o.parse(name, args, stderr); err != nil {
		return err
	}
	defer o.progress.Clear()
	err := map[string]func() error{
		"record": o.record, "verify": o.verify, "seek": o.seek, "diff": o.diff, "fork": o.fork, "export": o.export,
		"rollback": o.rollback, "view": o.viewUntilInterrupt, "draw": o.draw,
	}[name]()
	if err != nil && !errors.Is(err, errVerdict) {
		err = fmt.Errorf("%w: %w", command.ErrNoVerdict, err)
	}
	return err
}

// parse reads flags before and after the directories.
func (o *logOptions) parse(name string, args []string, stderr io.Writer) error {
	want, known := map[string]int{"record": 1, "verify": 1, "seek": 1, "diff": 2, "fork": 2, "export": 1, "rollback": 0, "view": 1, "draw": 1}[name]
	if !known {
		return fmt.Errorf("%w: replay %q\n%s", command.ErrUsage, name, logUsage)
	}
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.scene, "scene", "capstone", "record, rollback: the scene, capstone or limina")
	f.Uint64Var(&o.seed, "seed", 1, "record: seed of random numbers")
	f.Uint64Var(&o.ticks, "ticks", 3050, "record, fork: ticks to run")
	f.Uint64Var(&o.commands, "commands", 12800, "record: commands from outside, in all ticks together")
	f.Uint64Var(&o.snapshots, "snapshots", 600, "record, fork: ticks between snapshots; 0: none")
	f.Uint64Var(&o.columns, "columns", 0, "record, fork: ticks between hashes of all columns; 0: none")
	f.BoolVar(&o.compress, "compress", false, "record, fork: pack closed segments")
	f.StringVar(&o.level, "level", "auto", "level of the kernels: auto, go, c, avx2, avx512 or neon")
	f.IntVar(&o.workers, "workers", 1, "workers of the phases that can use several")
	f.Uint64Var(&o.tick, "tick", 0, "seek, fork: the tick")
	f.StringVar(&o.format, "format", "csv", "export: csv or trace")
	f.StringVar(&o.out, "out", "", "export: write to this `file` instead of standard output; draw: a .gif, a .png, or .png files as in %06d.png")
	f.Uint64Var(&o.drawing.from, "from", 0, "draw: the first tick")
	f.Uint64Var(&o.drawing.to, "to", math.MaxInt64, "draw: the last `tick` (default: that of the log)")
	f.Uint64Var(&o.drawing.every, "every", 4, "draw: ticks from one frame to the next")
	o.drawing.size = imageSize{480, 360}
	f.Var(&o.drawing.size, "size", "draw: `width`x`height` in pixels")
	f.Var(&o.drawing.view, "view", "draw: left,bottom,right,top of the pictures in metres (default: that of the world, or all that moves)")
	f.IntVar(&o.frames, "frames", 8, "rollback: ticks that every input is late")
	f.StringVar(&o.addr, "addr", command.UsualAddr, "view: `address` of the page")
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprintln(stderr, logUsage)
				f.SetOutput(stderr)
				f.PrintDefaults()
				return err
			}
			return fmt.Errorf("%w: %w", command.ErrUsage, err)
		}
		if f.NArg() == 0 {
			break
		}
		o.dirs = append(o.dirs, f.Arg(0))
		args = f.Args()[1:]
	}
	o.given = map[string]bool{}
	f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
	if name == "draw" {
		if err := o.drawing.check(o.out); err != nil {
			return fmt.Errorf("%w: draw: %w", command.ErrUsage, err)
		}
	}
	if name == "view" && len(o.dirs) == 2 {
		want = 2
	}
	switch {
	case len(o.dirs) != want:
		return fmt.Errorf("%w: %s: %d directories, wants %d\n%s", command.ErrUsage, name, len(o.dirs), want, logUsage)
	case (name == "seek" || name == "fork") && !o.given["tick"]:
		return fmt.Errorf("%w: %s: wants -tick", command.ErrUsage, name)
	case o.frames < 1 || o.frames > 64:
		return fmt.Errorf("%w: -frames %d: 1 to 64", command.ErrUsage, o.frames)
	case (name == "record" || name == "rollback") && !slices.Contains(loggedScenes, o.scene):
		return fmt.Errorf("%w: %s: -scene %q: one of %v", command.ErrUsage, name, o.scene, loggedScenes)
	case o.ticks < 1 || o.ticks > 1<<32 || o.commands > 1<<31:
		return fmt.Errorf("%w: -ticks %d, -commands %d", command.ErrUsage, o.ticks, o.commands)
	case o.workers < 1 || o.workers > native.MaxWorkers:
		return fmt.Errorf("%w: -workers %d: 1 to %d", command.ErrUsage, o.workers, native.MaxWorkers)
	case o.format != "csv" && o.format != "trace":
		return fmt.Errorf("%w: -format %q: csv or trace", command.ErrUsage, o.format)
	}
	return nil
}

// scenario returns a scene as a scenario for logs. Training worlds are scenarios already, for the
// logs that train.Batch.Export writes.
func (o *logOptions) scenario(scene string) (replay.Scenario, error) {
	level, err := command.ChooseLevel(o.level)
	if err != nil {
		return replay.Scenario{}, err
	}
	return loggedScene(scene, evertick.Config{Level: level, Workers: o.workers})
}

func loggedScene(name string, cfg evertick.Config) (replay.Scenario, error) {
	for _, sc := range worlds.Scenarios(cfg) {
		if sc.Name == name {
			return sc, nil
		}
	}
	for _, d := range inspace.All() {
		if sc := d.ReplayScenario(cfg); sc.Name == name {
			return sc, nil
		}
	}
	d, ok := scenes.FindSim(name)
	if !ok {
		return replay.Scenario{}, fmt.Errorf("unknown scenario %q: %w", name, fault.ErrRange)
	}
	return replay.Scenario{Name: name, New: func(seed uint64) (*evertick.Sim, error) {
		cfg := cfg
		cfg.Seed = seed
		s, err := d.New(d.Params, cfg)
		if err != nil {
			return nil, err
		}
		return s.Sim, s.AcceptCommands()
	}}, nil
}

func (o *logOptions) scenarioOf(dir string) (replay.Scenario, error) {
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		return replay.Scenario{}, err
	}
	scene := r.Identity().Scenario
	if err := r.Close(); err != nil {
		return replay.Scenario{}, err
	}
	return o.scenario(scene)
}

func (o *logOptions) options() replay.Options {
	return replay.Options{Log: worldlog.Options{Compress: o.compress}, SnapshotTicks: o.snapshots, ColumnTicks: o.columns}
}

func (o *logOptions) printf(format string, args ...any) {
	o.progress.Clear()
	fmt.Fprintf(o.stdout, format, args...)
}

func (o *logOptions) record() error {
	sc, err := o.scenario(o.scene)
	if err != nil {
		return err
	}
	sim, err := sc.New(o.seed)
	if err != nil {
		return err
	}
	timer := new(hookTimer)
	sim.AddHooks(evertick.Hooks{AfterTick: timer.begin}) // before those of the recorder
	rec, err := replay.Record(o.dirs[0], sc.Name, sim, o.options())
	if err != nil {
		return err
	}
	sim.AddHooks(evertick.Hooks{AfterTick: timer.end})
	timer.period, timer.ticks = o.snapshots, make([]int64, 0, o.ticks)
	start := time.Now()
	err = o.run(sim)
	took := time.Since(start)
	if err := errors.Join(err, rec.Close()); err != nil {
		return err
	}
	s := rec.Log().Stats()
	o.printf("recorded %s · seed %d · level %s: %d ticks, %d commands in %v\nhash %016x\n",
		sc.Name, o.seed, sim.Level(), sim.Ticks(), o.commands, took.Round(time.Millisecond), sim.Hash())
	o.printf("log %d bytes in %d segments, %d snapshots, %d syncs\n", s.Bytes, s.Segments, s.Snapshots, s.Syncs)
	if o.commands > 0 && len(timer.ticks) > 0 {
		o.printf("%.1f bytes a command before compression, commits and hashes of ticks included\n", float64(s.Bytes)/float64(o.commands))
		each := float64(o.commands) / float64(o.ticks)
		slices.Sort(timer.ticks)
		slices.Sort(timer.snapshots)
		o.printf("%.0f ns a command, of the median tick, its commit included", float64(command.NearestRank(timer.ticks, 0.5))/each)
		if len(timer.snapshots) > 0 {
			o.printf("; %v for a tick with a snapshot", time.Duration(command.NearestRank(timer.snapshots, 0.5)).Round(time.Microsecond))
		}
		o.printf("\n")
	}
	return nil
}

// hookTimer measures the time of the hooks that run between its own two hooks.
type hookTimer struct {
	period uint64 // ticks between snapshots
	start  time.Time
	// ns of ticks without a snapshot, and with one
	ticks, snapshots []int64
}

func (w *hookTimer) begin(*evertick.Tick) error {
	w.start = time.Now()
	return nil
}

func (w *hookTimer) end(t *evertick.Tick) error {
	ns := int64(time.Since(w.start))
	if w.period > 0 && (t.N+1)%w.period == 0 {
		w.snapshots = append(w.snapshots, ns)
	} else {
		w.ticks = append(w.ticks, ns)
	}
	return nil
}

// run runs the ticks with their commands, which are spread evenly.
func (o *logOptions) run(sim *evertick.Sim) error {
	var data [scenes.CommandBytes]byte
	for n := range o.ticks {
		for seq := n * o.commands / o.ticks; seq < (n+1)*o.commands/o.ticks; seq++ {
			if err := sim.Push(scenes.CommandAt(sim.Seed(), sim.Ticks(), seq, &data)); err != nil {
				return err
			}
		}
		if err := sim.Step(); err != nil {
			return err
		}
		o.progress.Show("tick %d", sim.Ticks())
	}
	return nil
}

func (o *logOptions) verify() error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	start := time.Now()
	rep, err := replay.Verify(o.dirs[0], sc, replay.VerifyOptions{
		Progress: func(tick uint64) { o.progress.Show("tick %d verified", tick) },
	})
	took := time.Since(start)
	if err != nil {
		return verdict(err)
	}
	o.printf("verified: %d ticks and %d inputs of %s, seed %d, give the same hashes\n", rep.Ticks, rep.Inputs, sc.Name, rep.Identity.Seed)
	o.printf("hash %016x · chain %x\n%v, %.0f ticks/s\n", rep.Hash, rep.Chain, took.Round(time.Millisecond), float64(rep.Ticks)/took.Seconds())
	if rep.Torn {
		o.printf("torn: the log ends within the tick that comes next\n")
	}
	return nil
}

// verdict marks the error of a run that gave other results.
func verdict(err error) error {
	if errors.Is(err, replay.ErrDiverged) {
		return fmt.Errorf("%w: %w", errVerdict, err)
	}
	return err
}

// seek restores a tick from the nearest snapshot and from tick 0, and reports both times.
func (o *logOptions) seek() error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	start := time.Now()
	near, err := replay.Seek(o.dirs[0], sc, o.tick, nil)
	if err != nil {
		return verdict(err)
	}
	fast := time.Since(start)
	start = time.Now()
	far, err := replay.SeekPlain(o.dirs[0], sc, o.tick, nil)
	if err != nil {
		return verdict(err)
	}
	slow := time.Since(start)
	var figures evertick.Metrics
	near.Monitor().Read(&figures)
	o.printf("tick %d: hash %016x, %d entities, %d bodies\n", o.tick, near.Hash(), figures.Entities, figures.Bodies)
	o.printf("%v from the nearest snapshot, %v from tick 0\n", fast.Round(time.Microsecond), slow.Round(time.Microsecond))
	if d, found := evertick.Diff(near, far); found {
		return fmt.Errorf("%w: from a snapshot and from tick 0: %v", errVerdict, d)
	}
	return nil
}

func (o *logOptions) diff() error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	d, err := replay.Diff(o.dirs[0], o.dirs[1], sc, nil)
	switch {
	case d != nil:
		return errors.Join(fmt.Errorf("%w: %v", errVerdict, d), err)
	case err != nil:
		return verdict(err)
	}
	o.printf("equal: the same inputs and hashes in every tick\n")
	return nil
}

// fork creates a branch, and continues without commands.
func (o *logOptions) fork() error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	rec, sim, err := replay.Fork(o.dirs[0], sc, o.tick, o.dirs[1], o.options())
	if err != nil {
		return verdict(err)
	}
	if o.commands = 0; !o.given["ticks"] {
		o.ticks = 0
	}
	err = o.run(sim)
	id := rec.Log().Identity()
	if err := errors.Join(err, rec.Close()); err != nil {
		return err
	}
	o.printf("forked after tick %d, parent %x\n%d ticks run since, without commands; hash %016x\n", o.tick, id.Parent, o.ticks, sim.Hash())
	return nil
}

func (o *logOptions) export() (err error) {
	w := o.stdout
	if o.out != "" {
		file, failed := os.Create(o.out)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = file
	}
	if o.format == "trace" {
		return replay.ExportTrace(w, o.dirs[0], nil)
	}
	return replay.ExportCSV(w, o.dirs[0], nil)
}

// rollback delays every command, so that each frame goes back, runs all ticks since then again, and
// then its own.
func (o *logOptions) rollback() error {
	sc, err := o.scenario(o.scene)
	if err != nil {
		return err
	}
	sim, err := sc.New(o.seed)
	if err != nil {
		return err
	}
	back, err := replay.NewRollback(sim, replay.RollbackConfig{Frames: o.frames})
	if err != nil {
		return err
	}
	if !o.given["ticks"] {
		o.ticks = 600
	}
	late := uint64(o.frames)
	var took []int64
	cpu, _ := command.ProcessTime()
	var data [scenes.CommandBytes]byte
	for n := range o.ticks {
		var ins [1]evertick.Input
		start := time.Now()
		if n < late {
			err = back.Advance()
		} else {
			ins[0] = scenes.CommandAt(o.seed, n-late, n, &data)
			err = back.Advance(ins[:]...)
		}
		if err != nil {
			return err
		}
		if n >= 2*late {
			took = append(took, int64(time.Since(start)))
		}
		o.progress.Show("tick %d", n)
	}
	if len(took) == 0 {
		return fmt.Errorf("-ticks %d: too few to measure", o.ticks)
	}
	slices.Sort(took)
	round := func(q float64) time.Duration {
		return time.Duration(command.NearestRank(took, q)).Round(time.Microsecond)
	}
	const frame = time.Second / 60
	within := 0
	for _, ns := range took {
		if ns <= int64(frame) {
			within++
		}
	}
	o.printf("%s · level %s: going %d ticks back, running them again and one more, in every frame\n", sc.Name, sim.Level(), o.frames)
	o.printf("median %v, 99th percentile %v, of %v that a frame at 60 Hz has; %d of %d frames within it\n", round(0.5), round(0.99), frame.Round(time.Microsecond), within, len(took))
	if now, known := command.ProcessTime(); known {
		o.printf("%v of CPU a frame on average\n", ((now - cpu) / time.Duration(o.ticks)).Round(time.Microsecond))
	}
	o.printf("%d ticks run again, %d bytes of saved states\n", back.Rolled(), back.Bytes())
	return nil
}
