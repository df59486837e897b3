package mcp_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/skill/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// running is a world that runs in real time during a test.
type running struct {
	*mcp.World
	ctx  context.Context
	stop func() error
}

func start(t *testing.T, dir string) *running {
	t.Helper()
	w, err := mcp.Build(3)
	if err != nil {
		t.Fatal(err)
	}
	if dir != "" {
		if err := w.Record(dir); err != nil {
			t.Fatal(err)
		}
	}
	return run(t, w)
}

// run runs a world.
func run(t *testing.T, w *mcp.World) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	r := &running{World: w, ctx: ctx}
	stopped := false
	r.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *running) server(t *testing.T, c mcp.Config) *mcp.Server {
	t.Helper()
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	s, err := mcp.NewServer(r.Skills, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connect returns a client in memory.
func (r *running) connect(t *testing.T, s *mcp.Server) *sdk.ClientSession {
	t.Helper()
	a, b := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Connect(ctx, a) }() // it ends with the client
	cs, err := newClient().Connect(r.ctx, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(); cancel(); <-done })
	return cs
}

func newClient() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
}

// call calls a tool.
func call(t *testing.T, ctx context.Context, cs *sdk.ClientSession, name, args string, cause uint64) *sdk.CallToolResult {
	t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)}
	if cause != 0 {
		p.Meta = sdk.Meta{"evertick/cause": cause}
	}
	res, err := cs.CallTool(ctx, p)
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return res
}

func text(res *sdk.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	c, _ := res.Content[0].(*sdk.TextContent)
	return c.Text
}

// good is a call that succeeds.
func good[Out any](t *testing.T, ctx context.Context, cs *sdk.ClientSession, name, args string) (out Out) {
	t.Helper()
	res := call(t, ctx, cs, name, args, 0)
	if res.IsError {
		t.Fatalf("%s %s: %s", name, args, text(res))
	}
	structured, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(structured, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused is a call that is an error, with its code.
func refused(t *testing.T, ctx context.Context, cs *sdk.ClientSession, name, args string, want skill.Code) {
	t.Helper()
	res := call(t, ctx, cs, name, args, 0)
	var r mcp.Refusal
	if err := json.Unmarshal([]byte(text(res)), &r); err != nil || !res.IsError || r.Code != want || r.Message == "" {
		t.Errorf("%s %s: %q, want %q: %v", name, args, text(res), want, err)
	}
}

// session does what an agent does: it looks around, builds, is refused, and reads the trace.
func session(t *testing.T, ctx context.Context, cs *sdk.ClientSession) {
	t.Helper()
	tools, err := cs.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		schema, _ := json.Marshal(tool.InputSchema)
		if tool.Description == "" || !bytes.Contains(schema, []byte(`"object"`)) || tool.OutputSchema == nil {
			t.Errorf("tool %s: %s", tool.Name, schema)
		}
	}
	want := []string{
		"ecs.addComponent", "ecs.removeComponent", "ecs.updateComponent", "physics.applyImpulse", "physics.raycast",
		"scene.createEntity", "scene.destroyEntity", "scene.getResources", "scene.queryEntities", "scene.removeResource", "scene.setResource", "trace", "world.stats",
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("tools are %q", names)
	}

	before := good[skill.StatsOutput](t, ctx, cs, "world.stats", `{}`)
	var made []string
	for i := range 3 {
		out := good[skill.Created](t, ctx, cs, "scene.createEntity", fmt.Sprintf(
			`{"position":{"x":5,"y":%g,"z":0},"tags":["tower"],"body":{"type":"dynamic","shape":{"type":"box","size":{"x":1,"y":1,"z":1}}}}`, 0.5+float32(i)))
		made = append(made, out.ID)
	}
	found := good[skill.QueryOutput](t, ctx, cs, "scene.queryEntities", `{"tags":["tower"],"center":{"x":5,"y":0,"z":0},"radius":9}`)
	if len(found.Entities) != 3 || found.Entities[0].ID != made[0] {
		t.Errorf("the tower is %+v, made of %q", found, made)
	}
	hit := good[skill.RayOutput](t, ctx, cs, "physics.raycast", `{"from":{"x":0,"y":0.5,"z":0},"to":{"x":10,"y":0.5,"z":0}}`)
	if len(hit.Hits) != 1 || hit.Hits[0].ID != made[0] {
		t.Errorf("ray: %+v", hit)
	}
	good[skill.Pushed](t, ctx, cs, "physics.applyImpulse", fmt.Sprintf(`{"id":%q,"impulse":{"x":1,"y":0,"z":0}}`, made[2]))

	res := call(t, ctx, cs, "world.stats", `{}`, 41)
	if seq, _ := res.Meta["evertick/seq"].(float64); seq < float64(before.Calls)+6 {
		t.Errorf("_meta: %v", res.Meta)
	}
	refused(t, ctx, cs, "world.snapshot", `{}`, skill.Forbidden)
	refused(t, ctx, cs, "scene.destroyEntity", `{"id":"ent_9999"}`, skill.StaleEntity)
	refused(t, ctx, cs, "scene.createEntity", `{"position":"here"}`, skill.InvalidInput)
	refused(t, ctx, cs, "scene.createEntity", `{"position":{"x":0,"y":0,"z":0},"tags":["`+strings.Repeat("x", 20000)+`"]}`, skill.InvalidInput)
	if _, err := cs.CallTool(ctx, &sdk.CallToolParams{Name: "world.end"}); err == nil {
		t.Error("a tool that is not there was called")
	}

	trace := good[mcp.TraceOutput](t, ctx, cs, "trace", `{}`)
	var codes []skill.Code
	caused := false
	for _, e := range trace.Events {
		caused = caused || e.Cause == 41 && e.Skill == "world.stats@1"
		if e.Code != skill.OK {
			codes = append(codes, e.Code)
		}
		if e.Actor != trace.Events[0].Actor || e.Seq == 0 || e.Input == "" {
			t.Errorf("event %+v", e)
		}
	}
	if !slices.Equal(codes, []skill.Code{skill.Forbidden, skill.StaleEntity, skill.InvalidInput, skill.InvalidInput}) || !caused {
		t.Errorf("refusals in the trace: %q, with cause: %v", codes, caused)
	}
	after := good[skill.StatsOutput](t, ctx, cs, "world.stats", `{}`)
	if after.Entities != before.Entities+3 || after.Bodies != before.Bodies+3 || after.Tick <= before.Tick {
		t.Errorf("%+v, before %+v", after, before)
	}
}

// An agent builds in a running world, and the log verifies.
func TestInMemory(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir)
	session(t, r.ctx, r.connect(t, r.server(t, mcp.Config{Profile: skill.Builder})))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(dir, mcp.Scenario(), replay.VerifyOptions{})
	if err != nil || rep.Ticks != r.Sim.Ticks() || rep.Hash != r.Sim.Hash() || rep.Inputs < 10 {
		t.Errorf("%+v: %v", rep, err)
	}
}

