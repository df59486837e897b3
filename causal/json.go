package causal

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/skill"
)

// JSONLines returns a sink that writes each step to w as a line. The package comment lists the fields. The sink calls
// Write once for each step: pass a bufio.Writer, and flush it when the run has ended.
func JSONLines(w io.Writer) func(*Step) error {
	if w == nil {
		panic("causal: JSONLines: nil Writer")
	}
	var line []byte
	return func(s *Step) error {
		line = append(s.AppendJSON(line[:0]), '\n')
		_, err := w.Write(line)
		return err
	}
}

// AppendJSON appends the object of the step to dst.
func (s *Step) AppendJSON(dst []byte) []byte {
	o := object{append(dst, `{"id":"`...)}
	o.id(s)
	switch {
	case s.Record != nil:
		o.record(s, s.Record)
	case s.Event != nil:
		o.event(s, s.Event)
	case s.Input != nil:
		o.input(s)
	}
	return append(o.dst, '}')
}

// object is a JSON object that is being written.
type object struct{ dst []byte }

// text appends text that needs no escapes.
func (o *object) text(s string) { o.dst = append(o.dst, s...) }

func (o *object) number(v uint64) { o.dst = strconv.AppendUint(o.dst, v, 10) }

// key begins a field.
func (o *object) key(name string) {
	o.text(`,"`)
	o.text(name)
	o.text(`":`)
}

func (o *object) numberField(name string, v uint64) {
	o.key(name)
	o.number(v)
}

// bigField appends a number that may exceed 2^53.
func (o *object) bigField(name string, v uint64) {
	o.key(name)
	o.text(`"`)
	o.number(v)
	o.text(`"`)
}

func (o *object) textField(name, v string) {
	if v != "" {
		o.key(name)
		o.dst = appendString(o.dst, v)
	}
}

// hashField appends a hash, unless it is 0: then there is none.
func (o *object) hashField(name string, v uint64) {
	if v == 0 {
		return
	}
	o.key(name)
	o.text(`"`)
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		o.dst = append(o.dst, digits[v>>shift&15])
	}
	o.text(`"`)
}

// id appends the id of a step.
func (o *object) id(s *Step) {
	switch {
	case s.Record != nil:
		o.recordID(s.Source, s.Record.Seq)
	case s.Event != nil:
		o.callID(s.Event.Seq)
	case s.Input != nil:
		o.text("input/")
		o.number(s.Tick)
		o.text("/")
		o.number(uint64(s.Source))
		o.text("/")
		o.number(s.Input.Seq)
	}
}

func (o *object) recordID(source uint32, seq uint64) {
	o.text("agent")
	if source != agent.DefaultSource {
		o.text(".")
		o.number(uint64(source))
	}
	o.text("/")
	o.number(seq)
}

func (o *object) callID(seq uint64) {
	o.text("call/")
	o.number(seq)
}

// common appends the fields that all steps have.
func (o *object) common(s *Step, kind string) {
	o.text(`","kind":"`)
	o.text(kind)
	o.text(`"`)
	o.numberField("tick", s.Tick)
	o.key("time")
	whole, num, den := s.Time.Fraction()
	o.number(whole)
	o.text(".")
	for range 9 { // num < den < 2^27
		num *= 10
		o.dst = append(o.dst, '0'+byte(num/den))
		num %= den
	}
}

func (o *object) decision(s *Step) {
	if _, number, ok := s.Decision(); ok {
		o.bigField("decision", number)
	}
}

var kinds = [...]string{
	agent.Perceived: "perceived", agent.Issued: "issued", agent.Accepted: "accepted", agent.Applied: "applied",
	agent.Rejected: "rejected", agent.Expired: "expired", agent.Cancelled: "cancelled",
}

func (o *object) record(s *Step, r *agent.Record) {
	o.common(s, kinds[r.Type])
	if r.Cause != 0 {
		o.key("cause")
		o.text(`"`)
		o.recordID(s.Source, r.Cause)
		o.text(`"`)
	}
	o.decision(s)
	if r.Agent != 0 {
		o.textField("agent", r.Agent.String())
	}
	if r.Type == agent.Issued && r.Reason != agent.ByFallback {
		o.numberField("provider", uint64(r.Provider))
	}
	if r.Reason != agent.NoReason {
		o.textField("reason", r.Reason.String())
	}
	if r.Actions > 0 {
		o.numberField("index", uint64(r.Index))
		o.numberField("actions", uint64(r.Actions))
	}
	o.hashField("hash", r.Hash)
}

func (o *object) event(s *Step, e *skill.Event) {
	o.common(s, "call")
	_, _, decided := s.Decision()
	if e.Held != 0 {
		o.key("cause")
		o.text(`"`)
		o.callID(e.Cause)
		o.text(`"`)
	}
	o.decision(s)
	if source, _, ok := s.Decision(); ok && source != agent.DefaultSource {
		o.numberField("decision_source", uint64(source))
	}
	o.textField("actor", e.Actor)
	o.textField("profile", e.Profile)
	if e.Entity != 0 {
		o.textField("entity", e.Entity.String())
	}
	o.textField("skill", e.Skill)
	code := string(e.Code)
	if e.Code == skill.OK {
		code = "ok"
	}
	o.textField("code", code)
	if e.Held != 0 {
		o.key("held")
		o.text(`"`)
		o.callID(e.Held)
		o.text(`"`)
	} else if e.Cause != 0 && !decided {
		o.bigField("number", e.Cause)
	}
	o.hashField("input", e.Input)
	o.hashField("output", e.Output)
}

func (o *object) input(s *Step) {
	in := s.Input
	o.common(s, "input")
	_, _, answer := s.Decision()
	o.decision(s)
	o.numberField("source", uint64(in.Source))
	o.numberField("input_kind", uint64(in.Kind))
	o.bigField("seq", in.Seq)
	o.numberField("late", s.Tick-min(in.Tick, s.Tick))
	o.numberField("bytes", uint64(len(in.Data)))
	o.hashField("hash", statehash.Bytes(in.Data, 1, false))
	switch {
	case answer:
		o.textField("of", "decision")
	case in.Source == skill.LogKind && in.Kind == skill.LogKind:
		o.textField("of", "call")
	}
}

// appendString appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
