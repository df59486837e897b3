package inspect

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/inspector"
	"github.com/evertick/evertick/internal/page"
)

// Bounds of what clients can ask for, and of what they cost.
const (
	maxBody  = 64 << 10         // bytes of a POST
	maxQuery = 16 << 10         // bytes: twenty names of the greatest length, of which three bytes stand for one
	maxAsked = 64               // requests that are served at once
	maxLine  = 192              // requests that wait to be served: with those, one of each connection of a Server
	lineWait = time.Second      // for which they wait; the Inspector answers within 8 s, which leaves one to take the answer
	slowest  = 10 * time.Second // to send a body, or to take an answer
)

// Handler serves the page of a Sim, its requests, /metrics and /debug/vars. Mount it in the server of a program with
// http.StripPrefix:
//
//	mux.Handle("/sim/", http.StripPrefix("/sim", h))
//
// All its methods may be called from any goroutine.
type Handler struct {
	guard
	in      *inspector.Inspector
	page    []byte
	policy  string
	sources sources
	asked   chan struct{} // one for each request that is served
	line    atomic.Int32  // requests that wait
}

// NewHandler returns a Handler for a Sim, or for a log if sim is nil. Call it where Step may be called. The error lists all
// faults of the Config.
func NewHandler(sim *evertick.Sim, c Config) (*Handler, error) {
	if sim == nil && c.Log == "" {
		panic("inspect: NewHandler: nil Sim, and no Config.Log")
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	c.Name = cmp.Or(c.Name, c.Scenario.Name, "simulation")
	in, err := inspector.New(sim, c.inspector())
	if err != nil {
		return nil, err
	}
	h := &Handler{guard: newGuard(&c), in: in, asked: make(chan struct{}, maxAsked)}
	document := page.Inspect(c.Name)
	h.page, h.policy = document.HTML(), document.Policy()+"; frame-ancestors 'none'"
	h.sources = sources{replica: c.Replica}
	if sim != nil {
		h.sources.sim, h.sources.monitor = sim, sim.Monitor()
	}
	return h, nil
}

// Close ends what the Handler does in the Sim: requests that wait are answered, later ones get status 503. The hooks
// disappear from the Sim at the next tick or frame.
func (h *Handler) Close() error { return h.in.Close() }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowest)) // not every server has deadlines
	name := strings.TrimPrefix(r.URL.Path, "/")
	if status, why := h.refuse(r, name); status != 0 {
		fail(w, status, why)
		return
	}
	if at := pathOf(r); name == "" && !strings.HasSuffix(at, "/") { // the paths of the page are relative
		redirect(w, http.StatusMovedPermanently, path.Base(at)+"/", r.URL.RawQuery)
		return
	}
	if name == "" && h.admit(w, r) {
		return
	}
	if !h.authorized(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		fail(w, http.StatusUnauthorized, "a token is needed: open the page with ?token=…, or send Authorization: Bearer …")
		return
	}
	if !admitConn(r) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "too many connections")
		return
	}
	if !h.enter(r.Context()) {
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "too many requests are being served")
		return
	}
	defer func() { <-h.asked }()
	h.serve(w, r, name)
}

// enter waits for a place among the requests that are served, and reports whether there was one in time. Places are given in the
// order of coming: connections, which send one request after the other, take turns.
func (h *Handler) enter(ctx context.Context) bool {
	select {
	case h.asked <- struct{}{}:
		return true
	default:
	}
	defer h.line.Add(-1)
	if h.line.Add(1) > maxLine {
		return false
	}
	timer := time.NewTimer(lineWait)
	defer timer.Stop()
	select {
	case h.asked <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// setHeaders sets what holds for every answer: no other site may read it, show it, or guess what it is.
func setHeaders(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, name string) {
	if r.Method == http.MethodPost {
		h.answer(w, r, name)
		return
	}
	switch name {
	case "":
		w.Header().Set("Content-Security-Policy", h.policy)
		send(w, http.StatusOK, "text/html; charset=utf-8", h.page)
	case "metrics":
		send(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", h.figures(r.Context()).appendText(nil))
	case "debug/vars":
		send(w, http.StatusOK, "application/json; charset=utf-8", h.vars(r.Context()))
	default:
		h.answer(w, r, name)
	}
}

// answer passes a request on to the Inspector.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, name string) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	q := inspector.Request{Method: http.MethodGet, Path: name, Query: query, Client: r.RemoteAddr}
	if r.Method == http.MethodPost {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(slowest))
		q.Method = http.MethodPost
		if q.Body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			status := http.StatusBadRequest
			if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			fail(w, status, err.Error())
			return
		}
	}
	a := h.in.Answer(r.Context(), &q)
	send(w, a.Status, a.Type, a.Body)
}

// send writes an answer. An error means that the client is gone.
func send(w http.ResponseWriter, status int, kind string, body []byte) {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// fail writes an error in the form of the Inspector.
func fail(w http.ResponseWriter, status int, why string) {
	a := inspector.Refuse(status, errors.New("inspect: "+why))
	send(w, a.Status, a.Type, a.Body)
}

// redirect sends the browser to an address that is relative to the one that it asked for, as a proxy may have changed that.
// The path begins with a dot, or it could be taken for a scheme or a host.
func redirect(w http.ResponseWriter, status int, path, query string) {
	w.Header().Set("Location", address(path, query))
	w.WriteHeader(status)
}

func address(path, query string) string {
	if query != "" {
		query = "?" + query
	}
	return "./" + path + query
}
