package main

import (
	"fmt"
	"math"
	"strings"
)

// view is a picture of two pixels to a character, an upper and a lower one. Earlier
// frames fade in it.
type view struct {
	cols, rows int
	pixels     [][3]uint8 // rows of cols, 2×rows of them
}

// resize gives the view its size in characters. A new size empties it.
func (v *view) resize(cols, rows int) {
	if cols != v.cols || rows != v.rows {
		v.cols, v.rows, v.pixels = cols, rows, make([][3]uint8, cols*rows*2)
	}
}

// draw fades the picture and draws every boid over it, in the colour of its direction.
func (v *view) draw(f *flock) {
	for i := range v.pixels {
		for c := range v.pixels[i] {
			v.pixels[i][c] -= v.pixels[i][c]/4 + min(1, v.pixels[i][c])
		}
	}
	for slot := range f.sim.World.Query() {
		px := int(f.sim.World.Position.X[slot] / width * float32(v.cols))
		py := int((1 - f.sim.World.Position.Y[slot]/height) * float32(2*v.rows))
		if px >= 0 && px < v.cols && py >= 0 && py < 2*v.rows {
			v.pixels[py*v.cols+px] = colour(f.Velocity.X.Values()[slot], f.Velocity.Y.Values()[slot])
		}
	}
}

// colour maps a direction to a hue: three cosines a third of a turn apart.
func colour(vx, vy float32) [3]uint8 {
	speed := float32(math.Sqrt(float64(float32(vx*vx) + float32(vy*vy))))
	x, y := vx/speed, vy/speed
	channel := func(cos float32) uint8 { return uint8(148 + float32(107*cos)) }
	return [3]uint8{channel(x), channel(float32(-0.5*x) + float32(0.866*y)), channel(float32(-0.5*x) - float32(0.866*y))}
}

// text returns the picture in half blocks: the foreground is the upper pixel, the background
// the lower one. Plain text has no colour, and shows the bright pixels.
func (v *view) text(plain bool, newline string) string {
	var b strings.Builder
	for row := range v.rows {
		var fore, back [3]uint8
		for col := range v.cols {
			up, down := v.pixels[2*row*v.cols+col], v.pixels[(2*row+1)*v.cols+col]
			if plain {
				b.WriteString([]string{" ", "▀", "▄", "█"}[lit(up)+2*lit(down)])
				continue
			}
			if col == 0 || up != fore {
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm", up[0], up[1], up[2])
			}
			if col == 0 || down != back {
				fmt.Fprintf(&b, "\x1b[48;2;%d;%d;%dm", down[0], down[1], down[2])
			}
			b.WriteString("▀")
			fore, back = up, down
		}
		if !plain {
			b.WriteString("\x1b[0m")
		}
		b.WriteString(newline)
	}
	return b.String()
}

func lit(pixel [3]uint8) int {
	if max(pixel[0], pixel[1], pixel[2]) > 190 {
		return 1
	}
	return 0
}
