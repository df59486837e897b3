// Command serve is command bench with what serves clients, keeps logs and opens pages: the scenes clients, relays and host,
// the commands record and replay, and pages that look into a scene at 60 Hz, or into one log or two:
//
//	go run ./bench/serve -scene clients -n 10000 -clients 1000 -hz 30
//	go run ./bench/serve record DIR
//	go run ./bench/serve replay view DIR
//	go run ./bench/serve -scene swarm -n 100000 -view
//
// Bench itself links none of that, which takes longer to build than all that it measures.
package main

import (
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/bench/internal/pages"
	"github.com/evertick/evertick/bench/internal/serving"
)

func main() {
	command.SimPage, serving.LogPage = pages.Sim, pages.Log
	command.Main()
}
