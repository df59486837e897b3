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

	"github.com/evertick/evertick"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves clients over streamable HTTP, at any path: the package comment lists what it
// refuses. Sessions end when they are idle for Config.Idle.
func (s *Server) Handler() http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		server, err := s.admit(false)
		if v, ok := r.Context().Value(admissionKey{}).(*admission); ok {
			v.err = err
		}
		return server // the SDK answers nil by status 400, which admissionWriter replaces
	}, &sdk.StreamableHTTPOptions{SessionTimeout: s.config.Idle, MaxRequestBodyBytes: s.config.BodyBytes})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.originAllowed(r):
			http.Error(w, "origin not allowed", http.StatusForbidden)
		case !s.tokenAllowed(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "token needed", http.StatusUnauthorized)
		default:
			a := &admission{server: s}
			r = r.WithContext(context.WithValue(r.Context(), admissionKey{}, a))
			inner.ServeHTTP(&admissionWriter{ResponseWriter: w, admission: a}, r)
		}
	})
}

// admission is in the context of a request that may begin a session.
type admission struct {
	server *Server
	err    error // why there is no session for it
}

type admissionKey struct{}

// admissionWriter answers a request that got no session with status 503 and the reason.
type admissionWriter struct {
	http.ResponseWriter
	admission *admission
	answered  bool
}

// Unwrap is for http.ResponseController.
func (w *admissionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *admissionWriter) WriteHeader(status int) {
	if w.admission.err == nil || status != http.StatusBadRequest {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.answered = true
	seconds := int64(math.Ceil(w.admission.server.retryAfter().Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, seconds), 10))
	http.Error(w.ResponseWriter, w.admission.err.Error(), http.StatusServiceUnavailable)
}

// Write implements http.ResponseWriter.
func (w *admissionWriter) Write(data []byte) (int, error) {
	if w.answered {
		return len(data), nil // the body of the replaced answer
	}
	return w.ResponseWriter.Write(data)
}

// originAllowed reports whether a request comes from no page, from a page of this server, or from one
// that Config.Origins names.
func (s *Server) originAllowed(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return len(origins) == 0
	}
	if slices.Contains(s.config.Origins, origins[0]) {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && u.Host != "" && u.Host == r.Host
}

// tokenAllowed compares in constant time, so that its duration does not show how much of a token is right. The
// name of the scheme may be in any case, and spaces may follow it: RFC 9110, section 11.
func (s *Server) tokenAllowed(r *http.Request) bool {
	if s.token == nil {
		return true
	}
	scheme, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimLeft(got, " ")))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], s.token) == 1
}

// Listen returns a listener for an address such as "localhost:8765". An address that other machines can
// reach is ErrRange without Config.Token.
func (s *Server) Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("mcp: Listen: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); s.token == nil && !(ok && tcp.IP.IsLoopback()) {
		l.Close()
		return nil, fmt.Errorf("mcp: Listen: other machines can reach the address %q, and there is no Config.Token: %w", addr, evertick.ErrRange)
	}
	return l, nil
}

// HTTP returns a server for Handler at the path /mcp, with timeouts for requests.
func (s *Server) HTTP() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
}
