//go:build !js

package ws

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/replica"
)

// fake is a server of frames: what a test needs of replica.Server.
type fake struct {
	t       *testing.T
	receive func(*fakeSession, []byte) error // nil: keeps the frame
	join    func(ctx context.Context, hello []byte) error
	joined  chan *fakeSession

	mu       sync.Mutex
	sessions []*fakeSession
}

type fakeSession struct {
	replica.Conn
	fake         *fake
	hello        string
	frames       chan string
	disconnected chan struct{} // closed by Disconnected: a second call panics
}

func (f *fake) Join(ctx context.Context, conn replica.Conn, hello []byte) (session, error) {
	if f.join != nil {
		if err := f.join(ctx, hello); err != nil {
			return nil, err
		}
	}
	s := &fakeSession{Conn: conn, fake: f, hello: string(hello), frames: make(chan string, 1000), disconnected: make(chan struct{})}
	f.mu.Lock()
	f.sessions = append(f.sessions, s)
	f.mu.Unlock()
	f.joined <- s
	return s, nil
}

func (s *fakeSession) Receive(frame []byte) error {
	if s.fake.receive != nil {
		return s.fake.receive(s, frame)
	}
	s.frames <- string(frame)
	return nil
}

func (s *fakeSession) Disconnected() { close(s.disconnected) }

// host is a Handler in an HTTP server. At the end of a test all its goroutines end.
type host struct {
	*fake
	handler *Handler
	server  *httptest.Server
}

func newHost(t *testing.T, f *fake, c Config) *host {
	t.Helper()
	h := hostOf(t, f, c)
	h.server.Start()
	return h
}

func hostOf(t *testing.T, f *fake, c Config) *host {
	t.Helper()
	f.t, f.joined = t, make(chan *fakeSession, 10_000)
	handler, err := newHandler(f.Join, c)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{f, handler, httptest.NewUnstartedServer(handler)}
	h.server.Config.ReadHeaderTimeout = 300 * time.Millisecond
	h.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() {
		f.mu.Lock()
		for _, s := range f.sessions {
			s.Close()
		}
		f.mu.Unlock()
		h.server.CloseClientConnections()
		h.server.Close()
		noGoroutines(t)
		handler.admission.mu.Lock()
		defer handler.admission.mu.Unlock()
		if handler.admission.total != 0 || len(handler.admission.addresses) != 0 {
			t.Errorf("%d connections are still counted", handler.admission.total)
		}
	})
	return h
}

var ours = regexp.MustCompile(`replica/ws\.(\(\*(socket|Handler|link|Conn)|stream)|coder/websocket`)

// noGoroutines waits until no goroutine runs code of this package, besides that of tests.
func noGoroutines(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		buf := make([]byte, 4<<20)
		buf = buf[:runtime.Stack(buf, true)]
		var left []string
		for _, g := range strings.Split(string(buf), "\n\n") {
			if ours.MatchString(g) {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("%d goroutines left:\n%s", len(left), left[0])
		}
	}
}

// session returns the next session that has begun.
func (h *host) session() *fakeSession {
	h.t.Helper()
	return within(h.t, h.joined, "no session has begun")
}

func within[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatal(what)
	}
	return v
}

// client is a client that does what it likes.
type client struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

const upgrade = "GET /world HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

// dial connects, without a handshake.
func (h *host) dial() *client {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
	if err == nil && h.server.TLS != nil {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	h.t.Cleanup(func() { conn.Close() })
	return &client{conn, h.t, newReader(conn)}
}

func newReader(c net.Conn) *bufio.Reader { return bufio.NewReader(c) }

// shake performs the handshake with further lines of the header, and returns the status.
func (c *client) shake(lines ...string) int {
	c.t.Helper()
	fmt.Fprintf(c, upgrade, c.RemoteAddr())
	for _, line := range lines {
		io.WriteString(c, line+"\r\n")
	}
	io.WriteString(c, "\r\n")
	r, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return r.StatusCode
}

// connect returns a client with its session.
func (h *host) connect() (*client, *fakeSession) {
	h.t.Helper()
	c := h.dial()
	if status := c.shake(); status != http.StatusSwitchingProtocols {
		h.t.Fatalf("status %d", status)
	}
	c.send(0x82, []byte("hello"))
	return c, h.session()
}

// masked returns a frame of a client.
func masked(op byte, payload []byte) []byte {
	f := appendHeader(nil, op, len(payload))
	f[1] |= 0x80
	key := [4]byte{1, 2, 3, 4}
	f = append(f, key[:]...)
	for i, b := range payload {
		f = append(f, b^key[i%4])
	}
	return f
}

func (c *client) send(op byte, payload []byte) {
	c.t.Helper()
	if _, err := c.Write(masked(op, payload)); err != nil {
		c.t.Fatal(err)
	}
}

// next reads a frame of the server.
func (c *client) next() (op byte, payload []byte, err error) {
	var b [8]byte
	if _, err := io.ReadFull(c.r, b[:2]); err != nil {
		return 0, nil, err
	}
	op = b[0]
	n := uint64(b[1])
	switch n {
	case 126:
		_, err = io.ReadFull(c.r, b[:2])
		n = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		_, err = io.ReadFull(c.r, b[:8])
		n = binary.BigEndian.Uint64(b[:])
	}
	if err == nil && n > 1<<28 {
		err = fmt.Errorf("a frame of %d bytes", n)
	}
	if err != nil {
		return op, nil, err
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(c.r, payload)
	return op, payload, err
}

// closed reads until the server has closed its side, and returns the code of its Close frame, 0: none.
func (c *client) closed() (code int) {
	c.t.Helper()
	for {
		op, payload, err := c.next()
		if wait, ok := err.(net.Error); ok && wait.Timeout() {
			c.t.Fatal("the server does not close the connection")
		}
		if err != nil {
			if code == 0 && !errors.Is(err, io.EOF) {
				code = -1 // reset
			}
			return code
		}
		if op == opClose && len(payload) >= 2 {
			code = int(binary.BigEndian.Uint16(payload))
		}
	}
}
