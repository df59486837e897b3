package serving

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/worldlog"
)

// relayCommand is the first argument of a process that follows the log. It is not for users.
const relayCommand = "relay"

// The processes of the master and of a relay exchange JSON. The master writes a relayPlan, and the relay answers with a
// joinReady when all of its clients are in. The master writes a joinWindow, and the relay a relayResult when that is over.
type relayPlan struct {
	Dir                                      string
	N, Players, Visible, Clients, Decode, Hz int
	Slow                                     float64
	Seed                                     uint64
	Level                                    string
	Workers                                  int
}

// relayResult is what a relay has measured in the window.
type relayResult struct {
	Clients  clientsReport
	Follow   int64   // ns of CPU time of the thread that follows, without the copies of the state for viewers
	Read     int64   // bytes of the log
	Bytes    uint64  // of all updates, to all viewers
	Compared uint64  // ticks whose hash was compared with the log, since the first
	Ended    []int64 // sharedTime at the end of each tick
	Expected uint64  // updates to the clients at full speed, if none is missed
}

// relay is the process of a relay: a Sim that follows the log of the master, and the server of its viewers.
type relay struct {
	*clientsHost
	player *replay.Player
	read   atomic.Int64
	sums   [2]relayMark
	ended  []int64
}

// relayMark is what the relay has used at a clientsMark.
type relayMark struct {
	thread time.Duration
	read   int64
}

func runRelay(stdin io.Reader, stdout, stderr io.Writer) error {
	lines, answer := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var plan relayPlan
	if err := lines.Decode(&plan); err != nil {
		return err
	}
	o := &options{
		&command.Options{N: plan.N, Seed: plan.Seed, Workers: plan.Workers, Scene: relaysScene},
		&serveOptions{clients: plan.Clients, hz: plan.Hz, visible: plan.Visible, slow: plan.Slow, decode: plan.Decode, players: plan.Players},
	}
	r := &relay{clientsHost: &clientsHost{options: o, progress: new(command.Progress), stderr: stderr, relayed: true}}
	if err := r.open(plan.Dir, plan.Level); err != nil {
		return err
	}
	if err := r.measure(lines, answer); err != nil {
		return errors.Join(err, r.player.Close())
	}
	return errors.Join(answer.Encode(r.result()), r.player.Close())
}

// open opens the log, and makes a server of its Sim. Viewers follow a walker each.
func (r *relay) open(dir, levelName string) error {
	level, err := command.ChooseLevel(levelName)
	if err != nil {
		return err
	}
	clock := new(sharedClock)
	if r.player, err = replay.Play(dir, r.crowdScenario(clock, level), countedFS{worldlog.OS, &r.read}); err != nil {
		return err
	}
	sim := r.player.Sim()
	r.crowd = &crowd{sim: sim, n: r.N}
	c := r.serverConfig()
	c.Spectate, c.Authorize = true, nil
	if r.server, err = replica.New(sim, c); err != nil {
		return err
	}
	ids := make([]ecs.ID, r.clients)
	for slot := range ids {
		ids[slot], _ = sim.World.ID(uint32(slot))
	}
	var next atomic.Int64
	r.admitted = func(s *replica.Session) { s.Follow(ids[int(next.Add(1)-1)%len(ids)]) }
	r.began = clock.begin()
	return nil
}

// measure follows the log until the window is over and the clients have said what they have counted.
func (r *relay) measure(lines *json.Decoder, answer *json.Encoder) error {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := r.serveClients(ctx, cancel, listener)
	windows, master := make(chan joinWindow, 1), make(chan error, 1)
	go func() {
		select {
		case <-r.joined:
			master <- r.talk(lines, answer, windows)
		case <-ctx.Done():
			master <- nil
		}
		cancel()
	}()
	err = r.follow(ctx, windows)
	cancel()
	ofClients := <-result
	select {
	case of := <-master: // it is gone: otherwise the goroutine waits for it
		ofClients = errors.Join(ofClients, of)
	default:
	}
	return r.finish(err, ofClients)
}

// talk says that the clients are in, and gets the window. It returns an error if the master ends before the relay.
func (r *relay) talk(lines *json.Decoder, answer *json.Encoder, windows chan<- joinWindow) error {
	if err := answer.Encode(joinReady{r.clients}); err != nil {
		return err
	}
	var w joinWindow
	if err := lines.Decode(&w); err != nil {
		return err
	}
	windows <- w
	if err := lines.Decode(&w); err != nil {
		return errors.New("the master has ended")
	}
	return nil
}

// follow runs the ticks of the log as they come, on a thread of its own: its CPU time is that of following.
func (r *relay) follow(ctx context.Context, windows <-chan joinWindow) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	poll := time.Second / time.Duration(8*r.hz)
	for ctx.Err() == nil {
		select {
		case w := <-windows:
			r.begin(w)
		default:
		}
		err := r.player.Step()
		if err == io.EOF || errors.Is(err, worldlog.ErrTorn) {
			time.Sleep(poll)
			if err := r.player.Refresh(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		r.stepped()
	}
	return ctx.Err()
}

// stepped is for a tick that was run.
func (r *relay) stepped() {
	r.ended = append(r.ended, sharedTime())
	before := [2]uint64{r.marks[0].tick, r.marks[1].tick}
	r.frame(loop.Frame{Steps: 1})
	for i := range r.marks {
		if r.marks[i].tick != before[i] {
			r.sums[i].thread, _ = command.ThreadTime()
			r.sums[i].read = r.read.Load()
		}
	}
}

// result is for a run that is evaluated.
func (r *relay) result() relayResult {
	a, b := &r.marks[0], &r.marks[1]
	follow := int64(r.sums[1].thread-r.sums[0].thread) - (b.stats.Capture.Total - a.stats.Capture.Total)
	if _, ok := command.ThreadTime(); !ok {
		follow = b.simulated - a.simulated
	}
	return relayResult{
		Clients: r.report, Follow: follow, Read: r.sums[1].read - r.sums[0].read,
		Bytes:    b.stats.Update.Bytes + b.stats.Keyframe.Bytes - a.stats.Update.Bytes - a.stats.Keyframe.Bytes,
		Compared: r.crowd.sim.Ticks(), Ended: r.ended, Expected: uint64(r.Fast.Clients) * (r.window.To - r.window.From),
	}
}

// countedFS counts the bytes that are read.
type countedFS struct {
	worldlog.FS
	read *atomic.Int64
}

func (f countedFS) Open(name string) (worldlog.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return countedFile{file, f.read}, nil
}

type countedFile struct {
	worldlog.File
	read *atomic.Int64
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.read.Add(int64(n))
	return n, err
}
