package httpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/agent/httpagent"
	"github.com/evertick/evertick/internal/fault"
)

const key = "sk-very-secret"

func defs() []agent.ActionDef {
	return []agent.ActionDef{
		{Name: "go", Doc: "walk", Args: []agent.ArgDef{{Name: "x", Doc: "east", Min: -3, Max: 3}, {Name: "z"}}},
		{Name: "touch", Target: agent.NeedTarget},
		{Name: "say", Target: agent.MayTarget, MaxData: 16},
	}
}

func perception() *agent.Perception {
	return &agent.Perception{
		Decision: 9, Tick: 70, Agent: 4, Position: [3]float32{1, 2, 3.5}, Radius: 15, Tags: 2, TagNames: []string{"a", "b"}, Actions: defs(),
		Neighbours: []agent.Neighbour{{ID: 5, Position: [3]float32{1, 2, 4}, Distance: 0.5, Tags: 3}}, Unseen: 2,
		Events: []agent.Event{{Tick: 69, Kind: 7, Object: 4, Value: 1}},
		Last:   agent.Outcome{Decision: 8, Tick: 60, Type: agent.Rejected, Reason: agent.StaleTarget},
	}
}

// fake is an endpoint that answers as a test sets it.
func fake(t *testing.T, h http.HandlerFunc, change func(*httpagent.Config)) *httpagent.Provider {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c := httpagent.Config{URL: srv.URL + "/v1/chat/completions", Model: "small", Key: httpagent.NewSecret(key), Client: srv.Client()}
	if change != nil {
		change(&c)
	}
	p, err := httpagent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// calls is a chat completion with tool calls; arguments are sent as they are.
func calls(list ...[2]string) string {
	type call struct {
		ID       string            `json:"id"`
		Type     string            `json:"type"`
		Function map[string]string `json:"function"`
	}
	var all []call
	for i, c := range list {
		all = append(all, call{fmt.Sprint("call_", i), "function", map[string]string{"name": c[0], "arguments": c[1]}})
	}
	tools, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return `{"id":"x","object":"chat.completion","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":` + string(tools) + `}}],"usage":{"total_tokens":7}}`
}

// A request is a chat with the perception and the tools; the answer becomes actions.
func TestDecide(t *testing.T) {
	var sent map[string]any
	temperature := 0.5
	p := fake(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v", r.Method, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, calls([2]string{"go", `{"x": 1.5, "z": -2e2}`}, [2]string{"touch", `{"target": "ent_5", "after": 30}`}, [2]string{"say", `{"data": "hé"}`}))
	}, func(c *httpagent.Config) { c.System, c.MaxTokens, c.Temperature = "be brief", 100, &temperature })
	d, err := p.Decide(t.Context(), perception())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%+v", d), fmt.Sprintf("%+v", agent.Decision{Actions: []agent.Action{
		{Name: "go", Args: []float32{1.5, -200}}, {Name: "touch", Target: 5, After: 30}, {Name: "say", Data: []byte("hé")}}}); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	data, _ := json.Marshal(sent)
	text := string(data)
	for _, part := range []string{`"model":"small"`, `"stream":false`, `"max_tokens":100`, `"temperature":0.5`, `"tool_choice":"auto"`, `"content":"be brief"`,
		`"name":"go"`, `"minimum":-3`, `"maximum":3`, `"required":["x","z"]`, `"required":["target"]`, `"additionalProperties":false`, `"description":"walk"`, `"maxLength":16`} {
		if !strings.Contains(text, part) {
			t.Errorf("not sent: %s", part)
		}
	}
	user := sent["messages"].([]any)[1].(map[string]any)["content"].(string)
	want := `{"tick":70,"self":"ent_4","position":[1,2,3.5],"radius":15,"tags":["b"],"neighbours":[{"id":"ent_5","position":[1,2,4],"distance":0.5,"tags":["a","b"]}],"unseen":2,` +
		`"events":[{"tick":69,"kind":7,"object":"ent_4","position":[0,0,0],"value":1}],"last":{"tick":60,"outcome":"Rejected","reason":"stale_target"}}`
	if user != want {
		t.Errorf("perception %s\nwant %s", user, want)
	}
	if strings.Contains(text, key) {
		t.Error("the key is in the body")
	}
}

