package worlds_test

import (
	"bytes"
	"flag"
	"hash/fnv"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

var update = flag.Bool("update", false, "write the pictures of docs/images anew")

// pictures are those of docs: the first world after some steps.
var pictures = []struct {
	name          string
	steps         int
	width, height int
	hash          uint64
}{
	{"cartpole", 24, 360, 140, 0x921e5944ae95193f},
	{"pushbox", 40, 240, 240, 0xf99d37767bcfc2e6},
	{"tag", 80, 240, 240, 0x5f8e32a2db1012c0},
}

// frame returns the picture of world 0 after some steps.
func frame(t testing.TB, name string, steps, width, height int) *image.RGBA {
	t.Helper()
	b, buf := made(t, name, train.Config{Worlds: 2, Seed: 4, Autoreset: train.SameStep})
	for s := range steps {
		policy(b.Definition(), buf, s)
		step(t, b, buf)
	}
	c, err := raster.New(width, height)
	if err != nil {
		t.Fatal(err)
	}
	before := b.AppendHashes(nil)
	if err := b.Render(0, c); err != nil {
		t.Fatal(err)
	}
	if after := b.AppendHashes(nil); after[0] != before[0] {
		t.Errorf("%s: a picture has changed the world", name)
	}
	return c.Image()
}

// The pictures are the same on every machine, and those of docs are these; -update writes them.
func TestPictures(t *testing.T) {
	for _, p := range pictures {
		got := frame(t, p.name, p.steps, p.width, p.height)
		h := fnv.New64a()
		h.Write(got.Pix)
		if h.Sum64() != p.hash {
			t.Errorf("%s: hash %#x, want %#x", p.name, h.Sum64(), p.hash)
		}
		path := filepath.Join("..", "..", "docs", "images", "train-"+p.name+".png")
		if *update {
			var out bytes.Buffer
			if err := png.Encode(&out, got); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(readPNG(t, path), got.Pix) {
			t.Errorf("%s is stale: go test ./train/worlds -run TestPictures -update", path)
		}
	}
}

// readPNG returns the pixels of a picture, which is opaque.
func readPNG(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, err := png.Decode(file)
	if err != nil {
		t.Fatal(path, err)
	}
	rgba, ok := img.(*image.RGBA)
	if !ok {
		t.Fatalf("%s is a %T", path, img)
	}
	return rgba.Pix
}

// has reports whether a picture has a pixel of a colour, as it is within an outline.
func has(img *image.RGBA, color uint32) bool {
	for p := img.Pix; len(p) > 0; p = p[4:] {
		if uint32(p[0])<<16|uint32(p[1])<<8|uint32(p[2]) == color {
			return true
		}
	}
	return false
}

// What makes a world recognisable is in its picture, in a colour of its own.
func TestPicturesShow(t *testing.T) {
	for name, colors := range map[string]map[string]uint32{ // order-free: each by itself
		"cartpole":   {"track": 0x4a4a4a, "end": 0xc0504d, "cart": 0x30475e, "pole": 0xd08a3e},
		"pushbox":    {"wall": 0x4f8f5f, "disc": 0xd62f2f, "box": 0x2f80e0, "goal": 0x2e9e5b},
		"tag":        {"player": 0xd62f2f, "pursuer": 0xef8b3a, "runner": 0x2f80e0, "wall": 0x4a4a4a},
		"tag-raster": {"player": 0xd62f2f},
	} {
		img := frame(t, name, 3, 600, 500)
		for what, color := range colors { // order-free: each by itself
			if !has(img, color) {
				t.Errorf("%s: no pixel of the %s, %06x", name, what, color)
			}
		}
	}
}

// All simulations are the definitions that their scenarios come from.
func TestSimulations(t *testing.T) {
	for _, d := range worlds.Simulations() {
		if def, err := worlds.ByName(d.Name); err != nil || def.Name != d.Name || def.View != d.View {
			t.Errorf("%s: %v, %v", d.Name, def, err)
		}
	}
}

func TestRenderAllocatesNothing(t *testing.T) {
	for _, p := range pictures {
		b, _ := made(t, p.name, train.Config{})
		c, err := raster.New(p.width, p.height)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(5, func() { err = b.Render(0, c) }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", p.name, n, err)
		}
	}
}
