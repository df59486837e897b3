package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/skill/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// join returns a client over HTTP after its handshake, without further requests.
func join(t *testing.T, ctx context.Context, url string) *sdk.ClientSession {
	t.Helper()
	cs, err := newClient().Connect(ctx, &sdk.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close() })
	return cs
}

// handshake sends the first message of a session. The caller closes the body of the answer.
func handshake(t *testing.T, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// requestSession begins a session, and returns the status, the value of Retry-After and the text.
func requestSession(t *testing.T, url string) (status, retry int, reason string) {
	t.Helper()
	res := handshake(t, url)
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	if err != nil {
		t.Fatal(err)
	}
	retry, _ = strconv.Atoi(res.Header.Get("Retry-After"))
	return res.StatusCode, retry, string(data)
}

// A refused client gets the reason and the time to retry; other sessions are not disturbed.
func TestFullSaysWhy(t *testing.T) {
	r := start(t, "")
	s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 3, Silence: time.Hour})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	var inside []*sdk.ClientSession
	for range 3 {
		cs := join(t, r.ctx, ts.URL)
		if _, err := cs.ListTools(r.ctx, nil); err != nil {
			t.Fatal(err)
		}
		inside = append(inside, cs)
	}
	for range 5 {
		status, retry, reason := requestSession(t, ts.URL)
		if status != http.StatusServiceUnavailable || retry < 3000 || retry > 3600 ||
			!strings.Contains(reason, "there are 3, all of which") || strings.Contains(reason, "no server available") {
			t.Errorf("status %d, Retry-After %d: %q", status, retry, reason)
		}
	}
	for _, cs := range inside {
		good[skill.StatsOutput](t, r.ctx, cs, "world.stats", `{}`)
	}
	inside[1].Close()
	if status, _, reason := requestSession(t, ts.URL); status != http.StatusOK {
		t.Errorf("a session has ended: status %d: %s", status, reason)
	}
	// Other bad requests keep their status.
	if got := post(t, ts.URL, func(q *http.Request) { q.Header.Set("Accept", "text/html") }, initialize); got != http.StatusBadRequest {
		t.Errorf("status %d", got)
	}
}

// raw is a client over HTTP that sends any messages, and does not retry.
type raw struct{ url, session string }

func (c *raw) send(t *testing.T, body string) (status int) {
	t.Helper()
	status = post(t, c.url, func(q *http.Request) {
		if c.session != "" {
			q.Header.Set("Mcp-Session-Id", c.session)
			q.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
	}, body)
	return status
}

// enter begins a session and, if whole is true, ends the handshake and waits until that has arrived.
func enter(t *testing.T, url string, whole bool) *raw {
	t.Helper()
	res := handshake(t, url)
	res.Body.Close()
	c := &raw{url, res.Header.Get("Mcp-Session-Id")}
	if res.StatusCode != http.StatusOK || c.session == "" {
		t.Fatalf("status %d, session %q", res.StatusCode, c.session)
	}
	if whole {
		c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if status := c.send(t, listTools); status != http.StatusOK {
			t.Fatalf("tools/list: status %d", status)
		}
	}
	return c
}

const listTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`

// Silent sessions make room for new ones, the longest silent first; and before them those that have
// not ended their handshake.
func TestSilentSessionsEnd(t *testing.T) {
	r := start(t, "")
	s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 3, Silence: 1})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	a, b := enter(t, ts.URL, true), enter(t, ts.URL, true)
	if status := a.send(t, listTools); status != http.StatusOK { // b is silent for longer now
		t.Fatalf("status %d", status)
	}
	unused := enter(t, ts.URL, false)
	gone := func(c *raw, want bool) {
		t.Helper()
		status := c.send(t, listTools)
		for tries := 0; want && status == http.StatusOK && tries < 1000; tries++ { // it is closed beside the new one
			time.Sleep(time.Millisecond)
			status = c.send(t, listTools)
		}
		if (status == http.StatusNotFound) != want {
			t.Errorf("status %d", status)
		}
	}
	c := enter(t, ts.URL, true)
	gone(unused, true)
	enter(t, ts.URL, true)
	gone(b, true)
	gone(a, false)
	gone(c, false)
	for range 20 { // as many as like
		enter(t, ts.URL, true)
	}
	gone(a, true)
}

// A client that only ends its handshake keeps its session for Silence, and then loses it to a new one.
func TestHandshakesKeepNoClientOut(t *testing.T) {
	r := start(t, "")
	for _, silence := range []time.Duration{1, time.Hour} {
		s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 2, Silence: silence})
		ts := httptest.NewServer(s.Handler())
		first, second := enter(t, ts.URL, true), enter(t, ts.URL, true)
		want := http.StatusOK
		if silence == time.Hour {
			want = http.StatusServiceUnavailable
		}
		for range 5 {
			if status, _, reason := requestSession(t, ts.URL); status != want {
				t.Errorf("Silence %v: status %d: %s", silence, status, reason)
			}
		}
		for _, c := range []*raw{first, second} {
			if status := c.send(t, listTools); silence == time.Hour && status != http.StatusOK {
				t.Errorf("Silence %v: status %d", silence, status)
			}
		}
		ts.Close()
	}
}

// A session that waits for an answer is not silent, and that of a host never ends for another.
func TestSessionsThatStay(t *testing.T) {
	w, err := mcp.Build(3) // which nobody steps yet
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r := &running{World: w, ctx: ctx}
	s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 2, Silence: 1})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	host := r.connect(t, s)
	waits := join(t, ctx, ts.URL)
	answered := make(chan error, 1)
	go func() {
		_, err := waits.CallTool(ctx, &sdk.CallToolParams{Name: "world.stats"})
		answered <- err
	}()
	for w.Skills.Stats().Waiting == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	for range 3 {
		if status, _, reason := requestSession(t, ts.URL); status != http.StatusServiceUnavailable {
			t.Errorf("status %d: %s", status, reason)
		}
	}
	if err := w.Sim.Step(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	for range 3 { // they take the place of the session that has its answer
		if status, _, reason := requestSession(t, ts.URL); status != http.StatusOK {
			t.Errorf("status %d: %s", status, reason)
		}
	}
	if _, err := host.ListTools(ctx, nil); err != nil {
		t.Errorf("the session of the host has ended: %v", err)
	}
}

// No print of a server shows the token.
func TestServerHidesItsToken(t *testing.T) {
	w, err := mcp.Build(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewServer(w.Skills, mcp.Config{Token: "open sesame"})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, v := range []any{s, struct{ s *mcp.Server }{s}} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "sesame") {
				t.Errorf("%s: %s", verb, text)
			}
		}
	}
}
