package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replica"
)

const clientsScene = "clients"

func init() {
	command.Register(command.Scene{
		Name: clientsScene, Family: command.OverNetwork,
		Help:  "n walkers, sent to clients of another process over TCP at -hz; CPU of a tick, bytes, and the times from input to tick to client",
		Flags: []string{"n", "clients", "hz", "visible", "slow", "decode", "lead", "ticks", "warmup", "seed", "level", "workers", "csv"},
		Check: checks((*options).checkClients),
		Run:   runs((*options).runClients),
	})
}

// serveOptions are the flags of the scenes of this package.
type serveOptions struct {
	clients int
	hz      int
	visible int
	slow    float64 // share of the clients
	decode  int
	lead    bool
	relays  int
	players int
}

const (
	mostWalkers = 1_000_000
	mostClients = 20_000
	mostHz      = 1000
)

// checkClients fills in the flags of the scene, and checks them.
func (o *options) checkClients(given map[string]bool) (err error) {
	if o.N, err = command.Single("n", o.Ns, 10_000); err != nil {
		return err
	}
	switch {
	case o.N < 1 || o.N > mostWalkers:
		return fmt.Errorf("%w: -n %d: 1 to %d", command.ErrUsage, o.N, mostWalkers)
	case o.clients < 1 || o.clients > min(o.N, mostClients):
		return fmt.Errorf("%w: -clients %d: 1 to %d, and no more than -n %d", command.ErrUsage, o.clients, mostClients, o.N)
	case o.hz < 1 || o.hz > mostHz:
		return fmt.Errorf("%w: -hz %d: 1 to %d", command.ErrUsage, o.hz, mostHz)
	case o.visible < 1:
		return fmt.Errorf("%w: -visible %d: at least 1", command.ErrUsage, o.visible)
	case !(o.slow >= 0 && o.slow < 1):
		return fmt.Errorf("%w: -slow %g: at least 0 and below 1", command.ErrUsage, o.slow)
	case o.decode < 1:
		return fmt.Errorf("%w: -decode %d: at least 1", command.ErrUsage, o.decode)
	}
	return o.CheckSteps(given, 12*o.hz, 2*o.hz)
}

func (o *options) runClients(level native.Level, stdout, stderr io.Writer) error {
	level, err := native.Resolve(level)
	if err != nil {
		return err
	}
	r := o.NewReport(level.String())
	h := &clientsHost{options: o, progress: command.NewProgress(stderr), stderr: stderr}
	r.WriteText = h.write
	return o.Publish(stdout, r, func() error {
		err := h.measure(level)
		h.progress.Clear()
		r.Clients, r.Figures = &h.report, h.report.figures()
		return err
	})
}

// clientsHost is the process of the server: it runs the crowd, and starts that of the clients.
type clientsHost struct {
	*options
	progress *command.Progress
	stderr   io.Writer
	crowd    *crowd
	server   *replica.Server
	began    int64                  // sharedTime at which the server began
	room     int                    // of a connection, in bytes
	admitted func(*replica.Session) // called after Join; nil: nothing to do
	relayed  bool                   // the server is that of a relay: the master says what the window is

	joined chan struct{} // closed when all clients are in
	window joinWindow    // To 0: it has not begun
	marks  [2]clientsMark
	clientsSums
	toJoin chan joinWindow

	done      chan struct{} // closed when the window and the time for its last updates are over
	closeDone func()

	mu  sync.Mutex
	err error // the first of a connection
	joinResult
	report clientsReport
}

// clientsMark is what the server has used and sent at one moment.
type clientsMark struct {
	tick uint64
	at   int64 // sharedTime
	cpu  time.Duration
	sys  time.Duration // of cpu: in the system
	clientsSums
	memory command.Memory
	stats  replica.Stats
}

// clientsSums are those since the Sim began.
type clientsSums struct {
	late      uint64 // ticks that began when the next one was due already, or were dropped
	simulated int64  // ns in the phases of the Sim
}

