//go:build !js

package ws

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replica"
)

// world is a Sim with a replica.Server and a Handler. Its ticks run all the time.
type world struct {
	t      *testing.T
	sim    *evertick.Sim
	ids    [50]ecs.ID
	server *replica.Server
	url    string
	inputs atomic.Int64 // that ticks have applied
	paused atomic.Bool
}

func newWorld(t *testing.T, c replica.Config, h Config) *world {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 64})
	check(t, err)
	w := &world{t: t, sim: sim}
	side, err := ecs.AddColumn[uint32](sim.World, "side")
	check(t, err)
	for i := range w.ids {
		w.ids[i], err = sim.World.Spawn()
		check(t, err)
		h, _ := sim.World.Handle(w.ids[i])
		side.Values()[h.Slot] = 1
	}
	sim.Add(evertick.BeforePhysics, "walk", func(tick *evertick.Tick) error {
		for i, id := range w.ids {
			if err := sim.World.SetPosition(id, float32(i)*float32(sim.Ticks()+1)/60, 0, 0); err != nil {
				return err
			}
		}
		w.inputs.Add(int64(len(tick.Inputs())))
		return nil
	})
	w.server, err = replica.New(sim, c)
	check(t, err)
	handler, err := NewHandler(w.server, h)
	check(t, err)
	host := httptest.NewServer(handler)
	w.url = "ws" + strings.TrimPrefix(host.URL, "http")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				w.server.Close()
				return
			case <-time.After(2 * time.Millisecond):
			}
			if w.paused.Load() {
				continue
			}
			if err := sim.Step(); err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		host.Close()
		noGoroutines(t)
	})
	return w
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) dial(c ClientConfig) *Conn {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	conn, err := Dial(ctx, w.url, c)
	check(w.t, err)
	w.t.Cleanup(func() { conn.Close() })
	return conn
}

// until waits until f is true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatal(what)
		}
	}
}

// reaches waits until a client has a state of the tick, and checks it.
func (w *world) reaches(c *Conn, tick uint64) {
	w.t.Helper()
	until(w.t, "no state of that tick", func() (ok bool) {
		c.Do(func(c *replica.Client) { ok = c.State().Tick() >= tick })
		return ok
	})
	c.Do(func(c *replica.Client) {
		x, err := replica.AppendValues[float32](nil, c.State(), "position.x", 0)
		check(w.t, err)
		if len(x) != 50 {
			w.t.Fatalf("%d entities", len(x))
		}
		for i, x := range x {
			if want := float32(i) * float32(c.State().Tick()) / 60; x < want-0.01 || x > want+0.01 {
				w.t.Errorf("entity %d at %v in tick %d, expected %v", i, x, c.State().Tick(), want)
			}
		}
	})
}

func TestClients(t *testing.T) {
	w := newWorld(t, replica.Config{}, Config{PerAddress: 100})
	const clients = 40
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			c := w.dial(ClientConfig{})
			w.reaches(c, 100)
			c.Do(func(c *replica.Client) {
				if _, err := c.Input(1, []byte("jump"), 0); err != nil {
					t.Error(err)
				}
			})
			w.reaches(c, 200)
		})
	}
	wg.Wait()
	until(t, "the inputs are not applied", func() bool { return w.inputs.Load() == clients })
}

func TestTLSClient(t *testing.T) {
	w := newWorld(t, replica.Config{}, Config{})
	handler, err := NewHandler(w.server, Config{})
	check(t, err)
	host := httptest.NewTLSServer(handler)
	defer host.Close()
	w.url = "wss" + strings.TrimPrefix(host.URL, "https")
	c := w.dial(ClientConfig{HTTP: host.Client()})
	w.reaches(c, 50)
	check(t, c.Close())
}

// cutter is an http.Client whose connections can be cut.
func cutter() (client *http.Client, cut func()) {
	var mu sync.Mutex
	var last net.Conn
	client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		mu.Lock()
		defer mu.Unlock()
		last = conn
		return conn, err
	}}}
	return client, func() {
		mu.Lock()
		defer mu.Unlock()
		last.(*net.TCPConn).SetLinger(0) // a reset
		last.Close()
	}
}

// A viewer goes from one relay to another, and later connections are made there. One that cannot be made changes nothing.
func TestRedialTo(t *testing.T) {
	c := replica.Config{Spectate: true, Secret: []byte("that of both relays")}
	first, second := newWorld(t, c, Config{}), newWorld(t, c, Config{})
	conn := first.dial(ClientConfig{})
	var session uint32
	conn.Do(func(c *replica.Client) {
		welcome, _ := c.Welcome()
		session = welcome.Session
	})
	first.reaches(conn, 5)
	if err := conn.RedialTo(t.Context(), "ws://127.0.0.1:1/"); err == nil {
		t.Fatal("a server answers at port 1")
	}
	check(t, conn.Redial(t.Context()))
	for i, redial := range []func() error{
		func() error { return conn.RedialTo(t.Context(), second.url) },
		func() error { return conn.Redial(t.Context()) },
	} {
		check(t, redial())
		conn.Do(func(c *replica.Client) {
			if w, _ := c.Welcome(); !w.Resumed || !w.Spectates || w.Session != session {
				t.Errorf("session %d became %d, resumed: %t", session, w.Session, w.Resumed)
			}
		})
		until(t, "the viewer is not at the second relay", func() bool {
			var stats replica.Stats
			second.server.Stats(&stats)
			return stats.Resumed == uint64(i+1)
		})
	}
	tick := uint64(0)
	conn.Do(func(c *replica.Client) { tick = c.State().Tick() })
	second.reaches(conn, tick+5)
}

