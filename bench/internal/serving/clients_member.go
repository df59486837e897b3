package serving

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replica"
)

// A client that only counts reads and writes these messages without a replica.Client: see docs/replica-wire.md.
const (
	kindWelcome  = 2
	kindKeyframe = 3
	kindUpdate   = 4
	kindError    = 8
	kindInput    = 16

	flagApplied = 4
)

// member is a client.
type member struct {
	*joiner
	index  int
	slow   bool
	conn   *net.TCPConn
	reader *messageReader
	first  chan struct{} // closed by the first Keyframe
	begun  sync.Once

	mu      sync.Mutex // of what follows
	decoder *decoder   // nil: it only counts
	seq     uint64     // of the inputs, if it only counts
	out     []byte     // scratch of what it sends
	message []byte     // scratch of an input
	data    []byte     // its data

	// In the window.
	messages, keyframes, bytes uint64
	receipt, applied           loop.Histogram
}

// decoder is what a client has more that decodes its updates, and whose acts others see.
type decoder struct {
	client   *replica.Client
	sent     [actsKept]atomic.Int64 // sharedTime of each act, by its number modulo actsKept
	acts     []uint16               // of the walkers in view
	seen     []uint16               // the act of each client that decodes; 0: it is not in view, or has not acted
	entities uint64
	total    loop.Histogram
}

// actsKept is the number of acts of a client whose times are kept: those of some seconds.
const actsKept = 1 << 10

func newMember(j *joiner, i int) *member {
	m := &member{joiner: j, index: i, slow: i >= j.plan.Clients-j.plan.Slow, first: make(chan struct{})}
	if i < j.plan.Decode {
		m.decoder = &decoder{seen: make([]uint16, j.plan.Decode)}
	}
	return m
}

// join connects a client, and waits for its first view unless it is slow.
func (m *member) join() (err error) {
	if m.conn, err = m.dial(m.slow); err != nil {
		return err
	}
	m.reader = newMessageReader(m.conn, 4<<10)
	if err := m.hello(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := m.read(); err != nil {
			m.fail(m.index, err)
		}
	}()
	if m.slow {
		return nil
	}
	select {
	case <-m.first:
		return nil
	case <-done:
		return m.failed()
	case <-time.After(joinTimeout):
		return fmt.Errorf("no view after %v", joinTimeout)
	}
}

const joinTimeout = 30 * time.Second

func (m *member) hello() error {
	credentials := binary.LittleEndian.AppendUint32(nil, uint32(m.index))
	if m.decoder == nil {
		hello := append([]byte{1}, "evrp"...)
		hello = append(hello, replica.Version, byte(replica.View))
		hello = append(hello, make([]byte, 4+8)...) // of any SimVersion and schema
		hello = append(append(hello, byte(len(credentials))), credentials...)
		return m.send(append(hello, 0, 0)) // no token, no state
	}
	var err error
	m.decoder.client, err = replica.NewClient(replica.ClientConfig{
		Credentials: credentials, Ordered: true,
		Send: func(message []byte) bool { return m.send(message) == nil },
	})
	if err != nil {
		return err
	}
	return m.decoder.client.Connect()
}

func (m *member) send(message []byte) error {
	m.out = appendMessage(m.out[:0], message)
	_, err := m.conn.Write(m.out)
	return err
}

// read receives messages until the connection ends.
func (m *member) read() error {
	most := 1 << 20
	if m.slow {
		most = slowBytes
	}
	for !m.quit.Load() {
		if err := m.reader.read(most); err != nil {
			if errors.Is(err, io.EOF) {
				return errors.New("the server ended the connection")
			}
			return err
		}
		now := sharedTime()
		for message, ok := m.reader.next(); ok; message, ok = m.reader.next() {
			if err := m.receive(message, now); err != nil {
				return err
			}
		}
		if m.slow {
			time.Sleep(slowPause)
		}
	}
	return nil
}

