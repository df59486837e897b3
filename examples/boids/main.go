// Command boids shows a flock in a terminal, in real time. Each boid sees its neighbours
// through one batched query a tick; with the same -n and -seed it is the same flock on
// every machine, which the hash at the end proves.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/term"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

type options struct {
	n, frames  int
	seed       uint64
	cols, rows int // 0: those of the terminal
	plain      bool
}

func main() {
	o, size := options{}, ""
	flag.IntVar(&o.n, "n", 1200, "`boids`")
	flag.Uint64Var(&o.seed, "seed", 1, "of the places where they start")
	flag.IntVar(&o.frames, "frames", 0, "stop after so many `frames`, 30 a second; without a terminal print the last")
	flag.StringVar(&size, "size", "", "`COLSxROWS` of the picture, as in 80x24; none: the size of the terminal")
	flag.BoolVar(&o.plain, "plain", false, "no colours, and no clock: print the last of -frames")
	flag.Parse()
	if size != "" {
		if _, err := fmt.Sscanf(size, "%dx%d", &o.cols, &o.rows); err != nil || o.cols < 1 || o.rows < 1 {
			fmt.Fprintf(os.Stderr, "boids: -size %q is not COLSxROWS\n", size)
			os.Exit(2)
		}
	}
	err := error(nil)
	if terminal := term.IsTerminal(int(os.Stdout.Fd())); terminal && !o.plain {
		err = show(o)
	} else if o.frames > 0 {
		err = still(os.Stdout, o)
	} else {
		err = fmt.Errorf("standard output is no terminal: set -frames")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "boids:", err)
		os.Exit(1)
	}
}

const ticksPerFrame = 2 // of 60 a second

// still runs without a clock and writes the last frame.
func still(out io.Writer, o options) error {
	f, err := newFlock(o.n, o.seed, evertick.Config{})
	if err != nil {
		return err
	}
	if o.cols == 0 {
		o.cols, o.rows = 80, 24
	}
	v := view{}
	v.resize(o.cols, o.rows-1)
	for range o.frames {
		if err := f.sim.StepN(ticksPerFrame); err != nil {
			return err
		}
		v.draw(f)
	}
	_, err = fmt.Fprint(out, v.text(o.plain, "\n"), status(f), "\n")
	return err
}

// show runs in real time until q, Ctrl-C, or the last of the frames.
func show(o options) error {
	f, err := newFlock(o.n, o.seed, evertick.Config{Loop: loop.Config{Pacing: loop.Precise}})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if restore, err := keys(stop); err == nil { // without a keyboard a signal ends it
		defer restore()
	}
	fmt.Print("\x1b[?1049h\x1b[?25l")       // another screen, no cursor
	defer fmt.Print("\x1b[?25h\x1b[?1049l") // and back
	v, left := view{}, o.frames
	f.sim.AddHooks(evertick.Hooks{AfterTick: func(t *evertick.Tick) error {
		if f.sim.Ticks()%ticksPerFrame != 0 {
			return nil
		}
		cols, rows := o.cols, o.rows
		if cols == 0 { // read in every frame, so that it follows the window
			if cols, rows, err = term.GetSize(int(os.Stdout.Fd())); err != nil {
				return err
			}
		}
		if cols != v.cols || rows-1 != v.rows {
			fmt.Print("\x1b[2J")
		}
		v.resize(max(1, cols), max(1, rows-1))
		v.draw(f)
		_, step := f.sim.Stats()
		line := fmt.Sprintf("%s, step %.2f ms, late %d µs", status(f), float64(step.P50)/1e6, f.sim.Frame().LateNs/1000)
		fmt.Printf("\x1b[H%s\x1b[K%.*s", v.text(false, "\r\n"), v.cols, line)
		if left--; left == 0 {
			return loop.ErrStop
		}
		return nil
	}})
	if err := f.sim.Run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// keys calls quit when q or Ctrl-C is pressed, and returns a function that restores the terminal.
func keys(quit func()) (restore func(), err error) {
	in := int(os.Stdin.Fd())
	was, err := term.MakeRaw(in)
	if err != nil {
		return nil, err
	}
	go func() {
		for key := make([]byte, 1); ; {
			if _, err := os.Stdin.Read(key); err != nil || key[0] == 'q' || key[0] == 3 {
				quit()
				return
			}
		}
	}()
	return func() { term.Restore(in, was) }, nil
}

func status(f *flock) string {
	return fmt.Sprintf("%d boids, tick %d, hash %016x", f.sim.World.Len(), f.sim.Ticks(), f.sim.Hash())
}
