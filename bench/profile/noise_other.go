//go:build !linux

package profile

func thisNoise() Noise { return calm() }
