// Package inspector answers what a page asks about simulations: about a Sim that runs, and about the past in
// its log. It knows nothing of HTTP and files, so it also runs in a page, as js/wasm.
package inspector
