package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/examples/demo/valley"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/replica/ws"
)

// snapshotTicks is the time between two snapshots of the log: to go back to a tick takes as long as half of these ticks.
const snapshotTicks = 300

// serve runs the world until ctx is done, and returns what it has done:
//
//	/       the page of package inspect, with what page.js adds
//	/throw  a POST of a ray, {"origin": [x, y, z], "direction": [x, y, z]}, throws a ball
//	/world  the WebSocket that the twin in the page joins
//	/twin   the page that runs the world itself, once it is built; see twin.go
func serve(ctx context.Context, l net.Listener, s settings) (report string, err error) {
	defer l.Close()
	sim, err := valley.Scenario.New(s.seed)
	if err != nil {
		return "", err
	}
	rec, err := replay.Record(s.log, valley.Scenario.Name, sim, replay.Options{SnapshotTicks: snapshotTicks})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	twins, err := replica.New(sim, replica.Config{
		Scenario:  valley.Scenario.Name,
		Authorize: func(context.Context, replica.Hello) (replica.Grant, error) { return replica.Grant{Simulate: true}, nil },
	})
	if err != nil {
		return "", err
	}
	defer twins.Close()
	socket, err := ws.NewHandler(twins, ws.Config{})
	if err != nil {
		return "", err
	}
	look, err := inspect.NewHandler(sim, inspect.Config{Control: true, Scenario: valley.Scenario, Log: s.log, Replica: twins})
	if err != nil {
		return "", err
	}
	defer look.Close()

	building, stop := context.WithCancel(ctx)
	defer stop()
	own := newTwin(building, s.twin)
	defer own.wait()
	mux := http.NewServeMux()
	mux.Handle("/", look)
	mux.Handle("GET /{$}", newPage())
	mux.HandleFunc("/world", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" { // the page of package inspect has a request of the same name
			look.ServeHTTP(w, r)
			return
		}
		socket.ServeHTTP(w, r)
	})
	mux.Handle("POST /throw", http.NewCrossOriginProtection().Handler(thrower(sim)))
	mux.Handle("GET /twin", own)
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	defer web.Close()
	go web.Serve(l)
	if err := sim.Run(ctx); !errors.Is(err, ctx.Err()) {
		return "", err
	}
	stop() // before wait
	_, step := sim.Stats()
	return fmt.Sprintf("%d ticks, %d balls thrown, hash %016x, step p50 %d µs, p95 %d µs",
		sim.Ticks(), sim.InputStats().Pushed, sim.Hash(), step.P50/1000, step.P95/1000), nil
}

// thrower turns the ray of a request into an input of the next tick, which the log has, too.
func thrower(sim *evertick.Sim) http.HandlerFunc {
	var seq atomic.Uint64
	return func(w http.ResponseWriter, r *http.Request) {
		var ray valley.Ray
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&ray)
		if err == nil && ray.Direction == [3]float32{} {
			err = errors.New("direction: it has no length")
		}
		if err != nil {
			http.Error(w, "throw: "+err.Error(), http.StatusBadRequest)
			return
		}
		if err := sim.Push(evertick.Input{Seq: seq.Add(1), Kind: valley.Throw, Data: ray.Append(nil)}); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
