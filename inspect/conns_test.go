package inspect

import (
	"context"
	"net"
	"net/http"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr { return fakeAddr(c.from + ":1") }
func (c *fakeConn) Close() error         { c.closed = true; return nil }

type fakeAddr string

func (fakeAddr) Network() string  { return "tcp" }
func (a fakeAddr) String() string { return string(a) }

// Whatever comes, is admitted and goes: there are at most maxStrangers strangers and maxConns others, a connection that was
// admitted is never closed for others, and a stranger is closed only for an address that has at least as many as any.
func TestConnsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &conns{all: map[net.Conn]*conn{}}
		var open []*conn
		known := map[*conn]bool{}
		pick := func() *conn { return open[rapid.IntRange(0, len(open)-1).Draw(t, "which")] }
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 6 || len(open) == 0:
				for range rapid.IntRange(1, 60).Draw(t, "come") {
					n := &fakeConn{from: rapid.SampledFrom([]string{"a", "a", "a", "b", "c"}).Draw(t, "from")}
					added := c.add(context.Background(), n).Value(connKey{}).(*conn)
					count := map[string]int{n.from: 1}
					for _, o := range open {
						if !known[o] {
							count[o.from]++
						}
					}
					open = append(open, added)
					open = slices.DeleteFunc(open, func(o *conn) bool {
						closed := o.Conn.(*fakeConn).closed
						for _, n := range count {
							if closed && n > count[o.from] {
								t.Fatalf("closed one of %d from %s, of %v", count[o.from], o.from, count)
							}
						}
						if closed {
							c.state(o.Conn, http.StateClosed)
						}
						return closed
					})
				}
			case what < 8:
				o := pick()
				want := known[o] || len(known) < maxConns
				if got := o.admit(); got != want {
					t.Fatalf("admit: %v with %d known", got, len(known))
				}
				if want {
					known[o] = true
				}
			default:
				o := pick()
				c.state(o.Conn, http.StateIdle) // changes nothing
				c.state(o.Conn, http.StateClosed)
				delete(known, o)
				open = slices.DeleteFunc(open, func(p *conn) bool { return p == o })
			}
			if len(c.all) != len(open) || len(c.strangers) != len(open)-len(known) || c.known != len(known) || len(c.strangers) > maxStrangers || c.known > maxConns {
				t.Fatalf("%d open, %d known; counted %d, %d and %d strangers", len(open), len(known), len(c.all), c.known, len(c.strangers))
			}
		}
	})
}

// A closed stranger that sends a request in the same moment is not admitted.
func TestClosedStrangerIsNotAdmitted(t *testing.T) {
	c := &conns{all: map[net.Conn]*conn{}}
	first := c.add(context.Background(), &fakeConn{from: "a"}).Value(connKey{}).(*conn)
	for range maxStrangers {
		c.add(context.Background(), &fakeConn{from: "a"})
	}
	if !first.Conn.(*fakeConn).closed || first.admit() {
		t.Error("the oldest stranger is open, or was admitted")
	}
}
