//go:build !linux

package spatial

// hugePages asks for large pages where the system has such a hint.
func hugePages[T float32 | uint32]([]T) {}
