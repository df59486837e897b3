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
//   - Recover and Reader.Refresh cost what is new, not what was ever written: see
//     Checkpoints.
//   - Recover destroys no data of a log: it keeps the torn end that it cuts, and
//     snapshots of another run or of ticks that the log does not have, as files *.cut.
//   - A snapshot belongs to a run. Only snapshots of the run that writes count for
//     Options.KeepSnapshots, and only they are removed.
//   - A tick that was reported durable does not vanish without a word. Before a tick is
//     reported, a mark beside the log says that it was on disk. A log that ends before
//     its mark is ErrCorrupt, for a reader and for Recover, which changes nothing
//     then: see Marks.
//   - A write or sync that fails, or writes less than asked, poisons the log:
//     it accepts nothing more, reports nothing more as durable, and does not retry
//     the sync, as the system may have dropped the data that it could not write.
//     A segment that was removed or replaced while it was being written poisons
//     the log too; syncs, the end of a segment, and Close check for that.
//   - One writer has a log: another one gets ErrLocked. If somebody removes or replaces the file LOCK while a
//     writer runs, that writer calls nothing durable any more: its next sync poisons the log, with ErrLocked,
//     and says which ticks are not confirmed. A writer that recovers the log meanwhile has all that was durable,
//     and the one before cannot damage what the new one writes.
//   - A reader and Recover find every changed bit that they read; a bit of a packed
//     segment that does not change the content may go unnoticed, and so may damage to
//     one of the two copies of the mark. The error for a missing, exchanged or foreign
//     segment names it, and comes after the ticks before it.
//   - A reader finds no damage in a log that nothing has damaged, whatever its writer does meanwhile:
//     ends and packs segments, dies, and is succeeded by another.
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
//   - A mark of a tick that only DurableTick or WaitDurable has reported may itself be
//     lost in a power cut: see Marks.
//   - A writer looks at LOCK right before each change that could damage the files of another one. If it stands
//     still between the two, for as long as somebody needs to remove LOCK and recover the log, it does not notice.
//     Where files have no locks that end with the process (Windows), nothing keeps two writers apart.
//   - A copy of a log that is being written may hold a newer mark than its segments,
//     and is then an error: copy the mark, DURABLE, first, or leave it out.
//   - CRC and chain hash find accidents. A person who can write the files can forge
//     a log from any point on; only a chain hash kept elsewhere shows it.
//   - Recover cuts damage to ticks after the mark, and that
//     no later commit calls durable, as a torn end, keeps it and reports it, if it
//     looks like one: nothing whole follows, or a sector before what follows may
//     never have been written, as after a power cut. Damage before other whole
//     commits, and before a commit that calls the damaged tick durable, is an error.
//   - Two logs of one run hold the same ticks, not the same bytes: a commit also
//     records how far the disk lagged.
//
// # Checkpoints
//
// A snapshot of the tick that was committed last, as all of package replay are, is also
// a checkpoint: its header says where in which segment its commit ends, the chain hash
// up to there, and what else it takes to read and write the log from there on. The
// file appears once its tick is durable.
//
// Recover begins at the newest checkpoint that the log bears out: at that place it has a
// commit of that tick, with the same state hash and rolling CRC. From there it reads and
// checks all that follows. So it costs as much as what is new since the last snapshot,
// for a packed segment also the time to unpack it up to there, and one listing of the
// directory. It trusts what is before: a bit that has changed there is found by a Reader
// that reads it, and by replay.Verify. Of the segments before, it checks that each is
// there. Without a checkpoint it reads everything. A snapshot with a checkpoint of
// another history is not of this log, and is set aside.
//
// By Options.Retention, which keeps everything by default, segments go that lie before
// the oldest snapshot that is kept: into the directory archive, or for good. First the new
// snapshot is on disk, whose header says which segments may be missing from then on,
// and all snapshots that are kept were read back. A missing segment is still an error
// if the newest snapshot does not say so. Such a log begins with the first segment that
// is there. It can be continued, read and replayed from its oldest snapshot on,
// and its snapshots are part of it: without one it is ErrCorrupt. It cannot be forked,
// shrunk, or shipped from its first tick. A reader that has not come so far ends with
// an error that wraps fs.ErrNotExist.
//
// # Marks
//
// What cuts a log at the end of a tick leaves a log that looks whole: a disk that was
// checked after a power cut, a copy that was interrupted, a person. The file DURABLE,
// the mark, says up to which tick the log was on disk, and is compared with where the
// log ends.
//
//   - With each sync of the log, one write of 24 bytes renews the mark in place. It is
//     not synced. After the death of the process the mark covers every tick that was
//     reported durable. After a power cut it covers those of which the system had
//     written it, by itself, commonly within half a minute, and so never too many.
//   - Sync, Close and Recover also sync it. What they have confirmed is missed after a
//     power cut too. That takes one sync, and one of the directory for the first mark
//     of a log; none, if no tick is new.
//   - It notices the end that is missing, in whole segments too, and that all of them
//     are. It does not notice a log that was replaced together with its mark, for
//     example by an older copy of the folder, nor what happens to a log whose mark was
//     removed: that counts as one of which nothing was durable.
//   - The mark is two copies in sectors of their own, which are written in turn. One
//     that is not whole is ignored; without a whole one the log is ErrCorrupt.
//   - Where files cannot be written in place, see File, only Sync, Close and Recover
//     write a mark, as a new file.
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
//	DURABLE                    the mark: which tick was on disk last
//	*.cut                      what Recover has cut, or Create set aside; readers ignore it
//	archive/                   segments that Options.Retention has moved; nothing reads it
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
//	 8   2  format version, 2
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
//	     8  first tick of the run
//	    32  Identity.Parent
//	     8  number of the first segment that must be there
//	     8  checkpoint: number of the segment with the commit of the tick
//	     8  offset after that commit in the unpacked segment; 0: no checkpoint, and
//	        what follows up to the CRC of the header is 0 as well
//	     8  ticks of the segment up to there
//	     8  ticks of the log
//	     8  records in them
//	     8  Seq of the record before
//	     4  rolling CRC after the commit
//	    32  chain hash up to there
//	    96  state of SHA-256 after the bytes of the segment up to there: eight
//	        big-endian words, and the block that is not full, filled up with zeros
//	     4  CRC of the header up to here
//	     …  data, packed with zstd into one frame, which says its size if that is 256 or
//	        more; of no data, nothing
//
// Version 1 of a snapshot ends its header with the CRC after the name; it is read as well.
//
//	mark
//	 0    8  magic 89 "evtdur" 0A
//	 8    2  format version, 2
//	10    2  flags, 0
//	12    8  tick
//	20    4  CRC of the bytes before
//	24  488  zeros
//	512  24  the same as bytes 0 to 23, of the sync before or after
//
// The higher tick of the two counts. Version 1 has bytes 0 to 23 only, and was written
// by Sync and Close alone; it is read as well. A log without a mark was never synced, or
// was written by a version without marks. A mark is written only after its tick is
// durable, so no crash leaves a wrong one.
package worldlog
