// Package rigid is not for import: it holds the C code of package internal/rigid, as package csrc does that of native,
// and csrc/rigid/face gives it to Go. It is a package of its own so that users of ecs or spatial alone neither compile
// nor link it.
//
// Its C files include the headers that they share with csrc as "../lanes.h", and
// its Go files import csrc, so that go mod vendor copies them and an edit of one of
// them rebuilds both packages. No C function calls one of the other package.
//
// Without cgo this package is empty.
package rigid
