//go:build unix

package serving

import (
	"syscall"
	"time"
)

// attempt writes to a socket without waiting for it.
type attempt struct {
	conn *clientConn
	try  func(fd uintptr) bool // kept, so that a write allocates nothing
	n    int
	err  error
}

func (a *attempt) init(c *clientConn) {
	a.conn = c
	a.try = func(fd uintptr) bool {
		a.n, a.err = syscall.Write(int(fd), c.out)
		return true
	}
}

// write writes conn.out, or its beginning, and returns how many bytes. It returns false if the
// connection is lost.
func (a *attempt) write() (int, bool) {
	if err := a.conn.raw.Write(a.try); err != nil {
		return 0, false
	}
	if a.err == syscall.EAGAIN || a.err == syscall.EINTR {
		return 0, true
	}
	return a.n, a.err == nil
}

// narrow makes a socket that is not connected yet receive little at once.
func narrow(_, _ string, raw syscall.RawConn) (err error) {
	if e := raw.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, slowBuffer)
	}); e != nil {
		return e
	}
	return err
}

// kernelTime returns the CPU time that the system has spent for the process.
func kernelTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Stime.Nano())
}
