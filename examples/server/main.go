// Command server is a headless game server: a Sim that ticks 60 times a second, players that
// join it over WebSocket, and a log from which the whole run can be proved.
//
//	go run ./server -log /tmp/bumper -bots 3    # until Ctrl-C
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
	"sync"
	"syscall"

	"github.com/evertick/evertick/bench/profile"
	"github.com/evertick/evertick/loop/replay"
)

func main() {
	log.SetFlags(0)
	addr := flag.String("addr", "127.0.0.1:7777", "`address` to listen on")
	dir := flag.String("log", "", "new `folder` to record the run in")
	seed := flag.Uint64("seed", 1, "of the game")
	bots := flag.Int("bots", 0, "`number` of bots that play")
	verify := flag.String("verify", "", "run the log in `folder` again instead")
	report := flag.Bool("report", false, "show at the end where the time of ticks went")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := error(nil)
	if *verify != "" {
		err = check(*verify)
	} else {
		err = run(ctx, *addr, *dir, *seed, *bots, *report)
	}
	if err != nil {
		log.Fatal("server: ", err)
	}
}

func run(ctx context.Context, addr, dir string, seed uint64, bots int, report bool) error {
	sim, err := bumper.New(seed)
	if err != nil {
		return err
	}
	rec, err := profile.Attach(sim, profile.Config{Name: bumper.Name, BudgetNs: 2_000_000, Warmup: 60})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.Print("listening on ", l.Addr())
	var playing sync.WaitGroup
	for i := range bots {
		playing.Go(func() {
			if err := bot(ctx, l.Addr().String(), nil); err != nil && ctx.Err() == nil {
				log.Printf("bot %d: %v", i, err)
			}
		})
	}
	err = serve(ctx, sim, l, dir)
	playing.Wait()
	_, step := sim.Stats()
	fmt.Printf("%d ticks, %d inputs, hash %016x, step p50 %d µs, p99 %d µs\n",
		sim.Ticks(), sim.InputStats().Pushed, sim.Hash(), step.P50/1000, step.P99/1000)
	if report {
		err = errors.Join(err, profile.Analyze(rec.Run()).WriteText(os.Stdout, profile.TextFor(os.Stdout)))
	}
	return err
}

// check runs a log again.
func check(dir string) error {
	report, err := replay.Verify(dir, bumper, replay.VerifyOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("%d ticks, %d inputs, hash %016x: every tick has the hash of the log\n", report.Ticks, report.Inputs, report.Hash)
	return nil
}
