package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/loop/skill"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves clients over streamable HTTP, at any path: see the package comment for what it
// refuses. Sessions end when they are idle for Config.Idle.
func (s *Server) Handler() http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		server, err := s.admit()
		if err != nil {
			return nil // which is told as a bad request
		}
		return server
	}, &sdk.StreamableHTTPOptions{SessionTimeout: s.config.Idle, MaxRequestBodyBytes: s.config.BodyBytes})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.originAllowed(r):
			http.Error(w, "origin not allowed", http.StatusForbidden)
		case !s.tokenAllowed(r):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "token needed", http.StatusUnauthorized)
		default:
			inner.ServeHTTP(w, r)
		}
	})
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

// tokenAllowed compares in a time that does not tell how much of a token is right.
func (s *Server) tokenAllowed(r *http.Request) bool {
	if s.config.Token == "" {
		return true
	}
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(s.config.Token))
	return ok && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Listen returns a listener for an address such as "localhost:8765". One that other machines can
// reach is ErrRange without Config.Token.
func (s *Server) Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("mcp: Listen: %w", err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); s.config.Token == "" && !(ok && tcp.IP.IsLoopback()) {
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
