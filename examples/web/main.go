// Command web is the page of the game of examples/server: the same Sim, in a browser. make web builds it.
package main

import (
	"log"

	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/inspect/twin"
)

// guide:begin web

func main() {
	log.Fatal(twin.Run(twin.Config{
		Scenario: bumper.Scenario, Seed: 1, Owner: "owner", Watch: []byte(bumper.Watch),
		Steer: func(p twin.Pad) (kind uint32, data []byte) {
			return bumper.Thrust, []byte{byte(int8(127 * p.X)), byte(int8(127 * p.Y))}
		},
	}))
}

// guide:end
