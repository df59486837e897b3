//go:build !linux

package worldlog

func syncData(f *hostFile) error { return f.File.Sync() }
