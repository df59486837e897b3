//go:build unix

package jetstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/evertick/evertick/replay"
)

// The tests of failures run a server, a master and a follower as processes of their own: this binary again, with a role.

const roleName = "EVERTICK_JETSTREAM_ROLE"

func TestMain(m *testing.M) {
	role, known := map[string]func() error{"server": beServer, "master": beMaster, "follower": beFollower}[os.Getenv(roleName)]
	if !known {
		os.Exit(m.Run())
	}
	if err := role(); err != nil {
		say(status{Err: err.Error()})
		os.Exit(1)
	}
}

// status is what a process prints, as a line of JSON.
type status struct {
	Ready  bool
	Ticks  uint64 // run
	Hash   uint64 // after them
	InStep bool   // of a follower
	Behind uint64 // of a master: ticks that the stream lacks
	Done   bool   // a master has shipped all
	Err    string
}

func say(s status) {
	line, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func beServer() error {
	port, err := strconv.Atoi(os.Getenv("PORT"))
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: os.Getenv("DIR"), NoLog: true, NoSigs: true})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		return errors.New("the server does not start")
	}
	say(status{Ready: true})
	<-stdinClosed()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// stdinClosed returns a channel that is closed when the parent has closed the input, or has ended.
func stdinClosed() <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	return closed
}

func dial() (*nats.Conn, error) {
	return nats.Connect(os.Getenv("URL"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(3))
}

// processOptions of logs: small segments and many snapshots, so that kills meet them.
var processOptions = replay.Options{SnapshotTicks: 200}

// beMaster runs a Sim from its log, or anew, a tick every millisecond, and ships it, until its input is closed.
func beMaster() error {
	nc, err := dial()
	if err != nil {
		return err
	}
	dir := os.Getenv("DIR")
	rec, sim, _, err := replay.Resume(dir, field(), processOptions)
	if errors.Is(err, os.ErrNotExist) {
		if sim, err = field().New(7); err != nil {
			return err
		}
		rec, err = replay.Record(dir, "field", sim, processOptions)
	}
	if err != nil {
		return err
	}
	var ship *Shipper
	closed := stdinClosed()
	for ship == nil { // the server may be gone
		if ship, err = Ship(context.Background(), nc, rec, ShipConfig{}); isFault(err) {
			return err
		}
	}
	for run := true; run; {
		select {
		case <-closed:
			run = false
		case <-time.After(time.Millisecond):
		}
		if err := errors.Join(sim.Push(inputOf(sim.Ticks(), 0)), sim.Step()); err != nil {
			return err
		}
		if sim.Ticks()%16 == 0 {
			say(status{Ready: true, Ticks: sim.Ticks(), Hash: sim.Hash(), Behind: ship.Stats().Behind})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := errors.Join(ship.Close(ctx), rec.Close()); err != nil {
		return err
	}
	say(status{Ready: true, Ticks: sim.Ticks(), Hash: sim.Hash(), Done: true})
	return nil
}

// beFollower follows into a log of its own until its input is closed.
func beFollower() error {
	nc, err := dial()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-stdinClosed()
		cancel()
	}()
	f, err := Follow(ctx, nc, field(), FollowConfig{Dir: os.Getenv("DIR"), Log: processOptions})
	if err != nil {
		return err
	}
	for {
		step, stop := context.WithTimeout(ctx, 50*time.Millisecond)
		err := f.Step(step)
		stop()
		if ctx.Err() != nil {
			return f.Close()
		}
		waited := errors.Is(err, context.DeadlineExceeded)
		if err != nil && !waited {
			return err
		}
		if waited || f.Sim().Ticks()%16 == 0 {
			say(status{Ready: true, Ticks: f.Sim().Ticks(), Hash: f.Sim().Hash(), InStep: f.Stats().InStep})
		}
	}
}

// process is one of these, which can be killed and started again.
type process struct {
	t    testing.TB
	role string
	env  []string
	cmd  *exec.Cmd
	in   io.Closer
	done chan struct{} // closed when its output has ended

	mu   sync.Mutex
	last status
	at   time.Time // of last
}

func newProcess(t testing.TB, role string, env ...string) *process {
	p := &process{t: t, role: role, env: env}
	p.start()
	t.Cleanup(func() { p.kill() })
	return p
}

func (p *process) start() {
	p.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), roleName+"="+p.role), p.env...)
	cmd.Stderr = os.Stderr
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	done := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.in, p.done, p.last = cmd, in, done, status{}
	p.mu.Unlock()
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var s status
			if json.Unmarshal(lines.Bytes(), &s) == nil { // a kill may leave half a line
				p.mu.Lock()
				p.last, p.at = s, time.Now()
				p.mu.Unlock()
			}
		}
	}()
}

