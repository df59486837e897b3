package evertick

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"runtime"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/loop"
)

// hashBeforeHooks hashes the state before hooks are called, for checkHook.
func (s *Sim) hashBeforeHooks() {
	if s.config.CheckRender {
		s.watched = s.appendRenderHashes(s.watched[:0])
	}
}

// checkHook returns an error if a hook, which has run since hashBeforeHooks, has changed the state.
func (s *Sim) checkHook(f any) error {
	if !s.config.CheckRender {
		return nil
	}
	return s.checkRender(funcName(f), s.watched)
}

// checkRender returns an error if the state has other hashes than before.
func (s *Sim) checkRender(what string, before []ecs.ColumnHash) error {
	for name := range statehash.Changes(before, s.appendRenderHashes(nil)) {
		return fmt.Errorf("%s wrote %s, but may only read: %w", what, name, ErrRange)
	}
	return nil
}

// appendRenderHashes appends the hashes of everything that a callback must not change.
func (s *Sim) appendRenderHashes(dst []ecs.ColumnHash) []ecs.ColumnHash {
	dst = append(s.appendAccessHashes(dst),
		ecs.ColumnHash{Name: "ticks", Hash: s.ticks}, ecs.ColumnHash{Name: "mode", Hash: uint64(s.mode)})
	return append(dst, ecs.ColumnHash{Name: "commands", Hash: statehash.Bytes(s.commands.Snapshot(nil), 1, false)})
}

// runWith is loop.RunWith with the checks of CheckRender, if it is set. draw is the function of
// RunFrames, which r.Frame calls, or nil.
func (s *Sim) runWith(ctx context.Context, r loop.Runner, draw func(loop.Frame)) error {
	if !s.config.CheckRender {
		return s.loop.RunWith(ctx, r)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	state := s.appendRenderHashes(nil)
	check := func(what string) {
		if s.failed != nil {
			return
		}
		if err := s.checkRender(what, state); err != nil {
			failed = fmt.Errorf("evertick: before tick %d: %w", s.ticks, err)
			s.failed = failed
			cancel()
		}
	}
	checkOutside := func() { check("code outside of steps, such as another goroutine,") }

	between := true // no step has run since state was hashed
	step, frame, rehearse := r.Step, r.Frame, r.Rehearse
	r.Step = func(tick uint64) error {
		if between {
			checkOutside()
			between = false
		}
		return step(tick)
	}
	r.Frame = func(f loop.Frame) {
		if between {
			checkOutside()
		}
		if failed != nil {
			return
		}
		state = s.appendRenderHashes(state[:0])
		frame(f)
		if draw != nil {
			check(funcName(draw))
		}
		between = true
	}
	if rehearse != nil {
		r.Rehearse = func() {
			checkOutside()
			rehearse()
			check("Config.Rehearse")
		}
	}
	if err := s.loop.RunWith(ctx, r); failed == nil {
		return err
	}
	return failed
}

// funcName returns the name and the place of a function, as in "main.draw (main.go:12)".
func funcName(f any) string {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return fmt.Sprintf("%s (%s:%d)", fn.Name(), path.Base(file), line)
}