// measure runs the scene.
func (h *clientsHost) measure(level native.Level) error {
	if err := h.open(level); err != nil {
		return err
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := h.serveClients(ctx, cancel, listener)
	err = h.crowd.sim.RunFrames(ctx, h.frame)
	cancel()
	return h.finish(err, <-result)
}

// serveClients starts the process of the clients, and serves it until ctx is done, or it has ended, after which it calls cancel.
func (h *clientsHost) serveClients(ctx context.Context, cancel func(), listener *net.TCPListener) <-chan error {
	h.joined, h.toJoin, h.done = make(chan struct{}), make(chan joinWindow, 1), make(chan struct{})
	h.closeDone = sync.OnceFunc(func() { close(h.done) })
	go h.accept(ctx, listener)
	result := make(chan error, 1)
	go func() {
		defer cancel()
		result <- h.runClientProcess(ctx, listener.Addr().String())
	}()
	return result
}

// finish evaluates a run that has ended with an error of the ticks, and with one of the process of the clients.
func (h *clientsHost) finish(err, ofClients error) error {
	if errors.Is(err, context.Canceled) {
		err = ofClients
	}
	if err = errors.Join(err, h.failed(), h.server.Close()); err == nil {
		h.evaluate()
	}
	return err
}

// open builds the crowd and its server.
func (h *clientsHost) open(level native.Level) (err error) {
	clock := new(sharedClock)
	cfg := evertick.Config{Seed: h.Seed, Level: level, Workers: h.Workers, Clock: clock}
	if h.crowd, err = newCrowd(h.N, min(h.visible, h.N), h.hz, h.clients, cfg); err != nil {
		return err
	}
	h.server, err = replica.New(h.crowd.sim, h.serverConfig())
	h.began = clock.begin()
	return err
}

// serverConfig returns the configuration of the server of a crowd.
func (h *clientsHost) serverConfig() replica.Config {
	var view replica.ViewConfig
	if h.visible < h.N {
		view = replica.ViewConfig{Enter: crowdRadius, Leave: crowdRadius + crowdSlack}
	}
	h.room = 4<<10 + 8*min(h.visible, h.N) // some updates
	return replica.Config{
		Columns: []replica.Column{
			{Name: "position.x", Codec: replica.Quantised{}},
			{Name: "position.y", Codec: replica.Quantised{}},
			{Name: replica.Rotation, Codec: replica.Planar{}},
			{Name: "act"},
		},
		Owner: "owner", View: view, Joined: inputJoined,
		Limits: replica.Limits{Sessions: h.clients, FramesPerSecond: max(240, 2*h.hz)},
		Authorize: func(_ context.Context, hello replica.Hello) (replica.Grant, error) {
			return replica.Grant{Data: hello.Credentials}, nil
		},
	}
}

// frame is called after each frame of the Sim.
func (h *clientsHost) frame(f loop.Frame) {
	h.late += uint64(max(0, f.Steps-1)) + f.Dropped
	phases, _ := h.crowd.sim.Timings()
	for _, p := range phases {
		h.simulated += int64(f.Steps) * p.Ns // the others of the frame take about as long as the last
	}
	tick := h.crowd.sim.Ticks()
	select {
	case <-h.joined:
	default:
		return
	}
	switch {
	case h.window.To != 0:
	case h.relayed:
		return
	default:
		h.begin(h.windowAfter(tick))
	}
	if h.progress.Due() {
		h.progress.Show("%s: tick %d of %d", h.Scene, h.Ticks+int(tick)-int(h.window.To), h.Ticks)
	}
	switch {
	case h.marks[0].tick == 0 && tick >= h.window.From:
		h.mark(&h.marks[0])
	case h.marks[0].tick != 0 && h.marks[1].tick == 0 && tick >= h.window.To:
		h.mark(&h.marks[1])
	case h.marks[1].tick != 0 && tick > h.marks[1].tick+uint64(h.hz/2):
		h.closeDone()
	}
}

// windowAfter returns the window that begins when the warm-up after a tick is over.
func (o *options) windowAfter(tick uint64) (w joinWindow) {
	w.From = tick + uint64(max(o.Warmup, 1))
	w.To = w.From + uint64(o.Ticks-o.Warmup)
	return w
}

// begin passes the window on to the clients.
func (h *clientsHost) begin(w joinWindow) {
	h.window = w
	h.toJoin <- w
}

func (h *clientsHost) mark(m *clientsMark) {
	m.cpu, _ = command.ProcessTime()
	m.sys = kernelTime()
	m.tick, m.at, m.memory, m.clientsSums = h.crowd.sim.Ticks(), sharedTime(), command.Allocated(), h.clientsSums
	h.server.Stats(&m.stats)
}

// runClientProcess starts the process of the clients, and reads what it has counted.
func (h *clientsHost) runClientProcess(ctx context.Context, addr string) error {
	talkErr, err := runSelf(ctx, joinCommand, h.stderr, func(to io.WriteCloser, from io.Reader) error {
		return h.talk(ctx, addr, json.NewEncoder(to), json.NewDecoder(from), to)
	})
	if err != nil {
		return fmt.Errorf("the process of the clients: %w", err)
	}
	return talkErr
}

// runSelf runs this program again with a command, and talk with its input and output. It returns the error of talk, and that
// of the process.
func runSelf(ctx context.Context, name string, stderr io.Writer, talk func(to io.WriteCloser, from io.Reader) error) (talkErr, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, name)
	cmd.Stderr = stderr
	to, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	talkErr = talk(to, from)
	to.Close() // after an error, too: then it ends
	return talkErr, cmd.Wait()
}

