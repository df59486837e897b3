package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// snapshotEvery is how often the Shipper looks for a new snapshot beside the log.
const snapshotEvery = 250 * time.Millisecond

// objectPrefix begins the names of snapshots in the object store; the tick follows in 20 digits.
const objectPrefix = "snapshot-"

// shelf is the goroutine of a Shipper that puts snapshots into the object store.
type shelf struct {
	s     *Shipper
	store jetstream.ObjectStore
	in    *summer // its own reader of the local log
	sums  *sums
	next  uint64 // no snapshot of an earlier tick is put any more
	tidy  bool   // snapshots of another stream are deleted
	seen  uint64 // count of snapshots that the log had taken, plus 1
}

// shelve runs until stop is closed, and then once more.
func (s *Shipper) shelve(ctx context.Context, stop <-chan struct{}) {
	h := &shelf{s: s, sums: newSums(s.c.Key)}
	for last := false; !last; {
		select {
		case <-stop:
			last = true
		case <-ctx.Done():
			last = true
		case <-time.After(snapshotEvery):
		}
		if ctx.Err() == nil {
			s.shelved(h.put(ctx))
		}
	}
	if h.in != nil {
		s.shelved(false, h.in.reader.Close())
	}
}

// shelved counts a snapshot, or notes why there is none.
func (s *Shipper) shelved(put bool, err error) {
	s.note(func(st *ShipStats) {
		if put {
			st.Snapshots++
		}
		if put || err != nil {
			st.SnapshotErr = err
		}
	})
}

// put puts the newest snapshot of a tick that the stream has, unless it did before.
func (h *shelf) put(ctx context.Context) (bool, error) {
	taken := h.s.log.Stats().Snapshots + 1
	if h.s.c.KeepSnapshots < 0 || taken == h.seen {
		return false, nil
	}
	list, err := worldlog.Snapshots(h.s.log.Dir(), nil)
	if err != nil {
		return false, err
	}
	acked := h.s.acked.Load()
	at := slices.IndexFunc(list, func(s worldlog.Snapshot) bool { return s.Tick >= acked })
	if at < 0 {
		h.seen = taken
		at = len(list)
	}
	if at == 0 || list[at-1].Tick < h.next {
		return false, nil
	}
	if err := h.putOne(ctx, list[at-1].Tick, acked); err != nil {
		h.seen = 0
		return false, fmt.Errorf("jetstream: snapshot of tick %d: %w", list[at-1].Tick, err)
	}
	h.next = list[at-1].Tick + 1
	return true, nil
}

func (h *shelf) putOne(ctx context.Context, tick, acked uint64) error {
	at, err := h.sumBefore(tick + 1)
	if err != nil {
		return err
	}
	file, err := os.ReadFile(filepath.Join(h.s.log.Dir(), fmt.Sprintf("snapshot-%020d.evsnap", tick)))
	if err != nil {
		return err
	}
	check := sha256.Sum256(file)
	m := message{kind: kindSnapshot, term: h.s.Stats().Term, owner: h.s.owner, id: h.s.id, first: tick + 1, before: at, after: at, body: check[:]}
	head := wire.AppendPrefixed(nil, m.append(nil, h.sums))
	if err := h.open(ctx); err != nil {
		return err
	}
	meta := jetstream.ObjectMeta{Name: objectName(tick)}
	if _, err := h.store.Put(ctx, meta, io.MultiReader(bytes.NewReader(head), bytes.NewReader(file))); err != nil {
		return err
	}
	return h.prune(ctx, acked)
}

// sumBefore returns the rolling checksum before a tick.
func (h *shelf) sumBefore(next uint64) (sum, error) {
	var err error
	if h.in == nil {
		if h.in, err = newSummer(h.s.log.Dir(), h.sums); err != nil {
			return sum{}, err
		}
	}
	if err = h.in.refresh(); err == nil {
		err = h.in.until(next)
	}
	if err == nil && h.in.next != next {
		err = fault.Field(ErrRange, "ticks in the log", h.in.next)
	}
	return h.in.sum, err
}

// open finds the bucket, or makes it.
func (h *shelf) open(ctx context.Context) error {
	if h.store != nil {
		return nil
	}
	var err error
	h.store, err = h.s.js.ObjectStore(ctx, h.s.name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		c := h.s.c.Stream
		h.store, err = h.s.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: h.s.name, Storage: c.Storage, Replicas: c.Replicas, Placement: c.Placement})
	}
	return err
}

