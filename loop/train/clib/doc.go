// Package clib makes a shared library of training worlds: it exports the functions of evertick_train.h, the C
// interface of package train, from the program that imports it. The worlds are those of train.Register:
//
//	package main
//
//	import (
//		"github.com/evertick/evertick/loop/train"
//		_ "github.com/evertick/evertick/loop/train/clib"
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
// builds a library that C, C++ and Python use as the one of loop/train/capi, which has the worlds of package
// worlds. The header beside this file describes it; the one that go build may write does not. Load one such library in a
// process: each has a Go runtime of its own, and these do not expect each other.
package clib
