package inspect_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
)

// A program serves the page beside its own loop.
func Example() {
	sim, err := evertick.New(evertick.Config{})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	srv, err := inspect.Serve(ctx, sim, "127.0.0.1:0", inspect.Config{})
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	fmt.Println(sim.StepN(60)) // or Run
	stop()
}

// A program that has a web server mounts the page in it.
func ExampleNewHandler() {
	sim, err := evertick.New(evertick.Config{})
	if err != nil {
		panic(err)
	}
	h, err := inspect.NewHandler(sim, inspect.Config{Name: "arena", Token: "a secret of at least 16 bytes"})
	if err != nil {
		panic(err)
	}
	defer h.Close()
	mux := http.NewServeMux()
	mux.Handle("/sim/", http.StripPrefix("/sim", h))
}