// Invalid answers are errors as a whole, and no error shows the key.
func TestHostileAnswers(t *testing.T) {
	redirected := atomic.Bool{}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected.Store(true) }))
	defer other.Close()
	body := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, s) }
	}
	status := func(code int, s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, s)
		}
	}
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		want error
	}{
		{"empty", body(""), httpagent.ErrAnswer},
		{"no JSON", body("<html>"), httpagent.ErrAnswer},
		{"null", body("null"), httpagent.ErrAnswer},
		{"no choices", body(`{"choices":[]}`), httpagent.ErrAnswer},
		{"no message", body(`{"choices":[{}]}`), httpagent.ErrAnswer},
		{"choices of another type", body(`{"choices":{"a":1}}`), httpagent.ErrAnswer},
		{"two values", body(calls() + calls()), httpagent.ErrAnswer},
		{"deep", body(strings.Repeat("[", 200_000)), httpagent.ErrAnswer},
		{"unknown tool", body(calls([2]string{"fly", "{}"})), httpagent.ErrAnswer},
		{"hostile name", body(calls([2]string{strings.Repeat("\x1b[2J", 10_000), "{}"})), httpagent.ErrAnswer},
		{"name quotes the key", body(calls([2]string{key, "{}"})), httpagent.ErrAnswer},
		{"one bad of two", body(calls([2]string{"say", "{}"}, [2]string{"fly", "{}"})), httpagent.ErrAnswer},
		{"no arguments", body(calls([2]string{"go", ""})), httpagent.ErrAnswer},
		{"arguments no JSON", body(calls([2]string{"go", "{x: 1}"})), httpagent.ErrAnswer},
		{"arguments a list", body(calls([2]string{"go", "[1, 2]"})), httpagent.ErrAnswer},
		{"arguments cut", body(calls([2]string{"go", `{"x": 1, "z": `})), httpagent.ErrAnswer},
		{"behind arguments", body(calls([2]string{"go", `{"x": 1, "z": 1} {}`})), httpagent.ErrAnswer},
		{"name twice", body(calls([2]string{"go", `{"x": 1, "z": 1, "x": 2}`})), httpagent.ErrAnswer},
		{"missing argument", body(calls([2]string{"go", `{"x": 1}`})), httpagent.ErrAnswer},
		{"argument too many", body(calls([2]string{"go", `{"x": 1, "z": 1, "y": 1}`})), httpagent.ErrAnswer},
		{"number as text", body(calls([2]string{"go", `{"x": "1", "z": 1}`})), httpagent.ErrAnswer},
		{"null", body(calls([2]string{"go", `{"x": null, "z": 1}`})), httpagent.ErrAnswer},
		{"NaN", body(calls([2]string{"go", `{"x": NaN, "z": 1}`})), httpagent.ErrAnswer},
		{"beyond float32", body(calls([2]string{"go", `{"x": 1, "z": 1e39}`})), httpagent.ErrAnswer},
		{"beyond float64", body(calls([2]string{"go", `{"x": 1, "z": -1e999}`})), httpagent.ErrAnswer},
		{"hostile id", body(calls([2]string{"touch", `{"target": "ent_99999999999999999999"}`})), httpagent.ErrAnswer},
		{"another hostile id", body(calls([2]string{"touch", `{"target": "../../etc/passwd"}`})), httpagent.ErrAnswer},
		{"id as number", body(calls([2]string{"touch", `{"target": 5}`})), httpagent.ErrAnswer},
		{"no id", body(calls([2]string{"touch", `{"target": ""}`})), httpagent.ErrAnswer},
		{"target too many", body(calls([2]string{"go", `{"x": 1, "z": 1, "target": "ent_1"}`})), httpagent.ErrAnswer},
		{"data as list", body(calls([2]string{"say", `{"data": [1]}`})), httpagent.ErrAnswer},
		{"after", body(calls([2]string{"say", `{"after": 1.5}`})), httpagent.ErrAnswer},
		{"after below 0", body(calls([2]string{"say", `{"after": -1}`})), httpagent.ErrAnswer},
		{"endless after", body(calls([2]string{"say", `{"after": 1e30}`})), httpagent.ErrAnswer},
		{"another type", body(`{"choices":[{"message":{"tool_calls":[{"type":"code","function":{"name":"say"}}]}}]}`), httpagent.ErrAnswer},
		{"many calls", body(`{"choices":[{"message":{"tool_calls":[` + strings.Repeat("{},", 5000) + `{}]}}]}`), httpagent.ErrAnswer},
		{"large", body(calls([2]string{"say", `{"data": "` + strings.Repeat("x", 1<<17) + `"}`})), httpagent.ErrAnswer},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, httpagent.ErrAnswer},
		{"status 500", status(500, "oh\nno"), httpagent.ErrStatus},
		{"status 401 that quotes the key", status(401, "bad key "+key), httpagent.ErrStatus},
		{"status 429", status(429, strings.Repeat("é", 1000)), httpagent.ErrStatus},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, httpagent.ErrStatus},
		{"cut short", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "{")
		}, io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fake(t, c.h, func(c *httpagent.Config) { c.MaxBytes = 1 << 16 })
			d, err := p.Decide(t.Context(), perception())
			if !errors.Is(err, c.want) || len(d.Actions) != 0 {
				t.Fatalf("%+v, %v; want %v", d, err, c.want)
			}
			if s := err.Error(); strings.Contains(s, key) || len(s) > 1000 || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("the error says %q", s)
			}
		})
	}
	if redirected.Load() {
		t.Error("a redirect was followed")
	}
}

