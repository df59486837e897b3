// Command web is the page of the game of examples/server: the same Sim, in a browser. make web builds it.
package main

import (
	"log"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/inspect/twin"
	"github.com/evertick/evertick/loop"
)

// guide:begin web

func main() {
	log.Fatal(twin.Run(twin.Config{
		Scenario: bumper.Scenario, Seed: 1, Owner: "owner", Watch: []byte(bumper.Watch), Alone: bots,
		Steer: func(p twin.Pad) (kind uint32, data []byte) {
			return bumper.Thrust, []byte{byte(int8(127 * p.X)), byte(int8(127 * p.Y))}
		},
	}))
}

// bots play until the page joins a server: each of them now and then goes another way.
func bots(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	for player := range uint32(12) {
		in := evertick.Input{Tick: tick, Source: 1 + player, Seq: tick}
		switch r := loop.NewRand(1, tick, uint64(player), 0); {
		case tick == 0:
			in.Kind = bumper.Join
		case (tick+uint64(5*player))%60 == 0:
			in.Kind, in.Data = bumper.Thrust, []byte{byte(r.Uint32()), byte(r.Uint32())}
		default:
			continue
		}
		dst = append(dst, in)
	}
	return dst, nil
}

// guide:end