func TestHTTP(t *testing.T) {
	r := start(t, "")
	s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 1})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	cs, err := newClient().Connect(r.ctx, &sdk.StreamableClientTransport{Endpoint: ts.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	session(t, r.ctx, cs)
	if _, err := newClient().Connect(r.ctx, &sdk.StreamableClientTransport{Endpoint: ts.URL, MaxRetries: -1}, nil); err == nil {
		t.Error("a second session was let in, where there is room for one")
	}
	if err := cs.Close(); err != nil {
		t.Error(err)
	}
}

// post sends an initialize request as a browser or another program would.
func post(t *testing.T, url string, change func(*http.Request), body string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	change(req)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestHTTPRefuses(t *testing.T) {
	r := start(t, "")
	s := r.server(t, mcp.Config{Token: "open sesame", Origins: []string{"https://example.org"}, BodyBytes: 4096})
	ts := httptest.NewServer(s.HTTP().Handler)
	defer ts.Close()
	url := ts.URL + "/mcp"
	for _, c := range []struct {
		what   string
		change func(*http.Request)
		body   string
		want   int
	}{
		{"a program", func(*http.Request) {}, initialize, 200},
		{"its own page", func(q *http.Request) { q.Header.Set("Origin", ts.URL) }, initialize, 200},
		{"a page that is named", func(q *http.Request) { q.Header.Set("Origin", "https://example.org") }, initialize, 200},
		{"another page", func(q *http.Request) { q.Header.Set("Origin", "https://evil.example") }, initialize, 403},
		{"a page without an origin", func(q *http.Request) { q.Header.Set("Origin", "null") }, initialize, 403},
		{"two origins", func(q *http.Request) { q.Header["Origin"] = []string{ts.URL, "https://evil.example"} }, initialize, 403},
		{"another name for this host", func(q *http.Request) { q.Host = "evil.example" }, initialize, 403},
		{"no token", func(q *http.Request) { q.Header.Del("Authorization") }, initialize, 401},
		{"a wrong token", func(q *http.Request) { q.Header.Set("Authorization", "Bearer open") }, initialize, 401},
		{"another case", func(q *http.Request) { q.Header.Set("Authorization", "bearer open sesame") }, initialize, 200},
		{"a mixed case", func(q *http.Request) { q.Header.Set("Authorization", "bEARER   open sesame") }, initialize, 200},
		{"another scheme", func(q *http.Request) { q.Header.Set("Authorization", "Basic open sesame") }, initialize, 401},
		{"a scheme alone", func(q *http.Request) { q.Header.Set("Authorization", "Bearer") }, initialize, 401},
		{"a token in another case", func(q *http.Request) { q.Header.Set("Authorization", "Bearer OPEN SESAME") }, initialize, 401},
		{"a token of another kind", func(q *http.Request) { q.Header.Set("Authorization", "open sesame") }, initialize, 401},
		{"a long body", func(*http.Request) {}, strings.Repeat(" ", 5000) + initialize, 413},
	} {
		got := post(t, url, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer open sesame")
			c.change(q)
		}, c.body)
		if got != c.want {
			t.Errorf("%s: status %d, want %d", c.what, got, c.want)
		}
	}
	if got := post(t, ts.URL+"/", func(*http.Request) {}, initialize); got != 404 {
		t.Errorf("another path: status %d", got)
	}
}

func TestListen(t *testing.T) {
	w, err := mcp.Build(1)
	if err != nil {
		t.Fatal(err)
	}
	open, err := mcp.NewServer(w.Skills, mcp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if l, err := open.Listen("0.0.0.0:0"); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("a port for everybody, without a token: %v, %v", l, err)
	}
	l, err := open.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

// A snapshot is a resource for profiles with the permission.
func TestSnapshotResource(t *testing.T) {
	r := start(t, "")
	cs := r.connect(t, r.server(t, mcp.Config{Profile: skill.Admin, PlainNames: true}))
	out := good[skill.SnapshotOutput](t, r.ctx, cs, "world_snapshot", `{}`)
	res, err := cs.ReadResource(r.ctx, &sdk.ReadResourceParams{URI: "evertick://snapshot/" + out.Handle})
	if err != nil || len(res.Contents) != 1 {
		t.Fatalf("%+v %v", res, err)
	}
	w, err := mcp.Build(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sim.Restore(res.Contents[0].Blob); err != nil || w.Sim.Ticks() != out.Tick+1 {
		t.Errorf("restored to tick %d of %d: %v", w.Sim.Ticks(), out.Tick+1, err)
	}
	if _, err := cs.ReadResource(r.ctx, &sdk.ReadResourceParams{URI: "evertick://snapshot/snap_77"}); err == nil {
		t.Error("a snapshot that was never taken")
	}
	plain := r.connect(t, r.server(t, mcp.Config{Profile: skill.Builder}))
	if _, err := plain.ReadResource(r.ctx, &sdk.ReadResourceParams{URI: "evertick://snapshot/" + out.Handle}); err == nil {
		t.Error("a builder has got a snapshot")
	}
}

// Each session is an actor of its own, and does not see the calls of others.
func TestSessionsAreActors(t *testing.T) {
	r := start(t, "")
	s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 2})
	a, b := r.connect(t, s), r.connect(t, s)
	good[skill.StatsOutput](t, r.ctx, a, "world.stats", `{}`)
	good[skill.StatsOutput](t, r.ctx, b, "world.stats", `{}`)
	x, y := good[mcp.TraceOutput](t, r.ctx, a, "trace", `{}`), good[mcp.TraceOutput](t, r.ctx, b, "trace", `{}`)
	if len(x.Events) != 1 || len(y.Events) != 1 || x.Events[0].Actor == y.Events[0].Actor {
		t.Errorf("traces %+v and %+v", x, y)
	}
	one, _ := sdk.NewInMemoryTransports()
	if err := s.Connect(r.ctx, one); !errors.Is(err, mcp.ErrFull) {
		t.Errorf("a third session: %v", err)
	}
}

// A call to a world that has stopped is answered.
func TestStoppedWorld(t *testing.T) {
	r := start(t, "")
	ctx := context.WithoutCancel(r.ctx)
	s := r.server(t, mcp.Config{Profile: skill.Builder})
	a, b := sdk.NewInMemoryTransports()
	go func() { _ = s.Connect(ctx, a) }()
	cs, err := newClient().Connect(ctx, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	good[skill.StatsOutput](t, ctx, cs, "world.stats", `{}`)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	res := call(t, ctx, cs, "world.stats", `{}`, 0)
	if !res.IsError || !strings.Contains(text(res), "unavailable") {
		t.Errorf("%s", text(res))
	}
}

func TestConfig(t *testing.T) {
	w, err := mcp.Build(1)
	if err != nil {
		t.Fatal(err)
	}
	bad := mcp.Config{Actor: strings.Repeat("x", 101), Timeout: -1, Sessions: 5000, Silence: -1, Idle: -1, BodyBytes: 1 << 30}
	_, err = mcp.NewServer(w.Skills, bad)
	for _, field := range []string{"Actor", "Timeout", "Sessions", "Silence", "Idle", "BodyBytes"} {
		if !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
	if _, err := mcp.NewServer(w.Skills, mcp.Config{Profile: "bilder"}); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("a profile that is not there: %v", err)
	}
}

// Clients that never end their handshake keep no client out.
func TestKnocking(t *testing.T) {
	r := start(t, "")
	s := r.server(t, mcp.Config{Profile: skill.Builder, Sessions: 2})
	ts := httptest.NewServer(s.Handler())
	defer ts.Close()
	for i := range 10 {
		if got := post(t, ts.URL, func(*http.Request) {}, initialize); got != 200 {
			t.Fatalf("request %d: status %d", i, got)
		}
	}
	for range 2 {
		cs, err := newClient().Connect(r.ctx, &sdk.StreamableClientTransport{Endpoint: ts.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		good[skill.StatsOutput](t, r.ctx, cs, "world.stats", `{}`)
		defer cs.Close()
	}
}