func TestCutAndResume(t *testing.T) {
	w := newWorld(t, replica.Config{}, Config{})
	client, cut := cutter()
	c := w.dial(ClientConfig{HTTP: client})
	var session uint32
	c.Do(func(c *replica.Client) {
		welcome, _ := c.Welcome()
		session = welcome.Session
	})
	for i := range uint64(5) {
		w.reaches(c, 50*(i+1))
		cut()
		within(t, c.Done(), "the connection does not end")
		if err := c.Err(); err == nil {
			t.Error("no error after a cut")
		}
		check(t, c.Redial(t.Context()))
		if err := c.Err(); err != nil {
			t.Errorf("after Redial: %v", err)
		}
		c.Do(func(c *replica.Client) {
			if welcome, _ := c.Welcome(); !welcome.Resumed || welcome.Session != session {
				t.Errorf("cut %d: session %d became %d, resumed: %v", i, session, welcome.Session, welcome.Resumed)
			}
		})
	}
	// Without a cut, and after Close.
	check(t, c.Redial(t.Context()))
	check(t, c.Close())
	check(t, c.Redial(t.Context()))
	until(t, "not all connections have resumed the session", func() bool {
		var stats replica.Stats
		w.server.Stats(&stats)
		return stats.Joined == 1 && stats.Resumed == 7
	})
}

func TestRefusedClient(t *testing.T) {
	w := newWorld(t, replica.Config{Authorize: func(ctx context.Context, h replica.Hello) (replica.Grant, error) {
		cookie, err := Request(ctx).Cookie("player")
		if err != nil || cookie.Value != string(h.Credentials) {
			return replica.Grant{}, errors.New("not the player")
		}
		return replica.Grant{}, nil
	}}, Config{PerMinute: 3})
	config := ClientConfig{Header: http.Header{"Cookie": {"player=7"}}}
	_, err := Dial(t.Context(), w.url, config)
	if !errors.Is(err, replica.Unauthorized) {
		t.Errorf("error %v", err)
	}
	config.Credentials = []byte("7")
	w.reaches(w.dial(config), 1)
	config.Header = http.Header{"Origin": {"https://evil.example"}}
	if _, err := Dial(t.Context(), w.url, config); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("error %v", err)
	}
	config.Header = nil
	Dial(t.Context(), w.url, config)
	if _, err := Dial(t.Context(), w.url, config); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("error %v", err)
	}
}

func TestTooFastClient(t *testing.T) {
	w := newWorld(t, replica.Config{Limits: replica.Limits{FramesPerSecond: 10}}, Config{})
	c, other := w.dial(ClientConfig{}), w.dial(ClientConfig{})
	for c.Err() == nil {
		c.Do(func(c *replica.Client) { c.Ping() })
		time.Sleep(time.Millisecond)
	}
	if err := c.Err(); !errors.Is(err, replica.TooFast) {
		t.Errorf("error %v", err)
	}
	w.reaches(other, 50)
	check(t, other.Err())
}

func TestServerCloses(t *testing.T) {
	w := newWorld(t, replica.Config{}, Config{})
	c := w.dial(ClientConfig{})
	w.paused.Store(true)
	time.Sleep(20 * time.Millisecond)
	check(t, w.server.Close())
	within(t, c.Done(), "the connection does not end")
	if err := c.Err(); !errors.Is(err, replica.Closing) {
		t.Errorf("error %v", err)
	}
	if _, err := Dial(t.Context(), w.url, ClientConfig{}); !errors.Is(err, replica.Closing) {
		t.Errorf("error %v", err)
	}
}

// A pause of the world, without any frame, ends no connection. A network that swallows everything does.
func TestHalfOpen(t *testing.T) {
	const idle = 600 * time.Millisecond
	w := newWorld(t, replica.Config{}, Config{Idle: idle})
	proxy, err := net.Listen("tcp", "localhost:0")
	check(t, err)
	target := strings.TrimPrefix(w.url, "ws://")
	var swallow atomic.Bool
	forward := func(to, from net.Conn) {
		defer to.Close()
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if !swallow.Load() {
				to.Write(buf[:n])
			}
		}
	}
	go func() {
		for {
			near, err := proxy.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				return
			}
			go forward(near, far)
			go forward(far, near)
		}
	}()
	defer proxy.Close()
	w.url = "ws://" + proxy.Addr().String()
	c := w.dial(ClientConfig{Idle: idle})
	w.reaches(c, 10)
	w.paused.Store(true)
	time.Sleep(2 * idle)
	if err := c.Err(); err != nil {
		t.Fatalf("a pause: %v", err)
	}
	w.paused.Store(false)
	w.reaches(c, 20)
	swallow.Store(true)
	within(t, c.Done(), "the client does not notice")
	until(t, "the server does not notice", func() bool {
		var stats replica.Stats
		w.server.Stats(&stats)
		return stats.Connected == 0
	})
	swallow.Store(false)
	check(t, c.Redial(t.Context()))
}

