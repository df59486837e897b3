//go:build !js

package ws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/fault"
)

func TestMessagesBothWays(t *testing.T) {
	h := newHost(t, &fake{}, Config{})
	c, s := h.connect()
	if s.hello != "hello" || !s.Ordered() {
		t.Errorf("Hello %q", s.hello)
	}
	for _, size := range []int{0, 1, 125, 126, 511, 512, 513, 5000, 65535, 65536} {
		frame := bytes.Repeat([]byte{byte(size), 7}, size/2+1)[:size]
		c.send(0x82, frame)
		if got := within(t, s.frames, "no frame"); got != string(frame) {
			t.Fatalf("%d bytes became %d", size, len(got))
		}
		if !s.Send(frame) {
			t.Fatal("no room")
		}
		if op, got, err := c.next(); op != opBinary || !bytes.Equal(got, frame) || err != nil {
			t.Fatalf("%d bytes became %d, op %#x, error %v", size, len(got), op, err)
		}
	}
	// In fragments, with a ping between them.
	c.Write(masked(0x02, []byte("in ")))
	c.send(0x89, []byte("ping"))
	c.Write(masked(0x00, []byte("three ")))
	c.send(0x80, []byte("parts"))
	if op, got, err := c.next(); op != 0x8a || string(got) != "ping" || err != nil {
		t.Errorf("op %#x, %q, error %v: no pong", op, got, err)
	}
	if got := within(t, s.frames, "no frame"); got != "in three parts" {
		t.Errorf("%q", got)
	}
	// The client closes.
	c.send(0x88, []byte{0x03, 0xe8})
	if code := c.closed(); code != 1000 {
		t.Errorf("code %d", code)
	}
	within(t, s.disconnected, "the session is not disconnected")
	if s.Send([]byte("late")) {
		t.Error("Send after the end")
	}
	s.Close()
}

// A message that comes right after the request, before the answer, is not lost.
func TestHelloWithTheRequest(t *testing.T) {
	h := newHost(t, &fake{}, Config{})
	c := h.dial()
	request := fmt.Sprintf(upgrade, "x") + "\r\n"
	c.Write(append([]byte(request), masked(0x82, []byte("early"))...))
	if s := h.session(); s.hello != "early" {
		t.Errorf("Hello %q", s.hello)
	}
}

func TestOrigin(t *testing.T) {
	h := newHost(t, &fake{}, Config{Origins: []string{"https://play.example.com", "http://[::1]:8080"}})
	all := newHost(t, &fake{}, Config{Origins: []string{"*"}})
	self := "http://" + h.server.Listener.Addr().String()
	for _, test := range []struct {
		host  *host
		lines []string
		want  int
	}{
		{h, nil, 101},
		{h, []string{self}, 101},
		{h, []string{"https://play.example.com"}, 101},
		{h, []string{"HTTPS://Play.Example.com"}, 101},
		{h, []string{"http://[::1]:8080"}, 101},
		{h, []string{"http://play.example.com"}, 403},
		{h, []string{"https://play.example.com:444"}, 403},
		{h, []string{"https://play.example.com.evil.com"}, 403},
		{h, []string{"https://evil.com"}, 403},
		{h, []string{self + ".evil.com"}, 403},
		{h, []string{self, self}, 403},
		{h, []string{"null"}, 403},
		{h, []string{"file://"}, 403},
		{h, []string{""}, 403},
		{h, []string{"%"}, 403},
		{all, []string{"https://evil.com"}, 101},
		{all, []string{"null"}, 101},
	} {
		var lines []string
		for _, l := range test.lines {
			lines = append(lines, "Origin: "+l)
		}
		c := test.host.dial()
		if got := c.shake(lines...); got != test.want {
			t.Errorf("Origin %q: status %d, expected %d", test.lines, got, test.want)
		}
		c.Close()
	}
}

