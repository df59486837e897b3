//go:build unix

package ws

import "syscall"

// nonBlocking returns a function that writes what the system takes without waiting. One call at a time.
func nonBlocking(raw syscall.RawConn) func(p []byte) (int, error) {
	var (
		message []byte
		n       int
		fault   error
	)
	attempt := func(fd uintptr) bool {
		for {
			if n, fault = syscall.Write(int(fd), message); fault != syscall.EINTR {
				return true
			}
		}
	}
	return func(p []byte) (int, error) {
		message = p
		err := raw.Write(attempt)
		message = nil
		switch {
		case err != nil:
			return 0, err
		case fault == syscall.EAGAIN:
			return 0, nil
		}
		return max(0, n), fault
	}
}
