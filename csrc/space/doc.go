// Package space is not for import: it holds the C code of package internal/rigid3, as package csrc does that of native,
// and csrc/space/face gives it to Go. It is a package of its own so that users of the plane alone neither compile nor link
// it.
//
// Its C files include the headers that they share with csrc as "../lanes.h", and
// its Go files import csrc, so that go mod vendor copies them and an edit of one of
// them rebuilds both packages. No C function calls one of another package, and the
// names of all of them begin with et_space.
//
// Without cgo this package is empty.
package space
