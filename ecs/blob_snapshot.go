package ecs

import (
	"fmt"
	"math/bits"

	"github.com/evertick/evertick/internal/frame"
	"github.com/evertick/evertick/internal/wire"
)

// blobRecordBytes is the size of a blob in a snapshot, without its bytes.
const blobRecordBytes = 4 + 4

// pendingBlobs replace the blobs of one name: records of a snapshot, or the blobs of another world.
type pendingBlobs struct {
	name    string
	version uint64
	records []byte
	words   int // length of the records in an arena
	from    *Blobs
}

// saved reports whether a snapshot contains the blobs: unless no blob was ever set.
func (b *Blobs) saved() bool { return b.count > 0 || b.version.number > 0 }

func (w *World) savedBlobs() (n int) {
	for _, b := range w.blobs {
		if b.saved() {
			n++
		}
	}
	return n
}

// snapshotBytes returns the length of the content of the frame.
func (b *Blobs) snapshotBytes() int {
	return len(b.name) + 1 + 8 + blobRecordBytes*b.count + b.bytes
}

func (b *Blobs) encode(e *frame.Encoder) {
	e.Open(b.snapshotBytes())
	e.Name(b.name)
	e.U64(b.version.number)
	for i := range b.groups {
		slots := b.groups[i].has
		for _, at := range b.groups[i].at {
			slot, data := i<<6|bits.TrailingZeros64(slots), b.record(at)
			e.U32(slot)
			e.U32(len(data))
			e.Buf = append(e.Buf, data...)
			slots &= slots - 1
		}
	}
	e.Seal()
}

func (im *pendingState) decodeBlobs(w *World, d *frame.Decoder) error {
	b, err := d.Next("blobs")
	if err != nil {
		return err
	}
	r := wire.NewReader(b)
	label := r.Name()
	p := pendingBlobs{name: nameOf(w.blobsByName, label), version: r.U64(), records: r.Rest()}
	if r.Err() != nil || !validLabel(label) {
		return corrupt("name of blobs", fmt.Sprintf("%.40q", p.name))
	}
	if p.version > im.touches {
		return corrupt("version of blobs "+p.name, p.version)
	}
	for i := range im.blobs {
		if im.blobs[i].name == p.name {
			return corrupt("repeated blobs", p.name)
		}
	}
	if err := im.checkRecords(&p); err != nil {
		return err
	}
	im.blobs = append(im.blobs, p)
	return nil
}

// checkRecords checks the blobs of one name, and counts their words.
func (im *pendingState) checkRecords(p *pendingBlobs) error {
	last, bytes := int64(-1), 0
	for r := wire.NewReader(p.records); r.Len() > 0; {
		slot, n := r.U32(), r.U32()
		r.Bytes(int(min(n, maxBlob+1)))
		if n > maxBlob || r.Err() != nil {
			return corrupt("length in blobs "+p.name, n)
		}
		if int64(slot) <= last || int64(slot) >= int64(im.rows) || im.mask[slot>>6]>>(slot&63)&1 == 0 {
			return corrupt("slot in blobs "+p.name, slot)
		}
		last = int64(slot)
		bytes += int(n)
		p.words += recordWords(int(n))
	}
	if bytes > maxBlobBytes {
		return im.tooMany("bytes of blobs "+p.name, bytes)
	}
	return nil
}

// replaceBlobs replaces the blobs of all names.
func (w *World) replaceBlobs(im *pendingState) {
	for _, b := range w.blobs {
		b.clear()
		b.version.number = 0
	}
	for i := range im.blobs {
		p := &im.blobs[i]
		b := w.blobsNamed(p.name)
		b.version.number = p.version
		if p.from != nil {
			b.copyFrom(p.from)
			continue
		}
		b.reserve(p.words, nil)
		for r := wire.NewReader(p.records); r.Len() > 0; {
			slot := r.U32()
			b.put(slot, r.Bytes(int(r.U32())))
		}
	}
}
