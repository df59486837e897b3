//go:build !js

package ws_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/replica/ws"
)

// A world with one entity, and a client that sees it move.
func Example() {
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	if err != nil {
		panic(err)
	}
	id, err := sim.World.Spawn()
	if err != nil {
		panic(err)
	}
	sim.Add(evertick.BeforePhysics, "walk", func(*evertick.Tick) error {
		return sim.World.SetPosition(id, 0.5*float32(sim.Ticks()+1), 0, 0)
	})
	server, err := replica.New(sim, replica.Config{Inline: true, Authorize: func(ctx context.Context, h replica.Hello) (replica.Grant, error) {
		if ws.Request(ctx).URL.Path != "/world" || string(h.Credentials) != "secret" {
			return replica.Grant{}, errors.New("a stranger")
		}
		return replica.Grant{}, nil
	}})
	if err != nil {
		panic(err)
	}
	handler, err := ws.NewHandler(server, ws.Config{})
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		panic(err)
	}
	host := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go host.Serve(listener)

	seen := make(chan float32, 100)
	config := ws.ClientConfig{Frame: func(c *replica.Client) {
		if x, err := replica.AppendValues[float32](nil, c.State(), "position.x", 0); err == nil && len(x) == 1 {
			seen <- x[0]
		}
	}}
	url := "ws://" + listener.Addr().String() + "/world"
	_, err = ws.Dial(context.Background(), url, config)
	fmt.Println("without credentials:", errors.Is(err, replica.Unauthorized))
	config.Credentials = []byte("secret")
	client, err := ws.Dial(context.Background(), url, config)
	if err != nil {
		panic(err)
	}
	for st := (replica.Stats{}); st.Connected == 0; server.Stats(&st) {
		time.Sleep(time.Millisecond) // the server sends the Welcome before it counts the client in
	}
	for range 3 {
		if err := sim.Step(); err != nil {
			panic(err)
		}
		fmt.Println("x =", <-seen)
	}
	client.Close()
	server.Close()
	host.Close()
	// Output:
	// without credentials: true
	// x = 0.5
	// x = 1
	// x = 1.5
}
