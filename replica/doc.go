// Package replica sends the state of one evertick.Sim to many clients, and takes their inputs.
//
// # Model
//
//	           goroutine of the Sim               goroutine of the Server
//	  inputs ─▶ tick ─▶ capture ───────────────▶ views ─▶ messages ─▶ Conn.Send ─▶ client 1, 2, 3, …
//	    ▲               the quantised state       for all    for each
//	    │
//	Session.Receive ◀── the transport, on goroutines of its own ◀────────────── inputs, acknowledgements
//
// A [Server] belongs to a Sim, which has one at a time: two would give their sessions the same numbers. Only a second one with
// Config.Spectate can be beside it.
// After every tick, or every few (Config.Every), it copies the columns that clients are to see, as whole numbers: see [Codec]. That is all that the goroutine of the Sim does. Another goroutine finds what
// each client sees (ViewConfig), makes for each a message with what has changed since a state that this client has, and
// passes it to the client's connection, a [Conn]. Package ws is a transport; [Pipe] is one in memory. The messages are
// specified in docs/replica-wire.md, which calls each a frame, as public names do.
//
// A [Client] has the state of what it sees, in a [State] for each tick. It sends inputs, which become inputs of the Sim:
// Source is the number of its session, and Seq the number that the client gave the input. Each message says which inputs were
// applied before its state. A [Predictor] shows at once what they do to the entities of the client.
//
// A client in mode Simulate runs the Sim itself, in step with the server: see [Simulator].
//
// # Sessions
//
// A session begins with the first message of a connection, when Config.Authorize has allowed it. It has a number from 1, which
// is never used again. An entity belongs to the session whose number is in the column Config.Owner. The inputs
// Config.Joined and Config.Left are the beginning and the end of a session for the systems of the Sim: they are in logs and
// replays, as all inputs are. Joined comes before all inputs of the session, and Left after them.
//
//	             Join                       Disconnected, or a malformed message
//	(no session) ────▶ connected ────────────────────────────▶ waits
//	               +Joined │  ◀──────────────────────────────── │
//	                       │        Join with the token         │ Limits.Resume
//	                       ▼ Session.Close                      ▼
//	                     ended, +Left                         ended, +Left
//
// The Welcome of each connection has a new token, with which the client resumes the session on another connection. Tokens are
// signed. A Welcome can be lost, so an older token works until the client has sent a message on a connection with a newer one.
// On a transport that is not ordered a Hello may come twice, or again because the Welcome was lost: its connection has one
// session, and gets the same Welcome.
// If the Server still has the state that the client holds, the first message is the difference to that state; otherwise it is
// a whole view.
//
// A Server with the Secret of an earlier one honours the tokens of that one for Limits.Resume after New: a session then goes on
// with its number. At tick 0 no session can have begun in the Sim, so the Server honours no earlier
// tokens. New sessions get numbers above all that are in the column of Config.Owner and, if there is no such column or it has 32
// bits, 65,536 above these and above the tick. So restore the Sim before New. After
// Limits.Resume the Server pushes a Left for each owner that has not come back. Without Config.Owner it cannot know the earlier
// sessions: there is no Left for those that never come back. In a column of 8 or 16 bits the number of a session that left before the
// restart may be given to another, which the old token would resume: use 32 bits, or another Secret.
// A client repeats the inputs that no message has reported as applied, so inputs of the last moments before a restart may be
// applied twice.
//
// The Sim may lack the last ticks of the one before, such as a follower that takes over. If it lacks the tick of a session's
// Joined, Joined is pushed again, with the number of the session. With Config.Owner that is so for each session that comes back and
// owned nothing at New: systems must accept such a Joined. Without it the token says the tick, and where that leaves a doubt
// another session begins. The client forgets states of ticks that the Sim has not reached, and gets a whole view or a Snapshot.
//
// # Relays
//
// With Config.Spectate a Server has viewers of a Sim that follows another one by its log: see package replay. Nothing reaches that
// Sim, so it has the hash of its master after every tick. The sessions only watch. Their numbers are from FirstSpectator on, where no
// player's is, and their tokens work on Servers with Spectate and the same Secret, at any time. A token whose number is in use there
// begins a new session.
//
// # Slow and hostile clients
//
// No client makes the Sim or another client wait. A connection that does not take a message gets the changes of several
// ticks in the next one that it takes (Coalesce), or ends (Disconnect). If the goroutine of the Server has not sent the messages of
// a send tick when the next one comes, that one is skipped: see Stats.Skipped. A malformed message ends the
// connection with an Error and changes nothing. [Limits] bound messages, bytes and sessions, of which no address can take all; the Sim
// bounds the inputs that wait, and gives each session a share: see evertick.Config.Inputs. Clients cannot push Joined or Left, cannot
// follow what they do not own, and see no more than ViewConfig and Column.To allow. That holds for mode View: one that simulates has the whole state. So what
// a client may do is in the [Grant] of each Join, and a zero Grant allows neither that mode, nor a view of any point, nor a category.
//
// # Guarantees
//
//   - After each message that a client applies, its state is exactly the quantised state of that tick, restricted to its view. With
//     Config.Budget, each entity has the values of one tick, which may be an earlier one.
//   - Entities that die or leave the view leave the client's state, whatever messages were lost.
//   - What is outside of a client's view changes no byte of its messages: other entities, columns that are not for it, and what other
//     clients see or may do. An entity is in the view from the capture that finds it there until one that does not, and while a
//     client is away its view is what it was. The view depends on position and on the columns that Owner, Category, Global and
//     Weight name. Names show more: ids and slots count entities, and the numbers of sessions sessions. So do times, if they
//     depend on the load, and World.Reorder, after which all clients get a Keyframe.
//   - Quantised values are the same on every machine.
//   - The Server changes the Sim only through Push, so a recorded run replays without it. Wall time decides when inputs arrive and
//     which sessions expire; the log has both as inputs.
//   - A send tick allocates nothing after warm-up.
//
// # Concurrency
//
// Call New and Server.Close on the goroutine of the Sim, between ticks. Any goroutine may call the other methods of Server and
// Session, but only one at a time may call Receive of a connection. The Server calls a Conn from any goroutine, and a Conn must not
// wait. The Clock of the Sim measures all times: several goroutines call its Now.
package replica
