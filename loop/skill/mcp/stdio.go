package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio returns a transport for Connect over two streams, such as os.Stdin and os.Stdout: a message a line. A
// line that is no message is answered by an error of JSON-RPC and then forgotten, so that the session
// goes on: "Parse error" (-32700) for what is no JSON, "Invalid Request" (-32600) for JSON that is no message, for
// batches, and for more than Config.BodyBytes. Lines without anything are passed over.
func (s *Server) Stdio(in io.Reader, out io.Writer) sdk.Transport {
	to := &lines{w: out}
	from := &messages{in: bufio.NewReader(in), from: in, out: to, most: int(s.config.BodyBytes)}
	return &sdk.IOTransport{Reader: from, Writer: to}
}

// lines writes whole lines, from whatever goroutine.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lines) Close() error { return closeIt(l.w) }

func closeIt(v any) error {
	if c, ok := v.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// messages reads lines that are messages, and answers the others.
type messages struct {
	in   *bufio.Reader
	from io.Reader
	out  io.Writer
	most int
	line []byte // what was not read yet
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.line) == 0 {
		line, err := m.next()
		switch refused := check(line); {
		case errors.Is(err, errLong):
			m.refuse(&wireError{codeInvalid, fmt.Sprintf("Invalid Request: more than %d bytes", m.most)}, nil)
		case err != nil && len(line) == 0:
			return 0, err
		case len(line) == 0:
		case refused != nil:
			m.refuse(refused, idOf(line))
		default:
			m.line = append(line, '\n')
		}
	}
	n := copy(p, m.line)
	m.line = m.line[n:]
	return n, nil
}

// Close implements io.Closer.
func (m *messages) Close() error { return closeIt(m.from) }

var errLong = errors.New("a long line")

// next returns a line without its end. One that is too long is read to its end and not kept.
func (m *messages) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > m.most+2; !long { // with \r\n
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, errLong // an end of the stream is met again
		}
		return bytes.TrimSpace(line), err
	}
}

// Codes of JSON-RPC 2.0, section 5.1.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// check says what is wrong with a line, nil for nothing.
func check(line []byte) *wireError {
	if !json.Valid(line) {
		return &wireError{codeParse, "Parse error: a line that is no JSON"}
	}
	if line[0] == '[' {
		return &wireError{codeInvalid, "Invalid Request: no batches"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &wireError{codeInvalid, fmt.Sprintf("Invalid Request: %.200q", err.Error())}
	}
	return nil
}

// idOf returns the id of what is no message all the same, as JSON-RPC asks for: null if there is none.
func idOf(line []byte) json.RawMessage {
	var v struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &v) != nil || len(v.ID) == 0 || bytes.IndexByte([]byte(`"-0123456789`), v.ID[0]) < 0 {
		return nil
	}
	return v.ID
}

// refuse answers a line. That nobody reads the answer is found out by the next Read or Write of a message.
func (m *messages) refuse(e *wireError, id json.RawMessage) {
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *wireError      `json:"error"`
	}{"2.0", id, e})
	if err == nil {
		_, _ = m.out.Write(append(data, '\n'))
	}
}
