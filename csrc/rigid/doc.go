// Package rigid is the C side of package internal/rigid, as package csrc is that of
// native: one Go function per kernel, which checks nothing. It is a package of its
// own so that users of ecs or spatial alone neither compile nor link it.
//
// Its C files include the headers that they share with csrc as "../lanes.h", and
// its Go files import csrc, so that go mod vendor copies them and an edit of one of
// them rebuilds both packages. No C function calls one of the other package: cgo links the
// objects of each by themselves.
//
// Without cgo this package is empty.
package rigid
