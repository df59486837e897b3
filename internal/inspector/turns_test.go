package inspector

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is added, taken and removed: each client gets what it has added in this order, and between two things of a client that
// waits there is at most one of each other client.
func TestTurnsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q turns[int]
		lines := map[string][]int{}
		since := map[string][]string{} // whose turns there were since a client began to wait, or had its turn
		client := rapid.SampledFrom([]string{"", "a", "b", "c"})
		for n := range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch name := client.Draw(t, "client"); rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				if len(lines[name]) == 0 {
					since[name] = nil
				}
				q.add(name, n)
				lines[name] = append(lines[name], n)
			case 3:
				if list := lines[name]; len(list) > 0 {
					v := rapid.SampledFrom(list).Draw(t, "removed")
					q.remove(v)
					lines[name] = slices.DeleteFunc(slices.Clone(list), func(o int) bool { return o == v })
				}
			default:
				v, ok := q.next()
				whose := ""
				for c, list := range lines {
					if slices.Contains(list, v) {
						if whose = c; list[0] != v {
							t.Fatalf("%d before %d of the same client", v, list[0])
						}
					}
				}
				waiting := 0
				for c, list := range lines {
					if waiting += len(list); len(list) > 0 && ok {
						since[c] = append(since[c], whose)
						if c != whose && hasTwice(since[c]) {
							t.Fatalf("%q waits while there were the turns %q", c, since[c])
						}
					}
				}
				if ok != (waiting > 0) || q.empty() != (waiting-1 <= 0) {
					t.Fatalf("next: %v with %d that wait, empty %v", ok, waiting, q.empty())
				}
				if ok {
					lines[whose] = lines[whose][1:]
					since[whose] = nil
				}
			}
		}
	})
}

func hasTwice(list []string) bool {
	seen := map[string]bool{}
	for _, v := range list {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

// What several clients wait for comes in the turn of the first of them, and is then gone from all lines.
func TestTurnsOfSharedThings(t *testing.T) {
	var q turns[int]
	for n := range 5 {
		q.add("a", n)
	}
	q.add("b", 4)
	var got []int
	for v, ok := q.next(); ok; v, ok = q.next() {
		q.remove(v)
		got = append(got, v)
	}
	if fmt.Sprint(got) != "[0 4 1 2 3]" {
		t.Errorf("in the order %v", got)
	}
}
