package inspect

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

const (
	// maxConns bounds the connections that have sent a request which was admitted. One that does nothing takes about 10 kB, and a
	// file of the process.
	maxConns = 256
	// maxStrangers bounds the other connections. They have places of their own, so that they take none from clients that have the token.
	maxStrangers = 64
)

// conns are the connections of a Server.
type conns struct {
	mu        sync.Mutex
	all       map[net.Conn]*conn
	strangers []*conn // in the order in which they came
	known     int
}

// conn is a connection. conns.mu guards what changes.
type conn struct {
	net.Conn
	of    *conns
	from  string // the address without the port
	known bool   // a request was admitted
}

type connKey struct{}

// add takes a new connection, which is a stranger, and closes another one if there are too many: of the address that has the most of
// them, the oldest. So a client that comes later is let in, and one address does not displace others.
func (c *conns) add(ctx context.Context, n net.Conn) context.Context {
	from, _, err := net.SplitHostPort(n.RemoteAddr().String())
	if err != nil {
		from = ""
	}
	added := &conn{Conn: n, of: c, from: from}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[n] = added
	c.strangers = append(c.strangers, added)
	if len(c.strangers) > maxStrangers {
		c.oldestOfMost().Close()
	}
	return context.WithValue(ctx, connKey{}, added)
}

// oldestOfMost removes the stranger that is to be closed.
func (c *conns) oldestOfMost() *conn {
	count := map[string]int{}
	for _, s := range c.strangers {
		count[s.from]++
	}
	at := 0
	for i, s := range c.strangers {
		if count[s.from] > count[c.strangers[at].from] {
			at = i
		}
	}
	oldest := c.strangers[at]
	c.strangers = slices.Delete(c.strangers, at, at+1)
	return oldest
}

// admit notes that a request of the connection was admitted. It reports false if there is no place for another one.
func (c *conn) admit() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if !c.known && c.of.known < maxConns && c.of.forget(c) {
		c.known = true
		c.of.known++
	}
	return c.known
}

// forget removes a stranger. It reports false if it is none any more.
func (c *conns) forget(s *conn) bool {
	at := slices.Index(c.strangers, s)
	if at >= 0 {
		c.strangers = slices.Delete(c.strangers, at, at+1)
	}
	return at >= 0
}

// state is the hook http.Server.ConnState.
func (c *conns) state(n net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if gone := c.all[n]; gone != nil {
		c.forget(gone)
		if gone.known {
			c.known--
		}
		delete(c.all, n)
	}
}

// admitConn notes that a request was admitted. It reports false if its Server has no place for another such connection. Servers of
// programs have bounds of their own.
func admitConn(r *http.Request) bool {
	c, ours := r.Context().Value(connKey{}).(*conn)
	return !ours || c.admit()
}
