package serving

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

const relaysScene = "relays"

func init() {
	command.Register(command.Scene{
		Name: relaysScene, Family: command.OverNetwork,
		Help:  "n walkers in a master with a log, and -relays processes that follow the log, each of which serves -clients viewers",
		Flags: []string{"n", "relays", "clients", "players", "hz", "visible", "slow", "decode", "ticks", "warmup", "seed", "level", "workers", "csv"},
		Check: checks((*options).checkRelays),
		Run:   runs((*options).runRelays),
	})
}

const (
	mostRelays       = 1000
	relayClients     = 1000 // the default of -clients
	crowdScenarioTag = "crowd"
)

// checkRelays fills in the flags of the scene, and checks them.
func (o *options) checkRelays(given map[string]bool) error {
	if !given["clients"] {
		o.clients = relayClients
	}
	if !given["slow"] {
		o.slow = 0
	}
	if err := o.checkClients(given); err != nil {
		return err
	}
	if !given["players"] {
		o.players = min(o.players, o.N)
	}
	switch {
	case o.relays < 1 || o.relays > mostRelays:
		return fmt.Errorf("%w: -relays %d: 1 to %d", command.ErrUsage, o.relays, mostRelays)
	case o.players < 0 || o.players > o.N:
		return fmt.Errorf("%w: -players %d: 0 to -n %d", command.ErrUsage, o.players, o.N)
	}
	return nil
}

// crowdScenario is the crowd as the log has it. The clock, the level and the number of workers change no bit.
func (o *options) crowdScenario(clock loop.Clock, level native.Level) replay.Scenario {
	return replay.Scenario{Name: crowdScenarioTag, New: func(seed uint64) (*evertick.Sim, error) {
		c, err := o.newCrowd(evertick.Config{Seed: seed, Level: level, Workers: o.Workers, Clock: clock})
		if err != nil {
			return nil, err
		}
		return c.sim, nil
	}}
}

func (o *options) newCrowd(cfg evertick.Config) (*crowd, error) {
	return newCrowd(o.N, min(o.visible, o.N), o.hz, o.players, cfg)
}

func (o *options) runRelays(level native.Level, stdout, stderr io.Writer) error {
	level, err := native.Resolve(level)
	if err != nil {
		return err
	}
	r := o.NewReport(level.String())
	h := &relaysHost{options: o, level: level, progress: command.NewProgress(stderr), stderr: stderr}
	r.WriteText = h.write
	return o.Publish(stdout, r, func() error {
		err := h.measure()
		h.progress.Clear()
		r.Relays, r.Figures = &h.report, h.report.figures()
		return err
	})
}

// relaysHost is the process of the master: it runs the crowd with its log, and starts the relays.
type relaysHost struct {
	*options
	level    native.Level
	progress *command.Progress
	stderr   io.Writer
	crowd    *crowd
	random   loop.Rand
	data     []byte
	sent     uint64 // inputs of each player

	late  uint64 // ticks that began when the next one was due already, or were dropped
	mu    sync.Mutex
	ended []int64         // sharedTime at the end of each tick
	cpu   []time.Duration // of the process, then

	results []relayResult
	report  relaysReport
}

// measure runs the scene.
func (h *relaysHost) measure() error {
	dir, err := os.MkdirTemp("", "evertick-relays-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if h.crowd, err = h.newCrowd(evertick.Config{Seed: h.Seed, Level: h.level, Workers: h.Workers}); err != nil {
		return err
	}
	sim := h.crowd.sim
	rec, err := replay.Record(dir, crowdScenarioTag, sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
	if err != nil {
		return err
	}
	h.random = loop.NewRand(h.Seed, 0, 0, crowdPlayers)
	defer sim.AddHooks(evertick.Hooks{AfterTick: h.tickEnded})()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		defer cancel()
		for _, ok := rec.Log().WrittenTick(); !ok && ctx.Err() == nil; _, ok = rec.Log().WrittenTick() {
			time.Sleep(time.Millisecond) // a relay opens a log with a tick
		}
		result <- h.runRelayProcesses(ctx, dir)
	}()
	err = sim.RunFrames(ctx, h.frame)
	cancel()
	if of := <-result; errors.Is(err, context.Canceled) {
		err = of
	}
	if err = errors.Join(err, rec.Close()); err == nil {
		err = h.evaluate()
	}
	return err
}

