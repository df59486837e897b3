package serving

import (
	"context"
	"fmt"
	"io"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/replay"
)

// LogPage opens a page that looks into one log or two, as command.SimPage does into a simulation; nil: there is none.
var LogPage func(ctx context.Context, dir, other string, sc replay.Scenario, addr string, logf func(string, ...any)) (io.Closer, error)

func (o *logOptions) viewUntilInterrupt() error {
	if LogPage == nil {
		return fmt.Errorf("%w: replay view: this command has no pages; go run ./bench/serve has", command.ErrUsage)
	}
	ctx, stop := command.Interruptible()
	defer stop()
	return o.view(ctx)
}

// view opens one log, or two to compare, in a page, until ctx is done.
func (o *logOptions) view(ctx context.Context) error {
	sc, err := o.scenarioOf(o.dirs[0])
	if err != nil {
		return err
	}
	other := ""
	if len(o.dirs) > 1 {
		other = o.dirs[1]
	}
	server, err := LogPage(ctx, o.dirs[0], other, sc, o.addr, command.PrintTo(o.stdout))
	if err != nil {
		return err
	}
	<-ctx.Done()
	return server.Close()
}
