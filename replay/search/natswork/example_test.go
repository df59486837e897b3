package natswork_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evertick/evertick/replay/search"
	"github.com/evertick/evertick/replay/search/internal/searchtest"
	"github.com/evertick/evertick/replay/search/natswork"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// guide:begin worker
// work is the main function of a worker. Start as many as there are CPUs, on any machines, and more while searches run.
func work(ctx context.Context, url string, registry *search.Registry) error {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	return natswork.Serve(ctx, nc, registry, natswork.ServeOptions{Jobs: 1})
}

// guide:end

// guide:begin searcher
// find returns the first seed with which the scenario fails.
func find(ctx context.Context, url string) (search.Found, error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return search.Found{}, err
	}
	defer nc.Close()
	pool, err := natswork.NewPool(nc, natswork.PoolOptions{})
	if err != nil {
		return search.Found{}, err
	}
	return search.FirstSeed(ctx, pool, search.Seeds{Scenario: "tally", Failure: "rare", From: 1, To: 1000, Ticks: 50})
}

// guide:end

// Two workers find what a goroutine finds.
func Example() {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	go s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		panic("the server of NATS does not start")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 2 {
		go work(ctx, s.ClientURL(), searchtest.Registry())
	}
	found, err := find(ctx, s.ClientURL())
	if err != nil {
		panic(err)
	}
	local, err := search.FirstSeed(ctx, search.Local{Registry: searchtest.Registry()},
		search.Seeds{Scenario: "tally", Failure: "rare", From: 1, To: 1000, Ticks: 50})
	fmt.Println("the same:", found == local && err == nil)
	// Output:
	// the same: true
}
