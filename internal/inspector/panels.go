package inspector

import (
	"context"

	"github.com/evertick/evertick"
)

// panelRoutes are the requests of the panels.
var panelRoutes = map[string]handler{
	"GET columns":  (*Inspector).columns,
	"GET entities": (*Inspector).entities,
	"GET entity":   (*Inspector).entity,
	"GET pick":     (*Inspector).pick,
	"GET systems":  (*Inspector).systems,
	"GET events":   (*Inspector).events,
	"GET trace":    (*Inspector).trace,
	"GET queues":   (*Inspector).queues,
}

// askJSON asks with the JSON of what read returns. Requests that differ have different keys.
func askJSON[T any](ctx context.Context, s subject, key string, read func(*evertick.Sim) (T, error)) Answer {
	return ask(ctx, s, key, func(sim *evertick.Sim, dst []byte) ([]byte, error) {
		v, err := read(sim)
		if err != nil {
			return dst, err
		}
		return append(dst, encode(v)...), nil
	})
}

// key returns the key of a request whose answer depends on its query only.
func (r *Request) key() string { return r.Path + "?" + r.Query.Encode() }