// Answers in other shapes that servers use, and answers without actions.
func TestParse(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"choices":[{"message":{"content":"nothing to do"}}]}`, "[]"},
		{`{"choices":[{"message":{"tool_calls":null}}]}`, "[]"},
		{`{"choices":[{"message":{"tool_calls":[{"function":{"name":"go","arguments":{"x":1,"z":2}}}]}}]}`, "[{go 0 [1 2] [] 0}]"},
		{calls([2]string{"say", ""}), "[{say 0 [] [] 0}]"},
		{calls([2]string{"say", `{"target":"ent_3"}`}), "[{say 0 [] [] 0}]"},
	} {
		d, err := httpagent.Parse([]byte(c.body), defs())
		for i := range d.Actions {
			if d.Actions[i].Target == 3 {
				d.Actions[i].Target = 0
			}
		}
		got := "["
		for i, a := range d.Actions {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("{%s %d %v %v %d}", a.Name, uint64(a.Target), a.Args, a.Data, a.After)
		}
		if got += "]"; err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.body, got, err, c.want)
		}
	}
	d, err := httpagent.Parse([]byte(calls([2]string{"go", `{"x": 1e-60, "z": 3.4028234663852886e38}`})), defs())
	if err != nil || d.Actions[0].Args[0] != 0 || d.Actions[0].Args[1] != math.MaxFloat32 {
		t.Errorf("%+v, %v", d, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(calls([2]string{"go", `{"x": 1.5, "z": -2e2}`}, [2]string{"touch", `{"target": "ent_5", "after": 30}`})))
	f.Add([]byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"say","arguments":{"data":"x"}}}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := httpagent.Parse(data, defs())
		if err != nil && (!errors.Is(err, httpagent.ErrAnswer) || len(d.Actions) != 0) {
			t.Errorf("%+v, %v", d, err)
		}
		for _, a := range d.Actions {
			for _, v := range a.Args {
				if v-v != 0 {
					t.Errorf("%+v", a)
				}
			}
		}
	})
}

// The end of the context ends the request.
func TestCancelled(t *testing.T) {
	asked := make(chan struct{})
	p := fake(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not noticed
		close(asked)
		<-r.Context().Done()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := p.Decide(ctx, perception()); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "http://") {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	bad := math.NaN()
	err := httpagent.Config{URL: "ftp://x", Key: httpagent.NewSecret("a\nb"), MaxBytes: -1, MaxTokens: -1, Temperature: &bad}.Validate()
	for _, field := range []string{"URL", "Model", "Key", "MaxBytes", "MaxTokens", "Temperature"} {
		if err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
	if !errors.Is(err, fault.ErrRange) || strings.Contains(err.Error(), "a\nb") {
		t.Error(err)
	}
	for _, u := range []string{"", "http://", "://", "http://user:pass@host/"} {
		if _, err := httpagent.New(httpagent.Config{URL: u, Model: "m"}); !errors.Is(err, fault.ErrRange) || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

// A model drives an agent: a request over HTTP, a tool call as the answer, a move on the tick.
func TestDrivesAnAgent(t *testing.T) {
	p := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, calls([2]string{"go", `{"x": 2, "z": 1}`}))
	}, nil)
	sim, err := evertick.New(evertick.Config{Capacity: 4})
	if err != nil {
		t.Fatal(err)
	}
	var got []float32
	agents, err := agent.New(sim, agent.Config{Actions: defs(), Providers: []agent.ProviderConfig{{Provider: p}},
		Apply: func(_ *evertick.Tick, q *agent.Queued) error {
			got = append(got, q.Args...)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := sim.World.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	if err := agents.Add(id, agent.Spec{IntervalTicks: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(got) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(got) != "[2 1]" {
		t.Errorf("%v; %+v", got, agents.Stats())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := agents.Close(ctx); err != nil {
		t.Error(err)
	}
}

// An answer is a whole decision or an error, whatever an endpoint cuts, filters or repeats.
func TestParseWholeAnswers(t *testing.T) {
	call := func(name, args string) string {
		return fmt.Sprintf(`{"type":"function","function":{"name":%q,"arguments":%q}}`, name, args)
	}
	say := call("say", "{}")
	answer := func(reason, calls string) string {
		return fmt.Sprintf(`{"choices":[{"finish_reason":%s,"message":{"tool_calls":[%s]}}]}`, reason, calls)
	}
	const refused = -1
	for _, c := range []struct {
		name, body string
		actions    int
	}{
		{"whole", answer(`"tool_calls"`, say+","+say), 2},
		{"stop", answer(`"stop"`, ""), 0},
		{"no reason", answer(`null`, say), 1},
		{"a reason of another server", answer(`"end_turn"`, say), 1},
		{"cut after the first call", answer(`"length"`, say), refused},
		{"cut before a call", answer(`"length"`, ""), refused},
		{"cut, by another word", answer(`"max_tokens"`, say), refused},
		{"filtered", answer(`"content_filter"`, ""), refused},
		{"refused", `{"choices":[{"finish_reason":"stop","message":{"refusal":"I will not","tool_calls":[]}}]}`, refused},
		{"refusal null", `{"choices":[{"message":{"refusal":null,"tool_calls":[` + say + `]}}]}`, 1},
		{"a reason that is no text", answer(`7`, say), refused},
		{"choices twice", `{"choices":[{"message":{"tool_calls":[` + say + `]}}],"choices":[{"message":{}}]}`, 0},
		{"message twice", `{"choices":[{"message":{"tool_calls":[` + say + `]},"message":{"tool_calls":[]}}]}`, 0},
		{"calls twice", `{"choices":[{"message":{"tool_calls":[` + say + `],"tool_calls":[{"function":{}}]}}]}`, refused},
		{"reason twice", `{"choices":[{"finish_reason":"stop","finish_reason":"length","message":{"tool_calls":[` + say + `]}}]}`, refused},
		{"another case", `{"choices":[{"message":{"Tool_Calls":[` + say + `]}}]}`, 0},
		{"arguments twice", `{"choices":[{"message":{"tool_calls":[{"function":{"name":"go","arguments":"{}","arguments":"{\"x\":1,\"z\":2}"}}]}}]}`, 1},
		{"an argument twice", answer(`null`, call("go", `{"x":1,"z":2,"x":2}`)), refused},
	} {
		d, err := httpagent.Parse([]byte(c.body), defs())
		got := len(d.Actions)
		if err != nil {
			got = refused
		}
		if got != c.actions || err != nil && !errors.Is(err, httpagent.ErrAnswer) {
			t.Errorf("%s: %d actions, %v; want %d", c.name, got, err, c.actions)
		}
	}
}
