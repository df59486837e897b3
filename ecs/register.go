package ecs

import (
	"errors"
	"reflect"
	"slices"
	"unicode"

	"github.com/evertick/evertick/internal/fault"
)

// Register adds the columns, tags and blobs that a struct declares, in the order of its fields,
// and sets the fields to their handles. It panics unless it gets a pointer to a struct.
//
//	var c struct {
//		Speed *ecs.Column[float32]    // column "speed"
//		Push  *ecs.Column[[2]float32] // column "push", two numbers a row
//		Spin  struct{ X, Y *ecs.Column[float32] } // columns "spin.x" and "spin.y"
//		Ball  ecs.Tag                 // tag "ball"
//		Mesh  *ecs.Blobs              // blobs "mesh"
//		Max   *ecs.Column[int16] `ecs:"HP.max"`
//	}
//	err := w.Register(&c)
//
// For a field of type *Column[T], Register does what AddColumn or AddArrayColumn does; for a Tag,
// what World.Tag does; for a *Blobs, what World.Blobs does. The name is the name of the field with a
// lower-case beginning: Owner is "owner", MaxHP "maxHP", HP "hp", XPos "xPos". A struct tag
// ecs:"name" gives another name, and ecs:"-" leaves a field out. A field that is a struct declares
// the fields in it, and its name and a dot precede their names. An embedded struct without a struct
// tag adds no name.
//
// A field that is not exported cannot be set: it is ErrUnsupported if it has one of these types, and
// otherwise ignored. An exported field of any other type is ErrUnsupported. Other errors are those
// of AddColumn, AddArrayColumn, World.Tag and World.Blobs; if two fields give the same column name,
// the second one is ErrRange. Register returns all faults at once, each with the name of its field.
// After an error it has changed neither the world nor the struct.
func (w *World) Register(columns any) error {
	v := reflect.ValueOf(columns)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		panic("ecs: Register: not a pointer to a struct")
	}
	r := registration{world: w}
	r.collect(v.Elem(), "ecs: Register: field ", "")
	if err := errors.Join(r.errs...); err != nil {
		return err
	}
	for _, add := range r.adds {
		add()
	}
	return nil
}

// registration is what Register has found in a struct.
type registration struct {
	world   *World
	errs    []error
	adds    []func() // each adds what a field declares, and sets the field
	columns []string
	grows   int // the number of columns that the world does not have yet
	tags    []string
	blobs   []string // like tags: those that the world does not have yet
}

// handle is a *Column of any type.
type handle interface {
	rowType() reflect.Type
	attach(*column)
}

func (c *Column[T]) rowType() reflect.Type { return reflect.TypeFor[T]() }

var (
	handleType = reflect.TypeFor[handle]()
	tagType    = reflect.TypeFor[Tag]()
	blobsType  = reflect.TypeFor[*Blobs]()
)

// collect finds what a struct declares. where precedes the names of its fields in errors, and
// prefix the names of its columns, tags and blobs.
func (r *registration) collect(of reflect.Value, where, prefix string) {
	for i := range of.NumField() {
		f, v := of.Type().Field(i), of.Field(i)
		name, given := f.Tag.Lookup("ecs")
		if name == "-" {
			continue
		}
		if !given {
			name = lowerBeginning(f.Name)
		}
		where, name := where+f.Name, prefix+name
		nested := f.Type.Kind() == reflect.Struct && f.Type != tagType && !isHandle(reflect.PointerTo(f.Type))
		switch {
		case !f.IsExported() && !(nested && f.Anonymous): // reflection can set the fields of an embedded struct
			if declares(f.Type) || f.Anonymous && f.Type.Kind() == reflect.Pointer && declares(f.Type.Elem()) {
				r.errs = append(r.errs, fault.Field(ErrUnsupported, where+", which is not exported: type", f.Type))
			}
		case f.Type.Implements(handleType):
			r.column(v, where, name)
		case f.Type == tagType:
			r.tag(v, where, name)
		case f.Type == blobsType:
			r.blob(v, where, name)
		case nested && f.Anonymous && !given:
			r.collect(v, where+".", prefix)
		case nested:
			r.collect(v, where+".", name+".")
		default:
			r.errs = append(r.errs, fault.Field(ErrUnsupported, where+" type", f.Type))
		}
	}
}

// isHandle reports whether a type is *Column[T] or *Blobs.
func isHandle(t reflect.Type) bool { return t.Implements(handleType) || t == blobsType }

// declares reports whether a field of a type would declare something.
func declares(t reflect.Type) bool {
	if isHandle(t) || isHandle(reflect.PointerTo(t)) || t == tagType {
		return true
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if declares(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

func (r *registration) column(field reflect.Value, where, name string) {
	h := reflect.New(field.Type().Elem()).Interface().(handle)
	k, count, err := r.world.checkColumn(where, name, h.rowType(), r.grows)
	if k != 0 && slices.Contains(r.columns, name) { // as once the column is there
		err = fault.Field(ErrRange, where+" name already used", name)
	}
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.columns = append(r.columns, name)
	if find(r.world.byName, name) == nil {
		r.grows++
	}
	r.adds = append(r.adds, func() {
		h.attach(r.world.register(name, k, count))
		field.Set(reflect.ValueOf(h))
	})
}

func (r *registration) tag(field reflect.Value, where, name string) {
	var err error
	if r.tags, err = r.world.checkTag(where, name, r.tags); err != nil {
		r.errs = append(r.errs, err)
	}
	r.adds = append(r.adds, func() { field.Set(reflect.ValueOf(Tag{r.world.tagNamed(name)})) })
}

func (r *registration) blob(field reflect.Value, where, name string) {
	var err error
	if r.blobs, err = r.world.checkBlobs(where, name, r.blobs); err != nil {
		r.errs = append(r.errs, err)
	}
	r.adds = append(r.adds, func() { field.Set(reflect.ValueOf(r.world.blobsNamed(name))) })
}

// lowerBeginning makes the upper-case letters at the beginning of a name lower-case. If a lower-case
// letter follows them, the last one stays, since it begins a word: HP is hp, and XPos is xPos.
func lowerBeginning(name string) string {
	letters := []rune(name)
	for i, c := range letters {
		if !unicode.IsUpper(c) || i > 0 && i+1 < len(letters) && unicode.IsLower(letters[i+1]) {
			break
		}
		letters[i] = unicode.ToLower(c)
	}
	return string(letters)
}
