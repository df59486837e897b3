// Package hugepage asks the system to back large memory with huge pages. Random
// access to more memory than the TLB maps with small ones, a few megabytes, is
// slower by a page walk each time.
package hugepage

// Least is the size in bytes from which Advise does anything: two huge pages,
// so that one lies within at any alignment.
const Least = 2 * pageBytes

const pageBytes = 2 << 20

// within returns the whole huge pages in n bytes at an address. It leaves out
// the page at either end, which is shared with other memory. n is Least or
// more.
func within(address uintptr, n int) (from, to int) {
	from = int(-address % pageBytes)
	return from, from + (n-from)/pageBytes*pageBytes
}
