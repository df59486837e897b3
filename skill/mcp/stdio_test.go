package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/evertick/evertick/skill/mcp"
)

// wire is a client that writes any lines.
type wire struct {
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan error
}

func (r *running) wire(t *testing.T, s *mcp.Server) *wire {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &wire{in: inW, out: bufio.NewScanner(outR), done: make(chan error, 1)}
	go func() {
		c.done <- s.Connect(r.ctx, s.Stdio(inR, outW))
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); outR.Close(); <-c.done })
	return c
}

type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// say writes text and returns the next answer.
func (c *wire) say(t *testing.T, text string) (a answer) {
	t.Helper()
	go func() { _, _ = io.WriteString(c.in, text) }()
	if !c.out.Scan() {
		t.Fatalf("%.80q has ended the session: %v", text, c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), &a); err != nil || a.Version != "2.0" {
		t.Fatalf("%q: %v", c.out.Bytes(), err)
	}
	return a
}

// A line that is not a message is answered, and the session goes on.
func TestGarbageOverStdio(t *testing.T) {
	const limit = 4096
	ping := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id) }
	r := start(t, "")
	c := r.wire(t, r.server(t, mcp.Config{BodyBytes: limit}))
	id := 100
	alive := func(after string) {
		t.Helper()
		id++
		if a := c.say(t, ping(id)); string(a.ID) != fmt.Sprint(id) || a.Error != nil {
			t.Fatalf("after %.80q: %+v", after, a)
		}
	}
	garbage := func(phase string) {
		for _, g := range []struct {
			line string
			code int
			id   string
		}{
			{"hello", -32700, "null"}, {"{", -32700, "null"}, {`{"jsonrpc":"2.0","id":1,"method":"ping"`, -32700, "null"},
			{`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, -32700, "null"}, {"\x00\xff\xfe", -32700, "null"}, {"NaN", -32700, "null"},
			{"GET / HTTP/1.1\r", -32700, "null"}, {strings.Repeat("[", limit), -32700, "null"},
			{"42", -32600, "null"}, {`"text"`, -32600, "null"}, {"null", -32600, "null"}, {"{}", -32600, "null"}, {"[]", -32600, "null"},
			{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"}, {`{"jsonrpc":"1.0","id":7,"method":"ping"}`, -32600, "7"},
			{`{"jsonrpc":"2.0","id":"x","method":5}`, -32600, `"x"`}, {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
			{`{"id":3,"method":"ping"}`, -32600, "3"},
			{strings.Repeat("x", limit+3), -32600, "null"}, {strings.Repeat("y", 10*limit), -32600, "null"},
			{`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + strings.Repeat("z", limit) + `"}}`, -32600, "null"},
		} {
			a := c.say(t, g.line+"\n")
			if a.Error == nil || a.Error.Code != g.code || string(a.ID) != g.id || a.Error.Message == "" || len(a.Error.Message) > 300 {
				t.Errorf("%s: %.80q: %+v, %+v", phase, g.line, a, a.Error)
			}
			alive(g.line)
		}
		if a := c.say(t, "\n\r\n  \n"+ping(5)); string(a.ID) != "5" {
			t.Errorf("%s: empty lines: %+v", phase, a)
		}
		if a := c.say(t, strings.TrimSpace(ping(6))+"\r\n"); string(a.ID) != "6" {
			t.Errorf("%s: \\r\\n: %+v", phase, a)
		}
	}
	garbage("before")
	if a := c.say(t, initialize+"\n"); a.Error != nil || !strings.Contains(string(a.Result), "serverInfo") {
		t.Fatalf("%+v", a)
	}
	garbage("behind initialize")
	if a := c.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+ping(7)); string(a.ID) != "7" {
		t.Fatalf("%+v", a)
	}
	garbage("in a session")
	a := c.say(t, `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"world.stats","arguments":{}}}`+"\n")
	if a.Error != nil || !strings.Contains(string(a.Result), "evertick/tick") {
		t.Errorf("%+v", a)
	}
	for _, line := range []string{ // messages that ask for nothing
		`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}`, `{"jsonrpc":"2.0","method":"notifications/none"}`,
	} {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		alive(line)
	}
}

// The end of the stream ends the session, after garbage too.
func TestEndOfStdio(t *testing.T) {
	for _, last := range []string{"", "\n", "garbage", initialize + "\n", strings.Repeat("x", 1<<20)} {
		r := start(t, "")
		s := r.server(t, mcp.Config{})
		var out strings.Builder
		_ = s.Connect(r.ctx, s.Stdio(strings.NewReader(last), &out))
		if (last == "garbage" || len(last) == 1<<20) != strings.Contains(out.String(), `"error"`) {
			t.Errorf("%.80q: %q", last, out.String())
		}
		if r.ctx.Err() != nil {
			t.Fatalf("%.80q has not ended", last)
		}
	}
}
