// Package jetstream ships the log of a running Sim over NATS JetStream, so that followers on other machines run the same ticks,
// prove by every state hash that they have the same state, and take over. It is a module of its own, so that other importers
// do not get its dependencies.
//
// # Model
//
//	master: Sim ── replay.Recorder ──▶ local log ── Ship ──▶ stream, snapshots in the object store
//	                                                           │
//	follower: Sim, a tick later ◀── hash compared ──── Follow ┘
//	              └── TakeOver, Standby: a new term, and it is the master
//
// Any server with JetStream will do, by the connection: also one in the process, of package embedded.
//
// # Promises
//
//   - The Sim never waits for the stream. A Shipper reads the files of the local log on a goroutine of its own. If it cannot
//     read them, it tries again, and the Sim goes on.
//   - A Follower runs only ticks that continue the rolling checksum from the first tick on, or from a snapshot with a
//     checksum that the stream has. It compares the state hash after each, and ends at the first that differs.
//   - Of several masters one can write. A master begins a term by a message that must follow the last message that it knows, and
//     so must each later message. Once another has begun a higher term, the server refuses messages of the old
//     one: Err is a *FencedError, and the next Step of the Sim returns it. A stream that loses messages can lose a term, and
//     then an older master can write to it. The newest that runs writes over it: the log is shipped again from the first tick, and the older
//     one is fenced.
//   - A message for which no answer came is looked for in the stream, and sent again with the same bytes and the same
//     Nats-Msg-Id. The stream has each tick once.
//   - Messages that the server has lost, at the end, within or at the beginning, are noticed and come again from the log. The
//     Shipper looks at the state of the stream once in a Beat. When it begins, when the server was started again and once in
//     an hour it also lets the server read all messages, as one bit of a disk shows only then. If messages within are gone, the
//     whole log is shipped again, and then what was before is removed. Until then a Follower that needs them ends with ErrGap.
//   - FollowStats.InStep is set only if within the last second the stream was known to have no tick that the Sim has not run, and
//     the master was heard.
//   - With a key, nobody without it can make a message or a snapshot that a Follower accepts.
//
// One message is under way at a time; the ticks that come meanwhile share the next one. Several at once would break
// the fence: after one was refused, for a message of another master, the one after it expects the very number
// that this message has, and the server would accept it.
//
// # What is not promised
//
// A log whose Options.Retention archives or drops segments can neither be shipped nor be followed into: keep all of them.
//
//   - The local log is the truth. By default a server of JetStream confirms a message before it is on disk, and syncs every two
//     minutes, so a power cut takes messages that were confirmed. The master ships them again from its log, if it still
//     runs. Set sync_interval: always in the server to avoid that: on one machine, one message of 5,000 bytes at a time
//     went from about 4,600 to 880 a second, and the answer came after 0.56 ms (p95 4.5) instead of 0.09 (p95 0.3).
//     Three replicas on machines that do not lose power together are the other way.
//   - ShipConfig.Durable ships only ticks that are on the master's disk. Without it, a power cut of the master can take ticks
//     from its log that the stream has. Ship then returns ErrLost: follow into the same log instead, which fetches
//     them, and take over.
//   - A master that was fenced can have ticks in its log that nobody else has. Follow refuses such a log by a
//     *BranchedError, or renames its directory with FollowConfig.SetAside. It removes none.
//   - A Follower that has run ticks of the newest master, which the stream lost before an older one wrote to it, ends with a
//     *BranchedError.
//   - To remove messages by hand is to lose them: they come again. To keep fewer, set limits of the stream, such as MaxAge. With limits
//     a lost beginning looks as if they had removed it.
//   - A client that may publish to the subject can stop a master by a message. Give that right to masters only.
//   - A master that lives and does not step gives signs of life; a standby does not take over from it.
//
// The directory of a log that ships has a file SHIPPER: 32 hexadecimal digits, the owner in its messages. After a
// restart the log ships again under a new term, unless another owner has shipped since.
//
// # Format
//
// The stream evertick-NAME has one subject, evertick.NAME.tick. Signs of life are on evertick.NAME.beat, which is not stored.
// All numbers are little-endian; uvarint is as in encoding/binary, in its shortest form.
//
//	message
//	  0   8  magic 89 "evtjet" 0A
//	  8   2  format version, 1
//	 10   1  kind: 1 term, 2 ticks, 3 part of a tick, 4 snapshot, 5 sign of life
//	 11   1  flags, 0
//	 12   8  term
//	 20  16  owner
//	 36   4  SimVersion
//	 40   8  seed
//	 48   8  first tick of the run
//	 56  32  Identity.Parent
//	 88   1  length of the scenario's name
//	 89   n  name of the scenario
//	      8  first tick of the message, or the one that comes next
//	      4  ticks that end in the message: kind 2 one or more, the last part of a tick 1, others 0
//	      4  kind 3: number of the part, from 0; others 0
//	      4  kind 3: parts of the tick; others 0
//	     32  rolling checksum before the first tick
//	     32  rolling checksum after the last tick that ends here
//	      …  body: kind 2 the ticks, each after its length as uvarint; kind 3 a part of a tick; kind 4 the SHA-256 of the
//	         snapshot; kind 1 16 random bytes of the Shipper, as two could have the same owner; others none
//	     32  checksum of all before
//
//	tick
//	  8  state hash
//	  …  uvarints: Counts.Dropped, Counts.Live, number of records
//	  …  records: 1 type, uvarints Source, Kind, Seq and length of the data, data
//
// References to snapshots are left out, as each log has its own. Checksums are SHA-256, or HMAC-SHA-256 with the key. The rolling
// checksum before the first tick is taken of the magic and bytes 36 to the end of the name; after a tick it is
// taken of the checksum before, the tick's number in 8 bytes, and the tick.
//
// The parts of a tick follow each other. If a term comes before the last part, the parts so far are void.
//
// A message of kind 1 has a higher term than all before, or the term and the owner of the message before it: a master then begins
// again, as the stream had lost messages. If its tick is below the one that would come next, the ticks from there on come again.
//
// The bucket evertick-NAME of the object store has objects snapshot-%020d, by tick: the length of a message of kind 4 as uvarint, the
// message, and the file of the snapshot as package worldlog describes it.
package jetstream
