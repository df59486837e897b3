package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/skill"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config of a Server. The zero value works.
type Config struct {
	// Profile of the actors, one that the registry has. Empty: skill.Reader.
	Profile string
	// Actor is the name of the actors, before "-1", "-2" and so on: up to 100 bytes. Empty: "mcp".
	Actor string
	// Entity is that of the actors, for profiles with OwnEntity. 0: none.
	Entity ecs.ID
	// Timeout is how long a call may take, including the time that it waits for approval. 0: 10 s.
	Timeout time.Duration
	// Sessions is the maximum number of sessions, up to 4096. 0: 16.
	Sessions int
	// Silence is the time without a call after which a new session may end a session over HTTP, when there
	// are Sessions of them. 0: 1 min.
	Silence time.Duration
	// Idle ends a session over HTTP after this time without a request. 0: 10 min.
	Idle time.Duration
	// BodyBytes is the longest body of a request over HTTP, and the longest message over Stdio, up to
	// 1<<24. 0: 1<<17.
	BodyBytes int64
	// Origins are the origins of pages that may send requests over HTTP, besides that of the server
	// itself, as in "https://example.org".
	Origins []string
	// Token is the bearer token of requests over HTTP. Empty: none is needed.
	Token string
	// PlainNames replaces the dots in the names of tools by underscores, for clients that refuse dots.
	PlainNames bool
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(field string, v any) {
		errs = append(errs, fmt.Errorf("mcp: Config.%s = %v: %w", field, v, evertick.ErrRange))
	}
	if len(c.Actor) > 100 {
		bad("Actor", fmt.Sprintf("%.40q", c.Actor))
	}
	for _, d := range [...]struct {
		field string
		v     time.Duration
	}{{"Timeout", c.Timeout}, {"Silence", c.Silence}, {"Idle", c.Idle}} {
		if d.v < 0 {
			bad(d.field, d.v)
		}
	}
	if c.Sessions < 0 || c.Sessions > 4096 {
		bad("Sessions", c.Sessions)
	}
	if c.BodyBytes < 0 || c.BodyBytes > 1<<24 {
		bad("BodyBytes", c.BodyBytes)
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	c.Profile, c.Actor = cmp.Or(c.Profile, skill.Reader), cmp.Or(c.Actor, "mcp")
	c.Timeout, c.Silence, c.Idle = cmp.Or(c.Timeout, 10*time.Second), cmp.Or(c.Silence, time.Minute), cmp.Or(c.Idle, 10*time.Minute)
	c.Sessions, c.BodyBytes = cmp.Or(c.Sessions, 16), cmp.Or(c.BodyBytes, 1<<17)
	return c
}

// Server offers the skills of a registry to clients.
type Server struct {
	r      *skill.Registry
	config Config
	token  []byte // hash of Config.Token, which config does not keep; nil: none

	mu       sync.Mutex
	sessions []session
	admitted uint64
}

// session is a session, or the place of one. Its index is in the name of its actor.
type session struct {
	server *sdk.Server // nil: free
	since  uint64      // order of admission
	used   bool        // it has sent a request after those of handshakeMethods
	kept   bool        // it belongs to the host, and is not ended for another
	calls  int         // that have not been answered
	last   time.Time   // when the last call began or was answered
}

// silence returns the time since the last call, and whether the session may be ended for it.
func (p *session) silence(now time.Time) (time.Duration, bool) {
	return now.Sub(p.last), p.used && !p.kept && p.calls == 0
}

// NewServer returns a Server for a registry, after all skills and profiles were added. Errors
// are those of Config.Validate, and ErrRange for a profile that the registry does not have.
func NewServer(r *skill.Registry, c Config) (*Server, error) {
	if r == nil {
		panic("mcp: NewServer: nil registry")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &Server{r: r, config: c.withDefaults()}
	if !r.HasProfile(s.config.Profile) {
		return nil, fmt.Errorf("mcp: Config.Profile = %.70q: unknown to the registry: %w", s.config.Profile, evertick.ErrRange)
	}
	if s.config.Token != "" {
		sum := sha256.Sum256([]byte(s.config.Token))
		s.token, s.config.Token = sum[:], "" // printing the server must not show it
	}
	s.sessions = make([]session, s.config.Sessions)
	if _, err := r.Caller(s.actor(0)); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) actor(i int) skill.Actor {
	return skill.Actor{Name: fmt.Sprintf("%s-%d", s.config.Actor, i+1), Profile: s.config.Profile, Entity: s.config.Entity}
}

// ErrFull: there are Config.Sessions sessions already. It wraps evertick.ErrCapacity.
var ErrFull = fmt.Errorf("mcp: sessions: %w", evertick.ErrCapacity)

// Connect serves one client over a transport until ctx is done or the client goes.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) error {
	server, err := s.admit(true)
	if err != nil {
		return err
	}
	defer s.update(server, func(p *session) { *p = session{} })
	return server.Run(ctx, t)
}

// update changes the session of a server, if it has not been ended.
func (s *Server) update(server *sdk.Server, change func(p *session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.sessions {
		if p := &s.sessions[i]; p.server == server {
			change(p)
		}
	}
}

// admit begins a session: see the section "Sessions" of the package comment.
func (s *Server) admit(kept bool) (*sdk.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := s.findSlot(time.Now())
	if best < 0 {
		return nil, fmt.Errorf("%w: there are %d, all of which have sent requests within %v", ErrFull, len(s.sessions), s.config.Silence)
	}
	server, err := s.newSession(s.actor(best))
	if err != nil {
		return nil, err
	}
	if old := s.sessions[best].server; old != nil {
		go closeAll(old) // waits for its running calls
	}
	s.admitted++
	s.sessions[best] = session{server: server, since: s.admitted, kept: kept}
	return server, nil
}

// findSlot returns the index for a new session, -1 for none: a free one; or that of the first of the sessions
// that have sent no request yet; or that of the one that has been silent for longest.
func (s *Server) findSlot(now time.Time) int {
	unused, quiet := -1, -1
	longest := s.config.Silence
	for i := range s.sessions {
		p := &s.sessions[i]
		if p.server == nil || p.used && !hasSessions(p.server) {
			return i
		}
		if !p.used && !p.kept && (unused < 0 || p.since < s.sessions[unused].since) {
			unused = i
		}
		if d, may := p.silence(now); may && (d > longest || d == longest && quiet < 0) {
			quiet, longest = i, d
		}
	}
	if unused >= 0 {
		return unused
	}
	return quiet
}

// retryAfter returns the time until the first session may be ended if it stays silent.
func (s *Server) retryAfter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	least, now := s.config.Silence, time.Now()
	for i := range s.sessions {
		if d, may := s.sessions[i].silence(now); may {
			least = min(least, s.config.Silence-d)
		}
	}
	return least
}

func closeAll(server *sdk.Server) {
	for session := range server.Sessions() {
		session.Close()
	}
}

// handshakeMethods begin a session; the handshake ends with notifications/initialized.
var handshakeMethods = []string{"initialize", "ping", "server/discover"}

// trackUse notes when a session sends a request, and when that was answered.
func (s *Server) trackUse(server *sdk.Server) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if !slices.Contains(handshakeMethods, method) {
				s.use(server, 1)
				defer s.use(server, -1)
			}
			return next(ctx, method, req)
		}
	}
}

