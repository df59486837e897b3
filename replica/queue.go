package replica

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	defaultQueueBytes = 64 << 10
	// A message waits with its length before it.
	queuePrefix = 4
	// The smallest ring: a queue seldom holds less than an update.
	leastRing = 1 << 10
	// Longer messages are refused: their length must fit into the prefix, and a ring into an int.
	mostQueued = 1 << 29
)

// Queue is a bounded queue of messages, first in, first out, between the server and a goroutine that
// writes to one connection. Any goroutine may call Put and Close; one at a time takes messages.
//
// A message counts its length and 4 bytes. A message that exceeds the limit is taken while nothing else waits, so
// the queue holds at most its limit or one message. Its memory is the power of two that holds what
// waits, at least 1 KiB. It grows with that, is kept until the queue is empty, and then belongs to a
// pool which all queues share: an idle connection holds none, and nothing is allocated after warm-up.
type Queue struct {
	mu     sync.Mutex
	wake   sync.Cond // of the goroutine in Next
	limit  int
	ring   *queueRing // nil: nothing waits
	first  uint       // position of the first byte that waits; it runs on, and its low bits are the index
	used   int        // bytes that wait
	closed bool
}

// queueRing is a buffer whose length is a power of two. It is a struct so that its pool boxes no slices.
type queueRing struct{ bytes []byte }

// queueRings has a pool for each power of two.
var queueRings [bits.UintSize]sync.Pool

// NewQueue returns an empty queue of at most so many bytes. Not above 0: 64 KiB.
func NewQueue(bytes int) *Queue {
	if bytes <= 0 {
		bytes = defaultQueueBytes
	}
	q := &Queue{limit: bytes}
	q.wake.L = &q.mu
	return q
}

// Put copies a message into the queue. It returns false, and has taken nothing, if there is no room, if
// the queue is closed, or if the message has 512 MiB or more. It never waits.
func (q *Queue) Put(frame []byte) bool {
	if len(frame) >= mostQueued {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	need := q.used + queuePrefix + len(frame)
	if q.closed || q.used > 0 && need > q.limit {
		return false
	}
	if q.ring == nil || need > len(q.ring.bytes) {
		q.grow(need)
	}
	var prefix [queuePrefix]byte
	binary.LittleEndian.PutUint32(prefix[:], uint32(len(frame)))
	q.write(prefix[:])
	q.write(frame)
	q.wake.Signal()
	return true
}

// Take moves the first message to dst[:0], and returns the extended slice. It returns false, and dst[:0],
// if no message waits. It does not wait either.
func (q *Queue) Take(dst []byte) ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.take(dst[:0])
}

// Next is Take, but waits for a message. It returns false after Close, when all messages have been taken.
func (q *Queue) Next(dst []byte) ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.used == 0 && !q.closed {
		q.wake.Wait()
	}
	return q.take(dst[:0])
}

// Close makes Put refuse messages, and wakes the goroutine in Next. The messages that wait stay. More than
// one call is allowed.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Broadcast()
}

func (q *Queue) take(dst []byte) ([]byte, bool) {
	if q.used == 0 {
		return dst, false
	}
	var prefix [queuePrefix]byte
	dst = q.read(dst, int(binary.LittleEndian.Uint32(q.read(prefix[:0], queuePrefix))))
	if q.used == 0 {
		q.release()
	}
	return dst, true
}

// grow moves what waits into a ring of at least need bytes.
func (q *Queue) grow(need int) {
	class := bits.Len(uint(max(need, leastRing) - 1))
	next, ok := queueRings[class].Get().(*queueRing)
	if !ok {
		next = &queueRing{make([]byte, 1<<class)}
	}
	used := q.used
	q.read(next.bytes[:0], used)
	q.release()
	q.ring, q.first, q.used = next, 0, used
}

// release returns the ring to its pool.
func (q *Queue) release() {
	if q.ring != nil {
		queueRings[bits.Len(uint(len(q.ring.bytes)-1))].Put(q.ring)
		q.ring = nil
	}
}

// write appends bytes, for which there is room.
func (q *Queue) write(p []byte) {
	at := (q.first + uint(q.used)) & uint(len(q.ring.bytes)-1)
	copy(q.ring.bytes, p[copy(q.ring.bytes[at:], p):])
	q.used += len(p)
}

// read moves the first n bytes to the end of dst.
func (q *Queue) read(dst []byte, n int) []byte {
	if n == 0 {
		return dst
	}
	at := int(q.first & uint(len(q.ring.bytes)-1))
	part := min(n, len(q.ring.bytes)-at)
	dst = append(append(dst, q.ring.bytes[at:at+part]...), q.ring.bytes[:n-part]...)
	q.first += uint(n)
	q.used -= n
	return dst
}
