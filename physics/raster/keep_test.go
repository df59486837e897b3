package raster_test

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick/physics/raster"
)

// keep writes a picture into the folder that EVERTICK_SCREENSHOTS names, to be looked at.
func keep(t *testing.T, name string, c *raster.Canvas) {
	t.Helper()
	dir := os.Getenv("EVERTICK_SCREENSHOTS")
	if dir == "" {
		return
	}
	file, err := os.Create(filepath.Join(dir, name+".png"))
	must(t, err)
	must(t, png.Encode(file, c.Image()))
	must(t, file.Close())
}
