package handle

import "iter"

// Lists is a doubly linked list of items for each owner: the shapes of a body, or the ends of its joints. A link is an
// item + 1, or 0 at the end of a list. Only methods change the slices.
type Lists struct {
	Head  []uint32 // by owner: its newest item
	Next  []uint32 // by item: the next older item of the same owner
	Owner []uint32 // by item: the index of its owner; None if free

	prev []uint32 // by item: the next newer one
}

// MakeLists returns empty lists of so many owners.
func MakeLists(owners int) Lists { return Lists{Head: make([]uint32, owners)} }

// Grow appends free items until there are n.
func (l *Lists) Grow(n int) {
	for len(l.Owner) < n {
		l.Next, l.prev, l.Owner = append(l.Next, 0), append(l.prev, 0), append(l.Owner, None)
	}
}

// Reset empties the lists and makes n free items.
func (l *Lists) Reset(n int) {
	clear(l.Head)
	l.Next, l.prev, l.Owner = l.Next[:0], l.prev[:0], l.Owner[:0]
	l.Grow(n)
}

// Link inserts an item at the head of the list of an owner.
func (l *Lists) Link(item, owner int) {
	head := &l.Head[owner]
	l.Owner[item], l.Next[item], l.prev[item] = uint32(owner), *head, 0
	if *head != 0 {
		l.prev[*head-1] = uint32(item) + 1
	}
	*head = uint32(item) + 1
}

// Unlink removes an item from the list of its owner.
func (l *Lists) Unlink(item int) {
	owner, next, prev := l.Owner[item], l.Next[item], l.prev[item]
	if next != 0 {
		l.prev[next-1] = prev
	}
	if prev != 0 {
		l.Next[prev-1] = next
	} else {
		l.Head[owner] = next
	}
	l.Owner[item], l.Next[item], l.prev[item] = None, 0, 0
}

// First returns the newest item of an owner + 1, or 0.
func (l *Lists) First(owner int) uint32 {
	if owner >= len(l.Head) {
		return 0
	}
	return l.Head[owner]
}

// CopyFrom copies the lists of the first owners, as many as fit.
func (l *Lists) CopyFrom(src *Lists, owners int) {
	copy(l.Head, src.Head[:min(owners, len(src.Head))])
	l.Next = append(l.Next[:0], src.Next...)
	l.prev = append(l.prev[:0], src.prev...)
	l.Owner = append(l.Owner[:0], src.Owner...)
}

// Of returns the items of an owner, the newest first.
func (l *Lists) Of(owner int) iter.Seq[int] {
	return func(yield func(item int) bool) {
		for link := l.First(owner); link != 0 && yield(int(link-1)); link = l.Next[link-1] {
		}
	}
}
