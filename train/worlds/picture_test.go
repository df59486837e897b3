package worlds_test

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"

	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/train/worlds"
)

func Example_picture() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "picture")
	check(err)
	defer os.RemoveAll(dir)
	b, err := train.New(worlds.PushBox().Definition(), train.Config{Worlds: 4, Seed: 1})
	check(err)
	check(b.Reset(train.Options{}, b.NewBuffers()))
	// guide:begin picture
	canvas, err := raster.New(400, 400)
	check(err)
	check(b.Render(2, canvas)) // world 2 as it is now
	file, err := os.Create(filepath.Join(dir, "world.png"))
	check(err)
	check(png.Encode(file, canvas.Image()))
	check(file.Close())
	// guide:end
	written, err := os.Stat(file.Name())
	check(err)
	fmt.Println(written.Size() > 1000)
	// Output: true
}
