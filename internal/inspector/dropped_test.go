package inspector

import (
	"testing"
	"time"

	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// A log whose first ticks were dropped is shown with the ticks that it has.
func TestLogOfDroppedTicks(t *testing.T) {
	w := newWriter(t, pitScenario(nil), replay.Options{SnapshotTicks: 20, Log: worldlog.Options{SegmentTicks: 10, KeepSnapshots: 2, Retention: worldlog.Drop}})
	for n := uint64(1); n <= 5; n++ {
		w.write(20)
		for w.rec.Log().Stats().Snapshots < n {
			time.Sleep(time.Millisecond)
		}
	}
	w.close()
	s := logScan{dir: w.dir}
	for !s.complete {
		s.readOn(time.Second)
	}
	if s.err != nil || s.first != 70 || s.last() != 100 { // the snapshot of tick 79 is the oldest
		t.Errorf("ticks %d to %d, %v", s.first, s.last(), s.err)
	}
}
