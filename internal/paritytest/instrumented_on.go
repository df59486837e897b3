//go:build race || asan || msan

package paritytest

// Instrumented reports whether the race detector or a sanitizer is on. Tests are
// then ten times slower, and what is allocated is not what a plain build allocates.
const Instrumented = true
