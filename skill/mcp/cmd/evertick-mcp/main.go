// Command evertick-mcp serves an empty world over the Model Context Protocol: on stdin and
// stdout, or with -http on a port. A client lists the tools and
// calls them. Package mcp explains how to add it to a client.
//
//	evertick-mcp -profile builder
//	evertick-mcp -profile builder -http localhost:8765 -record /tmp/log
//	evertick-mcp -verify /tmp/log
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/skill/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "evertick-mcp:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	config               mcp.Config
	http, record, verify string
	seed                 uint64
}

func parse(args []string, messages io.Writer) (o options, err error) {
	f := flag.NewFlagSet("evertick-mcp", flag.ContinueOnError)
	f.SetOutput(messages)
	f.StringVar(&o.config.Profile, "profile", skill.Reader, "what clients may do: reader, player, builder or admin")
	f.StringVar(&o.config.Actor, "actor", "mcp", "name of the sessions in the trace, before a number")
	entity := f.String("entity", "", "own entity of a player, as in ent_12")
	f.BoolVar(&o.config.PlainNames, "plain-names", false, "underscores instead of dots in the names of tools")
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at this address, path /mcp, as in localhost:8765; empty: stdin and stdout")
	token := f.String("token-file", "", "file with the bearer token that clients over HTTP need")
	f.StringVar(&o.record, "record", "", "record a log in this directory")
	f.StringVar(&o.verify, "verify", "", "run the log in this directory again, compare every hash, and end")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the world")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if *entity != "" {
		if o.config.Entity, err = ecs.ParseID(*entity); err != nil {
			return o, fmt.Errorf("-entity: %w", err)
		}
	}
	if *token != "" {
		data, err := os.ReadFile(*token)
		if err != nil {
			return o, fmt.Errorf("-token-file: %w", err)
		}
		if o.config.Token = strings.TrimSpace(string(data)); o.config.Token == "" {
			return o, errors.New("-token-file: the file is empty")
		}
	}
	return o, nil
}

// run serves until ctx is done or, on stdin, the client closes it. It writes messages for people to
// messages: stdout belongs to the protocol.
func run(ctx context.Context, args []string, messages io.Writer) error {
	o, err := parse(args, messages)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if o.verify != "" {
		rep, err := replay.Verify(o.verify, mcp.Scenario(), replay.VerifyOptions{})
		if err == nil {
			fmt.Fprintf(messages, "%d ticks, %d inputs verified, hash %#016x\n", rep.Ticks, rep.Inputs, rep.Hash)
		}
		return err
	}
	w, err := mcp.Build(o.seed)
	if err != nil {
		return err
	}
	s, err := mcp.NewServer(w.Skills, o.config)
	if err != nil {
		return err
	}
	if o.record != "" {
		if err := w.Record(o.record); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := w.Run(ctx)
		cancel() // nothing is left to serve when the world has failed
		ended <- err
	}()
	err = serve(ctx, s, o.http, messages)
	cancel()
	return errors.Join(err, <-ended)
}

func serve(ctx context.Context, s *mcp.Server, addr string, messages io.Writer) error {
	if addr == "" {
		if err := s.Connect(ctx, s.Stdio(os.Stdin, os.Stdout)); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	}
	l, err := s.Listen(addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(messages, "serving http://%s/mcp\n", l.Addr())
	h := s.HTTP()
	context.AfterFunc(ctx, func() { h.Close() })
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
