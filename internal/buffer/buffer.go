// Package buffer resizes slices that are working memory: they are kept from call to call, so that a call allocates only
// when it needs more than ever before. [Bytes] and [Words] return the memory of a slice.
package buffer

import "unsafe"

// Resized returns a slice of n elements of unspecified values, in the memory of s if it has room. Otherwise it
// allocates half as many again and a kilobyte, so that small slices do not grow many times.
func Resized[T any](s []T, n int) []T {
	if cap(s) < n {
		var one T
		return make([]T, n, capacity(n, unsafe.Sizeof(one)))
	}
	return s[:n]
}

// capacity is that for n elements of a size in bytes.
func capacity(n int, size uintptr) int { return n + n/2 + 1024/int(max(1, size)) }

// Extended is Resized for elements that own buffers: it keeps the elements.
func Extended[T any](s []T, n int) []T {
	if cap(s) < n {
		s = append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}

// Bytes returns the memory of rows without pointers, in the byte order of the machine.
func Bytes[T any](rows []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*int(unsafe.Sizeof(one)))
}

// Words returns rows that consist of 32-bit words as a slice of these words.
func Words[W uint32 | float32, T any](rows []T) []W {
	var one T
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*int(unsafe.Sizeof(one)/4))
}
