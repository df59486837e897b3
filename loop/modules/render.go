package modules

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
)

// ColumnHash is the hash of one named part of a state. It is the same type as in packages ecs and
// physics.
type ColumnHash = statehash.Column

// Hasher is a module, or a service of updates, with state that Config.CheckRender checks.
// The World of package ecs, that of package physics and evertick.Sim are Hashers. A
// module appends what they return, or one hash for each value of its own:
//
//	func (g *Game) AppendColumnHashes(dst []modules.ColumnHash) []modules.ColumnHash {
//		return g.world.AppendColumnHashes(append(dst, modules.ColumnHash{Name: "score", Hash: g.score}))
//	}
//
// A name occurs once. Equal states give equal lists.
type Hasher interface {
	AppendColumnHashes(dst []ColumnHash) []ColumnHash
}

// watched is a Hasher with the hashes that its state had before a frame was rendered.
type watched struct {
	name   string
	hasher Hasher
	before []ColumnHash
}

// watchedOf returns v as a Hasher to watch, if it is one.
func watchedOf(name string, v any) []watched {
	if h, ok := v.(Hasher); ok {
		return []watched{{name: name, hasher: h}}
	}
	return nil
}

// findHashers lists what CheckRender checks.
func (e *Engine) findHashers() error {
	if !e.checkRender {
		return nil
	}
	for _, m := range e.modules {
		e.watched = append(e.watched, watchedOf(fmt.Sprintf("module %q", m.name), m.module)...)
	}
	e.watched = append(e.watched, e.services.hashers...)
	if len(e.watched) == 0 {
		return fmt.Errorf("%w: no module and no service is a Hasher", fault.Field(ErrUnsupported, "modules: Config.CheckRender", true))
	}
	return nil
}

// watch hashes the state before the modules render.
func (e *Engine) watch() {
	for i := range e.watched {
		w := &e.watched[i]
		w.before = w.hasher.AppendColumnHashes(w.before[:0])
	}
}

// checkState returns an error if m, which has rendered since watch, has changed the state.
func (e *Engine) checkState(m *entry) error {
	for _, w := range e.watched {
		for name := range statehash.Changes(w.before, w.hasher.AppendColumnHashes(nil)) {
			err := fmt.Errorf("wrote %s of %s, but may only read: %w", name, w.name, ErrRange)
			return &Error{Module: m.name, Op: OpRender, Tick: e.tick, Err: err}
		}
	}
	return nil
}

// serviceName names a service in errors.
func serviceName(key serviceKey) string {
	if key.name == "" {
		return "service " + key.service.String()
	}
	return fmt.Sprintf("service %v %q", key.service, key.name)
}