func TestRequestsThatAreNoWebSocket(t *testing.T) {
	h := newHost(t, &fake{}, Config{})
	for _, change := range [][2]string{
		{"GET", "POST"}, {"HTTP/1.1", "HTTP/1.0"}, {"Upgrade: websocket", "Upgrade: h2c"}, {"Version: 13", "Version: 12"}, {"AAAA==", "AA"},
	} {
		c := h.dial()
		io.WriteString(c, strings.Replace(fmt.Sprintf(upgrade, "x"), change[0], change[1], 1)+"\r\n")
		r, err := http.ReadResponse(c.r, nil)
		if err != nil || r.StatusCode < 400 || r.StatusCode > 499 {
			t.Errorf("%s: %v, %v", change[1], r, err)
		}
	}
}

func TestHandshakeDeadline(t *testing.T) {
	h := newHost(t, &fake{}, Config{Handshake: 300 * time.Millisecond})
	hello := masked(0x82, bytes.Repeat([]byte("x"), 100))
	for name, send := range map[string]func(c *client){
		"nothing": func(*client) {},
		"one byte after another": func(c *client) {
			for _, b := range hello {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		},
		"pings": func(c *client) {
			for range 100 {
				if _, err := c.Write(masked(0x89, nil)); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := h.dial()
			c.t = t
			c.shake()
			began := time.Now()
			done := make(chan struct{})
			go func() { send(c); close(done) }()
			c.closed()
			if took := time.Since(began); took < 200*time.Millisecond {
				t.Errorf("ended after %v", took)
			}
			c.Close()
			<-done
			if len(h.joined) > 0 {
				t.Error("a session has begun")
			}
		})
	}
	c, s := h.connect() // others are not affected, and the deadline ends with the handshake
	time.Sleep(500 * time.Millisecond)
	c.send(0x82, []byte("late"))
	within(t, s.frames, "no frame")
}

func TestJoinHasTheRequestAndADeadline(t *testing.T) {
	var path, cookie string
	var left time.Duration
	h := newHost(t, &fake{join: func(ctx context.Context, _ []byte) error {
		r := Request(ctx)
		path, cookie = r.URL.Path, r.Header.Get("Cookie")
		at, _ := ctx.Deadline()
		left = time.Until(at)
		<-ctx.Done()
		return errors.New("refused")
	}}, Config{Handshake: time.Second})
	c := h.dial()
	c.shake("Cookie: a=b")
	c.send(0x82, []byte("hello"))
	if code := c.closed(); code != 1000 {
		t.Errorf("code %d", code)
	}
	if path != "/world" || cookie != "a=b" || left <= 0 || left > time.Second {
		t.Errorf("path %q, cookie %q, %v left", path, cookie, left)
	}
	if Request(context.Background()) != nil {
		t.Error("a request of nobody")
	}
}

// A host must set http.Server.ReadHeaderTimeout: before the request is complete, there is no Handler.
func TestSlowHeader(t *testing.T) {
	h := newHost(t, &fake{}, Config{})
	slow := h.dial()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, b := range []byte(fmt.Sprintf(upgrade, "x")) {
			if _, err := slow.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	h.connect()
	io.Copy(io.Discard, slow.r)
	slow.Close()
	<-done
}

func TestIdle(t *testing.T) {
	h := newHost(t, &fake{}, Config{Idle: 400 * time.Millisecond, Write: time.Second})
	_, gone := h.connect() // never answers a ping
	c, s := h.connect()
	pings := make(chan int, 100)
	go func() {
		defer close(pings)
		for {
			op, payload, err := c.next()
			if err != nil {
				return
			}
			if op == opPing {
				c.Write(masked(0x8a, payload))
				pings <- 1
			}
		}
	}()
	began := time.Now()
	within(t, gone.disconnected, "a silent client is not disconnected")
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("disconnected after %v", took)
	}
	for range 5 {
		within(t, pings, "no ping")
	}
	select {
	case <-s.disconnected:
		t.Error("a client that answers pings was disconnected")
	default:
	}
	c.Close()
	within(t, s.disconnected, "not disconnected")
}

// Everything that a client must not send ends its connection, with the code that RFC 6455 has for it.
func TestBadMessages(t *testing.T) {
	h := newHost(t, &fake{}, Config{MessageBytes: 1000, BytesPerSecond: 20_000, Write: time.Second})
	_, other := h.connect()
	many := func(n int, frames ...[]byte) []byte { return bytes.Repeat(bytes.Join(frames, nil), n) }
	long := func(length ...byte) []byte { return append(append([]byte{0x82, 0x80 | 127}, length...), 1, 2, 3, 4, 5) }
	for _, test := range []struct {
		name string
		data []byte
		code int
	}{
		{"text", masked(0x81, []byte("text")), 1003},
		{"too long", masked(0x82, make([]byte, 1001)), 1009},
		{"too long in fragments", append(masked(0x02, make([]byte, 900)), masked(0x80, make([]byte, 101))...), 1009},
		{"fragments without end", append(masked(0x02, make([]byte, 100)), many(100, masked(0x00, make([]byte, 100)))...), 1009},
		{"empty fragments without end", append(masked(0x02, nil), many(10_000, masked(0x00, nil))...), 1008},
		{"pings without end", many(10_000, masked(0x89, []byte("ping"))), 1008},
		{"pongs without end", many(10_000, masked(0x8a, nil)), 1008},
		{"messages without end", many(100, masked(0x82, make([]byte, 900))), 1008},
		{"a length of 2^62 and few bytes", append(long(64, 0, 0, 0, 0, 0, 0, 0), make([]byte, 2000)...), 1009},
		{"a negative length", long(255, 255, 255, 255, 255, 255, 255, 255), 1000},
		{"the most negative length", long(128, 0, 0, 0, 0, 0, 0, 0), 1000},
		{"no mask", []byte{0x82, 1, 0}, 1000},
		{"reserved bit", masked(0xc2, nil), 1002},
		{"reserved op", masked(0x83, nil), 1002},
		{"reserved control op", masked(0x8b, nil), 1002},
		{"ping in fragments", masked(0x09, nil), 1002},
		{"long ping", masked(0x89, make([]byte, 126)), 1002},
		{"continuation of nothing", masked(0x80, nil), 1002},
		{"a message within a message", append(masked(0x02, nil), masked(0x82, nil)...), 1002},
		{"close with one byte", masked(0x88, []byte{3}), 1002},
		{"close with a reserved code", masked(0x88, []byte{0x03, 0xed}), 1002},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, hello := range []bool{false, true} { // instead of the Hello, and afterwards
				c := h.dial()
				c.t = t
				c.shake()
				var s *fakeSession
				if hello {
					c.send(0x82, []byte("hello"))
					s = h.session()
				}
				go c.Write(test.data)
				code := c.closed()
				if code != test.code {
					t.Errorf("code %d, expected %d", code, test.code)
				}
				if hello {
					within(t, s.disconnected, "not disconnected")
				}
				c.Close()
			}
			for len(h.joined) > 0 {
				<-h.joined
			}
		})
	}
	select {
	case <-other.disconnected:
		t.Error("another client was disconnected")
	default:
	}
}

