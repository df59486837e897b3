package inspect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// Server serves a Handler at an address of its own.
type Server struct {
	URL     string // of the page
	Handler *Handler

	web    *http.Server
	cancel context.CancelFunc
	end    sync.Once
	served chan struct{} // closed when the server accepts no more connections
	err    error         // of Close
}

// Serve serves the page of a Sim at an address such as "127.0.0.1:0", where 0 is any free port, prints its URL, and
// returns at once. It ends when ctx is done, or by Close. Call it where Step may be called. An address that other
// machines can reach is evertick.ErrRange unless Config.Token is set. It panics if sim is nil.
func Serve(ctx context.Context, sim *evertick.Sim, addr string, c Config) (*Server, error) {
	if sim == nil {
		panic("inspect: Serve: nil Sim")
	}
	return serve(ctx, sim, addr, c)
}

// ServeLog does the same for the log in a folder, which the scenario runs again. An error of the log is that of
// worldlog.OpenReader; the page shows faults that are found later.
func ServeLog(ctx context.Context, dir string, scenario replay.Scenario, addr string, c Config) (*Server, error) {
	r, err := worldlog.OpenReader(dir, c.FS)
	if err != nil {
		return nil, err
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	c.Log, c.Scenario = dir, scenario
	return serve(ctx, nil, addr, c)
}

func serve(ctx context.Context, sim *evertick.Sim, addr string, c Config) (*Server, error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	if c.Token == "" && !at.IP.IsLoopback() {
		return nil, fault.Field(fault.ErrRange, "inspect: addr", strconv.Quote(addr)+", which other machines can reach, without a Config.Token")
	}
	h, err := NewHandler(sim, c)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("inspect: %w", err), h.Close())
	}
	s := &Server{URL: urlOf(l.Addr().(*net.TCPAddr), c.Hosts), Handler: h, served: make(chan struct{})}
	s.start(ctx, l)
	c.print(s.URL)
	return s, nil
}

// start serves until ctx is done or Close is called.
func (s *Server) start(ctx context.Context, l net.Listener) {
	ctx, s.cancel = context.WithCancel(ctx)
	open := &conns{all: map[net.Conn]*conn{}}
	s.web = &http.Server{
		Handler: s.Handler, BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 2 * slowest, WriteTimeout: 2 * slowest, IdleTimeout: time.Minute,
		MaxHeaderBytes: 2 * maxQuery,
		ConnContext:    open.add, ConnState: open.state,
	}
	go func() {
		defer close(s.served)
		s.web.Serve(l) // until Close
	}()
	context.AfterFunc(ctx, func() { s.Close() })
}

// Close ends the server, its connections and its Handler, and frees the address. Any goroutine may call it.
func (s *Server) Close() error {
	s.end.Do(func() {
		s.cancel()
		s.err = errors.Join(s.web.Close(), s.Handler.Close())
		<-s.served
	})
	return s.err
}

// urlOf returns the URL of the page. A listener at all addresses is reached by any of them.
func urlOf(a *net.TCPAddr, hosts []string) string {
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "localhost"
		if len(hosts) > 0 {
			host = hosts[0]
		}
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(a.Port)) + "/"
}

// print says where the page is. The token is a secret, so that the program that set it must pass it on.
func (c *Config) print(url string) {
	logf := c.Logf
	if logf == nil {
		logf = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	}
	if c.Token != "" {
		logf("inspect: %s (the first time with ?token=…)", url)
		return
	}
	logf("inspect: %s", url)
}
