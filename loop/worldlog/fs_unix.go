//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package worldlog

import (
	"errors"
	"os"
	"syscall"
)

// openNow keeps an open from blocking until a pipe has another end.
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
