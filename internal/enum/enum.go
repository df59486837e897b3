// Package enum names the values of enumerations.
package enum

import "strconv"

// Name returns names[v], or "kind(v)" if there is none or it is empty.
func Name[T ~uint8](names []string, v T, kind string) string { return name(names, int(v), kind) }

func name(names []string, v int, kind string) string {
	if v < len(names) && names[v] != "" {
		return names[v]
	}
	return kind + "(" + strconv.Itoa(v) + ")"
}
