//go:build !js

package ws

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/evertick/evertick/internal/paritytest"
)

// pipe returns a socket whose connection takes what the other end reads, and no more, and that end.
func pipe(t *testing.T, c Config) (*socket, *client) {
	t.Helper()
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	s := newSocket(&c, "", time.Now())
	s.open(near, nil)
	t.Cleanup(func() {
		far.Close()
		s.end()
		noGoroutines(t)
	})
	return s, &client{Conn: far, t: t, r: newReader(far)}
}

// What waits for a client that does not read is bounded by QueueBytes and one frame.
func TestMemoryOfAClientThatDoesNotRead(t *testing.T) {
	for _, size := range []int{10, 330, 9_000, 20_000, 300_000} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			s, _ := pipe(t, Config{QueueBytes: 10_000})
			frame := make([]byte, size)
			taken := 0
			for s.Send(frame) {
				taken += size
				time.Sleep(100 * time.Microsecond) // so that the goroutine takes its frame
			}
			if taken < size || taken > 10_000+size {
				t.Errorf("%d bytes of frames of %d wait", taken, size)
			}
			if s.Send(make([]byte, 10_000)) {
				t.Error("a frame that fills the queue is taken beside another one")
			}
		})
	}
}

func ended(s *fakeSession) bool {
	select {
	case <-s.disconnected:
		return true
	default:
		return false
	}
}

// A client that never reads delays nobody, and is disconnected after Config.Write.
func TestZeroWindow(t *testing.T) {
	for _, name := range []string{"tcp", "tls"} {
		t.Run(name, func(t *testing.T) {
			h := hostOf(t, &fake{}, Config{Write: 500 * time.Millisecond, QueueBytes: 5000})
			if name == "tls" {
				h.server.StartTLS()
			} else {
				h.server.Start()
			}
			const stuck = 5
			var slow []*fakeSession
			for range stuck {
				_, s := h.connect()
				slow = append(slow, s)
				go func() { // the system holds a few MB before the first refusal
					for s.Send(make([]byte, 3300)) || !ended(s) {
						time.Sleep(50 * time.Microsecond)
					}
				}()
			}
			c, s := h.connect()
			got := make(chan int, 1)
			const frames = 3000
			go func() {
				n := 0
				for n < frames {
					if _, payload, err := c.next(); err != nil || len(payload) != 3300 || int(binary.LittleEndian.Uint32(payload)) != n {
						break
					}
					n++
				}
				got <- n
			}()
			frame := make([]byte, 3300)
			refused, longest := 0, time.Duration(0)
			for i := range frames {
				for _, s := range slow {
					began := time.Now()
					if !s.Send(frame) {
						refused++
					}
					longest = max(longest, time.Since(began))
				}
				binary.LittleEndian.PutUint32(frame, uint32(i))
				for began := time.Now(); !s.Send(frame); time.Sleep(50 * time.Microsecond) {
					if time.Since(began) > 10*time.Second {
						t.Fatal("a client that reads gets nothing")
					}
				}
			}
			if n := within(t, got, "a client that reads does not get all"); n != frames {
				t.Errorf("%d frames of %d", n, frames)
			}
			if refused == 0 {
				t.Error("no frame was refused")
			}
			for _, s := range slow {
				within(t, s.disconnected, "a client that does not read is not disconnected")
			}
			if longest > 2*time.Second {
				t.Errorf("a call of Send took %v", longest)
			}
			t.Logf("the longest of %d calls of Send took %v", stuck*frames, longest)
		})
	}
}

