package worldlog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/evertick/evertick/worldlog"
)

// A run that is written down, interrupted, and taken up again.
func Example() {
	tmp, err := os.MkdirTemp("", "worldlog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "log")
	options := worldlog.Options{Durability: worldlog.Interval, Compress: true}

	// open continues a log, or begins one.
	open := func() *worldlog.Log {
		l, report, err := worldlog.Recover(dir, options)
		if errors.Is(err, fs.ErrNotExist) {
			l, err = worldlog.Create(dir, worldlog.Identity{Scenario: "pinball", SimVersion: 1, Seed: 7}, options)
		} else if err == nil {
			fmt.Printf("%d ticks found, the state after tick %d has hash %#x\n", report.Ticks, report.Tick, report.Hash)
		}
		if err != nil {
			log.Fatal(err)
		}
		return l
	}

	// run writes the ticks from first to last, as a world's loop would.
	run := func(l *worldlog.Log, first, last uint64) {
		for tick := first; tick <= last; tick++ {
			input := worldlog.Record{Type: worldlog.Input, Seq: tick + 1, Data: []byte("left flipper")}
			if err := l.Append(&input); err != nil {
				log.Fatal(err)
			}
			hash := 0xe7e0 + tick // of the state after the step
			if err := l.Commit(tick, hash, worldlog.Counts{Live: 3}); err != nil {
				log.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			log.Fatal(err)
		}
	}
	run(open(), 0, 4)
	run(open(), 5, 7)

	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for tick, err := range r.Ticks(6) {
		if err != nil {
			log.Fatal(err)
		}
		for _, rec := range tick.Records {
			fmt.Printf("tick %d: %v %d: %s\n", tick.Tick, rec.Type, rec.Seq, rec.Data)
		}
	}

	// Output:
	// 5 ticks found, the state after tick 4 has hash 0xe7e4
	// tick 6: Input 7: left flipper
	// tick 7: Input 8: left flipper
}