func TestDialFaults(t *testing.T) {
	_, err := Dial(t.Context(), "ws://localhost:0", ClientConfig{FrameBytes: -1, QueueBytes: -2, Idle: -3, ClientConfig: replica.ClientConfig{States: 100}})
	if !errors.Is(err, fault.ErrRange) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"FrameBytes = -1", "QueueBytes = -2", "Idle = -3ns", "States = 100"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	silent, err := net.Listen("tcp", "localhost:0") // takes connections and does not answer
	check(t, err)
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, "ws://"+silent.Addr().String(), ClientConfig{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	noGoroutines(t)
}

// A frame that the server must not send ends the connection of the client.
func TestClientOfABadServer(t *testing.T) {
	h := newHost(t, &fake{receive: func(*fakeSession, []byte) error { return io.EOF }}, Config{})
	url := "ws" + strings.TrimPrefix(h.server.URL, "http")
	for name, frame := range map[string][]byte{"garbage": {99, 1, 2}, "empty": {}, "too long": make([]byte, 5000)} {
		result := make(chan error, 1)
		go func() {
			_, err := Dial(t.Context(), url, ClientConfig{FrameBytes: 4000})
			result <- err
		}()
		h.session().Send(frame)
		if err := within(t, result, "Dial waits"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The host gets the session of each connection, and all that a session can do reaches its client.
func TestSessionsOfTheHost(t *testing.T) {
	type began struct {
		session *replica.Session
		player  string
	}
	sessions := make(chan began, 10)
	all := func(context.Context, replica.Hello) (replica.Grant, error) { return replica.Grant{Mask: 1}, nil }
	w := newWorld(t, replica.Config{View: replica.ViewConfig{Enter: 5, Category: "side"}, Authorize: all}, Config{Session: func(s *replica.Session, r *http.Request) {
		sessions <- began{s, r.Header.Get("Player")}
	}})
	c := w.dial(ClientConfig{Header: http.Header{"Player": {"7"}}})
	first := within(t, sessions, "no session")
	var id uint32
	c.Do(func(c *replica.Client) {
		welcome, _ := c.Welcome()
		id = welcome.Session
	})
	if first.player != "7" || first.session.ID() != id {
		t.Errorf("session %d of player %q, expected %d of 7", first.session.ID(), first.player, id)
	}
	sees := func(what string, ok func(s *replica.State) bool) {
		t.Helper()
		until(t, what, func() (is bool) {
			c.Do(func(c *replica.Client) { is = ok(c.State()) })
			return is
		})
	}
	sees("a client that looks at nothing sees something", func(s *replica.State) bool { return s.Tick() > 0 && len(s.Slots()) == 0 })
	first.session.Follow(w.ids[0]) // it stays at the origin
	sees("Follow shows nothing", func(s *replica.State) bool { return len(s.Slots()) > 0 })
	first.session.SetMask(2)
	sees("SetMask hides nothing", func(s *replica.State) bool { return len(s.Slots()) == 0 })
	first.session.SetMask(1)
	sees("SetMask shows nothing", func(s *replica.State) bool { return len(s.Slots()) > 0 })
	first.session.LookAt(-100, 0, 0)
	sees("LookAt does not move the view", func(s *replica.State) bool { return len(s.Slots()) == 0 })
	if st := first.session.Stats(); !st.Connected || st.Sent.Frames == 0 {
		t.Errorf("%+v", st)
	}

	check(t, c.Redial(t.Context()))
	second := within(t, sessions, "no session after Redial")
	if second.session == first.session || second.session.ID() != id {
		t.Errorf("session %d came back as %d", id, second.session.ID())
	}
	second.session.Close(replica.Unauthorized)
	within(t, c.Done(), "Close does not end the connection")
	if err := c.Err(); !errors.Is(err, replica.Unauthorized) {
		t.Errorf("error %v", err)
	}
	check(t, c.Redial(t.Context())) // as another session
	if third := within(t, sessions, "no session"); third.session.ID() == id {
		t.Error("a session goes on after Close")
	}
}

// A panic of the host is one of its connection.
func TestPanicOfTheHost(t *testing.T) {
	w := newWorld(t, replica.Config{Limits: replica.Limits{Resume: -1}}, Config{Session: func(s *replica.Session, r *http.Request) {
		if r.Header.Get("Player") == "7" {
			panic("in Session")
		}
	}})
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	other := w.dial(ClientConfig{})
	c := w.dial(ClientConfig{Header: http.Header{"Player": {"7"}}})
	within(t, c.Done(), "the connection goes on")
	until(t, "the session goes on", func() bool {
		var st replica.Stats
		w.server.Stats(&st)
		return st.Connected == 1 && st.Waiting == 0
	})
	w.reaches(other, 10)
}
