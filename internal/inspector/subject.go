package inspector

import (
	"context"

	"github.com/evertick/evertick"
)

// task reads little of a Sim at a safe point, and appends what it has read to dst. It must not change the Sim, nor
// keep dst or anything that belongs to the Sim.
type task func(sim *evertick.Sim, dst []byte) ([]byte, error)

// copying copies at a safe point what an answer needs, and returns what makes the answer of it, on another goroutine. It must not
// change the Sim.
type copying func(p *point) (finish func() ([]byte, error), err error)

// subject is a Sim that pages look at. All methods may be called from any goroutine.
type subject interface {
	// name is the value of the parameter "of".
	name() string
	// do runs f at the next safe point in which it is its turn, and returns what f appended. Requests with the
	// same key that wait for a safe point share one run and its result, so the caller only reads it. The empty key
	// is not shared: f may then control the Sim. stale reports that the Sim has failed and the result is from
	// the last run with this key. Errors are those of f, of ctx, errClosed, errBusy, *stalledError and
	// *failedError.
	do(ctx context.Context, key string, f task) (body []byte, stale bool, err error)
	// doCopy does the same for a task of which the goroutine of the Sim does only a part. It has a key.
	doCopy(ctx context.Context, key string, c copying) (body []byte, stale bool, err error)
	// report fills in what the subject knows without waiting for the Sim.
	report(s *status)
	// records returns what the hooks have recorded.
	records() *hub
	// close ends all requests.
	close() error
}
