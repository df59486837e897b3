package inspect_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/physics"
)

// long runs every case of the tests that otherwise take a sample.
var long = os.Getenv("EVERTICK_LONG") != ""

const secret = "sixteen bytes or more"

// newSim returns a Sim in which balls fall and points drift.
func newSim(t testing.TB) *evertick.Sim {
	t.Helper()
	sim, err := evertick.New(evertick.Config{Capacity: 64, BudgetNs: 4_000_000})
	check(t, err)
	hp, err := ecs.AddColumn[float32](sim.World, "hp")
	check(t, err)
	for i := range 20 {
		id, slot, err := sim.World.SpawnSlot()
		check(t, err)
		hp.Values()[slot] = float32(i)
		if i%2 == 0 {
			continue
		}
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{float32(i), 10}
		body, err := sim.CreateBody(id, def)
		check(t, err)
		_, err = sim.Physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: 0.6})
		check(t, err)
	}
	check(t, sim.Add(evertick.BeforePhysics, "wear", func(t *evertick.Tick) error {
		for slot := range sim.World.Query() {
			hp.Values()[slot] -= t.Dt
		}
		hp.Touch()
		return nil
	}))
	return sim
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newHandler(t testing.TB, c inspect.Config) *inspect.Handler {
	t.Helper()
	h, err := inspect.NewHandler(newSim(t), c)
	check(t, err)
	t.Cleanup(func() { check(t, h.Close()) })
	return h
}

// serve starts a server for a Sim, or skips the test where there is no network.
func serve(t testing.TB, sim *evertick.Sim, c inspect.Config) *inspect.Server {
	t.Helper()
	needNetwork(t)
	c.Logf = func(string, ...any) {}
	srv, err := inspect.Serve(t.Context(), sim, "127.0.0.1:0", c)
	check(t, err)
	t.Cleanup(func() { check(t, srv.Close()) })
	return srv
}

func needNetwork(t testing.TB) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	check(t, l.Close())
}

// request is one of the tests: "Host" sets the host, "From" the address of the client.
type request struct {
	method, path string
	header       map[string]string
	body         string
}

// do passes a request to a handler as if it had come from a client of this machine.
func do(h http.Handler, q request) *httptest.ResponseRecorder {
	if q.method == "" {
		q.method = "GET"
	}
	r := httptest.NewRequest(q.method, q.path, strings.NewReader(q.body))
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:54321"
	for name, value := range q.header {
		switch name {
		case "Host":
			r.Host = value
		case "From":
			r.RemoteAddr = value
		case "Local": // where the connection was accepted
			a, err := net.ResolveTCPAddr("tcp", value)
			if err != nil {
				panic(err)
			}
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, a))
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// get returns the status and the body of a GET.
func get(t testing.TB, url string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: 20 * time.Second}
	r, err := client.Get(url)
	check(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	check(t, err)
	return r.StatusCode, string(body)
}

// stepInBackground steps a Sim until the function that it returns is called, which returns the error of Step.
func stepInBackground(sim *evertick.Sim) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := sim.Step(); err != nil {
				done <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
		done <- nil
	}()
	return func() error {
		cancel()
		return <-done
	}
}
