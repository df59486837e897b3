package twin

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/inspector"
)

// mostBody is the largest body of a request but for a file of a log.
const mostBody = 64 << 10

// answer answers a request of the page, from any goroutine: a request to the twin itself, or one to an Inspector.
//
//	GET  twin                 what the panel shows: report
//	POST twin                 {"connect": URL, "play": bool} or {"disconnect": true}
//	POST pad                  {"x", "y", "buttons"}: see Pad
//	POST input?kind=N         body: the data of an input as soon as possible
//	POST file?name=PATH       body: a file of a log
//	POST log                  opens the files that have come
//	GET  hashes?after=TICK    while a server is joined: with its hashes
func (m *machine) answer(ctx context.Context, r *inspector.Request) inspector.Answer {
	if r.Path != "file" && len(r.Body) > mostBody {
		return inspector.Refuse(413, fault.Field(fault.ErrCapacity, "twin: bytes of a request", len(r.Body)))
	}
	var f func() (any, error)
	switch r.Method + " " + r.Path {
	case "GET twin":
		f = func() (any, error) { return m.report(), nil }
	case "POST twin":
		f = func() (any, error) { return m.command(r.Body) }
	case "POST pad":
		f = func() (any, error) { return nil, m.setPad(r.Body) }
	case "POST input":
		f = func() (any, error) { return nil, m.input(r.Query.Get("kind"), r.Body) }
	case "POST file":
		f = func() (any, error) { return nil, m.addFile(r.Query.Get("name"), r.Body) }
	case "POST log":
		f = func() (any, error) { m.openLog(); return m.report(), nil }
	case "GET hashes":
		if of := r.Query.Get("of"); of == "" || of == "live" {
			f = func() (any, error) { return m.hashes(r.Query.Get("after")) }
		}
	}
	if f == nil {
		return m.inspector().Answer(ctx, r)
	}
	v, err := m.do(ctx, f)
	switch {
	case err == errPass:
		return m.inspector().Answer(ctx, r)
	case err != nil:
		return inspector.Refuse(400, err)
	}
	return inspector.JSON(v)
}

// errPass is for a request that the Inspector answers.
var errPass = fmt.Errorf("twin: for the inspector")