func TestTooManyConnections(t *testing.T) {
	h := newHost(t, &fake{}, Config{Connections: 5, PerAddress: 3, Address: func(r *http.Request) string { return r.Header.Get("From") }})
	status := func(address string, want int) *client {
		t.Helper()
		c := h.dial()
		if got := c.shake("From: " + address); got != want {
			t.Errorf("address %s: status %d, expected %d", address, got, want)
		}
		return c
	}
	first := status("a", 101)
	status("a", 101)
	status("a", 101)
	status("a", 429)
	status("b", 101)
	status("b", 101)
	status("b", 503)
	first.Close()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		h.handler.admission.mu.Lock()
		total := h.handler.admission.total
		h.handler.admission.mu.Unlock()
		if total == 4 {
			break
		} else if time.Since(began) > 20*time.Second {
			t.Fatal("a connection that has ended still counts")
		}
	}
	status("c", 101)
	status("c", 503)
}

func TestConnectionsInAMinute(t *testing.T) {
	config, err := Config{PerMinute: 3, PerAddress: 2}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	d := newAdmission(&config)
	now := time.Now()
	enter := func(address string, after time.Duration, want int) {
		t.Helper()
		if got := d.enter(address, now.Add(after)); got != want {
			t.Errorf("%s after %v: %d, expected %d", address, after, got, want)
		} else if got == 0 {
			d.leave(address)
		}
	}
	enter("a", 0, 0)
	enter("a", time.Second, 0)
	enter("a", 59*time.Second, 0)
	enter("a", 59*time.Second, 429)
	enter("b", 59*time.Second, 0)
	enter("a", 61*time.Second, 0)
	if len(d.addresses) != 0 || d.total != 0 || len(d.recent) != 1 {
		t.Errorf("%d addresses, %d connections, %d recent ones", len(d.addresses), d.total, len(d.recent))
	}
}

func TestRemoteAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:80": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:80": "fe80::/64", "@": "@", "pipe:1": "pipe",
	} {
		if got := remoteAddress(&http.Request{RemoteAddr: remote}); got != want {
			t.Errorf("%s: %s, expected %s", remote, got, want)
		}
	}
}

func TestConfigFaults(t *testing.T) {
	_, err := newHandler(nil, Config{
		Origins: []string{"https://a.example", "b.example", "https://c.example/path"}, Handshake: -1, Idle: -1, Write: -1,
		MessageBytes: -1, BytesPerSecond: -2, QueueBytes: -3, Connections: -4, PerAddress: -5, PerMinute: -6,
	})
	if !errors.Is(err, fault.ErrRange) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{
		"ws: Config.Origins[1] = b.example", "ws: Config.Origins[2]", "ws: Config.Handshake", "ws: Config.Idle", "ws: Config.Write",
		"ws: Config.MessageBytes = -1", "ws: Config.BytesPerSecond = -2", "ws: Config.QueueBytes = -3", "ws: Config.Connections = -4",
		"ws: Config.PerAddress = -5", "ws: Config.PerMinute = -6",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "Origins[0]") {
		t.Error("a fault of a good origin")
	}
}

// A panic in a session or in Authorize ends its connection and nothing else, and is logged.
func TestPanic(t *testing.T) {
	logged := make(chan string, 10)
	h := hostOf(t, &fake{receive: func(*fakeSession, []byte) error { panic("in Receive") }}, Config{})
	h.server.Config.ErrorLog = log.New(chanWriter(logged), "", 0)
	h.server.Start()
	c, s := h.connect()
	c.send(0x82, []byte("x"))
	within(t, s.disconnected, "not disconnected")
	if code := c.closed(); code != 1000 {
		t.Errorf("code %d", code)
	}
	h.connect()
	h.join = func(context.Context, []byte) error { panic("in Authorize") }
	c = h.dial()
	c.shake()
	c.send(0x82, []byte("hello"))
	if code := c.closed(); code != 1000 {
		t.Errorf("code %d", code)
	}
	for _, want := range []string{"in Receive", "in Authorize"} {
		if got := within(t, logged, "no log"); !strings.HasPrefix(got, "ws: panic: "+want+"\n") || !strings.Contains(got, "handler_test.go") {
			t.Errorf("the log has %q", got)
		}
	}
}

// chanWriter sends what is written to it.
type chanWriter chan<- string

func (c chanWriter) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

func TestReceiveEndsTheConnection(t *testing.T) {
	h := newHost(t, &fake{receive: func(s *fakeSession, frame []byte) error {
		s.Send([]byte("why"))
		return errors.New("for a test")
	}}, Config{})
	c, s := h.connect()
	c.send(0x82, []byte("x"))
	c.Write(bytes.Repeat(masked(0x82, make([]byte, 100)), 100)) // unread bytes must not reset the connection
	if op, got, err := c.next(); op != opBinary || string(got) != "why" || err != nil {
		t.Errorf("op %#x, %q, error %v", op, got, err)
	}
	if code := c.closed(); code != 1000 {
		t.Errorf("code %d", code)
	}
	c.Close()
	within(t, s.disconnected, "not disconnected")
}

func TestSuddenCut(t *testing.T) {
	h := newHost(t, &fake{}, Config{})
	for range 20 {
		c, s := h.connect()
		for range 10 {
			s.Send(make([]byte, 10_000))
		}
		c.Conn.(*net.TCPConn).SetLinger(0) // a reset
		c.Close()
		within(t, s.disconnected, "not disconnected")
		if s.Send([]byte("late")) {
			t.Error("Send after the end")
		}
	}
}
