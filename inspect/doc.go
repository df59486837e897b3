// Package inspect serves a page that looks into a running Sim, for a browser: its entities and bodies in
// motion, columns, systems with their times, events, inputs, and the log with a timeline to scrub. One line
// in any program is enough; it prints the address to open:
//
//	srv, err := inspect.Serve(ctx, sim, "127.0.0.1:0", inspect.Config{})
//
// Serve, ServeLog and NewHandler must be called where Step may be called. From then on the page gets its data
// between ticks, on the goroutine of the Sim, and only while somebody looks. Looking never changes the state: the
// hashes of a Sim with and without a Handler are equal. A Sim that is not stepped cannot be read; the page says so,
// and /metrics still answers.
//
// Besides the page and its requests a Handler answers /metrics, in the text format of Prometheus, and /debug/vars,
// in the form of package expvar.
//
// # Security
//
// A Handler reads, and changes nothing unless Config.Control is set. Without a Config.Token it answers only
// connections of the same machine; with one, every request needs it. It refuses a Host that is not its own, so that
// no other site can reach it through a name that resolves to this machine, and requests that the page of another
// site sends. A request is bounded in size and time, and so is the number of those that are served at once, so
// that clients cost bounded memory. The connection is not encrypted: for a network that you do not trust mount a Handler in
// a server with TLS.
package inspect
