package inspect_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/replay"
)

// One line is enough; the end of the context frees the address and ends the goroutines.
func TestServe(t *testing.T) {
	needNetwork(t)
	sim := newSim(t)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	printed := ""
	srv, err := inspect.Serve(ctx, sim, "127.0.0.1:0", inspect.Config{Logf: func(format string, args ...any) { printed = fmt.Sprintf(format, args...) }})
	check(t, err)
	if !strings.Contains(printed, srv.URL) || !strings.HasPrefix(srv.URL, "http://127.0.0.1:") {
		t.Errorf("printed %q, the URL is %q", printed, srv.URL)
	}
	stop := stepInBackground(sim)
	for path, want := range map[string]string{"": "<!doctype html>", "status": `"run"`, "frame": `"seq"`, "metrics": "evertick_tick", "debug/vars": "memstats"} {
		if status, body := get(t, srv.URL+path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%q: status %d, %.200q", path, status, body)
		}
	}
	cancel()
	<-waitFor(t, "the end of the server", func() bool {
		l, err := net.Listen("tcp", strings.Trim(srv.URL, "htp:/"))
		if err == nil {
			l.Close()
		}
		return err == nil
	})
	check(t, stop())
	check(t, srv.Close()) // waits for the end that ctx has begun, and says whether it failed
	http.DefaultClient.CloseIdleConnections()
	<-waitFor(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

// waitFor returns a closed channel when the condition holds.
func waitFor(t *testing.T, what string, holds func() bool) chan bool {
	t.Helper()
	done := make(chan bool)
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("waited 30 s for %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
	close(done)
	return done
}

func TestServeRefuses(t *testing.T) {
	needNetwork(t)
	sim := newSim(t)
	quiet := func(string, ...any) {}
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0"} {
		srv, err := inspect.Serve(t.Context(), sim, addr, inspect.Config{Logf: quiet})
		if srv != nil || !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "Config.Token") {
			t.Errorf("%q: %v", addr, err)
		}
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"} {
		if srv, err := inspect.Serve(t.Context(), sim, addr, inspect.Config{Token: secret, Logf: quiet}); srv != nil || err == nil {
			t.Errorf("%q is accepted", addr)
		}
	}
	srv, err := inspect.Serve(t.Context(), sim, ":0", inspect.Config{Token: secret, Logf: func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); strings.Contains(line, secret) {
			t.Errorf("printed the token: %s", line)
		}
	}})
	check(t, err)
	if status, _ := get(t, srv.URL+"status"); status != 401 {
		t.Errorf("without the token: status %d", status)
	}
	taken := strings.Trim(srv.URL, "htp:/")
	if _, err := inspect.Serve(t.Context(), sim, taken, inspect.Config{Token: secret, Logf: quiet}); err == nil {
		t.Errorf("%s serves two", taken)
	}
	check(t, srv.Close())
	defer func() {
		if got := recover(); got != "inspect: Serve: nil Sim" {
			t.Errorf("panic %v", got)
		}
	}()
	inspect.Serve(t.Context(), nil, "127.0.0.1:0", inspect.Config{})
}

// clients connect so many times, write a text, and do nothing more. They return how many the server has closed.
func clients(t *testing.T, srv *inspect.Server, n int, text string) (conns []net.Conn) {
	t.Helper()
	for range n {
		c, err := net.Dial("tcp", strings.Trim(srv.URL, "htp:/"))
		if err != nil {
			t.Skip("not run: too few files: ", err)
		}
		t.Cleanup(func() { c.Close() })
		io.WriteString(c, text) // the server may have closed it
		conns = append(conns, c)
	}
	return conns
}

