package natswork

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/replay/search"
	"github.com/evertick/evertick/replay/search/internal/searchtest"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// The test binary is the worker as well: EVERTICK_WORKER has the address of the server, and the number added to SimVersion.
func TestMain(m *testing.M) {
	url := os.Getenv("EVERTICK_WORKER")
	if url == "" {
		os.Exit(m.Run())
	}
	other, err := strconv.ParseUint(os.Getenv("EVERTICK_WORKER_OTHER"), 10, 32)
	if err == nil {
		err = serveAt(url, uint32(other))
	}
	fmt.Fprintln(os.Stderr, "worker:", err)
	os.Exit(1)
}

func serveAt(url string, other uint32) error {
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	opt := ServeOptions{Jobs: 2, Heartbeat: 50 * time.Millisecond, simVersion: evertick.SimVersion + other}
	return Serve(context.Background(), nc, searchtest.Registry(), opt)
}

// start starts a server of NATS.
func start(t testing.TB, maxPayload int32) (url string) {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, MaxPayload: maxPayload})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server of NATS does not start")
	}
	return s.ClientURL()
}

func connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// newPool returns a pool with short times. A worker that is slow because the machine is busy costs a repeated job.
func newPool(t testing.TB, nc *nats.Conn) *Pool {
	t.Helper()
	p, err := NewPool(nc, PoolOptions{Silence: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// process starts a worker process.
func process(t testing.TB, url string, other uint32) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "EVERTICK_WORKER="+url, fmt.Sprint("EVERTICK_WORKER_OTHER=", other))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(cmd) })
	return cmd
}

// kill kills a process that need not be there any more, by SIGKILL where there is one.
func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// serve starts a worker in this process, and returns a function that ends it.
func serve(t testing.TB, url string, reg *search.Registry, opt ServeOptions) (end func()) {
	t.Helper()
	nc := connect(t, url)
	if opt.Heartbeat == 0 {
		opt.Heartbeat = 50 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, nc, reg, opt) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}

// withCRC makes a message of its content.
func withCRC(content []byte) []byte { return wire.AppendCRC(append([]byte(nil), content...), 0) }
