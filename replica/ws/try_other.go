//go:build !unix && !js

package ws

import "syscall"

// nonBlocking returns a function that leaves all writing to the goroutine of the socket.
func nonBlocking(syscall.RawConn) func(p []byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}
