// Package pages opens the pages of command bench/serve, by package inspect.
package pages

import (
	"context"
	"io"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/replay"
)

// Sim opens a page that looks into a Sim and can pause and step it.
func Sim(ctx context.Context, sim *evertick.Sim, name, addr string, logf func(string, ...any)) (io.Closer, error) {
	return inspect.Serve(ctx, sim, addr, inspect.Config{Name: name, Control: true, Logf: logf})
}

// Log opens a page of the log in dir, and of one in other unless that is "".
func Log(ctx context.Context, dir, other string, sc replay.Scenario, addr string, logf func(string, ...any)) (io.Closer, error) {
	return inspect.ServeLog(ctx, dir, sc, addr, inspect.Config{Other: other, Logf: logf})
}