// prune deletes all but the newest snapshots. The first time it also deletes snapshots of ticks that the stream does not have,
// which are of another stream.
func (h *shelf) prune(ctx context.Context, acked uint64) error {
	ticks, err := listSnapshots(ctx, h.store)
	if err != nil {
		return err
	}
	kept := 0
	for _, tick := range ticks {
		if (tick < acked || h.tidy) && kept < h.s.c.KeepSnapshots {
			kept++
			continue
		}
		if err := h.store.Delete(ctx, objectName(tick)); err != nil {
			return err
		}
	}
	h.tidy = true
	return nil
}

func objectName(tick uint64) string { return fmt.Sprintf(objectPrefix+"%020d", tick) }

// listSnapshots returns the ticks of the snapshots in a bucket, newest first.
func listSnapshots(ctx context.Context, store jetstream.ObjectStore) ([]uint64, error) {
	list, err := store.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ticks []uint64
	for _, o := range list {
		digits, ok := strings.CutPrefix(o.Name, objectPrefix)
		if tick, err := strconv.ParseUint(digits, 10, 63); ok && err == nil && objectName(tick) == o.Name {
			ticks = append(ticks, tick)
		}
	}
	slices.Sort(ticks)
	slices.Reverse(ticks)
	return ticks, nil
}

// restore begins at the newest snapshot that the stream continues, if there is one.
func (f *Follower) restore(ctx context.Context, e end) error {
	store, err := f.js.ObjectStore(ctx, f.name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("jetstream: bucket %s: %w", f.name, err)
	}
	ticks, err := listSnapshots(ctx, store)
	if err != nil {
		return fmt.Errorf("jetstream: bucket %s: %w", f.name, err)
	}
	for _, tick := range ticks {
		if tick >= e.last.next() {
			continue
		}
		if err := f.restoreOne(ctx, store, tick, e); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return err
		}
		f.ownSum = f.sums.start(&f.id)
		if f.f, err = replay.NewFollower(f.sc, f.id, replay.FollowerOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (f *Follower) restoreOne(ctx context.Context, store jetstream.ObjectStore, tick uint64, e end) error {
	o, err := store.Get(ctx, objectName(tick))
	if err != nil {
		return err
	}
	defer o.Close()
	m, s, err := readSnapshot(o, f.sums, f.f.MaxSnapshot())
	if err != nil {
		return err
	}
	if err := checkRun(&f.id, &m.id); err != nil {
		return err
	}
	if s.Tick != tick || m.first != tick+1 {
		return fault.Field(ErrCorrupt, "tick of the snapshot", s.Tick)
	}
	if err := f.f.Restore(s); err != nil {
		return err
	}
	f.ownSum = m.before
	return f.checkOwn(ctx, e)
}

// readSnapshot reads an object: a message after its length, and the file of a snapshot whose SHA-256 it has. The
// data are allocated once, up to limit.
func readSnapshot(r io.Reader, s *sums, limit int) (*message, *worldlog.Snapshot, error) {
	in := &byteReader{Reader: r}
	n, err := binary.ReadUvarint(in)
	if err == nil && n > maxHeader+sha256.Size {
		err = fault.Field(ErrCorrupt, "length of the message", n)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	m := new(message)
	if err := m.decode(head, s); err != nil {
		return nil, nil, err
	}
	if m.kind != kindSnapshot || m.first == 0 {
		return nil, nil, fault.Field(ErrCorrupt, "kind", m.kind)
	}
	check := sha256.New()
	snapshot, err := worldlog.ReadSnapshot(io.TeeReader(r, check), limit)
	if err != nil {
		return nil, nil, err
	}
	if subtle.ConstantTimeCompare(check.Sum(nil), m.body) != 1 {
		return nil, nil, fmt.Errorf("snapshot of tick %d: %w", snapshot.Tick, ErrForged)
	}
	return m, snapshot, nil
}

// byteReader reads bytes one by one.
type byteReader struct {
	io.Reader
	buf [1]byte
}

func (b *byteReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(b.Reader, b.buf[:])
	return b.buf[0], err
}
