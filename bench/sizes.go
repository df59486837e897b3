package main

import (
	"fmt"
	"strconv"
	"strings"
)

// sizes and lengths are values of flags: whole numbers, or numbers of metres, with commas between.
type (
	sizes   []int
	lengths []float64
)

func (s *sizes) String() string   { return listed(*s) }
func (l *lengths) String() string { return listed(*l) }

// Set implements flag.Value.
func (s *sizes) Set(text string) (err error) {
	*s, err = parseList(text, "a whole number", strconv.Atoi)
	return err
}

// Set implements flag.Value.
func (l *lengths) Set(text string) (err error) {
	*l, err = parseList(text, "a number", func(part string) (float64, error) { return strconv.ParseFloat(part, 32) })
	return err
}

func listed[T any](items []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(items), "[]"), " ", ",")
}

func parseList[T any](text, what string, parse func(string) (T, error)) (all []T, err error) {
	for _, part := range strings.Split(text, ",") {
		v, err := parse(part)
		if err != nil {
			return nil, fmt.Errorf("%q is not %s", part, what)
		}
		all = append(all, v)
	}
	return all, nil
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
