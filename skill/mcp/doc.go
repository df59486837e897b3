// Package mcp serves the skills of a running world to programs that speak the Model Context
// Protocol: agents with a language model, editors, scripts. It is a module of its own, so that
// other importers do not get its dependencies.
//
// # Model
//
//	client ── stdio or streamable HTTP ──▶ Server: session ──▶ skill.Caller ──▶ the next tick
//	                                        an actor
//
// Every skill of a skill.Registry is a tool of the same name, with the schemas of its input and
// output. A session is an actor with the profile that Config names: the host decides what a client may
// do, and nothing that the client sends changes it. The list of tools has those that the profile permits with some
// input; a call of another one is refused as forbidden, and recorded. A call runs in the next tick and
// returns when that is complete; a refused call is a result with IsError, whose text is an object with
// code, field and message. The _meta of a result has the tick and the number of the call:
// "evertick/tick" and "evertick/seq". A call that is held for approval is answered after the decision. If there is
// none within Config.Timeout, the answer has the code pending_approval and the number of the call; the call goes on
// waiting, and the tool "trace" will show its end. The skills of skill.Approvals are tools like others, so a client
// can approve calls. A client can put "evertick/cause" into the _meta of a call: the number
// of what led to it.
//
// The server offers two things besides the skills: the tool "trace" returns the events of the calls
// of the session, or of all calls if the profile has the permission "world.trace"; and snapshots that
// world.snapshot has kept are resources, "evertick://snapshot/snap_1", for profiles with the
// permission "world.snapshot".
//
// # Security
//
// A client is not trusted. The limits of the registry apply: bytes of an input and of an output,
// waiting calls, calls per tick, tags; see skill.Config. Server.Handler also refuses
//
//   - requests with an Origin other than its own host, or one of Config.Origins: a page in a
//     browser cannot reach a server on the same machine;
//   - requests to a loopback address with another Host, which prevents DNS rebinding;
//   - bodies of more than Config.BodyBytes, and sessions beyond Config.Sessions;
//   - requests without the bearer token, if Config.Token is set.
//
// # Sessions
//
// There are at most Config.Sessions sessions. If there are as many, a new session ends another one
// over HTTP and takes its place:
//
//   - the first one that has only sent initialize or ping, however recently;
//   - or else the one that has been silent for longest, if that is at least Config.Silence: none of its calls is
//     running, and the last one, such as the end of the handshake, was answered that long ago.
//
// A client whose session was ended gets status 404, and begins a new one. If no session can be
// ended, a client over HTTP gets status 503, with the reason and a Retry-After, and Connect returns ErrFull.
// Sessions of Connect belong to the host, and are never ended for another. Over HTTP a session also ends when it
// is idle for Config.Idle.
//
// Names of actors are used again after their sessions end, so that a client cannot evade its rates by
// reconnecting. Listen refuses an address that other machines can reach unless there is a token. There is
// no TLS: use a proxy for that. Over stdin and stdout the client is the program that has started the server.
// Server.Stdio says how it answers lines that are not messages, or too long.
//
// # A client
//
// The command serves a world over stdin and stdout:
//
//	go run github.com/evertick/evertick/skill/mcp/cmd/evertick-mcp -profile builder
//
// which clients with a file of servers start by an entry like
//
//	{"mcpServers": {"evertick": {"command": "evertick-mcp", "args": ["-profile", "builder"]}}}
//
// and with -http localhost:8765 at http://localhost:8765/mcp.
package mcp
