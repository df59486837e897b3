// Command web is the twin of examples/demo in its page: the same Sim as on the server, in a worker of the browser. The demo builds it while its
// page is already open.
package main

import (
	"log"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/examples/demo/valley"
	"github.com/evertick/evertick/inspect/twin"
)

func main() { log.Fatal(twin.Run(twin.Config{Scenario: valley.Scenario, Seed: 1, Alone: nobody})) }

// nobody throws a ball while the page is not joined to the demo.
func nobody(_ uint64, dst []evertick.Input) ([]evertick.Input, error) { return dst, nil }
