// Package enum names the values of enumerations.
package enum

import "strconv"

// Name returns the name of v, or "kind(v)" if it has none.
func Name[T ~uint8](names []string, v T, kind string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return kind + "(" + strconv.Itoa(int(v)) + ")"
}
