//go:build !js

package ws

import (
	"encoding/binary"
	"math"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/evertick/evertick/replica"
)

// socket is the server's end of one connection: the replica.Conn of the server.
//
// The goroutine that sends a message writes it, by a system call that does not wait: to wake another
// goroutine for each message costs half as much again. When the system takes no more, the rest waits in a
// queue, and a goroutine writes the queue until it is empty.
//
// The end of a connection has four steps. finish takes no more messages, and makes the goroutine that
// reads leave its loop. That calls end, which reads what the client sends until it closes its side: a
// connection closed with bytes unread would be reset, and the client might not read the last messages.
// The goroutine that writes ends when the queue is empty. The last of the two closes the connection.
type socket struct {
	config   *Config
	conn     net.Conn
	deadline time.Time // of the handshake
	queue    *replica.Queue
	try      func(message []byte) (int, error) // writes what the system takes without waiting
	address  string
	early    []byte // that came with the request

	// For the goroutine that reads.
	framing framing
	meter   meter

	mu      sync.Mutex
	joined  bool
	writing bool // a goroutine writes the queue
	closing bool // no more messages
	broken  bool // the connection is lost
	ended   bool // the goroutine that reads has drained the connection
}

func newSocket(c *Config, address string, began time.Time) *socket {
	return &socket{
		config: c, address: address, queue: replica.NewQueue(c.QueueBytes), deadline: began.Add(c.Handshake),
		meter: meter{rate: float64(c.BytesPerSecond), room: 2 * float64(c.BytesPerSecond), last: began},
	}
}

// open gives the socket its connection and the bytes that have been read from it, and returns it as the package websocket uses it.
func (s *socket) open(conn net.Conn, early []byte) stream {
	s.conn, s.early = conn, early
	if c, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = c.NetConn()
	}
	if c, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		c.SetWriteBuffer(s.config.QueueBytes) // without it Linux holds up to 4 MB of old updates for a slow client
	}
	s.try = func([]byte) (int, error) { return 0, nil }
	if c, ok := s.conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			s.try = nonBlocking(raw)
		}
	}
	return stream{s}
}

const (
	opBinary = 0x82 // with the bit for the last fragment
	opClose  = 0x88
	opPing   = 0x89
	// A message of the server has at most so many bytes before it.
	mostHeader = 10
)

func appendHeader(dst []byte, op byte, n int) []byte {
	switch dst = append(dst, op); {
	case n < 126:
		return append(dst, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, 126), uint16(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, 127), uint64(n))
}

// buffers holds buffers for messages that are being sent. They hold one message each.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// A longer buffer, of a snapshot, is not kept.
const keptBuffer = 1 << 20

func putBuffer(b *[]byte) {
	if cap(*b) <= keptBuffer {
		buffers.Put(b)
	}
}

