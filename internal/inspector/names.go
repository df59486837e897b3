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

// numberName names a number of each row of a column: NAME[i] is number i of the column NAME, and NAME alone the number of a column that
// has one in each row. Where a text could be both, it is NAME[i]; so number 0 of a column that is itself named vel[1] beside vel
// is vel[1][0]. Any text may be the name of a column.
type numberName struct {
	column string
	index  int  // -1: not given
	exact  bool // column is the whole name: index is given apart from it
}

// parseNumberName reads a name as it stands, in which an index is the last [i], written without leading zeros.
func parseNumberName(text string) numberName {
	if open := strings.LastIndexByte(text, '['); open >= 0 && strings.HasSuffix(text, "]") {
		digits := text[open+1 : len(text)-1]
		if i, err := strconv.ParseUint(digits, 10, 16); err == nil && strconv.FormatUint(i, 10) == digits {
			return numberName{column: text[:open], index: int(i)}
		}
	}
	return numberName{text, -1, true}
}

// String returns the name as it stands.
func (n numberName) String() string {
	if n.index < 0 {
		return n.column
	}
	return fmt.Sprintf("%s[%d]", n.column, n.index)
}

// find returns the column, and which of the numbers of a row it is.
func (n numberName) find(w *ecs.World) (ecs.ColumnView, int, error) {
	c, known := columnInUse(w, n.column)
	i := max(n.index, 0)
	if known && i < c.Components() && (n.index >= 0 || c.Components() == 1) {
		return c, i, nil
	}
	if whole, ok := columnInUse(w, n.String()); ok && !n.exact { // no column has a number of this name: it is itself a name
		c, known, n = whole, true, numberName{n.String(), -1, true}
		if c.Components() == 1 {
			return c, 0, nil
		}
	}
	why := "no such column"
	switch {
	case known && n.index < 0:
		why = fmt.Sprintf("its rows have %d numbers; name one, as in %s[0]", c.Components(), n)
	case known:
		why = fmt.Sprintf("its rows have %d numbers", c.Components())
	}
	return ecs.ColumnView{}, 0, fmt.Errorf("%w: %s", fault.Field(fault.ErrRange, "column", fmt.Sprintf("%.80q", n.String())), why)
}

// columnInUse returns a column that has a value for each entity.
func columnInUse(w *ecs.World, name string) (ecs.ColumnView, bool) {
	c, ok := w.ColumnNamed(name)
	return c, ok && c.Len() >= w.HighWater()
}
