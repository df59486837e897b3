package physics3

// content is what shapes and worlds share, and what a world knows by its content.
type content[T any] interface {
	comparable
	same(o T) bool // has the same content
}

// contentTable holds the contents of the shapes of a world by number. The lowest free number is next, so that numbers depend on the history of the
// world alone.
type contentTable[T content[T]] struct {
	items []T   // by number; the zero T: free
	uses  []int // number of shapes
}

// find returns the number of a content, or the one that it will get.
func (t *contentTable[T]) find(c T) int {
	var none T
	free := -1
	for i, o := range t.items {
		switch {
		case o == none && free < 0:
			free = i
		case o != none && o.same(c):
			return i
		}
	}
	if free < 0 {
		free = len(t.items)
	}
	return free
}

// put sets a content without counting a use. Numbers ascend, except for those that were free.
func (t *contentTable[T]) put(number int, c T) {
	if number == len(t.items) {
		var none T
		t.items, t.uses = append(t.items, none), append(t.uses, 0)
	}
	t.items[number] = c
}

// has reports whether a number is in use.
func (t *contentTable[T]) has(number int) bool {
	var none T
	return number < len(t.items) && t.items[number] != none
}

// drop counts one use less, and reports whether that was the last one. It frees the number then.
func (t *contentTable[T]) drop(number int) bool {
	t.uses[number]--
	if t.uses[number] > 0 {
		return false
	}
	var none T
	t.items[number] = none
	return true
}

// reset removes all contents.
func (t *contentTable[T]) reset() {
	clear(t.items)
	t.items, t.uses = t.items[:0], t.uses[:0]
}
