package modules

import (
	"fmt"
	"reflect"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
)

// Services holds the services of modules and of the program, by type and name. There are two sets:
// one for updates, which refuses clocks, and one for rendering.
type Services struct {
	byKey   map[serviceKey]any
	clocks  bool // are allowed
	started bool
	hashers []checkedHasher // in the order of Provide
}

type serviceKey struct {
	service reflect.Type
	name    string
}

// Provide registers v under the type T, which may be an interface, and a name, which
// may be empty. [Find] needs the same T and name. If there is such a service
// already the error is ErrRange, and after Start it is ErrStarted. It panics if v is nil.
//
// Services for updates must not give access to a clock. If exported methods and fields of v lead to
// a time.Time, a loop.Clock, Loop or Frame, or anything with a method Now, the error is ErrClock
// and names the path. Provide cannot see wall time in a plain number.
func Provide[T any](s *Services, name string, v T) error {
	key := serviceKey{reflect.TypeFor[T](), name}
	dynamic := reflect.TypeOf(v)
	if dynamic == nil {
		panic("modules: Provide: nil service")
	}
	if s.started {
		return fmt.Errorf("modules: Provide: %v %q: %w", key.service, name, ErrStarted)
	}
	if _, taken := s.byKey[key]; taken {
		return fault.Field(ErrRange, "modules: Provide: "+key.service.String(), fmt.Sprintf("%q, which exists already", name))
	}
	if !s.clocks {
		for _, t := range [...]reflect.Type{key.service, dynamic} {
			if path := clockIn(t, map[reflect.Type]bool{}); path != "" {
				return fmt.Errorf("modules: Provide: %s: %w", path, ErrClock)
			}
		}
	}
	if s.byKey == nil {
		s.byKey = map[serviceKey]any{}
	}
	s.byKey[key] = v
	s.hashers = append(s.hashers, hashersIn(serviceName(key), v)...)
	return nil
}

// Find returns the service of this T and name, and whether there is one. It
// does not allocate.
func Find[T any](s *Services, name string) (T, bool) {
	v, ok := s.byKey[serviceKey{reflect.TypeFor[T](), name}].(T)
	return v, ok
}

// clockTypes are the types that services for updates must not lead to.
var clockTypes = map[reflect.Type]bool{
	reflect.TypeFor[time.Time]():     true,
	reflect.TypeFor[loop.Clock]():    true,
	reflect.TypeFor[loop.Loop]():     true,
	reflect.TypeFor[loop.Frame]():    true,
	reflect.TypeFor[Engine]():        true,
	reflect.TypeFor[RenderContext](): true,
	reflect.TypeFor[StartContext]():  true,
}

// clockIn returns the path from a type through exported methods and fields to wall
// time, as in "game.Server.Uptime: time.Time", or "" if there is none. It skips the types in seen.
func clockIn(t reflect.Type, seen map[reflect.Type]bool) string {
	if clockTypes[t] {
		return t.String()
	}
	if seen[t] {
		return ""
	}
	seen[t] = true
	if t.Kind() == reflect.Pointer { // its methods are checked there
		return clockIn(t.Elem(), seen)
	}
	if path := clockInMethods(t, seen); path != "" {
		return path
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Chan:
		return clockIn(t.Elem(), seen)
	case reflect.Map:
		if path := clockIn(t.Key(), seen); path != "" {
			return path
		}
		return clockIn(t.Elem(), seen)
	case reflect.Func:
		return clockInResults(t.String(), t, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			if path := clockIn(f.Type, seen); path != "" {
				return t.String() + "." + f.Name + ": " + path
			}
		}
	}
	return ""
}

// clockInMethods checks the methods of t, which is not a pointer, and of *t.
func clockInMethods(t reflect.Type, seen map[reflect.Type]bool) string {
	all := t
	if t.Kind() != reflect.Interface {
		all = reflect.PointerTo(t)
	}
	for i := range all.NumMethod() {
		m := all.Method(i)
		name := t.String() + "." + m.Name
		if m.Name == "Now" && m.Type.NumOut() > 0 {
			return name
		}
		if path := clockInResults(name, m.Type, seen); path != "" {
			return path
		}
	}
	return ""
}

// clockInResults checks the results of a function.
func clockInResults(name string, f reflect.Type, seen map[reflect.Type]bool) string {
	for i := range f.NumOut() {
		if path := clockIn(f.Out(i), seen); path != "" {
			return name + ": " + path
		}
	}
	return ""
}