// do runs f on the goroutine of the machine.
func (m *machine) do(ctx context.Context, f func() (any, error)) (v any, err error) {
	done := make(chan struct{})
	m.inbox.post(func() { v, err = f(); close(done) })
	select {
	case <-done:
		return v, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// report is the answer of GET twin.
type report struct {
	State       state   `json:"state"`
	URL         string  `json:"url"`
	ProposedURL string  `json:"proposed_url"`
	Error       string  `json:"error,omitempty"`
	RetryMs     int64   `json:"retry_ms"`
	CanPlay     bool    `json:"can_play"`
	Playing     bool    `json:"playing"`
	Scenario    string  `json:"scenario"`
	SimVersion  uint32  `json:"sim_version"`
	Session     uint32  `json:"session"`
	Owner       string  `json:"owner"`
	Tick        uint64  `json:"tick"` // that the server has confirmed
	Own         string  `json:"own"`
	Server      string  `json:"server"`
	Equal       uint64  `json:"equal"`
	Different   uint64  `json:"different"`
	Last        *differ `json:"last_different"`
	Snapshots   uint64  `json:"snapshots"`
	Joins       int     `json:"joins"`
	BytesSecond float64 `json:"bytes_per_second"`
	RoundTripMs float64 `json:"round_trip_ms"`
	Ahead       uint64  `json:"ahead"`  // ticks of the prediction before those of the server
	Rolled      uint64  `json:"rolled"` // ticks that the prediction has run again
	Waiting     int     `json:"waiting"`
	LogError    string  `json:"log_error,omitempty"`
	Log         bool    `json:"log"`
}

// differ is a tick after which the hashes differed.
type differ struct {
	Tick   uint64 `json:"tick"`
	Own    string `json:"own"`
	Server string `json:"server"`
}

func (m *machine) report() report {
	c := &m.link
	newest := m.compare.newest()
	r := report{
		State: c.state, URL: c.url, ProposedURL: m.config.URL, Error: c.err, CanPlay: m.config.Steer != nil, Playing: c.playing,
		Scenario: m.config.Scenario.Name, SimVersion: evertick.SimVersion, Owner: m.config.Owner,
		Tick: newest.tick, Own: inspector.HashText(newest.own), Server: inspector.HashText(newest.server), Equal: m.compare.equal, Different: m.compare.different,
		Joins: c.joins, BytesSecond: math.Round(c.traffic.perSecond), LogError: m.dropped.err, Log: m.dropped.open != nil,
	}
	if c.state == waiting {
		r.RetryMs = max(0, (c.again - m.now()).Milliseconds())
	}
	if last := m.compare.last; m.compare.different > 0 {
		r.Last = &differ{last.tick, inspector.HashText(last.own), inspector.HashText(last.server)}
	}
	if c.client == nil {
		return r
	}
	w, _ := c.client.Welcome()
	r.Session, r.Waiting = w.Session, c.client.Waiting()
	st := c.sim.Stats()
	r.Snapshots, r.Rolled = st.Snapshots, st.Rolled
	if _, trip, ok := c.client.Offset(); ok {
		r.RoundTripMs = float64(trip) / 1e6
	}
	if p := c.sim.Predicted(); p != nil && p.Ticks() > c.sim.Sim().Ticks() {
		r.Ahead = p.Ticks() - c.sim.Sim().Ticks()
	}
	return r
}

// command is POST twin.
func (m *machine) command(body []byte) (any, error) {
	var c struct {
		Connect    string `json:"connect"`
		Play       bool   `json:"play"`
		Disconnect bool   `json:"disconnect"`
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("twin: body: %w: %w", fault.ErrCorrupt, err)
	}
	switch {
	case c.Disconnect:
		return m.report(), m.link.disconnect()
	case c.Connect == "":
		return nil, fmt.Errorf("%w: name a server, such as ws://host:port/world", fault.Field(fault.ErrRange, "twin: connect", `""`))
	}
	err := m.link.connect(c.Connect, c.Play)
	return m.report(), err
}

func (m *machine) setPad(body []byte) error {
	var p Pad
	if err := json.Unmarshal(body, &p); err != nil {
		return fmt.Errorf("twin: body: %w: %w", fault.ErrCorrupt, err)
	}
	// JSON has no NaN and no infinities. A little more than 1 is a rounding of the page.
	if length := math.Hypot(float64(p.X), float64(p.Y)); length > 1.001 {
		return fault.Field(fault.ErrRange, "twin: length of the pad", length)
	} else if length > 1 {
		p.X, p.Y = p.X/float32(length), p.Y/float32(length)
	}
	m.link.steer.pad = p
	return nil
}

func (m *machine) input(kind string, data []byte) error {
	n, err := strconv.ParseUint(kind, 10, 32)
	if err != nil {
		return fault.Field(fault.ErrRange, "twin: kind", fmt.Sprintf("%.20q", kind))
	}
	if !m.link.playing || m.link.state != joined {
		return fault.Field(fault.ErrUnsupported, "twin: input while the page does not play: kind", n)
	}
	_, err = m.link.client.Input(uint32(n), data, 0)
	return err
}

func (m *machine) addFile(name string, data []byte) error {
	if m.dropped.pending == nil {
		m.dropped.pending = new(files)
	}
	err := m.dropped.pending.add(name, data)
	if err != nil {
		m.dropped.pending, m.dropped.err = nil, err.Error()
	}
	return err
}

// hashes is the answer of GET hashes for a Sim that is compared with a server.
func (m *machine) hashes(after string) (any, error) {
	if m.alone {
		return nil, errPass
	}
	tick, err := strconv.ParseUint(after, 10, 64)
	if after != "" && err != nil {
		return nil, fault.Field(fault.ErrRange, "twin: after", fmt.Sprintf("%.20q", after))
	}
	list := m.compare.after(tick)
	answer := struct {
		Ticks  []uint64 `json:"ticks"`
		Own    []string `json:"own"`
		Server []string `json:"server"`
	}{make([]uint64, len(list)), make([]string, len(list)), make([]string, len(list))}
	for i, at := range list {
		answer.Ticks[i], answer.Own[i], answer.Server[i] = at.tick, inspector.HashText(at.own), inspector.HashText(at.server)
	}
	return answer, nil
}