// tickEnded notes when a tick has ended.
func (h *relaysHost) tickEnded(*evertick.Tick) error {
	cpu, _ := command.ProcessTime()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.cpu = append(h.ended, sharedTime()), append(h.cpu, cpu)
	return nil
}

// frame is called after each frame of the Sim: it pushes the inputs of the players for the next tick.
func (h *relaysHost) frame(f loop.Frame) {
	h.late += uint64(max(0, f.Steps-1)) + f.Dropped
	if f.Steps == 0 {
		return
	}
	if h.progress.Due() {
		h.progress.Show("%s: tick %d", h.Scene, h.crowd.sim.Ticks())
	}
	h.sent++
	for player := range uint32(h.players) {
		in := evertick.Input{Source: player + 1, Seq: h.sent, Kind: inputTurn}
		switch {
		case h.sent == 1:
			in.Kind, h.data = inputJoined, binary.LittleEndian.AppendUint32(h.data[:0], player)
		case (h.sent+uint64(player))%2 == 0: // as in the scene clients: an input about every second tick
			h.data = appendTurn(h.data[:0], player, uint16(h.sent), uint8(h.random.IntN(len(turns))))
		default:
			continue
		}
		in.Data = h.data
		_ = h.crowd.sim.Push(in) // the queue has room for all; the log says what was applied
	}
}

// runRelayProcesses starts the relays, and collects what they have measured.
func (h *relaysHost) runRelayProcesses(ctx context.Context, dir string) error {
	h.results = make([]relayResult, h.relays)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	window := make(chan joinWindow)
	errs := make([]error, h.relays)
	var ready, all sync.WaitGroup
	ready.Add(h.relays)
	for i := range h.relays {
		all.Go(func() {
			once := sync.OnceFunc(ready.Done)
			defer once()
			if errs[i] = h.runRelayProcess(ctx, dir, once, window, &h.results[i]); errs[i] != nil {
				errs[i] = fmt.Errorf("relay %d: %w", i, errs[i])
				cancel()
			}
		})
	}
	ready.Wait()
	h.mu.Lock()
	w := h.windowAfter(uint64(len(h.ended)))
	h.mu.Unlock()
	for range h.relays {
		select {
		case window <- w:
		case <-ctx.Done():
		}
	}
	all.Wait()
	h.report.window = w
	return errors.Join(errs...)
}

func (h *relaysHost) runRelayProcess(ctx context.Context, dir string, ready func(), window <-chan joinWindow, to *relayResult) error {
	return errors.Join(runSelf(ctx, relayCommand, h.stderr, func(in io.WriteCloser, out io.Reader) error {
		return h.talk(ctx, dir, json.NewEncoder(in), json.NewDecoder(out), ready, window, to)
	}))
}

func (h *relaysHost) talk(ctx context.Context, dir string, send *json.Encoder, from *json.Decoder, ready func(), window <-chan joinWindow, to *relayResult) error {
	plan := relayPlan{
		Dir: dir, N: h.N, Players: h.players, Visible: h.visible, Clients: h.clients, Decode: h.decode, Hz: h.hz, Slow: h.slow,
		Seed: h.Seed, Level: h.level.String(), Workers: h.Workers,
	}
	if err := send.Encode(plan); err != nil {
		return err
	}
	var in joinReady
	if err := from.Decode(&in); err != nil {
		return err
	}
	ready()
	select {
	case w := <-window:
		if err := send.Encode(w); err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return from.Decode(to)
}
