package guide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/replay"
)

// guide:begin serve

// play runs a game, and serves a page that looks into it.
func play(ctx context.Context, sim *evertick.Sim) error {
	page, err := inspect.Serve(ctx, sim, "127.0.0.1:0", inspect.Config{Name: "my game"}) // prints the URL
	if err != nil {
		return err
	}
	defer page.Close()
	return sim.Run(ctx)
}

// guide:end

// guide:begin log

// playRecorded does the same for a game that is being recorded. The page can go back to any tick of
// the log, while the game goes on.
func playRecorded(ctx context.Context, game replay.Scenario, dir string) error {
	sim, err := game.New(1)
	if err != nil {
		return err
	}
	rec, err := replay.Record(dir, game.Name, sim, replay.Options{SnapshotTicks: 600})
	if err != nil {
		return err
	}
	defer rec.Close()
	_, err = inspect.Serve(ctx, sim, "127.0.0.1:0", inspect.Config{Scenario: game, Log: dir, Control: true})
	if err != nil {
		return err
	}
	return sim.Run(ctx)
}

// look shows a log of a run that has ended.
func look(ctx context.Context, game replay.Scenario, dir string) error {
	_, err := inspect.ServeLog(ctx, dir, game, "127.0.0.1:0", inspect.Config{})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// guide:end

// guide:begin mount

// withPage adds the page to the web server of a program, at /sim/. The server is on a network, so
// the page needs a token, and the name by which browsers reach the server.
func withPage(mux *http.ServeMux, sim *evertick.Sim) (*inspect.Handler, error) {
	h, err := inspect.NewHandler(sim, inspect.Config{
		Token: os.Getenv("INSPECT_TOKEN"), // at least 16 bytes; "" would admit this machine alone
		Hosts: []string{"game.example.com"},
	})
	if err != nil {
		return nil, err
	}
	mux.Handle("/sim/", http.StripPrefix("/sim", h))
	return h, nil
}

// guide:end

// The functions of the guide page run. The page of inspect that is mounted in a server answers requests with the token.
func TestInspect(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	l.Close()
	game := replay.Scenario{Name: "empty", New: func(seed uint64) (*evertick.Sim, error) {
		return evertick.New(evertick.Config{Capacity: 16, Seed: seed})
	}}
	sim, err := game.New(1)
	if err != nil {
		t.Fatal(err)
	}
	ended := func(err error) {
		t.Helper()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	// soon returns a context that ends after ten ticks of a Sim.
	soon := func(sim *evertick.Sim) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		sim.AddHooks(evertick.Hooks{AfterTick: func(*evertick.Tick) error {
			if n++; n == 10 {
				cancel()
			}
			return nil
		}})
		return ctx
	}
	ended(play(soon(sim), sim))

	ctx, cancel := context.WithCancel(t.Context())
	recorded := replay.Scenario{Name: game.Name, New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := game.New(seed)
		if err == nil {
			context.AfterFunc(soon(sim), cancel)
		}
		return sim, err
	}}
	dir := filepath.Join(t.TempDir(), "log")
	ended(playRecorded(ctx, recorded, dir))
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	ended(look(ctx, game, dir))

	t.Setenv("INSPECT_TOKEN", "a secret of at least 16 bytes")
	mux := http.NewServeMux()
	h, err := withPage(mux, sim)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	web := httptest.NewServer(mux)
	defer web.Close()
	for token, want := range map[string]string{"a secret of at least 16 bytes": fmt.Sprintf("evertick_tick %d\n", sim.Ticks()), "": "a token is needed"} {
		r, err := http.NewRequest("GET", web.URL+"/sim/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("with the token %q: %v, %s", token, err, body)
		}
	}
}
