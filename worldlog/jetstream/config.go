package jetstream

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// ShipConfig of Ship. The zero value works.
type ShipConfig struct {
	// Name of the stream: letters, digits, '-' and '_'. "": the scenario's, with '_' for other characters.
	Name string
	// Key makes the checksums those that only holders of the key can compute, so that a message of anybody else is
	// refused with ErrForged. Followers need the same. nil: SHA-256 without a key, which finds damage only.
	Key []byte
	// Durable ships a tick only when the local disk has confirmed it, so that the stream never has a tick that a power cut
	// takes from the local log. Otherwise a tick is shipped when the operating system has it.
	Durable bool
	// MaxBehind ends the Sim, with ErrBehind from Step, once the stream lacks more ticks. 0: never.
	MaxBehind uint64
	// BatchBytes bounds the ticks of one message, in bytes, while several wait. 0: 256 KiB. At most what the server takes.
	BatchBytes int
	// KeepSnapshots is how many of the newest snapshots beside the log are kept in the object store. 0: 4; -1: none.
	KeepSnapshots int
	// Beat is the time between signs of life while no tick comes. 0: 500 ms.
	Beat time.Duration
	// Claim takes the stream over from another log that has shipped to it. Otherwise that is ErrFenced.
	Claim bool
	// Stream sets up the stream if there is none: its Replicas, MaxAge, MaxBytes, Storage and others. Name, Subjects and
	// Discard are replaced. A stream that exists is used as it is. DenyPurge keeps damaged messages in it, see package jetstream.
	Stream jetstream.StreamConfig
}

// FollowConfig of Follow. The zero value works.
type FollowConfig struct {
	// Name and Key are as in ShipConfig.
	Name string
	Key  []byte
	// Dir is where the ticks are written into a log of the follower's own, which TakeOver needs. It needs
	// the stream from the first tick on. A log of an earlier Follow in Dir goes on. "": none.
	Dir string
	// SetAside renames Dir to Dir.branch-N if its log has ticks that the stream lacks, and begins anew. Otherwise that
	// is a *BranchedError.
	SetAside bool
	// Log says how the log in Dir is written.
	Log replay.Options
}

const (
	defaultBatch = 256 << 10
	defaultKeep  = 4
	defaultBeat  = 500 * time.Millisecond
	// envelope is what NATS adds to a message: headers, and room for longer ones.
	envelope = 1 << 10
	minBatch = 16
)

// withDefaults returns the configuration with defaults for zeros, and all its faults. most is the largest message.
func (c ShipConfig) withDefaults(most int) (ShipConfig, error) {
	faults := fault.List{Package: "jetstream"}
	most -= envelope + maxHeader
	ints := []fault.Int{
		fault.NewInt("ShipConfig.BatchBytes", &c.BatchBytes, min(defaultBatch, most), minBatch, 1<<30),
		fault.NewInt("ShipConfig.KeepSnapshots", &c.KeepSnapshots, defaultKeep, -1, 1<<20),
	}
	fault.SetDefaults(ints)
	faults.Ints(ints)
	c.BatchBytes = min(c.BatchBytes, most)
	if c.Beat == 0 {
		c.Beat = defaultBeat
	}
	if c.Beat < 0 {
		faults.Add(ErrRange, "ShipConfig.Beat", c.Beat)
	}
	return c, faults.Err()
}
