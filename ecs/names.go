package ecs

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/fault"
)

// maxName is the longest name, in bytes: its length is one byte of a snapshot.
const maxName = 255

// named is a column or a tag. The world keeps both in the order of registration, for
// the handles, and sorted by name: for lookup, and for an order that does not depend
// on registration.
type named interface{ label() string }

func search[N named](list []N, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(n N, name string) int {
		return cmp.Compare(n.label(), name)
	})
}

// find returns the member of a sorted list with that name, or nil.
func find[N any, P interface {
	*N
	named
}](list []P, name string) P {
	if i, ok := search(list, name); ok {
		return list[i]
	}
	return nil
}

func insertByName[N named](list []N, n N) []N {
	i, _ := search(list, n.label())
	return slices.Insert(list, i, n)
}

// allNames returns the names in two sorted lists, sorted.
func allNames[N named](a, b []N) []string {
	var names []string
	for _, list := range [...][]N{a, b} {
		for _, n := range list {
			names = append(names, n.label())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkNew adds a name to coming, the names that will be added to a list, unless the list or coming
// has it. It returns coming, or an error if the name is not valid or the list would have more than
// most names.
func checkNew[N any, P interface {
	*N
	named
}](caller, what, name string, list []P, coming []string, most int) ([]string, error) {
	if find(list, name) != nil || slices.Contains(coming, name) {
		return coming, nil
	}
	if err := checkName(caller+" name", name); err != nil {
		return coming, err
	}
	if len(list)+len(coming) >= most {
		return coming, fault.Field(ErrCapacity, caller+" "+what, most)
	}
	return append(coming, name), nil
}

func checkName(field, name string) error {
	if name != "" && len(name) <= maxName && utf8.ValidString(name) {
		return nil
	}
	return fault.Field(ErrRange, field, fmt.Sprintf("%.40q", name))
}
