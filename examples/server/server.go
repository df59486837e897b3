package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/replica/ws"
)

// settings are the flags of the server. For serve the zero value works.
type settings struct {
	addr    string
	log     string // folder of the log; "": none
	seed    uint64
	bots    int
	speed   float64  // times real time
	web     string   // file of the page
	origins []string // of pages elsewhere
	inspect string   // address of the page that looks into the game; "": none
	report  bool

	secret []byte // of an earlier server whose players come back; nil: a new one
}

// guide:begin serve

// serve runs the game until ctx is done. Players join at /world, and / is the page.
func serve(ctx context.Context, sim *evertick.Sim, l net.Listener, s settings) error {
	defer l.Close()
	players, err := replica.New(sim, replica.Config{
		Columns: []replica.Column{
			{Name: "position.x", Codec: replica.Quantised{Step: 1. / 128}},
			{Name: "position.y", Codec: replica.Quantised{Step: 1. / 128}},
			{Name: "owner"},
		},
		Owner: "owner", Joined: bumper.Join, Left: bumper.Leave, Limits: replica.Limits{Sessions: 64},
		Scenario: bumper.Scenario.Name, Secret: s.secret,
		Authorize: func(_ context.Context, h replica.Hello) (replica.Grant, error) {
			return replica.Grant{Data: h.Credentials, Simulate: true}, nil // Data: empty, or bumper.Watch
		},
	})
	if err != nil {
		return err
	}
	defer players.Close()
	if s.inspect != "" {
		page, err := inspect.Serve(ctx, sim, s.inspect, inspect.Config{
			Name: bumper.Scenario.Name, Log: s.log, Scenario: bumper.Scenario, Replica: players,
		})
		if err != nil {
			return err
		}
		defer page.Close()
	}
	handler, err := ws.NewHandler(players, ws.Config{Origins: s.origins})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/world", handler)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, s.web) })
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	defer web.Close()
	go web.Serve(l)
	if err := sim.Run(ctx); !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// record returns the game with a new log in the folder dir, or as the log there has it: an
// earlier server may have ended in any way.
func record(dir string, seed uint64) (*evertick.Sim, *replay.Recorder, error) {
	options := replay.Options{SnapshotTicks: 600}
	rec, sim, _, err := replay.Resume(dir, bumper.Scenario, options)
	if !errors.Is(err, fs.ErrNotExist) {
		return sim, rec, err
	}
	if sim, err = bumper.Scenario.New(seed); err != nil {
		return nil, nil, err
	}
	rec, err = replay.Record(dir, bumper.Scenario.Name, sim, options)
	return sim, rec, err
}

// guide:end

// secretOf returns what is in a file, which it makes if there is none: with the same secret, players keep
// their discs when another server continues the log.
func secretOf(file string) ([]byte, error) {
	secret, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		secret = []byte(rand.Text())
		err = os.WriteFile(file, secret, 0o600)
	}
	return secret, err
}
