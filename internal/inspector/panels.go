package inspector

import (
	"context"

	"github.com/evertick/evertick"
)

// panelRoutes are the requests of the panels.
//
//	GET columns   statistics of each number of each column over its live rows, and the hash of what has no numbers. NaN and
//	              infinities are counted, and left out of min, max and mean, which are null without finite numbers
//	GET entities  a page of entities: offset=, count= up to 500, tag=A, without=B, where=CLAUSE, columns=A, sort=A, descending=1.
//	              tag, without, where and columns come once for each of several. Without sort, the order is that of slots.
//	              A number is named NAME, or NAME[i] in a column of arrays: see the type numberName. A clause is
//	              NAME OP NUMBER, OP one of < <= > >= == !=, or NAME is nan: see clause; all tags and clauses must hold.
//	              Comparisons are exact, but for float32 with the nearest float32; NaN satisfies != only. In a sort equal
//	              values are in ascending order of slots, and NaN comes last
//	GET entity    everything about one entity: id=ent_3 or slot=2; 404 if there is none
//	GET pick      the entity at the point x=, y=, or the nearest one within r=: see the function pick
//	              with space=1 the entity that the ray from x=, y=, z= along dx=, dy=, dz= meets first: see the type rayQuery
//	GET systems   durations of the phases in ns; of a live Sim it never waits
//	GET events    events of the physics after number after=, of the last 4,096; never waits. They are recorded while a page
//	              has asked in the last 5 s, since the tick recording_since
//	GET trace     steps of the causal trace after number after=, of the last 4,096; never waits. For a log they are those
//	              before its present tick, of the last 65,536 ticks. The field tick of a step counts the ticks before it
//	GET queues    counts of inputs, frames, agents and clients, with the names of the fields of their Stats
//
// In events and trace "lost" counts what came after the number that was asked for and is gone. Where the answer's seq is
// below that number, the Sim or the log has begun anew or gone back: the steps or events replace those that the page has.
// Numbers are in the shortest form that identifies them; integers beyond 2^53 are strings.
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
