package httpagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
)

// The request, as https://platform.openai.com/docs/api-reference/chat describes it.
type (
	chat struct {
		Model       string    `json:"model"`
		Messages    []message `json:"messages"`
		Tools       []tool    `json:"tools,omitempty"`
		ToolChoice  string    `json:"tool_choice,omitempty"`
		MaxTokens   int       `json:"max_tokens,omitempty"`
		Temperature *float64  `json:"temperature,omitempty"`
		Stream      bool      `json:"stream"`
	}
	message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Parameters  schema `json:"parameters"`
	}
	schema struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required,omitempty"`
		Additional bool                `json:"additionalProperties"`
	}
	property struct {
		Type        string   `json:"type"`
		Description string   `json:"description,omitempty"`
		Minimum     *float32 `json:"minimum,omitempty"`
		Maximum     *float32 `json:"maximum,omitempty"`
		MaxLength   int      `json:"maxLength,omitempty"`
	}
)

// The perception as JSON, for the model.
type (
	scene struct {
		Tick       uint64     `json:"tick"`
		Self       ecs.ID     `json:"self"`
		Position   [3]float32 `json:"position"`
		Radius     float32    `json:"radius"`
		Tags       []string   `json:"tags,omitempty"`
		Neighbours []seen     `json:"neighbours"`
		Unseen     int        `json:"unseen,omitempty"`
		Events     []event    `json:"events,omitempty"`
		Last       *last      `json:"last,omitempty"`
	}
	seen struct {
		ID       ecs.ID     `json:"id"`
		Position [3]float32 `json:"position"`
		Distance float32    `json:"distance"`
		Tags     []string   `json:"tags,omitempty"`
	}
	event struct {
		Tick     uint64     `json:"tick"`
		Kind     uint32     `json:"kind"`
		Subject  string     `json:"subject,omitempty"`
		Object   string     `json:"object,omitempty"`
		Position [3]float32 `json:"position"`
		Value    float32    `json:"value"`
	}
	last struct {
		Tick    uint64 `json:"tick"`
		Outcome string `json:"outcome"`
		Reason  string `json:"reason,omitempty"`
	}
)

const defaultSystem = "You decide what an agent in a simulation does. The message is what it perceives, as JSON; positions and distances are in metres. " +
	"Call the tools for what it does now, in their order, or none of them."

// request makes the request for a perception.
func (p *Provider) request(per *agent.Perception) *chat {
	system := p.cfg.System
	if system == "" {
		system = defaultSystem
	}
	user, err := json.Marshal(sceneOf(per))
	if err != nil {
		panic("httpagent: the perception is not finite")
	}
	c := &chat{
		Model: p.cfg.Model, Messages: []message{{"system", system}, {"user", string(user)}},
		MaxTokens: p.cfg.MaxTokens, Temperature: p.cfg.Temperature,
	}
	for i := range per.Actions {
		c.Tools = append(c.Tools, tool{"function", functionOf(&per.Actions[i])})
		c.ToolChoice = "auto"
	}
	return c
}

func sceneOf(p *agent.Perception) *scene {
	s := &scene{
		Tick: p.Tick, Self: p.Agent, Position: p.Position, Radius: p.Radius, Tags: tagsOf(p, p.Tags),
		Neighbours: []seen{}, Unseen: p.Unseen,
	}
	for i := range p.Neighbours {
		n := &p.Neighbours[i]
		s.Neighbours = append(s.Neighbours, seen{n.ID, n.Position, n.Distance, tagsOf(p, n.Tags)})
	}
	for i := range p.Events {
		e := &p.Events[i]
		s.Events = append(s.Events, event{e.Tick, e.Kind, nameOf(e.Subject), nameOf(e.Object), e.Position, e.Value})
	}
	if l := &p.Last; l.Decision != 0 {
		s.Last = &last{Tick: l.Tick, Outcome: l.Type.String()}
		if l.Reason != agent.NoReason {
			s.Last.Reason = l.Reason.String()
		}
	}
	return s
}

