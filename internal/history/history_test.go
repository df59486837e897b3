package history

import "testing"

// The oldest checkpoints go, with the logs of their ticks, as soon as there are too many or they take too much memory.
func TestStoreIsBounded(t *testing.T) {
	for _, c := range []struct {
		config   Config
		snapshot int // bytes of each
		oldest   uint64
	}{
		{Config{Keep: 3, Every: 4, Bytes: 1 << 20}, 10, 12},
		{Config{Keep: 100, Every: 4, Bytes: 3000}, 1000, 16},
		{Config{Keep: 100, Every: 4, Bytes: 10}, 1000, 20}, // the last one stays
	} {
		h := Store{Config: c.config}
		h.Begin(0)
		h.AddCheckpoint(0, make([]byte, c.snapshot))
		for tick := uint64(0); tick < 20; {
			log := h.NewLog(tick)
			log.Data = append(log.Data, byte(tick))
			tick++
			if due := h.Append(log, tick); due != (tick%4 == 0 || c.config.Bytes < 100) {
				t.Fatalf("%+v: a checkpoint is due after %d ticks: %t", c.config, tick, due)
			} else if due {
				h.AddCheckpoint(tick, append(h.SpareSnapshot(), make([]byte, c.snapshot)...))
			}
			for i := h.Oldest(tick); i < tick; i++ {
				if l := h.LogOf(i); l.Hash != i || len(l.Data) != 1 || l.Data[0] != byte(i) {
					t.Fatalf("%+v: after %d ticks the log of %d is %+v", c.config, tick, i, l)
				}
			}
		}
		if h.Oldest(20) != c.oldest {
			t.Errorf("%+v: the oldest tick is %d, want %d", c.config, h.Oldest(20), c.oldest)
		}
		h.Clear()
		if !h.Empty() || h.Oldest(7) != 7 || h.Undone(0) != 0 {
			t.Errorf("%+v: not empty after Clear", c.config)
		}
	}
}

// After a step back the undone ticks are known until they are dropped, and then other ticks can follow.
func TestStoreDropsUndone(t *testing.T) {
	h := Store{Config: Config{Keep: 9, Every: 2, Bytes: 1 << 20}}
	h.Begin(5)
	h.AddCheckpoint(5, []byte{5})
	for tick := uint64(5); tick < 10; tick++ {
		if h.Append(h.NewLog(tick), tick+1) {
			h.AddCheckpoint(tick+1, []byte{byte(tick + 1)})
		}
	}
	if n := h.Undone(6); n != 4 || h.Undone(10) != 0 || h.SnapshotBefore(8)[0] != 7 {
		t.Fatalf("%d ticks undone, snapshot %v before tick 8", n, h.SnapshotBefore(8))
	}
	h.Aside = []Aside{{Tick: 8}}
	h.DropUndone(6)
	if h.Undone(6) != 0 || len(h.Aside) != 0 || h.SnapshotBefore(99)[0] != 5 || h.LogOf(5).Hash != 5 {
		t.Errorf("%d undone, aside %v, last snapshot %v", h.Undone(6), h.Aside, h.SnapshotBefore(99))
	}
	if due := h.Append(h.NewLog(60), 7); !due || h.LogOf(6).Hash != 60 {
		t.Errorf("a checkpoint is due: %t; log %+v", due, h.LogOf(6))
	}
}
