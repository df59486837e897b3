package inspector

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// findTag returns a tag that the world has: World.Tag would add it.
func findTag(w *ecs.World, name string) (ecs.Tag, error) {
	for _, t := range w.Describe().Tags {
		if t.Name == name {
			return w.Tag(name)
		}
	}
	return ecs.Tag{}, fmt.Errorf("%w: no such tag", fault.Field(fault.ErrRange, "tag", fmt.Sprintf("%.80q", name)))
}

// findNumber returns the column of a number by its name, and which of the numbers of a row it is: "hp",
// "position.x", or "vel[1]" for number 1 of a column of arrays.
func findNumber(w *ecs.World, name string) (ecs.ColumnView, int, error) {
	refuse := func(why string) (ecs.ColumnView, int, error) {
		return ecs.ColumnView{}, 0, fmt.Errorf("%w: %s", fault.Field(fault.ErrRange, "column", fmt.Sprintf("%.80q", name)), why)
	}
	if c, ok := columnInUse(w, name); ok {
		if c.Components() != 1 {
			return refuse(fmt.Sprintf("its rows have %d numbers; name one, as in %s[0]", c.Components(), name))
		}
		return c, 0, nil
	}
	base, index, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	c, known := columnInUse(w, base)
	if !ok || !known || !strings.HasSuffix(name, "]") {
		return refuse("no such column")
	}
	i, err := strconv.ParseUint(index, 10, 16)
	if err != nil || i >= uint64(c.Components()) {
		return refuse(fmt.Sprintf("its rows have %d numbers", c.Components()))
	}
	return c, int(i), nil
}

// columnInUse returns a column that has a value for each entity.
func columnInUse(w *ecs.World, name string) (ecs.ColumnView, bool) {
	c, ok := w.ColumnNamed(name)
	return c, ok && c.Len() >= w.HighWater()
}
