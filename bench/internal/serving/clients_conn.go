package serving

import (
	"encoding/binary"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/evertick/evertick/replica"
)

// The transport of the scene is TCP. Each message has its length before it, as a uint32.
const messagePrefix = 4

func appendMessage(dst, message []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(message))), message...)
}

// slowBuffer is the size of the buffer of the socket of a client that reads slowly.
const slowBuffer = 4 << 10

// clientConn is the server's end of a connection. It writes on the goroutine of the caller as long as the
// socket has room: to wake another goroutine for each message would take about as long again. What the
// socket does not take waits in a queue for a goroutine of the connection.
type clientConn struct {
	tcp *net.TCPConn
	raw syscall.RawConn

	mu      sync.Mutex
	out     []byte // the message that is sent, with its length
	busy    bool   // the goroutine has bytes to write
	queue   *replica.Queue
	attempt // to write out
}

func newClientConn(tcp *net.TCPConn, room int) (*clientConn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	// The system's own choice, megabytes, would hide for minutes that a client reads slowly.
	if err := tcp.SetWriteBuffer(room); err != nil {
		return nil, err
	}
	c := &clientConn{tcp: tcp, raw: raw, queue: replica.NewQueue(room)}
	c.attempt.init(c)
	go c.write()
	return c, nil
}

// Send implements replica.Conn.
func (c *clientConn) Send(message []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = appendMessage(c.out[:0], message)
	if c.busy {
		return c.queue.Put(c.out)
	}
	n, ok := c.attempt.write()
	if !ok || n == len(c.out) {
		return ok
	}
	c.busy = true
	return c.queue.Put(c.out[n:]) // an empty queue takes anything
}

// Ordered implements replica.Conn.
func (*clientConn) Ordered() bool { return true }

// Close implements replica.Conn.
func (c *clientConn) Close() {
	c.tcp.SetWriteDeadline(time.Now().Add(time.Second)) // its error is that of the next write
	c.queue.Close()
}

// write writes what waits in the queue, until the connection ends.
func (c *clientConn) write() {
	defer c.tcp.Close()
	var waiting []byte
	for {
		var ok bool
		if waiting, ok = c.queue.Next(waiting); !ok {
			return
		}
		for ok {
			if _, err := c.tcp.Write(waiting); err != nil {
				c.queue.Close()
				return
			}
			c.mu.Lock()
			waiting, ok = c.queue.Take(waiting)
			c.busy = ok
			c.mu.Unlock()
		}
	}
}

// messageReader splits what a connection receives into messages.
type messageReader struct {
	conn  net.Conn
	buf   []byte
	first int // index of the first byte of buf that is not taken yet
	have  int // bytes that buf holds
}

func newMessageReader(conn net.Conn, size int) *messageReader {
	return &messageReader{conn: conn, buf: make([]byte, size)}
}

// next returns the next message, which is valid until the next call, if it has arrived.
func (r *messageReader) next() ([]byte, bool) {
	if r.have-r.first < messagePrefix {
		return nil, false
	}
	n := int(binary.LittleEndian.Uint32(r.buf[r.first:]))
	if r.have-r.first-messagePrefix < n {
		return nil, false
	}
	message := r.buf[r.first+messagePrefix:][:n]
	r.first += messagePrefix + n
	return message, true
}

// read waits for more bytes, at most so many.
func (r *messageReader) read(most int) error {
	r.have = copy(r.buf, r.buf[r.first:r.have])
	r.first = 0
	if r.have == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	n, err := r.conn.Read(r.buf[r.have:min(len(r.buf), r.have+most)])
	r.have += n
	if n > 0 {
		return nil
	}
	return err
}