// Hundreds of clients, a thousand with EVERTICK_LONG, that send nothing, half a request, or requests for each tick cost bounded memory, and no tick waits for
// one of them, or the ticks would not end.
func TestHangingClients(t *testing.T) {
	n := 330 // more than the server has places
	if long {
		n = 1000
	}
	drawn, asked := 0, 20
	if testing.Short() {
		asked = 6
	}
	for name, text := range map[string]string{ // in another order each time
		"silent":      "",
		"half a line": "GET /status HT",
		"half a body": "POST /timeline HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{",
		"never reads": strings.Repeat("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", asked),
		"asks for it": strings.Repeat("GET /columns HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", asked),
	} {
		if drawn++; drawn > 2 && testing.Short() {
			break
		}
		t.Run(name, func(t *testing.T) {
			sim := newSim(t)
			srv := serve(t, sim, inspect.Config{})
			check(t, sim.Step())
			goroutines, heap := runtime.NumGoroutine(), heapBytes()
			conns := clients(t, srv, n, text)
			const ticks = 200
			for range ticks {
				check(t, sim.Step())
			}
			if sim.Ticks() != ticks+1 {
				t.Errorf("%d ticks", sim.Ticks())
			}
			// 256 connections of net/http, each with one or two goroutines, and at most 64 requests.
			goroutines, heap = runtime.NumGoroutine()-goroutines, heapBytes()-heap
			t.Logf("%d clients: %d goroutines, %d kB", n, goroutines, heap/1000)
			if goroutines > 3*256 || heap > 64<<20 {
				t.Errorf("%d goroutines and %d bytes for %d clients", goroutines, heap, len(conns))
			}
			for _, c := range conns {
				c.Close()
			}
			<-waitFor(t, "an answer after they have gone", func() bool {
				r, err := http.Get(srv.URL + "status")
				if err != nil {
					return false
				}
				defer r.Body.Close()
				return r.StatusCode == 200
			})
		})
	}
}

// Connections without the token do not keep those out that have it, whatever they send, and however many there are.
func TestStrangersKeepNobodyOut(t *testing.T) {
	for name, text := range map[string]string{
		"silent":      "",
		"half a line": "GET /status HT",
		"refused":     "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"wrong token": "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n",
		"the page":    "GET /?token=0123456789abcdef HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, newSim(t), inspect.Config{Token: secret})
			ask := func(client *http.Client) error {
				r, err := http.NewRequest("GET", srv.URL+"status", nil)
				check(t, err)
				r.Header.Set("Authorization", "Bearer "+secret)
				a, err := client.Do(r)
				if err != nil {
					return err
				}
				defer a.Body.Close()
				_, err = io.Copy(io.Discard, a.Body) // so that the connection is kept
				if a.StatusCode != 200 {
					return fmt.Errorf("status %d", a.StatusCode)
				}
				return err
			}
			newClient := func() *http.Client {
				tr := new(http.Transport)
				t.Cleanup(tr.CloseIdleConnections)
				return &http.Client{Transport: tr, Timeout: 20 * time.Second}
			}
			early := newClient()
			check(t, ask(early))
			for range 3 {
				clients(t, srv, 120, text)
				if err := ask(early); err != nil {
					t.Errorf("a client that was there before: %v", err)
				}
				if err := ask(newClient()); err != nil {
					t.Errorf("a client that comes later: %v", err)
				}
			}
		})
	}
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// noting calls note when the answer begins.
type noting struct {
	http.ResponseWriter
	note func()
}

func (n *noting) WriteHeader(status int) {
	n.note()
	n.ResponseWriter.WriteHeader(status)
}

// While 64 requests are served further ones wait, for a second at most and in the order of coming, and no more than 192 of them;
// afterwards all is as before.
func TestRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, inspect.Config{})
		var all sync.WaitGroup
		var bodies []*io.PipeWriter
		for range 64 {
			body, w := io.Pipe()
			r := httptest.NewRequest("POST", "/timeline", body)
			r.Host, r.RemoteAddr = "127.0.0.1", "127.0.0.1:1"
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Header.Set("Content-Type", "application/json")
			all.Go(func() { h.ServeHTTP(httptest.NewRecorder(), r) })
			_, err := w.Write([]byte("{")) // returns when it is read
			check(t, err)
			bodies = append(bodies, w)
		}
		start := time.Now()
		if w := do(h, request{path: "/status"}); w.Code != 503 || w.Header().Get("Retry-After") == "" || time.Since(start) != time.Second {
			t.Errorf("beside 64 requests: status %d after %v", w.Code, time.Since(start))
		}
		var order []int
		var mu sync.Mutex
		for i := range 192 {
			note := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(&noting{w, func() { mu.Lock(); order = append(order, i); mu.Unlock() }}, r)
			})
			all.Go(func() {
				if w := do(note, request{path: "/status"}); w.Code != 200 {
					t.Errorf("request %d of those that wait: status %d", i, w.Code)
				}
			})
			synctest.Wait()
		}
		start = time.Now()
		if w := do(h, request{path: "/status"}); w.Code != 503 || time.Since(start) != 0 {
			t.Errorf("beside 192 that wait: status %d after %v", w.Code, time.Since(start))
		}
		check(t, bodies[0].Close())
		synctest.Wait()
		if len(order) != 192 || !slices.IsSorted(order) {
			t.Errorf("in the order %v", order)
		}
		if w := do(h, request{path: "/status"}); w.Code != 200 {
			t.Errorf("afterwards: status %d", w.Code)
		}
		for _, w := range bodies {
			check(t, w.Close())
		}
		all.Wait()
	})
}

