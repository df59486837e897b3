//go:build !js

package ws

import (
	"bufio"
	"bytes"
	"context"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/coder/websocket"
	"github.com/evertick/evertick/replica"
)

// session is what a Handler needs of a *replica.Session. Tests have others.
type session interface {
	Receive(message []byte) error
	Disconnected()
}

// Handler lets clients join a replica.Server over WebSocket. It serves any path.
type Handler struct {
	config    Config
	admission *admission
	join      func(ctx context.Context, conn replica.Conn, hello []byte) (session, error)
}

// NewHandler returns a handler for a server. The error lists all faults of the Config. It panics if
// server is nil.
func NewHandler(server *replica.Server, c Config) (*Handler, error) {
	if server == nil {
		panic("ws: NewHandler: nil Server")
	}
	return newHandler(func(ctx context.Context, conn replica.Conn, hello []byte) (session, error) {
		return server.Join(ctx, conn, hello)
	}, c)
}

func newHandler(join func(context.Context, replica.Conn, []byte) (session, error), c Config) (*Handler, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{config: c, join: join}
	h.admission = newAdmission(&h.config)
	return h, nil
}

type requestKey struct{}

// Request returns the request that began a connection, for replica.Config.Authorize: its cookies and
// headers may name the player. It is nil if ctx is not of a Handler.
func Request(ctx context.Context) *http.Request {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	return r
}

// ServeHTTP implements http.Handler: it begins a connection, which goes on after it has returned. It answers status
// 403 to a page of another origin, 429 to an address with too many connections, and 503 if there are too
// many in total.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.config.originAllowed(r) {
		http.Error(w, "origin not allowed", http.StatusForbidden)
		return
	}
	began := time.Now()
	address := h.config.Address(r)
	if status := h.admission.enter(address, began); status != 0 {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many connections", status)
		return
	}
	s := newSocket(&h.config, address, began)
	conn, err := websocket.Accept(&hijacker{w, s}, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // the origin was checked above
	if err != nil {                                                                                       // Accept has answered
		h.admission.leave(address)
		return
	}
	conn.SetReadLimit(int64(h.config.MessageBytes))
	// The goroutine of net/http holds the request and a deep stack: half the memory of an idle connection.
	go func() {
		defer h.admission.leave(address)
		defer conn.CloseNow() // after end, so that it only releases what conn holds
		defer s.end()
		defer logPanic(serverLog(r))
		h.serve(&messages{conn: conn, keep: keptMessage}, s, r)
	}()
}

// serverLog returns the log of the http.Server.
func serverLog(r *http.Request) *log.Logger {
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && server.ErrorLog != nil {
		return server.ErrorLog
	}
	return log.Default()
}

// logPanic stops a panic, as net/http does, and logs it.
func logPanic(l *log.Logger) {
	if p := recover(); p != nil && p != http.ErrAbortHandler {
		l.Printf("ws: panic: %v\n%s", p, debug.Stack())
	}
}

// serve passes the messages of a client to its session.
func (h *Handler) serve(m *messages, s *socket, r *http.Request) {
	hello, err := m.next(context.Background()) // the socket has deadlines
	if err != nil {
		s.refuse(err)
		return
	}
	m.buf = nil // Authorize may keep slices of the Hello
	ses, err := h.begin(s, hello, r)
	if err != nil {
		return
	}
	defer ses.Disconnected()
	s.welcome()
	if joined, ok := ses.(*replica.Session); ok && h.config.Session != nil {
		h.config.Session(joined, r)
	}
	for {
		message, err := m.next(context.Background())
		if err != nil {
			s.refuse(err)
			return
		}
		if ses.Receive(message) != nil {
			return
		}
	}
}

// begin joins the server.
func (h *Handler) begin(s *socket, hello []byte, r *http.Request) (session, error) {
	ctx := context.WithValue(context.WithoutCancel(r.Context()), requestKey{}, r)
	ctx, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	return h.join(ctx, s, hello)
}

// hijacker is a ResponseWriter whose connection is a socket.
type hijacker struct {
	http.ResponseWriter
	socket *socket
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, _ := rw.Reader.Peek(rw.Reader.Buffered())
	stream := h.socket.open(conn, bytes.Clone(early))
	rw.Reader.Reset(stream) // all bytes pass the socket
	// The buffer must hold a control frame: the socket sees each in one Write.
	return stream, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(stream, 256)), nil
}