// Frames of several goroutines arrive whole, those of each in their order, beside pings, and a client
// that reads in jerks gets all that Send has taken.
func TestSendOfSeveralGoroutines(t *testing.T) {
	h := newHost(t, &fake{}, Config{QueueBytes: 20_000})
	c, s := h.connect()
	const senders = 4
	var wg sync.WaitGroup
	var taken [senders]uint32
	for p := range senders {
		wg.Go(func() {
			frame := make([]byte, 30_000)
			for range 3000 {
				size := 8 + int(taken[p]*7919)%4000
				if taken[p]%500 == 0 {
					size = 30_000
				}
				binary.LittleEndian.PutUint32(frame, uint32(p))
				binary.LittleEndian.PutUint32(frame[4:], taken[p])
				if s.Send(frame[:size]) {
					taken[p]++
				} else {
					runtime.Gosched()
				}
			}
		})
	}
	ponged := make(chan struct{})
	go func() {
		wg.Wait()
		for ping := time.NewTicker(time.Millisecond); ; {
			c.Write(masked(0x89, []byte("ping")))
			select {
			case <-ponged:
				s.Close()
				return
			case <-ping.C:
			}
		}
	}()
	var got [senders]uint32
	pongs := 0
	for i := 0; ; i++ {
		if i%300 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		op, payload, err := c.next()
		if err != nil || op == opClose {
			break
		}
		if op == 0x8a {
			if pongs++; pongs == 1 {
				close(ponged)
			}
			continue
		}
		p, n := binary.LittleEndian.Uint32(payload), binary.LittleEndian.Uint32(payload[4:])
		size := 8 + int(n*7919)%4000
		if n%500 == 0 {
			size = 30_000
		}
		if n != got[p] || len(payload) != size {
			t.Fatalf("frame %d of %d has %d bytes, expected frame %d", n, p, len(payload), got[p])
		}
		got[p]++
	}
	wg.Wait()
	if got != taken {
		t.Errorf("%d frames arrived of %d", got, taken)
	}
	c.Close()
	within(t, s.disconnected, "not disconnected")
}

// A frame of any size arrives after the ones before it, and Close loses none.
func TestLargeFrameAndClose(t *testing.T) {
	for _, name := range []string{"tcp", "tls"} {
		t.Run(name, func(t *testing.T) {
			h := hostOf(t, &fake{}, Config{})
			if name == "tls" {
				h.server.StartTLS()
			} else {
				h.server.Start()
			}
			c, s := h.connect()
			size := 20_000_000
			if paritytest.Instrumented && testing.Short() {
				size = 3_000_000
			}
			large := bytes.Repeat([]byte("0123456789"), size/10)
			if !s.Send(large) {
				t.Fatal("no room")
			}
			for s.Send(nil) { // until the queue is full
			}
			s.Close()
			if _, got, err := c.next(); err != nil || !bytes.Equal(got, large) {
				t.Fatalf("%d bytes, error %v", len(got), err)
			}
			c.closed()
			c.Close()
			within(t, s.disconnected, "not disconnected")
		})
	}
}

// A client that takes the Close frame and does not close its side delays the end by two seconds, or Config.Write.
func TestCloseOfAClientThatStays(t *testing.T) {
	h := newHost(t, &fake{}, Config{Write: 300 * time.Millisecond})
	c, s := h.connect()
	s.Send([]byte("last"))
	s.Close()
	s.Close()
	within(t, s.disconnected, "not disconnected")
	if op, got, err := c.next(); op != opBinary || string(got) != "last" || err != nil {
		t.Errorf("op %#x, %q, error %v", op, got, err)
	}
	if code := c.closed(); code != 1000 {
		t.Errorf("code %d", code)
	}
	noGoroutines(t)
}

func TestSendAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	h := newHost(t, &fake{}, Config{})
	c, s := h.connect()
	go func() {
		buf := make([]byte, 1<<16)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}()
	frame := make([]byte, 330)
	if n := testing.AllocsPerRun(500, func() {
		if !s.Send(frame) {
			t.Fatal("no room")
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// A failed write ends the connection.
func TestWriteError(t *testing.T) {
	s, _ := pipe(t, Config{})
	s.try = func([]byte) (int, error) { return 0, errors.New("for a test") }
	for range 2 {
		if s.Send([]byte("x")) || !s.broken {
			t.Error("a broken connection takes frames")
		}
	}
	s.finish(websocket.StatusNormalClosure)
	s.Close()
}
