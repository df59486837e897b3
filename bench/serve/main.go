// Command serve is command bench with pages: it also runs a scene at 60 Hz and opens a page that looks into it, or a page of
// one log or two:
//
//	go run ./bench/serve -scene swarm -n 100000 -view
//	go run ./bench/serve replay view DIR
//
// Bench itself does not link net/http, which takes longer to build than all that it measures.
package main

import (
	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/bench/internal/pages"
)

func main() { command.Main(&command.Pages{Sim: pages.Sim, Log: pages.Log}) }
