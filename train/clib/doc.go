// Package clib makes a shared library of training worlds: it exports the functions of evertick_train.h, the C
// interface of package train, from the program that imports it. The worlds are those of train.Register:
//
//	package main
//
//	import (
//		"github.com/evertick/evertick/train"
//		_ "github.com/evertick/evertick/train/clib"
//	)
//
//	func init() { train.Register(definition()) }
//
//	func main() {}
//
// With cgo and a C compiler
//
//	go build -buildmode=c-shared -o libmine.so .
//
// builds a library that C, C++ and Python use as the one of train/capi, which has the worlds of package
// worlds. The header beside this file describes it; the one that go build may write does not. Several such libraries in one
// process have a Go runtime each; the tests do so on Linux.
package clib
