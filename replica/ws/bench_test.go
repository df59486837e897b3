//go:build unix

package ws

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/evertick/evertick/replica"
)

// crowdAddress is the variable of the environment that makes the test binary a crowd of clients.
const crowdAddress = "EVERTICK_CROWD"

func TestMain(m *testing.M) {
	if address := os.Getenv(crowdAddress); address != "" {
		crowd(address)
		return
	}
	os.Exit(m.Run())
}

// crowd makes connections, as many as standard input says, and reads until that ends. Each sends as many messages a second
// as standard input says.
func crowd(address string) {
	var clients, rate int
	fmt.Scan(&clients, &rate)
	message := masked(opBinary, make([]byte, 40))
	for i := range clients {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(conn, upgrade+"\r\n", address)
		conn.Write(masked(opBinary, []byte("hello")))
		go io.Copy(io.Discard, conn)
		if rate > 0 {
			go func() {
				time.Sleep(time.Second * time.Duration(i) / time.Duration(clients))
				for range time.Tick(time.Second / time.Duration(rate)) {
					conn.Write(message)
				}
			}()
		}
	}
	io.Copy(io.Discard, os.Stdin)
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// idler is a session that counts messages.
type idler struct{}

var received atomic.Int64

func (idler) Receive([]byte) error { received.Add(1); return nil }
func (idler) Disconnected()        {}

// ways of sending a frame. Each is an http.Handler that hands its connections over.
var ways = map[string]func(b *testing.B, add func(send func(frame []byte))) http.Handler{
	// A system call and nothing else.
	"tcp": func(b *testing.B, add func(func([]byte))) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			defer conn.Close()
			add(func(frame []byte) { conn.Write(frame) })
			io.Copy(io.Discard, conn)
		})
	},
	"websocket": func(b *testing.B, add func(func([]byte))) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				panic(err)
			}
			defer conn.CloseNow()
			ctx := context.Background()
			add(func(frame []byte) { conn.Write(ctx, websocket.MessageBinary, frame) })
			for err == nil {
				_, _, err = conn.Read(ctx)
				received.Add(1)
			}
		})
	},
	"ws": func(b *testing.B, add func(func([]byte))) http.Handler {
		h, err := newHandler(func(_ context.Context, conn replica.Conn, _ []byte) (session, error) {
			add(func(frame []byte) { conn.Send(frame) })
			return idler{}, nil
		}, Config{Connections: 10_000, PerAddress: 10_000, PerMinute: 10_000})
		if err != nil {
			b.Fatal(err)
		}
		return h
	},
}

// BenchmarkSend sends frames of 330 bytes to 1,000 clients in another process, 20 times a second. It reports the CPU time
// of the process for a frame, and the memory of a connection.
func BenchmarkSend(b *testing.B) {
	for _, clients := range []int{100, 1000} {
		for _, way := range []string{"tcp", "websocket", "ws"} {
			b.Run(fmt.Sprintf("clients=%d/way=%s", clients, way), func(b *testing.B) { benchmarkSend(b, clients, way) })
		}
	}
}

// BenchmarkReceive takes 20 messages of 40 bytes a second from each of 1,000 clients in another process. It
// reports the CPU time of the process for a message.
func BenchmarkReceive(b *testing.B) {
	for _, way := range []string{"websocket", "ws"} {
		b.Run("way="+way, func(b *testing.B) {
			newCrowd(b, 1000, 20, way)
			cpu, before := cpuTime(), received.Load()
			for b.Loop() {
				time.Sleep(50 * time.Millisecond)
			}
			b.ReportMetric(float64(cpuTime()-cpu)/1000/float64(received.Load()-before), "cpu-µs/message")
		})
	}
}

func memory() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// newCrowd starts a crowd, and returns the functions that send to each client.
func newCrowd(b *testing.B, clients, rate int, way string) (all []func([]byte)) {
	var mu sync.Mutex
	joined := make(chan struct{}, clients)
	host := httptest.NewServer(ways[way](b, func(send func([]byte)) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, send)
		joined <- struct{}{}
	}))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crowdAddress+"="+host.Listener.Addr().String())
	in, err := cmd.StdinPipe()
	check(b, err)
	check(b, cmd.Start())
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
		host.CloseClientConnections()
		host.Close()
	})
	fmt.Fprintln(in, clients, rate)
	for range clients {
		<-joined
	}
	time.Sleep(100 * time.Millisecond)
	return all
}

func benchmarkSend(b *testing.B, clients int, way string) {
	const hz = 20
	before := memory()
	all := newCrowd(b, clients, 0, way)
	each := (memory() - before) / float64(clients)
	frame := make([]byte, 330)
	cpu, next := cpuTime(), time.Now()
	for b.Loop() {
		for _, send := range all {
			send(frame)
		}
		next = next.Add(time.Second / hz)
		time.Sleep(time.Until(next))
	}
	b.ReportMetric(float64(cpuTime()-cpu)/1000/float64(b.N*clients), "cpu-µs/frame")
	b.ReportMetric(each/1024, "KiB/connection")
}