// Send implements replica.Conn.
func (s *socket) Send(message []byte) bool {
	b := buffers.Get().(*[]byte)
	defer putBuffer(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || !s.room(len(message)+mostHeader) {
		return false
	}
	*b = append(appendHeader((*b)[:0], opBinary, len(message)), message...)
	return s.put(*b)
}

// Ordered implements replica.Conn.
func (s *socket) Ordered() bool { return true }

// Address says to replica.Server whose places the session takes.
func (s *socket) Address() string { return s.address }

// Close implements replica.Conn.
func (s *socket) Close() { s.finish(websocket.StatusNormalClosure) }

// room reports whether a message of n bytes may wait. One that exceeds the limit waits alone, and so not
// beside the message that is being written. mu is locked.
func (s *socket) room(n int) bool { return !s.writing || n <= s.config.QueueBytes }

// put writes or queues bytes of the protocol: whole frames of WebSocket. mu is locked, and closing is false.
func (s *socket) put(p []byte) bool {
	if s.writing {
		return s.queue.Put(p)
	}
	n, err := s.try(p)
	switch {
	case err == nil && n == len(p):
		return true
	case err != nil || !s.queue.Put(p[n:]):
		s.lose()
		return false
	}
	s.writing = true
	go s.flush()
	return true
}

// flush writes the queue until it is empty.
func (s *socket) flush() {
	b := buffers.Get().(*[]byte)
	defer putBuffer(b)
	for s.next(b) {
		if err := s.write(*b); err != nil {
			s.mu.Lock()
			s.lose()
			s.mu.Unlock()
		}
	}
}

// mostWritten is what a client must read within Config.Write. A snapshot takes longer.
const mostWritten = 64 << 10

func (s *socket) write(p []byte) error {
	for part := range slices.Chunk(p, mostWritten) {
		s.conn.SetWriteDeadline(time.Now().Add(s.config.Write))
		if _, err := s.conn.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// next takes a message from the queue, or ends the goroutine that writes.
func (s *socket) next(b *[]byte) bool {
	s.mu.Lock()
	if !s.broken {
		var ok bool
		if *b, ok = s.queue.Take(*b); ok {
			s.mu.Unlock()
			return true
		}
		s.conn.SetWriteDeadline(time.Time{}) // it would end a later try
	}
	s.writing = false
	ended, closing := s.ended, s.closing
	s.mu.Unlock()
	if ended {
		s.hangUp()
	} else if closing {
		s.closeWrite()
	}
	return false
}

// closeWrite says to the client that nothing follows. It may wait, as hangUp may, so mu is not locked.
func (s *socket) closeWrite() {
	if c, ok := s.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
}

// hangUp closes the connection.
func (s *socket) hangUp() {
	if c, ok := s.conn.(interface{ NetConn() net.Conn }); ok && s.broken {
		c.NetConn().Close() // TLS would wait to say goodbye
	} else {
		s.conn.Close()
	}
}

// lose notes that the connection is lost. mu is locked.
func (s *socket) lose() {
	s.broken, s.closing = true, true
	s.wake()
}

// wake ends a Read that waits. mu is locked.
func (s *socket) wake() { s.conn.SetReadDeadline(time.Unix(1, 0)) }

// finish sends a Close frame, unless code is 0, after all that waits, and takes no more.
func (s *socket) finish(code websocket.StatusCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	if code != 0 {
		s.put(binary.BigEndian.AppendUint16(appendHeader(nil, opClose, 2), uint16(code)))
	}
	s.stop()
}

// refuse finishes with the code for an error of messages. Package websocket has sent one for most others.
func (s *socket) refuse(err error) {
	if err == errText {
		s.finish(websocket.StatusUnsupportedData)
	}
}

// stop is the end of finish. mu is locked.
func (s *socket) stop() {
	if s.closing {
		return
	}
	s.closing = true
	s.wake()
}

// How long, and how many bytes, drain reads of a client that does not close its side.
const (
	mostLinger  = 2 * time.Second
	mostDrained = 1 << 20
)

// end is called when the goroutine that reads has nothing left to do.
func (s *socket) end() {
	s.finish(websocket.StatusNormalClosure)
	s.mu.Lock()
	broken, writing := s.broken, s.writing
	s.mu.Unlock()
	if !broken {
		if !writing {
			s.closeWrite()
		}
		s.drain()
	}
	s.mu.Lock()
	s.ended = true
	writing = s.writing
	s.mu.Unlock()
	if !writing {
		s.hangUp()
	}
}

// drain reads what the client sends until it closes its side.
func (s *socket) drain() {
	s.conn.SetReadDeadline(time.Now().Add(min(s.config.Write, mostLinger)))
	buf := make([]byte, 1024)
	for left := mostDrained; left > 0; {
		n, err := s.conn.Read(buf)
		if err != nil {
			return
		}
		left -= n
	}
}

// welcome ends the handshake.
func (s *socket) welcome() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined = true
}

// arm sets the deadline of a Read. It returns false if the connection ends.
func (s *socket) arm() (joined, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return s.joined, false
	}
	at := s.deadline
	if s.joined {
		at = time.Now().Add(s.config.Idle / 2)
	}
	return s.joined, s.conn.SetReadDeadline(at) == nil
}

// ping sends a ping if there is room.
func (s *socket) ping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.put([]byte{opPing, 0})
	}
}

// stream is a socket as a net.Conn, for the package websocket: that reads from it, and writes pongs and
// Close frames.
type stream struct{ socket *socket }

// Read waits for half of Config.Idle, sends a ping, and waits as long again.
func (c stream) Read(p []byte) (int, error) {
	s := c.socket
	for pinged := false; ; pinged = true {
		joined, ok := s.arm()
		if !ok {
			return 0, net.ErrClosed
		}
		n, err := s.read(p)
		if n > 0 && !s.meter.take(s.cost(p[:n]), time.Now()) {
			s.finish(websocket.StatusPolicyViolation)
			return 0, net.ErrClosed
		}
		if wait, ok := err.(net.Error); n > 0 || !ok || !wait.Timeout() || !joined || pinged {
			return n, err
		}
		s.ping()
	}
}

// read reads what came with the request, and then from the connection.
func (s *socket) read(p []byte) (int, error) {
	if len(s.early) == 0 {
		return s.conn.Read(p)
	}
	n := copy(p, s.early)
	if s.early = s.early[n:]; len(s.early) == 0 {
		s.early = nil
	}
	return n, nil
}

// cost returns what bytes that were read count.
func (s *socket) cost(p []byte) int {
	rate := s.config.BytesPerSecond
	return max(s.framing.cost(p, min(frameBytes, rate/framesPerSecond)), min(readBytes, rate/readsPerSecond))
}

// Write takes a whole control frame. If there is no room it is dropped: the client reads too slowly to
// need an answer to its ping.
func (c stream) Write(p []byte) (int, error) {
	s := c.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing && len(p) > 0 {
		s.put(p)
		if p[0] == opClose {
			s.stop()
		}
	}
	return len(p), nil
}

// Close implements net.Conn.
func (c stream) Close() error {
	c.socket.finish(0)
	return nil
}

func (c stream) LocalAddr() net.Addr              { return c.socket.conn.LocalAddr() }
func (c stream) RemoteAddr() net.Addr             { return c.socket.conn.RemoteAddr() }
func (c stream) SetDeadline(time.Time) error      { return nil } // the socket sets them
func (c stream) SetReadDeadline(time.Time) error  { return nil }
func (c stream) SetWriteDeadline(time.Time) error { return nil }

// meter is a bucket that fills at a rate a second, and has room for a burst.
type meter struct {
	rate, room float64
	level      float64 // taken and not yet refilled
	last       time.Time
}

// take takes n from the bucket, and reports whether it had that many.
func (m *meter) take(n int, now time.Time) bool {
	m.level = max(0, m.level-now.Sub(m.last).Seconds()*m.rate) + float64(n)
	m.last = now
	return m.level <= m.room
}
