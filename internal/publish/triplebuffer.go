package publish

import "sync/atomic"

// tripleBuffer passes the latest of three items from one goroutine, the writer, to another, the
// reader, without locks. At any time the writer has one item, the reader has one, and the third is
// between them. publish and take each swap the caller's own item with the third by one atomic
// operation, so the writer and the reader never have the same item.
type tripleBuffer struct {
	back   uint32        // the writer's item
	front  uint32        // the reader's
	middle atomic.Uint32 // the item between them, with unread if it was published and not taken yet
}

const unread = 4

func (t *tripleBuffer) init() {
	t.back, t.front = 0, 2
	t.middle.Store(1)
}

// publish makes the writer's item the latest, and gives the writer another.
func (t *tripleBuffer) publish() { t.back = t.middle.Swap(t.back|unread) &^ unread }

// fresh reports to the reader whether an item was published since its last take.
func (t *tripleBuffer) fresh() bool { return t.middle.Load()&unread != 0 }

// take gives the latest item to the reader. Call it only if fresh was true. If another item is
// published between fresh and take, the reader gets that one.
func (t *tripleBuffer) take() { t.front = t.middle.Swap(t.front) &^ unread }
