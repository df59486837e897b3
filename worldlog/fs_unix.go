//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package worldlog

import (
	"errors"
	"os"
	"syscall"
)

// openNonblock makes opening a pipe return at once, without waiting for its
// other end.
const openNonblock = syscall.O_NONBLOCK

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