func (s *Server) use(server *sdk.Server, calls int) {
	s.update(server, func(p *session) {
		p.used, p.last = true, time.Now()
		p.calls += calls
	})
}

func hasSessions(server *sdk.Server) bool {
	for range server.Sessions() {
		return true
	}
	return false
}

const instructions = `A running simulation. Entities have ids such as "ent_12". Every call runs in the next tick. ` +
	`A refused call changes nothing and returns a code: not_found, invalid_input, forbidden, rate_limited, ` +
	`capacity_exceeded, refused, not_approved, approval_expired, stale_entity or handler_error. A call with the code ` +
	`pending_approval still waits; its end will be in the tool trace. Begin with world.stats.`

// newSession makes the tools of an actor.
func (s *Server) newSession(a skill.Actor) (*sdk.Server, error) {
	caller, err := s.r.Caller(a)
	if err != nil {
		return nil, err
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "evertick", Version: "1"}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{},
	})
	server.AddReceivingMiddleware(s.trackUse(server))
	hidden := map[string]bool{}
	server.AddReceivingMiddleware(hideTools(hidden))
	highest := map[string]string{}
	for _, k := range s.r.Skills() {
		highest[k.Name] = k.FullName() // versions ascend
	}
	for _, k := range s.r.Skills() {
		if highest[k.Name] != k.FullName() {
			continue
		}
		hidden[s.toolName(k.Name)] = !s.r.MayCall(a, k.FullName())
		changes, open := !k.ReadOnly, false
		server.AddTool(&sdk.Tool{
			Name: s.toolName(k.Name), Description: k.Description, InputSchema: k.Input, OutputSchema: k.Output,
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: k.ReadOnly, DestructiveHint: &changes, OpenWorldHint: &open},
		}, s.tool(caller, k.FullName()))
	}
	s.addTrace(server, a)
	s.addSnapshots(server, a)
	return server, nil
}

// hideTools leaves tools out of the answers to tools/list. They can be called all the same: the registry refuses and
// records these calls.
func hideTools(hidden map[string]bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListToolsResult); ok && list != nil {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return hidden[t.Name] })
			}
			return res, err
		}
	}
}

func (s *Server) toolName(name string) string {
	if s.config.PlainNames {
		return skill.PlainName(name)
	}
	return name
}

// Keys in _meta.
const (
	metaTick  = "evertick/tick"
	metaSeq   = "evertick/seq"
	metaCause = "evertick/cause"
)

