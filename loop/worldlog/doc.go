// Package worldlog keeps a durable, append-only log of a run: for every tick the
// inputs from outside and the hash of the resulting state, so that the run can be
// continued after a crash, replayed and checked. Snapshots beside the log shorten
// the replay.
//
// # Model
//
//	Append, Append, …, Commit(tick, hash)        the world's goroutine
//	        │ encoded into one half of a buffer of fixed size
//	        ▼
//	writer: write, fdatasync, next segment       a goroutine of its own
//	keeper: compress and write snapshots, pack   another one
//	        closed segments
//
// A tick is the atomic unit. [Log.Commit] ends it with one record, TickCommit;
// a tick without its commit is not part of the log. [Log.CommittedTick] is the
// last tick that the log has accepted, [Log.WrittenTick] the last that the
// operating system has, and [Log.DurableTick] the last that the disk has confirmed.
//
// # Promises
//
//   - Neither Append nor Commit waits for the disk, unless the buffer is full and
//     the policy is Block. They do not allocate after warm-up.
//   - A tick is reported durable only after a sync that covers it has succeeded.
//   - After the death of the process at any moment, [Recover] finds every tick up
//     to WrittenTick. After a power cut it finds every tick up to DurableTick, and
//     perhaps more. What it finds is a prefix of what was committed, tick by tick.
//   - Recover destroys no data of a log: it keeps the torn end that it cuts, and
//     snapshots of another run or of ticks that the log does not have, as files *.cut.
//   - A snapshot belongs to a run. Only snapshots of the run that writes count for
//     Options.KeepSnapshots, and only they are removed.
//   - After Sync or Close has returned nil, a log that lacks a tick committed before
//     is damaged, whatever the durability: that is ErrCorrupt, for a reader and for
//     Recover, which changes nothing then.
//   - A write or sync that fails, or writes less than asked, poisons the log:
//     it accepts nothing more, reports nothing more as durable, and does not retry
//     the sync, as the system may have dropped the data that it could not write.
//     A segment that was removed or replaced while it was being written poisons
//     the log too; syncs, the end of a segment, and Close check for that.
//   - A reader and Recover find every changed bit that they read; in a packed
//     segment, a bit that does not change the content may go unnoticed. The error
//     for a missing, exchanged or foreign segment names it.
//   - Neither the headers of a file nor its unpacked size make a reader allocate
//     without bound. Reading ticks takes at most about 150 MiB: the bytes of one tick,
//     at most MaxTick, its records, at most MaxRecords, and the window of the decoder;
//     memory for a length is taken only as its bytes arrive. A snapshot is allocated
//     once, up to the limit of LoadSnapshot. Reading a packed segment takes the time
//     of its unpacked size.
//   - Anything but a regular file - a pipe, a device, a socket, a directory - in the
//     place of a file of the log is an error, and opening it does not block.
//
// # What is not promised
//
//   - A disk that confirms a sync while the data is still in a volatile cache loses
//     ticks that were reported durable.
//   - The promises for a power cut assume that a rename is atomic, and is on disk
//     once its directory is synced. Where directories cannot be synced (Windows)
//     they depend on the order in which the system writes.
//     They also assume that sectors of a file that were never written read as zeros.
//   - A copy of a log that is being written may hold a newer mark than its segments,
//     and is then an error: copy the mark, DURABLE, first, or leave it out.
//   - CRC and chain hash find accidents. A person who can write the files can forge
//     a log from any point on; only a chain hash kept elsewhere shows it.
//   - Recover cuts damage to ticks that neither Sync nor Close has confirmed, and that
//     no later commit calls durable, as a torn end, keeps it and reports it, if it
//     looks like one: nothing whole follows, or a sector before what follows may
//     never have been written, as after a power cut. Damage before other whole
//     commits, and before a commit that calls the damaged tick durable, is an error.
//   - Two logs of one run hold the same ticks, not the same bytes: a commit also
//     records how far the disk lagged.
//
// # Format
//
// All numbers are little-endian; uvarint and varint are those of
// encoding/binary, in their shortest form. CRCs are CRC-32C. A log is a
// directory:
//
//	segment-%010d.evlog        segments, counted from 0
//	segment-%010d.evlog.zst    the same, packed: the whole file as zstd frames
//	snapshot-%020d.evsnap      snapshots, by tick
//	DURABLE                    the mark: which tick Sync or Close has confirmed last
//	*.cut                      what Recover has cut, or Create set aside; readers ignore it
//	*.tmp                      work in progress; readers ignore it
//	LOCK                       held by the writer
//
// A segment is a header and records. Every segment but the last ends with a
// TickCommit.
//
//	header
//	 0   8  magic 89 "evtlog" 0A
//	 8   2  format version, 1
//	10   2  flags, 0
//	12   4  SimVersion
//	16   8  number of the segment
//	24   8  first tick: no tick of the segment is below it
//	32   8  seed
//	40  32  chain hash: SHA-256 of the segment before, packed or not, from its
//	        first byte to its last; in segment 0, Identity.Parent
//	72   4  rolling CRC: that after the last record of the segment before; in
//	        segment 0, the CRC of bytes 0 to 71
//	76   1  length of the scenario's name
//	77   n  name of the scenario
//	     4  CRC of the header up to here
//
//	record
//	     …  uvarint: length of the body, 1 to 2^24
//	     1  body: type, and which of the next three follow: 10h, 20h, 40h
//	     …  uvarint: Source, if not 0
//	     …  uvarint: Kind, if not 0
//	     …  varint: Seq less the Seq of the record before, less 1, if not 0
//	     …  data
//	     4  rolling CRC: of length and body, continuing from the record before
//
// The first record of a segment continues from the CRC of the header, and from
// Seq 0. The two types that the log writes itself have no Source, Kind and Seq:
//
//	TickCommit (type 9)                   SnapshotRef (type 8)
//	 …  uvarint: tick                      …  uvarint: tick
//	 8  state hash                         8  state hash
//	 …  uvarint: records in the tick       …  uvarint: bytes of data
//	 …  uvarint: Counts.Dropped            4  CRC of the data
//	 …  uvarint: Counts.Live
//	 …  uvarint: ticks since the durable
//	    one; 0: none was durable
//
//	snapshot
//	 0   8  magic 89 "evtsnp" 0A
//	 8   2  format version, 1
//	10   2  flags, 0
//	12   4  SimVersion
//	16   8  seed
//	24   8  tick
//	32   8  state hash
//	40   4  bytes of data
//	44   4  bytes of packed data
//	48   4  CRC of the data
//	52   1  length of the scenario's name
//	53   n  name of the scenario
//	     4  CRC of the header up to here
//	     …  data, packed with zstd into one frame, which says its size if that is 256 or
//	        more; of no data, nothing
//
//	mark
//	 0   8  magic 89 "evtdur" 0A
//	 8   2  format version, 1
//	10   2  flags, 0
//	12   8  tick
//	20   4  CRC of the bytes before
//
// A log without a mark has never been closed or synced, or was written by a version
// without marks, which ignores the file. The mark is written to a temporary file,
// synced and renamed after the tick is durable, so no crash leaves a wrong one.
package worldlog
