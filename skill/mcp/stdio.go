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
// line that is not a message is answered by an error of JSON-RPC, and the session goes on: "Parse error" (-32700)
// if it is not JSON, "Invalid Request" (-32600) for JSON that is not a message, for batches, and for more
// than Config.BodyBytes. Empty lines are skipped.
func (s *Server) Stdio(in io.Reader, out io.Writer) sdk.Transport {
	to := &lineWriter{w: out}
	from := &messageReader{in: bufio.NewReader(in), from: in, out: to, most: int(s.config.BodyBytes)}
	return &sdk.IOTransport{Reader: from, Writer: to}
}

// lineWriter writes whole lines, from any goroutine.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lineWriter) Close() error { return closeIfCloser(l.w) }

func closeIfCloser(v any) error {
	if c, ok := v.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// messageReader reads the lines that are messages, and answers the others.
type messageReader struct {
	in   *bufio.Reader
	from io.Reader
	out  io.Writer
	most int
	line []byte // the rest of the last message
}

// Read implements io.Reader.
func (m *messageReader) Read(p []byte) (int, error) {
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
func (m *messageReader) Close() error { return closeIfCloser(m.from) }

var errLong = errors.New("a long line")

// next returns a line without its end. A line that is too long is skipped and gives errLong.
func (m *messageReader) next() ([]byte, error) {
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
			return nil, errLong // at the end of the stream the next read returns its error again
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

// check returns what is wrong with a line, nil if it is a message.
func check(line []byte) *wireError {
	if !json.Valid(line) {
		return &wireError{codeParse, "Parse error: the line is not JSON"}
	}
	if line[0] == '[' {
		return &wireError{codeInvalid, "Invalid Request: batches are not supported"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &wireError{codeInvalid, fmt.Sprintf("Invalid Request: %.200q", err.Error())}
	}
	return nil
}

// idOf returns the id of an invalid request, which JSON-RPC requires in the answer: null if there is none.
func idOf(line []byte) json.RawMessage {
	var v struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &v) != nil || len(v.ID) == 0 || bytes.IndexByte([]byte(`"-0123456789`), v.ID[0]) < 0 {
		return nil
	}
	return v.ID
}

// refuse answers a line. If the stream is closed the next Read or Write of a message returns the error.
func (m *messageReader) refuse(e *wireError, id json.RawMessage) {
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *wireError      `json:"error"`
	}{"2.0", id, e})
	if err == nil {
		_, _ = m.out.Write(append(data, '\n'))
	}
}