func (h *clientsHost) talk(ctx context.Context, addr string, to *json.Encoder, from *json.Decoder, stdin io.Closer) error {
	slow := int(float64(h.slow*float64(h.clients)) + 0.5)
	plan := joinPlan{
		Addr: addr, Clients: h.clients, Slow: slow, Decode: min(h.decode, h.clients-slow), Hz: h.hz, Lead: h.lead, Seed: h.Seed, Began: h.began,
		Watch: h.relayed,
	}
	if err := to.Encode(plan); err != nil {
		return err
	}
	var ready joinReady
	if err := from.Decode(&ready); err != nil {
		return err
	}
	close(h.joined)
	select {
	case window := <-h.toJoin:
		if err := to.Encode(window); err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	result := make(chan error, 1)
	go func() { result <- from.Decode(&h.joinResult) }()
	select {
	case <-h.done:
	case err := <-result: // the process has ended
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := stdin.Close(); err != nil {
		return err
	}
	return <-result
}

// accept serves connections until the listener is closed.
func (h *clientsHost) accept(ctx context.Context, l *net.TCPListener) {
	for {
		tcp, err := l.AcceptTCP()
		if err != nil {
			return
		}
		go func() {
			defer tcp.Close()
			if err := h.serve(ctx, tcp); err != nil && ctx.Err() == nil {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.err = errors.Join(h.err, err)
			}
		}()
	}
}

func (h *clientsHost) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// serve receives the messages of a client until it ends the connection.
func (h *clientsHost) serve(ctx context.Context, tcp *net.TCPConn) error {
	conn, err := newClientConn(tcp, h.room)
	if err != nil {
		return err
	}
	defer conn.Close()
	reader := newMessageReader(tcp, 1<<10)
	var session *replica.Session
	for {
		if err := reader.read(1 << 16); err != nil {
			if session != nil {
				session.Disconnected()
			}
			return nil // the clients report what they miss
		}
		for message, ok := reader.next(); ok; message, ok = reader.next() {
			if session == nil {
				if session, err = h.server.Join(ctx, conn, message); err == nil && h.admitted != nil {
					h.admitted(session)
				}
			} else {
				err = session.Receive(message)
			}
			if err != nil {
				return err
			}
		}
	}
}
