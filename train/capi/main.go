//go:build cgo

// Command capi is the shared library with the worlds of packages train/worlds and space/worlds. Package clib has its C interface:
//
//	go build -buildmode=c-shared -o libevertick_train.so ./train/capi
package main

import (
	inspace "github.com/evertick/evertick/space/worlds"
	"github.com/evertick/evertick/train"
	_ "github.com/evertick/evertick/train/clib"
	"github.com/evertick/evertick/train/worlds"
)

func init() {
	for _, name := range worlds.Names() {
		def, err := worlds.ByName(name)
		if err != nil {
			panic(err)
		}
		train.Register(def)
	}
	for _, def := range inspace.All() {
		train.Register(def.Definition())
	}
}

func main() {}
