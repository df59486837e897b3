package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop/skill"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Config of a Server. The zero value works.
type Config struct {
	// Profile of the actors, one that the registry has. Empty: skill.Reader.
	Profile string
	// Actor is how they are called, with "-1", "-2" and so on behind it: up to 100 bytes. Empty: "mcp".
	Actor string
	// Entity is that of the actors, for profiles that are limited to their own. 0: none.
	Entity ecs.ID
	// Timeout is how long a call may take. 0: 10 s.
	Timeout time.Duration
	// Sessions is how many there may be at once, up to 4096. 0: 16.
	Sessions int
	// Silence is after how long without a call a session over HTTP can lose its seat to a new one, when
	// all are taken. 0: 1 min.
	Silence time.Duration
	// Idle ends a session over HTTP in which nothing has happened for so long. 0: 10 min.
	Idle time.Duration
	// BodyBytes is the longest body of a request over HTTP, and the longest message over Stdio, up to
	// 1<<24. 0: 1<<17.
	BodyBytes int64
	// Origins that pages may have which send requests over HTTP, beside that of the server itself:
	// as in "https://example.org".
	Origins []string
	// Token is what requests over HTTP must carry as a bearer token. Empty: none is asked for.
	Token string
	// PlainNames replaces the dots in the names of tools by underscores, for clients that refuse dots.
	PlainNames bool
}

// Validate reports every fault of the configuration at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(field string, v any) {
		errs = append(errs, fmt.Errorf("mcp: Config.%s = %v: %w", field, v, skill.ErrRange))
	}
	if len(c.Actor) > 100 {
		bad("Actor", fmt.Sprintf("%.40q", c.Actor))
	}
	if c.Timeout < 0 {
		bad("Timeout", c.Timeout)
	}
	if c.Sessions < 0 || c.Sessions > 4096 {
		bad("Sessions", c.Sessions)
	}
	if c.Silence < 0 {
		bad("Silence", c.Silence)
	}
	if c.Idle < 0 {
		bad("Idle", c.Idle)
	}
	if c.BodyBytes < 0 || c.BodyBytes > 1<<24 {
		bad("BodyBytes", c.BodyBytes)
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.Profile == "" {
		c.Profile = skill.Reader
	}
	if c.Actor == "" {
		c.Actor = "mcp"
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Sessions == 0 {
		c.Sessions = 16
	}
	if c.Silence == 0 {
		c.Silence = time.Minute
	}
	if c.Idle == 0 {
		c.Idle = 10 * time.Minute
	}
	if c.BodyBytes == 0 {
		c.BodyBytes = 1 << 17
	}
	return c
}

// Server offers the skills of a registry to clients.
type Server struct {
	r      *skill.Registry
	config Config
	token  []byte // hash of Config.Token, which config does not have; nil: none

	mu       sync.Mutex
	seats    []seat
	admitted uint64
}

// seat is the place of a session, whose number is in the name of the actor.
type seat struct {
	server *sdk.Server // nil: free
	since  uint64      // by admitted
	used   bool        // the session has asked for something, and not only begun
	kept   bool        // of Connect: it is the host's, and not taken away
	calls  int         // that have not been answered
	last   time.Time   // when the last was asked or answered
}

// silent is how long nothing was asked of a session that can lose its seat.
func (p *seat) silent(now time.Time) (time.Duration, bool) {
	return now.Sub(p.last), p.used && !p.kept && p.calls == 0
}

// NewServer returns a Server for a registry, to which everything was added that is to be. Errors
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
		return nil, fmt.Errorf("mcp: Config.Profile = %.70q, which the registry does not have: %w", s.config.Profile, skill.ErrRange)
	}
	if s.config.Token != "" {
		sum := sha256.Sum256([]byte(s.config.Token))
		s.token, s.config.Token = sum[:], "" // so that no print of the server shows it
	}
	s.seats = make([]seat, s.config.Sessions)
	if _, err := r.Caller(s.actor(0)); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) actor(i int) skill.Actor {
	return skill.Actor{Name: fmt.Sprintf("%s-%d", s.config.Actor, i+1), Profile: s.config.Profile, Entity: s.config.Entity}
}

// ErrFull: there are Config.Sessions sessions already. It wraps skill.ErrCapacity.
var ErrFull = fmt.Errorf("mcp: sessions: %w", skill.ErrCapacity)

// Connect serves one client over a transport until ctx is done or the client goes.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) error {
	server, err := s.admit(true)
	if err != nil {
		return err
	}
	defer s.leave(server)
	return server.Run(ctx, t)
}

func (s *Server) leave(server *sdk.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.seats {
		if s.seats[i].server == server {
			s.seats[i] = seat{}
		}
	}
}

// admit gives a new session a seat: see the section "Seats" of the package comment.
func (s *Server) admit(kept bool) (*sdk.Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best := s.free(time.Now())
	if best < 0 {
		return nil, fmt.Errorf("%w: all %d seats are taken by sessions that have called within %v", ErrFull, len(s.seats), s.config.Silence)
	}
	server, err := s.session(s.actor(best))
	if err != nil {
		return nil, err
	}
	if old := s.seats[best].server; old != nil {
		go closeAll(old) // which waits for what it does
	}
	s.admitted++
	s.seats[best] = seat{server: server, since: s.admitted, kept: kept}
	return server, nil
}

