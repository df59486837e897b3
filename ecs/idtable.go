package ecs

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	pageBits = 10
	pageIDs  = 1 << pageBits
	pageMask = pageIDs - 1

	// sparePages is how many empty pages are kept for the next ids: enough for the
	// fluctuations of a steady population, and small enough not to matter (76 KiB).
	sparePages = 16

	// noNumber is the number of a page that holds no ids.
	noNumber = ^uint64(0)
)

// idTable maps ids to slots: a sparse set with paged arrays. The ids are consecutive
// numbers, so a page of 1024 of them is an array. The pages that still hold a live id
// form a list, oldest first, and are in a hash directory, which stays small however far
// apart the oldest and the newest entity are.
type idTable struct {
	next uint64 // the next id
	// dir has a chain of pages for each value of the low bits of their number.
	// The numbers are mostly consecutive and dir has twice as many chains as
	// there are pages, so nearly all chains have one page or none.
	dir   []*page
	pages int
	head  *page
	tail  *page
	spare []*page // all slots zero
}

type page struct {
	next, prev *page
	chain      *page  // the next in its chain; ends at &noPage
	number     uint64 // id >> pageBits
	live       int
	slots      [pageIDs]Slot // slot+1; 0: not alive
}

// noPage ends every chain. No id is alive in it, which saves a branch in lookups.
var noPage = page{number: noNumber}

func newIDTable() idTable {
	t := idTable{next: 1}
	t.resize(16)
	return t
}

// find returns the page of that number, or &noPage.
func (t *idTable) find(number uint64) *page {
	p := t.dir[int(number)&(len(t.dir)-1)]
	for p.number != number && p != &noPage {
		p = p.chain
	}
	return p
}

// slot is written so that the compiler can inline it into World.Slot.
func (t *idTable) slot(id ID) (Slot, bool) {
	s := t.find(uint64(id >> pageBits)).slots[id&pageMask]
	return s - 1, s != 0
}

// issue returns the next id and maps it to slot.
func (t *idTable) issue(slot Slot) ID {
	id := t.next
	p := t.tail
	if p == nil || p.number != id>>pageBits {
		p = t.addPage(id >> pageBits)
	}
	p.slots[id&pageMask] = slot + 1
	p.live++
	t.next++
	return ID(id)
}

// insert maps id to slot, and reports false if id was mapped already. After the last
// insert, sort must restore the order of the pages.
func (t *idTable) insert(id ID, slot Slot) bool {
	p := t.find(uint64(id >> pageBits))
	if p == &noPage {
		p = t.addPage(uint64(id >> pageBits))
	}
	if p.slots[id&pageMask] != 0 {
		return false
	}
	p.slots[id&pageMask] = slot + 1
	p.live++
	return true
}

// remove removes id and returns its slot.
func (t *idTable) remove(id ID) (Slot, bool) {
	p := t.find(uint64(id >> pageBits))
	s := p.slots[id&pageMask]
	if s == 0 {
		return 0, false
	}
	p.slots[id&pageMask] = 0
	t.removeLive(p, 1)
	return s - 1, true
}

// removeEach removes the ids at the set bits of a mask, which are all alive, and sets
// them to zero. Neighbouring ids are mostly in one page, so it looks up the page once for
// all of them.
func (t *idTable) removeEach(ids []ID, mask uint64) {
	for mask != 0 {
		p := t.find(uint64(ids[bits.TrailingZeros64(mask)] >> pageBits))
		n := 0
		for ; mask != 0; mask &= mask - 1 {
			id := &ids[bits.TrailingZeros64(mask)]
			if uint64(*id>>pageBits) != p.number {
				break
			}
			p.slots[*id&pageMask] = 0
			*id = 0
			n++
		}
		t.removeLive(p, n)
	}
}

// removeLive subtracts n from the live ids of a page, and releases the page when none is
// left.
func (t *idTable) removeLive(p *page, n int) {
	p.live -= n
	if p.live == 0 && p.number != t.next>>pageBits {
		t.releasePage(p)
	}
}

// addPage appends an empty page. The list has no empty page before it: once the last id
// of a page is issued, remove releases the page with its last live id.
func (t *idTable) addPage(number uint64) *page {
	p := t.takePage()
	p.number = number
	t.link(p)
	t.enterDirectory(p)
	t.pages++
	if 2*t.pages > len(t.dir) {
		t.resize(2 * len(t.dir))
	}
	return p
}

