// Package badinput tests that calls refuse arguments that make no sense, whichever number of them is bad.
package badinput

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

// Attempt is a call with good arguments.
type Attempt struct {
	name string
	call func() error
	args []any
}

// Of returns an attempt of a call, which reads its arguments where args point to: a name and a pointer for each. Names are those that errors have, in
// upper or lower case; the fields of a struct have their own.
func Of(name string, call func() error, args ...any) Attempt { return Attempt{name, call, args} }

// Scene is what the calls may change.
type Scene struct {
	Hash    func() uint64
	Restore func() error // undoes what calls have done
	Use     func() error // computes with the arguments of a call that has succeeded
	Stale   []any        // handles that no call takes, of all types
}

// Test makes each call with its good arguments, and then again and again, with one number or handle replaced by a bad one. What is not finite, and a
// stale handle, is an error that names field, index and value. Other values, such as 0, -1 and 1e38, may be good. An error changes nothing, and
// without one the scene is fit for use.
func Test(t *testing.T, s Scene, attempts []Attempt) {
	t.Helper()
	hash := s.Hash()
	for _, a := range attempts {
		if err := a.call(); err != nil {
			t.Errorf("%s: good arguments: %v", a.name, err)
		}
		var leaves []leaf
		for i := 0; i < len(a.args); i += 2 {
			leaves = s.leaves(a.args[i].(string), reflect.ValueOf(a.args[i+1]), leaves)
		}
		for _, l := range leaves {
			good := reflect.New(l.value.Type()).Elem()
			good.Set(l.value)
			for _, bad := range l.bad {
				if err := s.Restore(); err != nil || s.Hash() != hash {
					t.Fatalf("restored after %s: %v", a.name, err)
				}
				l.value.Set(reflect.ValueOf(bad))
				what := fmt.Sprintf("%s: %s = %v", a.name, l.path, bad)
				kind := kindOf(bad)
				switch err := a.call(); {
				case err == nil && kind != nil:
					t.Errorf("%s is accepted", what)
				case err == nil:
					if err := s.Use(); err != nil {
						t.Errorf("%s: then %v", what, err)
					}
				case s.Hash() != hash:
					t.Errorf("%s is refused, and changes the state: %v", what, err)
				case kind != nil && (!errors.Is(err, kind) || !names(err, l.path, bad)):
					t.Errorf("%s: the error is another one: %v", what, err)
				case kind == nil && !errors.Is(err, fault.ErrRange) && !errors.Is(err, fault.ErrUnsupported) && !errors.Is(err, fault.ErrCapacity):
					t.Errorf("%s: an error of another kind: %v", what, err)
				}
			}
			l.value.Set(good)
		}
		if err := s.Restore(); err != nil {
			t.Fatal(err)
		}
	}
}

// kindOf returns the error for a value that no call takes, or nil.
func kindOf(bad any) error {
	switch v := bad.(type) {
	case float32:
		if v-v == 0 {
			return nil
		}
		return fault.ErrNotFinite
	case int, uint32, uint8:
		return nil
	}
	return fault.ErrStale
}

// names reports whether an error has the name of a field, its value, and its index, unless it has the whole vector.
func names(err error, path string, value any) bool {
	says := strings.ToLower(err.Error())
	path = strings.ToLower(path)
	field, _, _ := strings.Cut(path, "[")
	return strings.Contains(says, field) && strings.Contains(err.Error(), fmt.Sprint(value)) && (strings.Contains(says, path) || strings.Contains(says, "= ["))
}

// leaf is a number or a handle in the arguments of a call.
type leaf struct {
	path  string // the last field, and the index in it
	value reflect.Value
	bad   []any
}

// leaves appends all that v has, except for what is not exported.
func (s *Scene) leaves(path string, v reflect.Value, all []leaf) []leaf {
	var stale []any
	for _, h := range s.Stale {
		if reflect.TypeOf(h) == v.Type() {
			stale = append(stale, h)
		}
	}
	if stale != nil {
		return append(all, leaf{path, v, stale})
	}
	switch v.Kind() {
	case reflect.Pointer:
		return s.leaves(path, v.Elem(), all)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				all = s.leaves(f.Name, v.Field(i), all)
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			all = s.leaves(fmt.Sprintf("%s[%d]", path, i), v.Index(i), all)
		}
	case reflect.Float32:
		inf := float32(math.Inf(1))
		return append(all, leaf{path, v, []any{float32(math.NaN()), inf, -inf, float32(-math.MaxFloat32), float32(math.MaxFloat32), float32(-1), float32(0), float32(1e-45), float32(1e18), float32(1e9), float32(1e5)}})
	case reflect.Int:
		return append(all, leaf{path, v, []any{-1, math.MinInt, math.MaxInt}})
	case reflect.Uint32:
		if v.Type() == reflect.TypeFor[uint32]() {
			return append(all, leaf{path, v, []any{uint32(math.MaxUint32), uint32(1000)}})
		}
	}
	return all
}
