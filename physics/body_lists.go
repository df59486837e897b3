package physics

// bodyLists is a doubly linked list of items for each body: its shapes, or the ends of its joints.
type bodyLists struct {
	head []uint32 // by body: its newest item + 1, or 0
	next []uint32 // by item: the next older item of the same body + 1, or 0
	prev []uint32 // by item: the next newer one + 1, or 0
	body []uint32 // by item: the index of its body; NoSlot if free
}

// grow appends free items until there are n.
func (l *bodyLists) grow(n int) {
	for len(l.body) < n {
		l.next, l.prev, l.body = append(l.next, 0), append(l.prev, 0), append(l.body, NoSlot)
	}
}

// reset empties the lists and makes n free items.
func (l *bodyLists) reset(n int) {
	clear(l.head)
	l.next, l.prev, l.body = l.next[:0], l.prev[:0], l.body[:0]
	l.grow(n)
}

// link inserts an item at the head of the list of a body.
func (l *bodyLists) link(item, body int) {
	head := &l.head[body]
	l.body[item], l.next[item], l.prev[item] = uint32(body), *head, 0
	if *head != 0 {
		l.prev[*head-1] = uint32(item) + 1
	}
	*head = uint32(item) + 1
}

// unlink removes an item from the list of its body.
func (l *bodyLists) unlink(item int) {
	body, next, prev := l.body[item], l.next[item], l.prev[item]
	if next != 0 {
		l.prev[next-1] = prev
	}
	if prev != 0 {
		l.next[prev-1] = next
	} else {
		l.head[body] = next
	}
	l.body[item], l.next[item], l.prev[item] = NoSlot, 0, 0
}

// first returns the newest item of a body + 1, or 0.
func (l *bodyLists) first(body int) uint32 {
	if body >= len(l.head) {
		return 0
	}
	return l.head[body]
}

// copyFrom copies the lists of the first rows bodies.
func (l *bodyLists) copyFrom(src *bodyLists, rows int) {
	copy(l.head, src.head[:min(rows, len(src.head))])
	l.next = append(l.next[:0], src.next...)
	l.prev = append(l.prev[:0], src.prev...)
	l.body = append(l.body[:0], src.body...)
}