func nameOf(id ecs.ID) string {
	if id == 0 {
		return ""
	}
	return id.String()
}

func tagsOf(p *agent.Perception, set uint64) (names []string) {
	for ; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); i < len(p.TagNames) {
			names = append(names, p.TagNames[i])
		}
	}
	return names
}

// functionOf describes an action as a tool.
func functionOf(d *agent.ActionDef) function {
	s := schema{Type: "object", Properties: map[string]property{}}
	for i := range d.Args {
		a := &d.Args[i]
		prop := property{Type: "number", Description: a.Doc}
		if a.Min != 0 || a.Max != 0 {
			prop.Minimum, prop.Maximum = &a.Min, &a.Max
		}
		s.Properties[a.Name] = prop
		s.Required = append(s.Required, a.Name)
	}
	if d.Target != agent.NoTarget {
		s.Properties["target"] = property{Type: "string", Description: "id of an entity, as in the perception"}
		if d.Target == agent.NeedTarget {
			s.Required = append(s.Required, "target")
		}
	}
	if d.MaxData > 0 {
		s.Properties["data"] = property{Type: "string", MaxLength: d.MaxData}
	}
	s.Properties["after"] = property{Type: "integer", Description: "ticks to wait", Minimum: new(float32)}
	return function{d.Name, d.Doc, s}
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("httpagent: "+format+": %w", append(args, ErrAnswer)...)
}

// Parse reads the body of a chat completion: the tool calls of its first choice, each an action of defs.
// Arguments may be a string of JSON, as OpenAI sends it, or the object itself, as some servers send it. Of a name
// that is repeated in an object the last value counts, but in arguments it is refused. An answer that says that it was
// cut, filtered or refused is an error, whatever calls it has: one of them may be missing. The
// error wraps ErrAnswer, and then the decision is empty.
func Parse(data []byte, defs []agent.ActionDef) (agent.Decision, error) {
	var choices, calls []json.RawMessage
	var choice, message map[string]json.RawMessage
	err := member(data, "choices", &choices)
	if err == nil && len(choices) > 0 {
		err = errors.Join(json.Unmarshal(choices[0], &choice), member(choices[0], "message", &message))
	}
	switch {
	case err != nil:
		return agent.Decision{}, refuse("%s", short(err.Error()))
	case message == nil:
		return agent.Decision{}, refuse("no choice with a message")
	}
	if err := checkWhole(choice["finish_reason"], message["refusal"]); err != nil {
		return agent.Decision{}, err
	}
	if err := decode(message["tool_calls"], &calls); err != nil {
		return agent.Decision{}, refuse("%s", short(err.Error()))
	}
	if len(calls) > maxCalls {
		return agent.Decision{}, refuse("%d tool calls, more than %d", len(calls), maxCalls)
	}
	var d agent.Decision
	for i, call := range calls {
		a, err := parseCall(call, defs)
		if err != nil {
			return agent.Decision{}, refuse("tool call %d: %v", i, err)
		}
		d.Actions = append(d.Actions, a)
	}
	return d, nil
}

// decode decodes a member of an object; one that is absent is zero.
func decode(v json.RawMessage, to any) error {
	if v == nil {
		return nil
	}
	return json.Unmarshal(v, to)
}

// member decodes a member of an object. In a map, unlike a struct, names in other cases are other names, and it
// keeps nothing of a value that comes again.
func member(object json.RawMessage, name string, to any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return err
	}
	return decode(fields[name], to)
}

// checkWhole refuses an answer that is not all that the model had to say.
func checkWhole(finishReason, refusal json.RawMessage) error {
	var reason, text string
	if err := errors.Join(decode(finishReason, &reason), decode(refusal, &text)); err != nil {
		return refuse("%s", short(err.Error()))
	}
	switch {
	case text != "":
		return refuse("the model refuses: %s", short(text))
	case slices.Contains([]string{"length", "max_tokens", "content_filter", "refusal"}, reason):
		return refuse("finish_reason %s: the answer is not whole", short(reason))
	}
	return nil
}

