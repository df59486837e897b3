package main

import (
	"fmt"
	"strconv"
	"strings"
)

// sizes is the value of a flag: whole numbers with commas between them.
type sizes []int

func (s *sizes) String() string { return strings.ReplaceAll(joined(*s), " ", "") }

// Set implements flag.Value.
func (s *sizes) Set(text string) error {
	*s = nil
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", part)
		}
		*s = append(*s, n)
	}
	return nil
}

// lengths is the value of a flag: numbers of metres with commas between them.
type lengths []float64

func (l *lengths) String() string { return strings.ReplaceAll(joined(*l), " ", "") }

// Set implements flag.Value.
func (l *lengths) Set(text string) error {
	*l = nil
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(part, 32)
		if err != nil {
			return fmt.Errorf("%q is not a number", part)
		}
		*l = append(*l, v)
	}
	return nil
}

// single returns the one value of a flag that takes several in the scene queries alone, or the
// default if it was not given.
func single[T any](flag string, given []T, otherwise T) (T, error) {
	switch len(given) {
	case 0:
		return otherwise, nil
	case 1:
		return given[0], nil
	}
	return otherwise, fmt.Errorf("%w: -%s: one value; several only for the scene queries", errUsage, flag)
}