func (p *process) status() status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.Err != "" {
		p.t.Fatalf("%s: %s", p.role, p.last.Err)
	}
	return p.last
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// kill ends the process at once. A process that has ended with an error before fails the test.
func (p *process) kill() {
	p.cmd.Process.Signal(syscall.SIGCONT)
	p.cmd.Process.Kill()
	<-p.done
	p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last.Err != "" {
		p.t.Errorf("%s: %s", p.role, p.last.Err)
	}
}

// await waits for a status since the start.
func (p *process) await(what string, is func(status) bool) status {
	p.t.Helper()
	until(p.t, p.role+": "+what, func() bool { return is(p.status()) })
	return p.status()
}

func (p *process) ready() { p.t.Helper(); p.await("ready", func(s status) bool { return s.Ready }) }

// trio is a server, a master and a follower.
type trio struct {
	t                        testing.TB
	server, master, follower *process
	store, local, own        string
}

// newTrio starts them. The master and the follower connect to URLs that through makes of that of the server.
func newTrio(t testing.TB, through func(role, address string) string) *trio {
	t.Helper()
	return newTrioAt(t, t.TempDir(), through)
}

// newTrioAt is newTrio with the store of the server in a directory.
func newTrioAt(t testing.TB, store string, through func(role, address string) string) *trio {
	t.Helper()
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	tr := &trio{t: t, store: store, local: t.TempDir(), own: t.TempDir()}
	tr.server = newProcess(t, "server", "PORT="+port, "DIR="+tr.store)
	tr.server.ready()
	url := func(role string) string {
		if through != nil {
			return "nats://" + through(role, address)
		}
		return "nats://" + address
	}
	tr.master = newProcess(t, "master", "URL="+url("master"), "DIR="+tr.local)
	tr.follower = newProcess(t, "follower", "URL="+url("follower"), "DIR="+tr.own)
	tr.master.ready()
	tr.follower.ready()
	return tr
}

// freeAddress returns an address that nobody listens at, below the ports that the system gives to connections.
func freeAddress(t testing.TB) string {
	t.Helper()
	for port := 10_000 + os.Getpid()%10_000; port < 30_000; port++ {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// finish stops the master, and checks that the follower ends with all of its ticks, that both logs are the same and verify,
// and that a follower from the first message of the stream agrees.
func (tr *trio) finish() {
	tr.t.Helper()
	tr.master.in.Close()
	end := tr.master.await("done", func(s status) bool { return s.Done })
	at := tr.follower.await("all ticks", func(s status) bool { return s.Ticks >= end.Ticks })
	if at.Ticks != end.Ticks || at.Hash != end.Hash {
		tr.t.Fatalf("the follower is at %+v, the master ended with %+v", at, end)
	}
	tr.follower.in.Close()
	<-tr.follower.done
	local, own := hashes(tr.t, tr.local), hashes(tr.t, tr.own)
	if uint64(len(local)) != end.Ticks || fmt.Sprint(local) != fmt.Sprint(own) {
		tr.t.Fatalf("logs of %d and %d ticks, after %d", len(local), len(own), end.Ticks)
	}
	for _, dir := range []string{tr.local, tr.own} {
		if rep, err := replay.Verify(dir, field(), replay.VerifyOptions{}); err != nil || rep.Ticks != end.Ticks {
			tr.t.Fatalf("%+v, %v", rep, err)
		}
	}
	var url string
	for _, v := range tr.follower.env {
		if len(v) > 4 && v[:4] == "URL=" {
			url = v[4:]
		}
	}
	whole := follow(tr.t, connect(tr.t, url), FollowConfig{Dir: tr.t.TempDir()})
	reach(tr.t, whole, end.Ticks)
	if whole.Sim().Hash() != end.Hash {
		tr.t.Fatal("the stream leads to another state")
	}
}

// proxy forwards connections, and can hold back all that they send.
type proxy struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	open     *sync.Cond
	blocked  bool
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to}
	p.open = sync.NewCond(&p.mu)
	t.Cleanup(func() { l.Close(); p.block(false) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) block(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = on
	p.open.Broadcast()
}

func (p *proxy) wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.blocked {
		p.open.Wait()
	}
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	p.wait()
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer s.Close()
	go p.pump(s, c)
	p.pump(c, s)
}

// pump copies from b to a until one of them ends, and then closes both.
func (p *proxy) pump(a, b net.Conn) {
	defer a.Close()
	defer b.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := b.Read(buf)
		p.wait()
		if n > 0 {
			if _, err := a.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
