// Package mcp serves the skills of a running world to programs that speak the Model Context
// Protocol: agents with a language model, editors, scripts. It is a module of its own, so that
// nobody else gets what it depends on.
//
// # Model
//
//	client ── stdio or streamable HTTP ──▶ Server.session ──▶ skill.Caller ──▶ the next tick
//	                                        an actor
//
// Every skill of a skill.Registry is a tool of the same name, with the schemas of its input and
// output. A session is an actor with the profile that Config names: what a client may do is
// said by who starts the server, and by nothing that the client sends. A call runs in the next tick and
// returns when that is complete; a refused call is a result with IsError, whose text is an object with
// code, field and message. The _meta of a result says the tick and the number of the call:
// "evertick/tick" and "evertick/seq"; a client can say by "evertick/cause" in the _meta of a call
// what has led to it.
//
// Two more things are there beside the skills: the tool "trace" tells what became of the calls
// of the session, of all calls if the profile has the permission "world.trace"; and snapshots that
// world.snapshot has kept are resources, "evertick://snapshot/snap_1", for profiles with the
// permission "world.snapshot".
//
// # Security
//
// A client is not trusted. Limits are those of the registry: bytes of an input and of an output,
// calls that wait, calls per tick, tags; see skill.Config. Beyond them Server.Handler refuses
//
//   - requests with an Origin other than its own host, or one of Config.Origins: a page in a
//     browser cannot reach a server on the same machine;
//   - requests to a loopback address by another Host: no rebinding of names;
//   - bodies of more than Config.BodyBytes, and sessions beyond Config.Sessions;
//   - requests without the bearer token, if Config.Token is set.
//
// # Seats
//
// There are Config.Sessions seats, and a new session gets one that nobody has. If all are taken, it gets
// that of another session over HTTP, which ends:
//
//   - one that has only knocked (initialize, ping), at once; the one that did so first;
//   - or else the one that has been silent for longest, and for Config.Silence at least: no call of it is on its
//     way, and the last one, such as the end of the handshake, was answered so long ago.
//
// A client whose session has ended is answered by status 404, and begins anew. If there is no such session
// either, a client over HTTP is answered by status 503, with the reason and a Retry-After; Connect returns ErrFull.
// Sessions of Connect are the host's, and keep their seats until they end. Over HTTP a session ends, too, when it is
// idle for Config.Idle.
//
// Names of actors are given out again when sessions end, so that who connects anew does not get a
// fresh rate. Listen refuses an address that other machines can reach unless there is a token. There is
// no TLS: put a proxy in front for that. Over stdin and stdout the client is the program that has
// started the server; Server.Stdio says what becomes of lines that are no messages, or too long.
//
// # A client
//
// The command serves a world over stdin and stdout:
//
//	go run github.com/evertick/evertick/loop/skill/mcp/cmd/evertick-mcp -profile builder
//
// which clients with a file of servers call by an entry like
//
//	{"mcpServers": {"evertick": {"command": "evertick-mcp", "args": ["-profile", "builder"]}}}
//
// and with -http localhost:8765 at http://localhost:8765/mcp.
package mcp