// tool calls a skill, and waits for the tick.
func (s *Server) tool(c *skill.Caller, name string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
		defer cancel()
		var cause uint64
		if v, ok := req.Params.Meta[metaCause].(float64); ok && v >= 0 && v < 1<<53 {
			cause = uint64(v)
		}
		res, err := c.Call(ctx, name, req.Params.Arguments, cause)
		if err != nil {
			return refusal(res, err), nil
		}
		return &sdk.CallToolResult{
			Meta:              meta(res),
			Content:           []sdk.Content{&sdk.TextContent{Text: string(res.Output)}},
			StructuredContent: res.Output,
		}, nil
	}
}

// meta returns when a call ran, nil if it did not.
func meta(res skill.Result) sdk.Meta {
	if res.Seq == 0 {
		return nil
	}
	return sdk.Meta{metaTick: res.Tick, metaSeq: res.Seq}
}

// Refusal is the text of a result that is an error, as JSON.
type Refusal struct {
	Code    skill.Code `json:"code"` // or "unavailable": the world did not answer
	Field   string     `json:"field,omitempty"`
	Message string     `json:"message"`
}

func refusal(res skill.Result, err error) *sdk.CallToolResult {
	v := Refusal{Code: "unavailable", Message: err.Error()}
	var e *skill.Error
	if errors.As(err, &e) {
		v = Refusal{e.Code, e.Field, e.Error()}
	}
	text, _ := json.Marshal(v) // of strings
	return &sdk.CallToolResult{Meta: meta(res), IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}
}

// TraceInput is the input of the tool "trace".
type TraceInput struct {
	Limit int `json:"limit,omitempty" jsonschema:"maximum number of events, the latest; default 50"`
}

// TraceEvent is a skill.Event. Hashes are in hexadecimal, as JSON has no numbers of 64 bits.
type TraceEvent struct {
	Seq   uint64 `json:"seq"`
	Count uint64 `json:"count,omitempty" jsonschema:"of calls that were rejected because too many waited"`
	Tick  uint64 `json:"tick"`
	Actor string `json:"actor"`
	Skill string `json:"skill,omitempty"`
	Cause uint64 `json:"cause,omitempty"`
	// Decision is the number of the decision of an agent that the call carried out.
	Decision uint64     `json:"decision,omitempty" jsonschema:"of the call of an agent: the number of its decision"`
	Held     uint64     `json:"held,omitempty" jsonschema:"of the end of a call that was held for approval: the number of its first event"`
	Code     skill.Code `json:"code,omitempty" jsonschema:"missing if the call succeeded"`
	Input    string     `json:"input,omitempty"`
	Output   string     `json:"output,omitempty"`
}

// TraceOutput is the output of the tool "trace".
type TraceOutput struct {
	Events []TraceEvent `json:"events" jsonschema:"oldest first"`
}

const maxEvents = 500

func (s *Server) addTrace(server *sdk.Server, a skill.Actor) {
	var from uint64 // the last call before this session: the actor may have had another session before
	before, _ := s.r.Trace(nil, "")
	for i := range before {
		from = max(from, before[i].Seq)
	}
	tool := &sdk.Tool{Name: "trace", Description: "Returns the results of the calls of this session so far.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}
	sdk.AddTool(server, tool, func(_ context.Context, _ *sdk.CallToolRequest, in TraceInput) (*sdk.CallToolResult, TraceOutput, error) {
		actor := a.Name
		if s.r.Allows(a, "world.trace") {
			actor = ""
		}
		n := in.Limit
		if n <= 0 {
			n = 50
		}
		events, _ := s.r.Trace(nil, actor)
		if actor != "" {
			events = slices.DeleteFunc(events, func(e skill.Event) bool { return e.Seq != 0 && e.Seq <= from })
		}
		events = events[max(0, len(events)-min(n, maxEvents)):]
		out := TraceOutput{Events: make([]TraceEvent, len(events))}
		for i := range events {
			out.Events[i] = traced(&events[i])
		}
		return nil, out, nil
	})
}

func traced(e *skill.Event) TraceEvent {
	v := TraceEvent{Seq: e.Seq, Tick: e.Tick, Actor: e.Actor, Skill: e.Skill, Cause: e.Cause, Decision: e.Decision.Number, Held: e.Held, Code: e.Code}
	if e.Seq == 0 {
		v.Count = e.Count
		return v
	}
	v.Input = fmt.Sprintf("%016x", e.Input)
	if e.Code == skill.OK {
		v.Output = fmt.Sprintf("%016x", e.Output)
	}
	return v
}

const snapshotURI = "evertick://snapshot/"

func (s *Server) addSnapshots(server *sdk.Server, a skill.Actor) {
	if !s.r.Allows(a, "world.snapshot") {
		return
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "snapshot", URITemplate: snapshotURI + "{handle}", MIMEType: "application/octet-stream",
		Description: "A snapshot of world.snapshot, by its handle.",
	}, func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		uri := req.Params.URI
		data, err := s.r.Snapshot(strings.TrimPrefix(uri, snapshotURI))
		if errors.Is(err, evertick.ErrStale) {
			return nil, sdk.ResourceNotFoundError(uri)
		} else if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/octet-stream", Blob: data}}}, nil
	})
}
