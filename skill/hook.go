package skill

import (
	"encoding/json"
	"errors"
)

// Hook runs around the handlers of all skills. Like skills and profiles it is part of the scenario, and a replay
// runs it again: the result of Before must depend on the call and on the state of the Sim alone. Neither function
// may change the simulation. Both run in the tick, on the goroutine of evertick.Sim.Step.
type Hook struct {
	// Before runs after the checks of the registry and before the handler. If it returns an error the call is
	// refused, with the Code of the *Error, or of the sentinel that the error wraps, or Refused. nil: no
	// function.
	Before func(c *Call) error
	// After runs after the handler, or after a hook has refused the call, with the output or with the error. It
	// must change neither. It also runs in ticks that run again, see evertick.Tick.Again. nil: no function.
	After func(c *Call, output json.RawMessage, err *Error)
}

// AddHook adds a hook, in the set-up of the Sim. The first hook is the outermost: Before runs in the order in
// which hooks were added, and After in the reverse order, for each hook that Before has reached. A call that was
// refused earlier in the pipeline, or is held for approval, reaches no hook. A held call reaches the hooks when
// it is approved.
func (r *Registry) AddHook(h Hook) { r.hooks = append(r.hooks, h) }

// runHooks runs the hooks and the handler of a call.
func (r *Registry) runHooks(c *Call, p *prepared) (out json.RawMessage, refused *Error) {
	reached := 0
	for ; reached < len(r.hooks) && refused == nil; reached++ {
		if before := r.hooks[reached].Before; before != nil {
			refused = asRefusal(before(c), c.Skill)
		}
	}
	if refused == nil {
		out, refused = r.handle(c, p)
	}
	for i := reached - 1; i >= 0; i-- {
		if after := r.hooks[i].After; after != nil {
			after(c, out, refused)
		}
	}
	return out, refused
}

// asRefusal converts the error of a hook to an *Error.
func asRefusal(err error, skill string) *Error {
	if err == nil {
		return nil
	}
	e := asError(err, skill)
	if own := (*Error)(nil); e.Code == HandlerError && !errors.As(err, &own) {
		e.Code = Refused
	}
	return e
}

// handle runs the handler of a call.
func (r *Registry) handle(c *Call, p *prepared) (json.RawMessage, *Error) {
	v, err := p.run(c)
	if err != nil {
		return nil, asError(err, c.Skill)
	}
	out, refused := r.marshal(v)
	if refused == nil && c.after != nil {
		r.after = append(r.after, c.after)
	}
	return out, refused
}
