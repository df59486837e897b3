package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertick/evertick/loop/skill"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves clients over streamable HTTP, at any path: see the package comment for what it
// refuses. Sessions end when they are idle for Config.Idle.
func (s *Server) Handler() http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		server, err := s.admit(false)
		if v, ok := r.Context().Value(refusalKey{}).(*turnedAway); ok {
			v.err = err
		}
		return server // nil is answered by a bad request, of which reply makes what it is
	}, &sdk.StreamableHTTPOptions{SessionTimeout: s.config.Idle, MaxRequestBodyBytes: s.config.BodyBytes})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.originAllowed(r):
			http.Error(w, "origin not allowed", http.StatusForbidden)
		case !s.tokenAllowed(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "token needed", http.StatusUnauthorized)
		default:
			away := &turnedAway{server: s}
			r = r.WithContext(context.WithValue(r.Context(), refusalKey{}, away))
			inner.ServeHTTP(&reply{ResponseWriter: w, away: away}, r)
		}
	})
}

// turnedAway is what became of a request for a seat, in the context of the request.
type turnedAway struct {
	server *Server
	err    error // nil: there was a seat, or none was asked for
}

type refusalKey struct{}

// reply answers with status 503 and a reason a request that got no seat.
type reply struct {
	http.ResponseWriter
	away     *turnedAway
	answered bool
}

// Unwrap is for http.ResponseController.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *reply) WriteHeader(status int) {
	if w.away.err == nil || status != http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.answered = true
	seconds := int64(math.Ceil(w.away.server.wait().Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, seconds), 10))
	http.Error(w.ResponseWriter, w.away.err.Error(), http.StatusServiceUnavailable)
}

// Write implements http.ResponseWriter.
func (w *reply) Write(data []byte) (int, error) {
	if w.answered {
		return len(data), nil // what the other answer says
	}
	return w.ResponseWriter.Write(data)
}

// originAllowed tells whether a request is of no page, of a page of this server, or of one
// that Config.Origins names.
func (s *Server) originAllowed(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	if slices.Contains(s.config.Origins, origins[0]) {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && u.Host != "" && u.Host == r.Host
}

// tokenAllowed compares in a time that does not tell how much of a token is right. The name of the scheme may
// be in any case, and spaces may follow it: RFC 9110, section 11.
func (s *Server) tokenAllowed(r *http.Request) bool {
	if s.token == nil {
		return true
	}
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimLeft(got, " ")))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], s.token) == 1
}

// Listen returns a listener for an address such as "localhost:8765". One that other machines can
// reach is ErrRange without Config.Token.
func (s *Server) Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("mcp: Listen: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); s.token == nil && !(ok && tcp.IP.IsLoopback()) {
		l.Close()
		return nil, fmt.Errorf("mcp: Listen: address %q, which other machines can reach, without Config.Token: %w", addr, skill.ErrRange)
	}
	return l, nil
}

// HTTP returns a server for Handler at the path /mcp, with limits on how long a client may take to ask.
func (s *Server) HTTP() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
}