// deadlines notes until when an answer may be written.
type deadlines struct {
	*httptest.ResponseRecorder
	write time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error { d.write = at; return nil }

// Whatever is answered, and whether or not it is refused, may take 10 s to be written.
func TestDeadlineOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, inspect.Config{Token: secret})
		for path, header := range map[string]string{"/": "", "/?token=" + url.QueryEscape(secret): "", "/status": "Bearer " + secret, "/none": "Bearer " + secret, "/metrics": ""} {
			w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
			r := httptest.NewRequest("GET", path, nil)
			r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:54321"
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			start := time.Now()
			h.ServeHTTP(w, r)
			if got := w.write.Sub(start); got != 10*time.Second {
				t.Errorf("%s: status %d, deadline after %v", path, w.Code, got)
			}
		}
	})
}

// A client that reads slower than 10 s for an answer loses its connection.
func TestSlowReader(t *testing.T) {
	if !long {
		t.Skip("not run without EVERTICK_LONG: it takes longer than the deadline of an answer, 10 s")
	}
	sim := newSim(t)
	srv := serve(t, sim, inspect.Config{})
	const asked = 400 // of more bytes than the system keeps for a connection
	c := clients(t, srv, 1, "")[0]
	check(t, c.(*net.TCPConn).SetReadBuffer(4096))
	go func() {
		for range asked {
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
				return
			}
		}
	}()
	time.Sleep(12 * time.Second)
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	answers, r := 0, bufio.NewReader(c)
	for ; ; answers++ {
		answer, err := http.ReadResponse(r, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
		}
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("the connection still is open")
		} else if err != nil {
			break
		}
	}
	if answers == asked {
		t.Errorf("all %d answers waited for the client", answers)
	}
}

// Pages that look at one Sim, from many goroutines, while it runs in real time.
func TestManyPages(t *testing.T) {
	sim := newSim(t)
	srv := serve(t, sim, inspect.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- sim.Run(ctx) }()
	var pages sync.WaitGroup
	for range 10 {
		pages.Go(func() {
			for _, path := range readings {
				if status, body := get(t, srv.URL+strings.TrimPrefix(path, "/")); status != 200 && status != 204 {
					t.Errorf("%s: status %d: %.200q", path, status, body)
				}
			}
		})
	}
	pages.Wait()
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var m evertick.Metrics
	sim.Monitor().Read(&m)
	if m.Err != nil {
		t.Error(m.Err)
	}
}

// A log is shown without a live Sim: the page seeks in it, and metrics show where it is.
func TestServeLog(t *testing.T) {
	needNetwork(t)
	game := replay.Scenario{Name: "balls", New: func(uint64) (*evertick.Sim, error) { return newSim(t), nil }}
	sim, dir := newSim(t), t.TempDir()+"/log"
	rec, err := replay.Record(dir, game.Name, sim, replay.Options{SnapshotTicks: 20})
	check(t, err)
	check(t, sim.StepN(100))
	check(t, rec.Close())
	quiet := func(string, ...any) {}
	if _, err := inspect.ServeLog(t.Context(), dir+"x", game, "127.0.0.1:0", inspect.Config{Logf: quiet}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	srv, err := inspect.ServeLog(t.Context(), dir, game, "127.0.0.1:0", inspect.Config{Logf: quiet})
	check(t, err)
	defer srv.Close()
	if _, body := get(t, srv.URL+"status"); !strings.Contains(body, `"name":"balls"`) {
		t.Errorf("the title is not that of the scenario: %s", body)
	}
	for _, tick := range []int{77, 100, 3} {
		r, err := http.NewRequest("POST", srv.URL+"timeline", strings.NewReader(fmt.Sprintf(`{"of":"log","seek":%d}`, tick)))
		check(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer, err := http.DefaultClient.Do(r)
		check(t, err)
		answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			t.Fatalf("seek: status %d", answer.StatusCode)
		}
		<-waitFor(t, "the tick", func() bool {
			_, body := get(t, srv.URL+"metrics")
			return strings.Contains(body, fmt.Sprintf("\nevertick_tick %d\n", tick))
		})
	}
	_, body := get(t, srv.URL+"metrics")
	e, err := parse(body)
	check(t, err)
	if _, live := e.values["evertick_entities"]; live || e.values["evertick_entity_capacity"] != 64 {
		t.Errorf("metrics of a log:\n%s", body)
	}
	check(t, srv.Close())
}
