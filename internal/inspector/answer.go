package inspector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/evertick/evertick/internal/fault"
)

// Request is what a page asks for.
type Request struct {
	Method string // "GET" or "POST"
	Path   string // without a leading slash
	Query  url.Values
	Body   []byte
	Client string // whose request it is: clients take turns
}

// Answer is what the page gets. Several requests may share Body: only read it.
type Answer struct {
	Status int    // as in HTTP
	Type   string // "application/json" or "application/octet-stream"; "" for an empty body
	Body   []byte
}

// The types of answers.
const (
	typeJSON   = "application/json"
	typeBinary = "application/octet-stream"
)

// handler answers one kind of request about a subject. It may wait for a safe point by subject.do, and
// for channels and timers, but not otherwise.
type handler func(in *Inspector, ctx context.Context, r *Request, s subject) Answer

// routes are the requests by path and then method. Each file of requests has a table of its own.
var routes = tables(coreRoutes, panelRoutes, timelineRoutes)

var coreRoutes = map[string]handler{
	"GET status":   (*Inspector).status,
	"GET frame":    (*Inspector).picture,
	"GET geometry": (*Inspector).geometry,
	"GET world":    (*Inspector).world,
	"GET hashes":   (*Inspector).hashes,
	"GET steps":    (*Inspector).steps,
}

// tables joins tables whose keys are "METHOD path".
func tables(list ...map[string]handler) map[string]handler {
	all := map[string]handler{}
	for _, t := range list {
		for k, h := range t {
			if all[k] != nil {
				panic("inspector: two handlers of one request")
			}
			all[k] = h
		}
	}
	return all
}

// Answer answers a request, from any goroutine. It waits as long as the request needs, one second at most
// for a safe point and eight for its turn, or until ctx is done.
func (in *Inspector) Answer(ctx context.Context, r *Request) Answer {
	h := routes[r.Method+" "+r.Path]
	if h == nil {
		for _, method := range [...]string{"GET", "POST"} {
			if routes[method+" "+r.Path] != nil {
				return Refuse(405, fault.Field(fault.ErrUnsupported, "inspector: method of "+r.Path, r.Method))
			}
		}
		return Refuse(404, fmt.Errorf("inspector: there is no request %.80q", r.Path))
	}
	if in.closed.Load() {
		return errorAnswer(errClosed)
	}
	s, err := in.subject(r.Query.Get("of"))
	if err != nil {
		return errorAnswer(err)
	}
	return h(in, withClient(ctx, r.Client), r, s)
}

// subject returns the subject of that name, and the first one for "".
func (in *Inspector) subject(name string) (subject, error) {
	for _, s := range in.subjects {
		if name == "" || s.name() == name {
			return s, nil
		}
	}
	return nil, fault.Field(fault.ErrRange, "inspector: of", fmt.Sprintf("%.80q", name))
}

// ask answers with the JSON object that f appends at a safe point. In an answer of a Sim that has failed,
// which was read at an earlier safe point, "stale" is true.
func ask(ctx context.Context, s subject, key string, f task) Answer {
	body, stale, err := s.do(ctx, key, f)
	if err != nil {
		return errorAnswer(err)
	}
	return jsonBody(body, stale)
}

// askCopy does the same with an object that is made of a copy.
func askCopy(ctx context.Context, s subject, key string, c copying) Answer {
	body, stale, err := s.doCopy(ctx, key, c)
	if err != nil {
		return errorAnswer(err)
	}
	return jsonBody(body, stale)
}

// jsonBody returns a JSON object, with a mark if it is stale.
func jsonBody(body []byte, stale bool) Answer {
	if stale {
		body = append([]byte(`{"stale":true,`), bytes.TrimPrefix(body, []byte("{"))...)
	}
	return Answer{200, typeJSON, body}
}

// JSON answers with v, which has no values that JSON lacks.
func JSON(v any) Answer { return Answer{200, typeJSON, encode(v)} }

var (
	errClosed = errors.New("inspector: the inspector is closed")
	errBusy   = fmt.Errorf("inspector: no answer for %v: too much is asked of the simulation", busyAfter)
)

// stalledError says that no safe point came in time.
type stalledError struct{ age time.Duration }

func (e *stalledError) Error() string {
	return fmt.Sprintf("inspector: the simulation has not been stepped for %.1f s", e.age.Seconds())
}

// failedError says that the Sim has failed, and that nothing is known that answers the request.
type failedError struct{ err error }

func (e *failedError) Error() string {
	return "inspector: the simulation has failed, and this was not read before: " + e.err.Error()
}

func (e *failedError) Unwrap() error { return e.err }

// unopenedError says why a log has no Sim. That is not the fault of a request, whatever it wraps.
type unopenedError struct{ error }

func (e *unopenedError) Unwrap() error { return e.error }

// Refuse answers with an error and its status.
func Refuse(status int, err error) Answer {
	a := JSON(struct {
		Error string `json:"error"`
	}{err.Error()})
	a.Status = status
	return a
}

// errorAnswer returns an error with the status that fits it.
func errorAnswer(err error) Answer {
	if stalled := (*stalledError)(nil); errors.As(err, &stalled) {
		a := JSON(struct {
			Error   string `json:"error"`
			Stalled bool   `json:"stalled"`
			AgeMs   int64  `json:"age_ms"`
		}{err.Error(), true, stalled.age.Milliseconds()})
		a.Status = 503
		return a
	}
	failed, unopened := (*failedError)(nil), (*unopenedError)(nil)
	switch {
	case errors.As(err, &failed), errors.As(err, &unopened), errors.Is(err, errClosed), errors.Is(err, errBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Refuse(503, err)
	case errors.Is(err, fault.ErrStale):
		return Refuse(404, err)
	case errors.Is(err, fault.ErrRange), errors.Is(err, fault.ErrNotFinite), errors.Is(err, fault.ErrUnsupported), errors.Is(err, fault.ErrCapacity):
		return Refuse(400, err)
	}
	return Refuse(500, err)
}
