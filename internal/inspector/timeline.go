package inspector

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// timelineRoutes are the requests that move in time. Ticks are numbers of ticks that have run: 0 is the state before the
// first tick of a log, last the state after all of them. So the hash at a tick equals the hash of the live Sim at the same tick.
//
//	GET timeline   what the logs hold, where they are, and what they do: see timelineAnswer; never waits
//	POST timeline  one command, and the same answer; a log begins to move, and the answer does not wait for it
//	    {"of":"log","seek":TICK}       go there; ends the seek that runs
//	    {"of":"log","step":±N}         go on or back by N, counted from where the log goes already
//	    {"of":"log","play":RATE}       play so many ticks per second; 0 stops, also a seek
//	    {"of":"live","pause":BOOL}     stop the time of the live Sim, or let it go on
//	    {"of":"live","step":N}         let it run N ticks, and pause
//	GET diff?a=TICK&b=TICK&with=NAME&limit=N
//	    all differences between the log at tick a and the log with=log or with=other at tick b: 202 and
//	    {"progress":0 to 1} while it works, then 200 and diffAnswer, with the first limit differences; 1000
//	    unless given, 10,000 at most. It works on Sims of its own, for one comparison at a time.
//
// A request for a tick that the log does not have is 400, a command to a live Sim without Config.Control 403.
var timelineRoutes = map[string]handler{
	"GET timeline":  (*Inspector).timeline,
	"POST timeline": (*Inspector).moveInTime,
	"GET diff":      (*Inspector).diff,
}

// openLogs adds the subjects that Config.Log and Config.Other name.
func (in *Inspector) openLogs() error {
	c := &in.config
	if c.Log == "" {
		return nil
	}
	if c.Scenario.New == nil {
		return fault.Field(fault.ErrRange, "inspect: Config.Scenario.New with Log", "nil")
	}
	in.subjects = append(in.subjects, openLog("log", c.Log, c, wallClock{time.Now()}))
	if c.Other != "" {
		in.subjects = append(in.subjects, openLog("other", c.Other, c, wallClock{time.Now()}))
	}
	return nil
}

// log returns the subject of a log, nil if there is none of that name.
func (in *Inspector) log(name string) *logSubject {
	for _, s := range in.subjects {
		if l, ok := s.(*logSubject); ok && l.label == name {
			return l
		}
	}
	return nil
}

// timelineAnswer is the answer of GET timeline.
type timelineAnswer struct {
	Live    bool         `json:"live"`
	Paused  bool         `json:"paused"`
	Control bool         `json:"control"`
	Log     *logTimeline `json:"log"`
	Other   *logTimeline `json:"other"`
}

// logTimeline describes a log. Ticks are counted as in logSubject, but in errors as in package replay: tick N
// there leads from tick N to tick N+1 here.
type logTimeline struct {
	State     string       `json:"state"`
	First     uint64       `json:"first"`
	Last      uint64       `json:"last"`
	Complete  bool         `json:"complete"` // false: the log is still being read, and may have more ticks
	At        uint64       `json:"at"`
	Seeking   *seeking     `json:"seeking"`
	Playing   float64      `json:"playing"`
	Snapshots []uint64     `json:"snapshots"`
	Marks     []mark       `json:"marks"`
	Torn      string       `json:"torn"`  // how the log ends, if a crash has left it so
	Error     string       `json:"error"` // of the log, or of the last seek, step or play
	Identity  *logIdentity `json:"identity"`
}

type seeking struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	At   uint64 `json:"at"`
}

// logIdentity is worldlog.Identity. The seed is a string since JSON has no 64-bit numbers.
type logIdentity struct {
	Scenario   string `json:"scenario"`
	SimVersion uint32 `json:"sim_version"`
	Seed       string `json:"seed"`
	Parent     string `json:"parent,omitempty"`
}

func (in *Inspector) timeline(context.Context, *Request, subject) Answer {
	a := timelineAnswer{Live: in.live != nil, Control: in.config.Control && in.live != nil}
	if in.live != nil {
		in.live.mu.Lock()
		a.Paused = in.live.summary.paused
		in.live.mu.Unlock()
	}
	a.Log, a.Other = in.log("log").timeline(), in.log("other").timeline()
	return JSON(&a)
}