func parseCall(call json.RawMessage, defs []agent.ActionDef) (agent.Action, error) {
	var fields, function map[string]json.RawMessage
	var kind, name string
	err := json.Unmarshal(call, &fields)
	err = errors.Join(err, decode(fields["type"], &kind), decode(fields["function"], &function))
	if err := errors.Join(err, decode(function["name"], &name)); err != nil {
		return agent.Action{}, errors.New(short(err.Error()))
	}
	if kind != "" && kind != "function" {
		return agent.Action{}, fmt.Errorf("type %s is not a function", short(kind))
	}
	at := slices.IndexFunc(defs, func(d agent.ActionDef) bool { return d.Name == name })
	if at < 0 {
		return agent.Action{}, fmt.Errorf("there is no tool %s", short(name))
	}
	arguments := function["arguments"]
	var text string
	if len(arguments) > 0 && arguments[0] == '"' && json.Unmarshal(arguments, &text) == nil {
		arguments = json.RawMessage(text)
	}
	args, err := object(arguments)
	if err != nil {
		return agent.Action{}, fmt.Errorf("%s: arguments: %s", name, short(err.Error()))
	}
	a, err := action(&defs[at], args)
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// object reads a JSON object without repeated names, and refuses data after it. Empty data and null are the
// empty object.
func object(data []byte) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(data)) == 0 || string(bytes.TrimSpace(data)) == "null" {
		return fields, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object: %v", err)
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		if _, exists := fields[name]; exists {
			return nil, fmt.Errorf("name %s is repeated", short(name))
		}
		fields[name] = v
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("data after the object")
	}
	return fields, nil
}

// action makes the action that the fields describe. Fields that its definition lacks are refused.
func action(def *agent.ActionDef, fields map[string]json.RawMessage) (agent.Action, error) {
	a := agent.Action{Name: def.Name}
	for i := range def.Args {
		name := def.Args[i].Name
		v, ok := fields[name]
		f, err := number(v)
		if !ok || err != nil {
			return a, fmt.Errorf("%s = %s: not a number that a float32 holds", name, short(string(v)))
		}
		a.Args = append(a.Args, f)
		delete(fields, name)
	}
	if v, ok := fields["target"]; ok && def.Target != agent.NoTarget {
		var s string
		if err := json.Unmarshal(v, &s); err != nil || s == "" && def.Target == agent.NeedTarget {
			return a, fmt.Errorf("target = %s: not the id of an entity", short(string(v)))
		}
		if s != "" {
			id, err := ecs.ParseID(s)
			if err != nil {
				return a, fmt.Errorf("target = %s: not the id of an entity", short(s))
			}
			a.Target = id
		}
		delete(fields, "target")
	}
	if v, ok := fields["data"]; ok && def.MaxData > 0 {
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return a, fmt.Errorf("data = %s: not a string", short(string(v)))
		}
		a.Data = []byte(s)
		delete(fields, "data")
	}
	if v, ok := fields["after"]; ok {
		n, err := number(v)
		if err != nil || n < 0 || n > agent.MaxAfter || float64(n) != math.Trunc(float64(n)) {
			return a, fmt.Errorf("after = %s: not a whole number from 0 to %d", short(string(v)), agent.MaxAfter)
		}
		a.After = uint32(n)
		delete(fields, "after")
	}
	if len(fields) > 0 {
		return a, fmt.Errorf("%d unknown arguments", len(fields))
	}
	return a, nil
}

// number reads a JSON number that a float32 can hold, rounded to the nearest.
func number(v json.RawMessage) (float32, error) {
	var n json.Number
	if len(v) == 0 || v[0] == '"' || v[0] == 'n' { // json.Number accepts a string, and null
		return 0, strconv.ErrSyntax
	}
	if err := json.Unmarshal(v, &n); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(n.String(), 32)
	return float32(f), err
}