// takePage returns a page, all slots zero.
func (t *idTable) takePage() *page {
	n := len(t.spare)
	if n == 0 {
		return new(page)
	}
	p := t.spare[n-1]
	t.spare = t.spare[:n-1]
	return p
}

// releasePage removes an empty page from the directory and the list.
func (t *idTable) releasePage(p *page) {
	at := &t.dir[int(p.number)&(len(t.dir)-1)]
	for *at != p {
		at = &(*at).chain
	}
	*at = p.chain
	t.recyclePage(p)
}

// recyclePage removes an empty page that is not in the directory from the list.
func (t *idTable) recyclePage(p *page) {
	t.unlink(p)
	t.pages--
	p.number = noNumber
	if len(t.spare) < sparePages {
		t.spare = append(t.spare, p)
	}
}

func (t *idTable) link(p *page) {
	p.prev, p.next = t.tail, nil
	if t.tail != nil {
		t.tail.next = p
	} else {
		t.head = p
	}
	t.tail = p
}

func (t *idTable) unlink(p *page) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		t.head = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		t.tail = p.prev
	}
}

func (t *idTable) enterDirectory(p *page) {
	first := &t.dir[int(p.number)&(len(t.dir)-1)]
	p.chain = *first
	*first = p
}

// resize rebuilds the directory with n chains, a power of two.
func (t *idTable) resize(n int) {
	t.dir = make([]*page, n)
	t.rebuildDirectory()
}

// rebuildDirectory enters all pages into the directory.
func (t *idTable) rebuildDirectory() {
	for i := range t.dir {
		t.dir[i] = &noPage
	}
	for p := t.head; p != nil; p = p.next {
		t.enterDirectory(p)
	}
}

// reset makes t empty, with next as the next id, and keeps all pages for the coming
// inserts. trim frees the pages that are left over.
func (t *idTable) reset(next uint64) {
	if t.dir == nil {
		t.resize(16)
	}
	for p := t.head; p != nil; {
		following := p.next
		clear(p.slots[:])
		p.live, p.number = 0, noNumber
		t.spare = append(t.spare, p)
		p = following
	}
	t.head, t.tail, t.pages, t.next = nil, nil, 0, next
	t.rebuildDirectory()
}

func (t *idTable) trim() {
	if n := len(t.spare); n > sparePages {
		clear(t.spare[sparePages:])
		t.spare = t.spare[:sparePages]
	}
}

// copyFrom makes t equal to src, in pages of its own.
func (t *idTable) copyFrom(src *idTable) {
	t.next = src.next
	p := t.head
	for s := src.head; s != nil; s = s.next {
		if p == nil {
			p = t.takePage()
			t.link(p)
			t.pages++
		}
		p.number, p.live = s.number, s.live
		copy(p.slots[:], s.slots[:])
		p = p.next
	}
	for p != nil {
		next := p.next
		clear(p.slots[:])
		p.live = 0
		t.recyclePage(p)
		p = next
	}
	if len(t.dir) < len(src.dir) {
		t.dir = make([]*page, len(src.dir))
	}
	t.rebuildDirectory()
}

// sort puts the pages into ascending order.
func (t *idTable) sort() {
	if t.sorted() {
		return
	}
	list := make([]*page, 0, t.pages)
	for p := t.head; p != nil; p = p.next {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *page) int { return cmp.Compare(a.number, b.number) })
	t.head, t.tail = nil, nil
	for _, p := range list {
		t.link(p)
	}
}

func (t *idTable) sorted() bool {
	for p := t.head; p != nil && p.next != nil; p = p.next {
		if p.number > p.next.number {
			return false
		}
	}
	return true
}

// pageFrom returns the first page with that number or a higher one, or nil.
func (t *idTable) pageFrom(number uint64) *page {
	if p := t.find(number); p != &noPage {
		return p
	}
	for p := t.head; p != nil; p = p.next {
		if p.number >= number {
			return p
		}
	}
	return nil
}

// each yields, in ascending order, the ids that are alive when it reaches them, up to the
// newest id that existed when it began. The body may issue and remove ids.
func (t *idTable) each(yield func(ID) bool) {
	end := t.next
	for p := t.head; p != nil; {
		number := p.number
		for i := 0; i < pageIDs && p.number == number; i++ {
			if p.slots[i] == 0 {
				continue
			}
			id := number<<pageBits | uint64(i)
			if id >= end || !yield(ID(id)) {
				return
			}
		}
		if p.number == number {
			p = p.next
		} else {
			p = t.pageFrom(number + 1)
		}
	}
}