// timeline describes the log; nil if s is nil.
func (s *logSubject) timeline() *logTimeline {
	if s == nil {
		return nil
	}
	s.wantRefresh()
	at := s.at()
	s.control.Lock()
	defer s.control.Unlock()
	c := &s.shown.log
	t := &logTimeline{
		State: s.state(at), First: c.first, Last: c.last(), Complete: c.complete, At: at, Playing: s.goal.rate,
		Snapshots: append([]uint64{}, c.saved...), Marks: append([]mark{}, c.marks...), // arrays also if empty
	}
	switch {
	case s.shown.seeking:
		t.Seeking = &seeking{s.shown.from, s.shown.to, at}
	case s.goal.seek:
		t.Seeking = &seeking{at, s.goal.target, at}
	}
	if errors.Is(c.err, worldlog.ErrTorn) {
		t.Torn = c.err.Error()
	} else if c.err != nil {
		t.Error = c.err.Error()
	}
	if s.shown.err != nil {
		t.Error = s.shown.err.Error()
	}
	if c.hasID {
		t.Identity = &logIdentity{Scenario: c.id.Scenario, SimVersion: c.id.SimVersion, Seed: fmt.Sprint(c.id.Seed)}
		if c.id.Parent != [32]byte{} {
			t.Identity.Parent = hex.EncodeToString(c.id.Parent[:])
		}
	}
	return t
}

// move is the body of POST timeline: which subject, and one of the others.
type move struct {
	Of    string   `json:"of"`
	Seek  *uint64  `json:"seek"`
	Step  *int64   `json:"step"`
	Play  *float64 `json:"play"`
	Pause *bool    `json:"pause"`
}

// maxMove is the most bytes of a move.
const maxMove = 4096

func parseMove(body []byte) (*move, error) {
	m := new(move)
	if len(body) > maxMove {
		return nil, fault.Field(fault.ErrRange, "inspector: timeline: bytes", len(body))
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(m)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("inspector: timeline: %v: %w", err, fault.ErrRange)
	}
	n := 0
	for _, given := range [...]bool{m.Seek != nil, m.Step != nil, m.Play != nil, m.Pause != nil} {
		if given {
			n++
		}
	}
	if n != 1 {
		return nil, fault.Field(fault.ErrRange, "inspector: timeline: of seek, step, play and pause, given", n)
	}
	return m, nil
}

// moveInTime answers POST timeline with the timeline after it. A log begins to move, which may take a while.
func (in *Inspector) moveInTime(ctx context.Context, r *Request, s subject) Answer {
	m, err := parseMove(r.Body)
	if err == nil && m.Of != "" {
		s, err = in.subject(m.Of)
	}
	if err != nil {
		return errorAnswer(err)
	}
	switch s := s.(type) {
	case *live:
		if !in.config.Control {
			return Refuse(403, fault.Field(fault.ErrUnsupported, "inspector: timeline: live without Config.Control", true))
		}
		err = s.move(ctx, m)
	case *logSubject:
		err = s.move(m)
	}
	if err != nil {
		return errorAnswer(err)
	}
	return in.timeline(ctx, r, s)
}

func (s *logSubject) move(m *move) error {
	switch {
	case m.Seek != nil:
		return s.seek(*m.Seek)
	case m.Step != nil:
		return s.step(*m.Step)
	case m.Play != nil:
		return s.playAt(*m.Play)
	}
	return fault.Field(fault.ErrUnsupported, "inspector: timeline: pause of a log", *m.Pause)
}

// maxLiveStep is the most ticks that one request makes a live Sim run.
const maxLiveStep = 1_000_000

// move pauses the Sim or lets it go on, or makes it run so many ticks and pause, by its Loop. A host that calls
// Sim.Step itself is not affected.
func (l *live) move(ctx context.Context, m *move) error {
	switch {
	case m.Step != nil && (*m.Step < 1 || *m.Step > maxLiveStep):
		return fault.Field(fault.ErrRange, "inspector: timeline: ticks to step a live Sim", *m.Step)
	case m.Step == nil && m.Pause == nil:
		return fault.Field(fault.ErrUnsupported, "inspector: timeline: seek or play of", "live")
	}
	_, _, err := l.do(ctx, "", func(sim *evertick.Sim, dst []byte) ([]byte, error) {
		if m.Pause != nil {
			sim.Loop().SetPaused(*m.Pause)
		} else {
			n := uint64(*m.Step)
			if l.inTick {
				n++ // the Loop counts the step that runs as the first
			}
			sim.Loop().RunThenPause(n)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.summary.paused = sim.Loop().Paused()
		return dst, nil
	})
	return err
}
