package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The last frame is the same text on every machine.
func TestStill(t *testing.T) {
	for file, o := range map[string]options{
		"testdata/flock.txt":  {n: 1200, seed: 1, frames: 150, cols: 80, rows: 24, plain: true},
		"testdata/flock.ansi": {n: 1200, seed: 1, frames: 150, cols: 80, rows: 24},
	} {
		var got bytes.Buffer
		if err := still(&got, o); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("the frame is not %s:\n%s", file, got.Bytes())
		}
	}
}

// A picture has any size that is asked for.
func TestSize(t *testing.T) {
	for _, size := range [][2]int{{1, 2}, {7, 5}, {211, 63}} {
		var got bytes.Buffer
		if err := still(&got, options{n: 50, seed: 3, frames: 2, cols: size[0], rows: size[1], plain: true}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n")
		if len(lines) != size[1] {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines[:len(lines)-1] {
			if n := utf8.RuneCountInString(line); n != size[0] {
				t.Errorf("%v: a line of %d characters", size, n)
			}
		}
	}
}
