package replica

// Conn is the server's end of a connection to one client. A transport implements it: Pipe, package ws,
// or your own. Its methods are called from any goroutine, and never wait.
//
// A Conn may also have a method Address() string, which says where the client is: see Limits.Sessions. Connections
// without it count as of one address.
type Conn interface {
	// Send takes a message, or returns false if there is no room for it: then it has taken nothing. It
	// does not keep the slice.
	Send(frame []byte) bool
	// Ordered reports whether all messages arrive, once, in order.
	Ordered() bool
	// Close ends the connection, after the messages that it has taken. The transport then calls
	// Session.Disconnected if it has a Session.
	Close()
}