func (m *member) receive(message []byte, now int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.decoder; d != nil {
		if err := d.client.Receive(message); err != nil {
			return err
		}
	}
	switch message[0] {
	case kindError:
		return fmt.Errorf("the server says %q", message[1:])
	case kindKeyframe, kindUpdate:
	default:
		return nil
	}
	u, err := parseUpdate(message)
	if err != nil {
		return err
	}
	if message[0] == kindKeyframe {
		m.begun.Do(func() { close(m.first) })
	}
	counts := m.within(u.tick)
	if counts {
		m.count(message, &u, now)
	}
	if m.decoder != nil {
		return m.look(now, counts)
	}
	return nil
}

// within reports whether an update of a tick is in the window. A slow client receives updates of earlier ticks: it counts
// while the others receive updates of the window.
func (m *member) within(tick uint64) bool {
	if m.slow {
		tick = m.newest.Load()
	} else {
		m.newest.Store(tick)
	}
	w := m.window.Load()
	return w != nil && tick > w.From && tick <= w.To
}

func (m *member) count(message []byte, u *updateHead, now int64) {
	m.messages++
	m.bytes += uint64(len(message))
	m.receipt.Add(now - m.plan.Began - int64(u.at)*1000)
	if u.applied != 0 { // on this transport an update has it if it has changed
		m.applied.Add(int64(u.waited) * 1000)
	}
	if message[0] == kindKeyframe {
		m.keyframes++
	}
}

// updateHead is the beginning of a Keyframe or Update.
type updateHead struct {
	tick    uint64
	at      uint64 // µs since the server began
	applied uint64 // number of the last input that was applied, or 0
	waited  uint64 // µs between its arrival and the tick
}

func parseUpdate(message []byte) (u updateHead, err error) {
	rest := message[1:]
	number := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			err = errors.New("an update that is cut off")
			return 0
		}
		rest = rest[n:]
		return v
	}
	u.tick = number()
	if message[0] == kindUpdate {
		number() // age
	}
	flags := number() // below 128
	u.at = number()
	if flags&flagApplied != 0 {
		u.applied, u.waited = number(), number()
	}
	return u, err
}

// look notes the acts that an update shows.
func (m *member) look(now int64, counts bool) (err error) {
	d := m.decoder
	s := d.client.State()
	slots := s.Slots()
	if d.acts, err = replica.AppendValues(d.acts[:0], s, "act", 0); err != nil {
		return err
	}
	place := 0
	for i := range d.seen {
		act := uint16(0)
		for place < len(slots) && slots[place] < uint32(i) {
			place++
		}
		if place < len(slots) && slots[place] == uint32(i) {
			act = d.acts[place]
		}
		if counts && i != m.index && act != d.seen[i] && act != 0 && d.seen[i] != 0 {
			d.total.Add(now - m.members[i].decoder.sent[act%actsKept].Load())
		}
		d.seen[i] = act
	}
	if counts {
		d.entities += uint64(len(slots))
	}
	return nil
}

// act sends the client's input n, from 0, for a tick, or for the next one if tick is 0.
func (m *member) act(n int, tick uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	turn := uint8(m.index + n/8) // as a player that presses another key now and then
	if m.decoder == nil {
		m.seq++
		m.data = appendTurn(m.data[:0], uint32(m.index), 0, turn)
		m.message = appendInput(m.message[:0], m.seq, tick, inputTurn, m.data)
		return m.send(m.message)
	}
	act := uint16(n%math.MaxUint16) + 1
	m.data = appendTurn(m.data[:0], uint32(m.index), act, turn)
	m.decoder.sent[act%actsKept].Store(sharedTime())
	_, err := m.decoder.client.Input(inputTurn, m.data, tick)
	return err
}

// aims reports whether the inputs of the client are for certain ticks.
func (m *member) aims() bool { return m.plan.Lead && m.decoder != nil }

// aim returns the tick for input n, and when to send it.
func (m *member) aim(n int) (tick uint64, wait time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.decoder.client
	if n < 16 || n%m.plan.Hz == 0 {
		err = c.Ping()
	}
	tick, wait = c.Aim()
	return tick, wait, err
}

// appendInput appends a message with one input.
func appendInput(dst []byte, seq, tick uint64, kind uint32, data []byte) []byte {
	dst = append(dst, kindInput, 1)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, seq), tick)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(kind)), uint64(len(data)))
	return append(dst, data...)
}
