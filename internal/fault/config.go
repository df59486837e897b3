package fault

import "errors"

// List collects the faults of a configuration, so that Validate reports all of them at once.
type List struct {
	Package string // in front of the fields, as in "agent: Config.Queue"
	errs    []error
}

// Add adds the fault of a field.
func (l *List) Add(err error, field string, value any) {
	l.errs = append(l.errs, Field(err, l.Package+": "+field, value))
}

// Range adds ErrRange unless lo <= v <= hi.
func (l *List) Range(field string, v, lo, hi int) {
	if v < lo || v > hi {
		l.Add(ErrRange, field, v)
	}
}

// Ints adds ErrRange for each number that is out of its range.
func (l *List) Ints(ints []Int) {
	for _, n := range ints {
		l.Range(n.field, *n.value, n.lo, n.hi)
	}
}

// Join adds errors; nil is none.
func (l *List) Join(errs ...error) { l.errs = append(l.errs, errs...) }

// Err returns all faults as one error, nil if there are none.
func (l *List) Err() error { return errors.Join(l.errs...) }

// Int is a whole number of a configuration, where 0 means the default.
type Int struct {
	field         string
	value         *int
	usual, lo, hi int
}

// NewInt describes a number with its default and its range.
func NewInt(field string, value *int, usual, lo, hi int) Int { return Int{field, value, usual, lo, hi} }

// SetDefaults replaces zeros.
func SetDefaults(ints []Int) {
	for _, n := range ints {
		if *n.value == 0 {
			*n.value = n.usual
		}
	}
}
