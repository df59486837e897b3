package worldlog

import "syscall"

// syncData leaves out what fsync writes beyond the data and its length.
func syncData(f *hostFile) error {
	for {
		if err := syscall.Fdatasync(f.fd); err != syscall.EINTR {
			return err
		}
	}
}
