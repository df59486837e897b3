// Command server is a headless game server: a Sim that ticks 60 times a second, players that
// join it over WebSocket, and a log from which the whole run can be proved.
//
//	go run ./server -log /tmp/bumper -bots 3    # until Ctrl-C; again: goes on
//	go run ./server -verify /tmp/bumper         # run it again, every hash
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

func main() {
	log.SetFlags(0)
	var s settings
	flag.StringVar(&s.addr, "addr", "127.0.0.1:7777", "`address` to listen on")
	flag.StringVar(&s.log, "log", "", "`folder` to record the run in: a new one, or one to continue")
	flag.Uint64Var(&s.seed, "seed", 1, "of the game")
	flag.IntVar(&s.bots, "bots", 0, "`number` of bots that play")
	verify := flag.String("verify", "", "run the log in `folder` again instead")
	flag.StringVar(&s.web, "web", "../out/web/index.html", "`file` of the page, which make web builds")
	origin := flag.String("origin", "", "`origin` of pages elsewhere that may join; *: all, also those of a file")
	flag.StringVar(&s.inspect, "inspect", "", "`address` of a page that looks into the game, such as 127.0.0.1:0")
	flag.Float64Var(&s.speed, "speed", 1, "times real time, 0 to 100")
	flag.BoolVar(&s.report, "report", false, "show at the end where the time of ticks went")
	flag.Parse()
	if *origin != "" {
		s.origins = []string{*origin}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := error(nil)
	if *verify != "" {
		err = check(*verify)
	} else {
		err = run(ctx, s)
	}
	if err != nil {
		log.Fatal("server: ", err)
	}
}

func run(ctx context.Context, s settings) (err error) {
	sim, end, err := begin(&s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := sim.Loop().SetScale(loop.Speed, "server", s.speed, loop.Forever); err != nil {
		return err
	}
	rec, err := profile.Attach(sim, profile.Config{Name: bumper.Scenario.Name, BudgetNs: 2_000_000, Warmup: 60})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	log.Print("listening on ", l.Addr())
	var playing sync.WaitGroup
	for i := range s.bots {
		playing.Go(func() {
			if err := bot(ctx, l.Addr().String(), nil); err != nil && ctx.Err() == nil {
				log.Printf("bot %d: %v", i, err)
			}
		})
	}
	err = serve(ctx, sim, l, s)
	playing.Wait()
	_, step := sim.Stats()
	fmt.Printf("%d ticks, %d inputs, hash %016x, step p50 %d µs, p99 %d µs\n",
		sim.Ticks(), sim.InputStats().Pushed, sim.Hash(), step.P50/1000, step.P99/1000)
	if s.report {
		err = errors.Join(err, profile.Analyze(rec.Run()).WriteText(os.Stdout, profile.TextFor(os.Stdout)))
	}
	return err
}

// begin returns the game, and what ends its log if it is recorded.
func begin(s *settings) (*evertick.Sim, func() error, error) {
	if s.log == "" {
		sim, err := bumper.Scenario.New(s.seed)
		return sim, func() error { return nil }, err
	}
	sim, rec, err := record(s.log, s.seed)
	if err != nil {
		return nil, nil, err
	}
	if s.secret, err = secretOf(strings.TrimRight(s.log, "/") + ".secret"); err != nil {
		return nil, nil, errors.Join(err, rec.Close())
	}
	return sim, rec.Close, nil
}

// check runs a log again.
func check(dir string) error {
	report, err := replay.Verify(dir, bumper.Scenario, replay.VerifyOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("%d ticks, %d inputs, hash %016x: every tick has the hash of the log\n", report.Ticks, report.Inputs, report.Hash)
	return nil
}
