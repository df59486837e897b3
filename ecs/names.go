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
// the handles, and sorted by name, for lookup and for an order that does not
// depend on that of registration.
type named interface{ label() string }

func search[N named](list []N, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(n N, name string) int {
		return cmp.Compare(n.label(), name)
	})
}

func insertByName[N named](list []N, n N) []N {
	i, _ := search(list, n.label())
	return slices.Insert(list, i, n)
}

func validName(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name)
}

func checkName(field, name string) error {
	if validName(name) {
		return nil
	}
	return fault.Field(ErrRange, field, fmt.Sprintf("%.40q", name))
}
