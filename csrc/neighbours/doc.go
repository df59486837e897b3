// Package neighbours is not for import: it holds the C code of package internal/neighbours, as package csrc/rigid does that
// of internal/rigid, and csrc/neighbours/face gives it to Go. It is a package of its own so that users of ecs alone
// neither compile nor link it.
//
// Without cgo this package is empty.
package neighbours
