package modules

import (
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
)

// ColumnHash is the hash of one named part of a state. It is the same type as in packages ecs and
// physics.
type ColumnHash = statehash.Column

// Hasher is a module, or a service of updates, with state that Config.CheckRender checks. The Worlds
// of packages ecs and physics and evertick.Sim are Hashers. A module appends what they return, or one
// hash for each value of its own:
//
//	func (g *Game) AppendColumnHashes(dst []modules.ColumnHash) []modules.ColumnHash {
//		return g.world.AppendColumnHashes(append(dst, modules.ColumnHash{Name: "score", Hash: g.score}))
//	}
//
// A name occurs once. Equal states give equal lists.
type Hasher interface {
	AppendColumnHashes(dst []ColumnHash) []ColumnHash
}

// checkedHasher is a Hasher with the hashes of its state before a frame was rendered.
type checkedHasher struct {
	name   string
	hasher Hasher
	before []ColumnHash
}

// hashersIn returns v, if it is a Hasher.
func hashersIn(name string, v any) []checkedHasher {
	if h, ok := v.(Hasher); ok {
		return []checkedHasher{{name: name, hasher: h}}
	}
	return nil
}

// findHashers lists what CheckRender checks.
func (e *Engine) findHashers() error {
	if !e.checkRender {
		return nil
	}
	for _, m := range e.modules {
		e.hashers = append(e.hashers, hashersIn(fmt.Sprintf("module %q", m.name), m.module)...)
	}
	e.hashers = append(e.hashers, e.services.hashers...)
	if len(e.hashers) == 0 {
		return fmt.Errorf("%w: no module and no service is a Hasher", fault.Field(ErrUnsupported, "modules: Config.CheckRender", true))
	}
	return nil
}

// hashState hashes the state before the modules render.
func (e *Engine) hashState() {
	for i := range e.hashers {
		h := &e.hashers[i]
		h.before = h.hasher.AppendColumnHashes(h.before[:0])
	}
}

// checkState returns an error if m, which has rendered since hashState, has changed the state.
func (e *Engine) checkState(m *entry) error {
	for _, h := range e.hashers {
		for name := range statehash.Changes(h.before, h.hasher.AppendColumnHashes(nil)) {
			err := fmt.Errorf("wrote %s of %s, but may only read: %w", name, h.name, ErrRange)
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
