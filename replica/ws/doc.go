// Package ws carries the messages of package replica over WebSocket (RFC 6455): a Handler for net/http lets browsers and
// other clients join a replica.Server, and a Conn runs a replica.Client. No package of the core
// imports it, so programs without it do not link its library, which itself has no dependencies. In a browser (js/wasm), where the page
// has a WebSocket of its own, the package is empty.
//
// # Serving
//
//	server, err := replica.New(sim, replica.Config{})
//	handler, err := ws.NewHandler(server, ws.Config{Origins: []string{"https://play.example.com"}})
//	http.Handle("/world", handler)
//	host := &http.Server{Addr: ":443", ReadHeaderTimeout: 5 * time.Second}
//	host.ListenAndServeTLS(certificate, key)
//
// You configure the http.Server, and its TLS. Set ReadHeaderTimeout: the Handler runs only when a request is complete.
// To end, call Close of the replica.Server: then all connections end. If a client does not answer, its connection ends
// after two seconds, or after Config.Write if messages wait for it. Shutdown of the http.Server does not wait for them.
//
// Each is one binary message of WebSocket. They are not compressed: they have few bits left to save, and a compressor
// for each client costs more memory than all else here. A text message ends the connection.
//
// replica.Config.Authorize gets the credentials of the Hello. Request returns the HTTP request to it, with cookies
// and headers. Browsers send cookies with requests of any page, so a Handler accepts requests only from pages of its
// own host or of Config.Origins. Config.Session gives the host each *replica.Session, to move its view, to read its counts and to
// end it.
//
// # What a client cannot do
//
//   - Hold a connection without a session for longer than Config.Handshake and two seconds, whatever it sends.
//   - Keep a connection that is silent for longer than Config.Idle: TCP does not detect a client that has vanished.
//   - Delay the server, or other clients, by not reading. Send never waits. At most Config.QueueBytes and one message
//     wait, and as much in the system; after Config.Write without progress the connection ends.
//   - Make the server allocate by announcing a length: buffers grow with the bytes that have come, up to
//     Config.MessageBytes in any number of fragments.
//   - Send more than Config.BytesPerSecond, in messages, fragments or pings. Pings, pongs and fragments are counted, too:
//     at most 128 a second. replica.Limits also bound messages.
//   - Open more connections than Config.Connections, Config.PerAddress and Config.PerMinute.
//   - Take all places of the server from one address: see replica.Limits.Sessions.
//   - Stop the server by a panic in Authorize or in a session: its connection ends, and the log of the http.Server has it.
//
// After a connection has ended for any of these reasons a client may connect again, and resume its session by its
// token within replica.Limits.Resume.
//
// # Costs
//
// The goroutine that sends a message writes it, by a system call that does not wait. To wake a goroutine of the connection
// instead would cost about half a call more. A goroutine writes only while the socket does not take all; with TLS, and on
// systems other than Unix, it writes each message. Send allocates nothing after warm-up. An idle connection has one
// goroutine, which reads.
package ws
