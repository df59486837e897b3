//go:build !js

package ws

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replica"
)

// ClientConfig of Dial. The zero value works.
type ClientConfig struct {
	// ClientConfig is that of the replica.Client. Dial sets Send and Ordered.
	replica.ClientConfig
	// Frame, if it is set, is called after each message of the server, on the goroutine that reads. It may
	// use the client, but not the Conn.
	Frame func(c *replica.Client)
	// Header has further lines for the request, such as cookies.
	Header http.Header
	// HTTP makes the request. Its Transport has the configuration of TLS. nil: http.DefaultClient.
	HTTP *http.Client
	// FrameBytes is the largest message of the server. 0: 64 MiB.
	FrameBytes int
	// QueueBytes limits the bytes that wait to be sent: see replica.Queue. 0: 64 KiB.
	QueueBytes int
	// Idle is how long the server may be silent. After half of it a ping is sent. 0: 30 s.
	Idle time.Duration
}

// Conn runs a replica.Client over a WebSocket: for bots and tests, and for games that are written in Go.
// Any goroutine may call its methods, Redial and Close one at a time.
type Conn struct {
	config ClientConfig
	url    string

	mu     sync.Mutex // guards client, and link for it
	client *replica.Client
	link   *link
}

// link is one connection of a Conn.
type link struct {
	messages
	queue *replica.Queue
	heard atomic.Bool // something came since keepAlive looked
	tasks sync.WaitGroup
	sent  chan struct{} // closed when the goroutine that writes has ended
	done  chan struct{} // closed when the connection has ended
	err   error         // once done is closed
}

// Dial connects to a Handler at a URL such as "wss://play.example.com/world", and returns when the
// session has begun. ctx bounds Dial, but not the connection. The error wraps evertick.ErrRange for a fault of the
// configuration, and a replica.Code if the server refuses the client.
func Dial(ctx context.Context, url string, c ClientConfig) (*Conn, error) {
	faults := fault.List{Package: "ws"}
	ints := []fault.Int{
		fault.NewInt("ClientConfig.FrameBytes", &c.FrameBytes, 64<<20, 1, math.MaxInt32-1),
		fault.NewInt("ClientConfig.QueueBytes", &c.QueueBytes, 64<<10, 1, 1<<30),
	}
	fault.SetDefaults(ints)
	faults.Ints(ints)
	if c.Idle == 0 {
		c.Idle = 30 * time.Second
	} else if c.Idle < 0 {
		faults.Add(fault.ErrRange, "ClientConfig.Idle", c.Idle)
	}
	conn := &Conn{config: c, url: url}
	c.Send = func(message []byte) bool { return conn.link.queue.Put(message) }
	c.Ordered = true
	client, err := replica.NewClient(c.ClientConfig)
	faults.Join(err)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	conn.client = client
	if err := conn.connect(ctx); err != nil {
		return nil, err
	}
	return conn, nil
}

// Redial ends the connection, and makes another one, which resumes the session.
func (c *Conn) Redial(ctx context.Context) error { return c.RedialTo(ctx, c.url) }

// RedialTo is Redial at another URL, such as that of the server which has taken over. Later connections are made there, too,
// unless this one fails. Do not redial a player to a server that spectates: it begins a new session there, and the token of its
// session as a player is lost.
func (c *Conn) RedialTo(ctx context.Context, url string) error {
	c.current().close(websocket.StatusNormalClosure)
	before := c.url
	c.url = url
	err := c.connect(ctx)
	if err != nil {
		c.url = before
	}
	return err
}

func (c *Conn) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// connect makes a connection, and waits for its Welcome.
func (c *Conn) connect(ctx context.Context) error {
	l := &link{queue: replica.NewQueue(c.config.QueueBytes), sent: make(chan struct{}), done: make(chan struct{})}
	l.keep = c.config.FrameBytes
	var err error
	options := &websocket.DialOptions{HTTPClient: c.config.HTTP, HTTPHeader: c.config.Header}
	options.OnPingReceived = func(context.Context, []byte) bool { l.heard.Store(true); return true }
	if l.conn, _, err = websocket.Dial(ctx, c.url, options); err != nil {
		return fmt.Errorf("ws: Dial: %w", err)
	}
	l.conn.SetReadLimit(int64(c.config.FrameBytes))
	c.mu.Lock()
	c.link = l
	err = c.client.Connect()
	c.mu.Unlock()
	l.tasks.Go(l.write)
	if err == nil {
		err = c.receive(ctx, l)
	}
	if err != nil {
		l.end(err)
		l.tasks.Wait()
		return fmt.Errorf("ws: Dial: %w", err)
	}
	l.tasks.Go(func() { c.read(l) })
	l.tasks.Go(func() { l.keepAlive(c.config.Idle / 2) })
	return nil
}

// receive passes the next message to the client.
func (c *Conn) receive(ctx context.Context, l *link) error {
	message, err := l.next(ctx)
	if err != nil {
		return err
	}
	l.heard.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.client.Receive(message); err != nil {
		return err
	}
	if c.config.Frame != nil {
		c.config.Frame(c.client)
	}
	return nil
}

func (c *Conn) read(l *link) {
	for {
		if err := c.receive(context.Background(), l); err != nil {
			l.end(err)
			return
		}
	}
}

// Do calls f with the client. No message is received meanwhile.
func (c *Conn) Do(f func(*replica.Client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.client)
}

// Done returns a channel that is closed when the connection has ended. After Redial there is another one.
func (c *Conn) Done() <-chan struct{} { return c.current().done }

// Err returns why the connection has ended, nil while it has not: an error that wraps a replica.Code
// if the server has ended it.
func (c *Conn) Err() error {
	l := c.current()
	select {
	case <-l.done:
		return l.err
	default:
		return nil
	}
}

// Close ends the connection, after the messages that wait. The session waits on the server for Limits.Resume.
func (c *Conn) Close() error {
	c.current().close(websocket.StatusNormalClosure)
	return nil
}

// closeWait is how long close waits for the last messages. Package websocket waits as long for the server.
const closeWait = 5 * time.Second

// close ends a connection, and waits for its goroutines.
func (l *link) close(code websocket.StatusCode) {
	l.queue.Close()
	select {
	case <-l.sent:
	case <-time.After(closeWait): // the server does not read
	}
	l.conn.Close(code, "")
	l.tasks.Wait()
}

// end notes why a connection has ended, and makes its goroutines end. Only one goroutine calls it.
func (l *link) end(err error) {
	l.err = err
	l.queue.Close()
	l.conn.CloseNow()
	close(l.done)
}

// write sends what the queue holds.
func (l *link) write() {
	defer close(l.sent)
	var message []byte
	for {
		var ok bool
		if message, ok = l.queue.Next(message); !ok {
			return
		}
		if l.conn.Write(context.Background(), websocket.MessageBinary, message) != nil {
			l.conn.CloseNow() // the goroutine that reads notes it
			return
		}
	}
}

// keepAlive sends a ping when nothing has come for the time wait, and ends the connection when there is no answer within
// the same time.
func (l *link) keepAlive(wait time.Duration) {
	ticker := time.NewTicker(wait)
	defer ticker.Stop()
	for {
		select {
		case <-l.done:
			return
		case <-ticker.C:
		}
		if l.heard.Swap(false) {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err := l.conn.Ping(ctx)
		cancel()
		if err != nil {
			l.conn.CloseNow()
			return
		}
	}
}
