//go:build !unix

package serving

import (
	"syscall"
	"time"
)

// attempt leaves all writes to the goroutine of the connection.
type attempt struct{}

func (attempt) init(*clientConn) {}

func (attempt) write() (int, bool) { return 0, true }

func narrow(string, string, syscall.RawConn) error { return nil }

func kernelTime() time.Duration { return 0 }
