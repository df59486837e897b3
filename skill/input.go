package skill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Vec is a point or a direction, in metres unless the field states another unit. In an input it may also
// be an array of three numbers.
type Vec struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	Z float32 `json:"z"`
}

// UnmarshalJSON reads an object or an array.
func (v *Vec) UnmarshalJSON(data []byte) error {
	type plain Vec // without this method
	return eitherForm(data, (*plain)(v), &v.X, &v.Y, &v.Z)
}

func (v Vec) array() [3]float32 { return [3]float32{v.X, v.Y, v.Z} }

func vecOf(a [3]float32) Vec { return Vec{a[0], a[1], a[2]} }

// Quat is a rotation as a normalised quaternion. In an input it may also be an array of four numbers,
// x, y, z and w.
type Quat struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	Z float32 `json:"z"`
	W float32 `json:"w"`
}

// UnmarshalJSON reads an object or an array.
func (q *Quat) UnmarshalJSON(data []byte) error {
	type plain Quat
	return eitherForm(data, (*plain)(q), &q.X, &q.Y, &q.Z, &q.W)
}

func quatOf(a [4]float32) Quat { return Quat{a[0], a[1], a[2], a[3]} }

// eitherForm decodes the components from an array, or the object from an object. null changes nothing.
func eitherForm(data []byte, object any, components ...*float32) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '[' {
		return strict(data, object)
	}
	var list []float32
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) != len(components) {
		return fmt.Errorf("%d numbers instead of %d", len(list), len(components))
	}
	for i, c := range components {
		*c = list[i]
	}
	return nil
}

// inputSchemas are the schemas of types with two forms. Keywords for objects apply to objects
// only, those for arrays to arrays only.
func inputSchemas() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[Vec]():  twoForms("x", "y", "z"),
		reflect.TypeFor[Quat](): twoForms("x", "y", "z", "w"),
	}
}

func twoForms(names ...string) *jsonschema.Schema {
	n := len(names)
	s := &jsonschema.Schema{
		Types: []string{"object", "array"}, Required: names, Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Items:                &jsonschema.Schema{Type: "number"}, MinItems: &n, MaxItems: &n,
	}
	for _, name := range names {
		s.Properties[name] = &jsonschema.Schema{Type: "number"}
	}
	return s
}

// entityRef names the entity that a skill is for, in one of two fields.
type entityRef struct {
	ID     string `json:"id,omitempty" jsonschema:"as in ent_12"`
	Entity string `json:"entity,omitempty" jsonschema:"another name of id"`
}

// Target implements Targeter.
func (r entityRef) Target() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Entity
}

func (r entityRef) field() string {
	if r.ID == "" && r.Entity != "" {
		return "entity"
	}
	return "id"
}

// needEntity makes a schema require either id or entity, and not both. It does not use oneOf, which some
// clients refuse at the root of a schema.
func needEntity(s *jsonschema.Schema) {
	property(s, "id").Pattern = idPattern
	property(s, "entity").Pattern = idPattern
	id := []string{"id"}
	s.If = &jsonschema.Schema{Required: []string{"entity"}}
	s.Then = &jsonschema.Schema{Not: &jsonschema.Schema{Required: id}}
	s.Else = &jsonschema.Schema{Required: id}
}

// property finds a property by its path from the root, as in "body.shape.size".
func property(s *jsonschema.Schema, path string) *jsonschema.Schema {
	for name := range strings.SplitSeq(path, ".") {
		s = s.Properties[name]
		if s == nil {
			panic("skill: no such property in a schema: " + path)
		}
	}
	return s
}

// bound sets the range of properties: numbers, or structs or lists of numbers.
func bound(s *jsonschema.Schema, low, high float64, paths ...string) {
	for _, path := range paths {
		boundAll(property(s, path), low, high)
	}
}

func boundAll(s *jsonschema.Schema, low, high float64) {
	if len(s.Properties) == 0 && s.Items == nil {
		s.Minimum, s.Maximum = &low, &high
	}
	for _, p := range s.Properties {
		boundAll(p, low, high)
	}
	if s.Items != nil {
		boundAll(s.Items, low, high)
	}
}

func oneOf(s *jsonschema.Schema, values ...any) { s.Enum = values }

func tagList(s *jsonschema.Schema) {
	most := maxTags
	s.Items.Pattern, s.MaxItems = tagPattern, &most
}

// together makes a schema require all of some fields or none.
func together(s *jsonschema.Schema, names ...string) {
	s.DependentRequired = map[string][]string{}
	for _, name := range names {
		s.DependentRequired[name] = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	}
}
