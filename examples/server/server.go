package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop/replay"
	"github.com/evertick/evertick/loop/replica"
	"github.com/evertick/evertick/loop/replica/ws"
)

// guide:begin serve

// serve runs the game until ctx is done, recorded in dir if that is not empty. It returns
// when the log is on the disk.
func serve(ctx context.Context, sim *evertick.Sim, l net.Listener, dir string) (err error) {
	defer l.Close()
	if dir != "" {
		rec, failed := replay.Record(dir, bumper.Name, sim, replay.Options{SnapshotTicks: 600})
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, rec.Close()) }()
	}
	players, err := replica.New(sim, replica.Config{
		Columns: []replica.Column{
			{Name: "position.x", Codec: replica.Quantised{Step: 1. / 128}},
			{Name: "position.y", Codec: replica.Quantised{Step: 1. / 128}},
			{Name: "owner"},
		},
		Owner: "owner", Joined: join, Left: leave, Limits: replica.Limits{Sessions: 64},
	})
	if err != nil {
		return err
	}
	defer players.Close()
	handler, err := ws.NewHandler(players, ws.Config{})
	if err != nil {
		return err
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	defer web.Close()
	go web.Serve(l)
	if err := sim.Run(ctx); !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// guide:end
