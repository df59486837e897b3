//go:build !js

package ws

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/coder/websocket"
)

const (
	leastMessage = 512
	// Most messages of clients are short. A longer buffer is not kept for each of many clients.
	keptMessage = 4 << 10
)

var errText = errors.New("ws: a text message")

// messages reads the binary messages of a connection. Its buffer grows with the bytes that have come, not
// by the length that a message says.
type messages struct {
	conn *websocket.Conn
	keep int // the largest buffer for a next message
	buf  []byte
}

// next returns the next message, until the next call.
func (m *messages) next(ctx context.Context) ([]byte, error) {
	kind, r, err := m.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageBinary {
		return nil, errText
	}
	if cap(m.buf) > m.keep {
		m.buf = nil
	}
	m.buf = m.buf[:0]
	for {
		if len(m.buf) == cap(m.buf) {
			m.buf = slices.Grow(m.buf, max(leastMessage, len(m.buf)))
		}
		n, err := r.Read(m.buf[len(m.buf):cap(m.buf)])
		m.buf = m.buf[:len(m.buf)+n]
		if err == io.EOF {
			return m.buf, nil
		} else if err != nil {
			return nil, err
		}
	}
}