// free finds a seat for a new session, -1 for none: one that nobody has; or that of the session which began first of
// those that have only begun; or that of the one which has been silent for longest.
func (s *Server) free(now time.Time) int {
	knocking, quiet := -1, -1
	longest := s.config.Silence
	for i := range s.seats {
		p := &s.seats[i]
		if p.server == nil || p.used && !occupied(p.server) {
			return i
		}
		if !p.used && !p.kept && (knocking < 0 || p.since < s.seats[knocking].since) {
			knocking = i
		}
		if d, may := p.silent(now); may && (d > longest || d == longest && quiet < 0) {
			quiet, longest = i, d
		}
	}
	if knocking >= 0 {
		return knocking
	}
	return quiet
}

// wait says when the first seat can be taken if its session stays silent.
func (s *Server) wait() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	least, now := s.config.Silence, time.Now()
	for i := range s.seats {
		if d, may := s.seats[i].silent(now); may {
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

// opening are the methods by which a client knocks. One that comes in sends notifications/initialized.
var opening = []string{"initialize", "ping", "server/discover"}

// watch notes that a session asks for something, and when it was answered.
func (s *Server) watch(server *sdk.Server) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if !slices.Contains(opening, method) {
				s.use(server, 1)
				defer s.use(server, -1)
			}
			return next(ctx, method, req)
		}
	}
}

func (s *Server) use(server *sdk.Server, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.seats {
		if p := &s.seats[i]; p.server == server {
			p.used, p.last = true, time.Now()
			p.calls += calls
		}
	}
}

func occupied(server *sdk.Server) bool {
	for range server.Sessions() {
		return true
	}
	return false
}

const instructions = `A running simulation. Entities go by ids such as "ent_12". Every call runs in the next tick; ` +
	`one that is refused changes nothing, and says why by a code: not_found, invalid_input, forbidden, rate_limited, ` +
	`capacity_exceeded, stale_entity or handler_error. Begin with world.stats.`

// session makes the tools of an actor.
func (s *Server) session(a skill.Actor) (*sdk.Server, error) {
	caller, err := s.r.Caller(a)
	if err != nil {
		return nil, err
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "evertick", Version: "1"}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{},
	})
	server.AddReceivingMiddleware(s.watch(server))
	highest := map[string]string{}
	for _, k := range s.r.Skills() {
		highest[k.Name] = k.FullName() // versions ascend
	}
	for _, k := range s.r.Skills() {
		if highest[k.Name] != k.FullName() {
			continue
		}
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

// meta says when a call ran. One that was turned away did not.
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
	Limit int `json:"limit,omitempty" jsonschema:"how many events, the latest; left out: 50"`
}

// TraceEvent is a skill.Event. Hashes are in hexadecimal, as JSON has no numbers of 64 bits.
type TraceEvent struct {
	Seq    uint64     `json:"seq"`
	Count  uint64     `json:"count,omitempty" jsonschema:"of calls that were not let in"`
	Tick   uint64     `json:"tick"`
	Actor  string     `json:"actor"`
	Skill  string     `json:"skill,omitempty"`
	Cause  uint64     `json:"cause,omitempty"`
	Code   skill.Code `json:"code,omitempty" jsonschema:"left out: the call has succeeded"`
	Input  string     `json:"input,omitempty"`
	Output string     `json:"output,omitempty"`
}

// TraceOutput is the output of the tool "trace".
type TraceOutput struct {
	Events []TraceEvent `json:"events" jsonschema:"oldest first"`
}

const mostEvents = 500

func (s *Server) addTrace(server *sdk.Server, a skill.Actor) {
	var from uint64 // the last call before this session, which may have been another's on this seat
	before, _ := s.r.Trace(nil, "")
	for i := range before {
		from = max(from, before[i].Seq)
	}
	tool := &sdk.Tool{Name: "trace", Description: "Tells what became of the calls of this session so far.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}
	sdk.AddTool(server, tool, func(_ context.Context, _ *sdk.CallToolRequest, in TraceInput) (*sdk.CallToolResult, TraceOutput, error) {
		who := a.Name
		if s.r.Allows(a, "world.trace") {
			who = ""
		}
		n := in.Limit
		if n <= 0 {
			n = 50
		}
		events, _ := s.r.Trace(nil, who)
		if who != "" {
			events = slices.DeleteFunc(events, func(e skill.Event) bool { return e.Seq != 0 && e.Seq <= from })
		}
		events = events[max(0, len(events)-min(n, mostEvents)):]
		out := TraceOutput{Events: make([]TraceEvent, len(events))}
		for i := range events {
			out.Events[i] = traced(&events[i])
		}
		return nil, out, nil
	})
}

func traced(e *skill.Event) TraceEvent {
	v := TraceEvent{Seq: e.Seq, Tick: e.Tick, Actor: e.Actor, Skill: e.Skill, Cause: e.Cause, Code: e.Code}
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
		Description: "What world.snapshot has kept, by its handle.",
	}, func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		uri := req.Params.URI
		data, err := s.r.Snapshot(strings.TrimPrefix(uri, snapshotURI))
		if errors.Is(err, skill.ErrStale) {
			return nil, sdk.ResourceNotFoundError(uri)
		} else if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/octet-stream", Blob: data}}}, nil
	})
}
