package inspector

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
)

const (
	usualRows = 50  // of a page of entities
	mostRows  = 500 // so that a page takes the Sim little time
	mostNames = 64  // columns, tags or clauses of a request, for the same reason
)

// entitiesQuery is a request for a page of the entities that satisfy some conditions.
type entitiesQuery struct {
	offset, count int
	tags          []string // "!B": without B
	where         []clause
	columns       []string
	sort          string // a component; "" or "slot": by slot
	descending    bool
}

func parseEntitiesQuery(q url.Values) (e entitiesQuery, err error) {
	if e.offset, err = countOf(q, "offset", 0, math.MaxInt32); err != nil {
		return e, err
	}
	if e.count, err = countOf(q, "count", usualRows, mostRows); err != nil {
		return e, err
	}
	e.tags = q["tag"]
	for _, list := range q["columns"] {
		e.columns = slices.AppendSeq(e.columns, strings.SplitSeq(list, ","))
	}
	e.columns = slices.DeleteFunc(append([]string{}, e.columns...), func(name string) bool { return name == "" })
	for i, text := range q["where"] {
		c, err := parseClause(i, text)
		if err != nil {
			return e, err
		}
		e.where = append(e.where, c)
	}
	for _, n := range [...]struct {
		field string
		n     int
	}{{"columns", len(e.columns)}, {"tags", len(e.tags)}, {"clauses of where", len(e.where)}} {
		if n.n > mostNames {
			return e, fault.Field(fault.ErrRange, "inspector: number of "+n.field, n.n)
		}
	}
	e.sort, e.descending = strings.CutPrefix(q.Get("sort"), "-")
	return e, nil
}

// page is the answer to an entitiesQuery, without its rows.
type page struct {
	Tick    uint64   `json:"tick"`
	Total   int      `json:"total"`
	Columns []string `json:"columns"`
}

// appendPage answers the query at a safe point. It formats only the rows of the page.
func (e *entitiesQuery) appendPage(dst []byte, sim *evertick.Sim) ([]byte, error) {
	w := sim.World
	mask := slices.Clone(liveSlots(w))
	if err := e.filter(w, mask); err != nil {
		return dst, err
	}
	p := page{Tick: sim.Ticks(), Columns: e.columns}
	shown := make([]component, len(e.columns))
	for i, name := range e.columns {
		c, number, err := findNumber(w, name)
		if err != nil {
			return dst, fmt.Errorf("inspector: columns[%d]: %w", i, err)
		}
		shown[i] = component{c, number}
	}
	for _, word := range mask {
		p.Total += bits.OnesCount64(word)
	}
	slots, err := e.slots(w, mask, p.Total)
	if err != nil {
		return dst, err
	}
	dst = append(dst, bytes.TrimSuffix(encode(&p), []byte("}"))...)
	dst = append(dst, `,"rows":[`...)
	for i, slot := range slots {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRow(dst, sim, slot, shown)
	}
	return append(dst, "]}"...), nil
}

// appendRow appends {"slot":2,"id":"ent_3","body":false,"values":[1,2]}.
func appendRow(dst []byte, sim *evertick.Sim, slot ecs.Slot, shown []component) []byte {
	id, _ := sim.World.ID(slot)
	_, body := sim.Body(id)
	dst = strconv.AppendUint(append(dst, `{"slot":`...), uint64(slot), 10)
	dst = strconv.AppendUint(append(dst, `,"id":"ent_`...), uint64(id), 10)
	dst = strconv.AppendBool(append(dst, `","body":`...), body)
	dst = append(dst, `,"values":[`...)
	for j := range shown {
		if j > 0 {
			dst = append(dst, ',')
		}
		c := &shown[j]
		dst = appendNumber(dst, c.view.Kind(), columns.Memory(&c.view), int(slot)*c.view.Components()+c.i)
	}
	return append(dst, "]}"...)
}

// component is a number of each row of a column.
type component struct {
	view ecs.ColumnView
	i    int
}

// filter removes from mask the slots that do not satisfy all conditions.
func (e *entitiesQuery) filter(w *ecs.World, mask []uint64) error {
	for i, text := range e.tags {
		name, without := strings.CutPrefix(text, "!")
		tag, err := findTag(w, name)
		if err != nil {
			return fmt.Errorf("inspector: tag[%d]: %w", i, err)
		}
		for at, word := range tag.Mask()[:len(mask)] {
			if without {
				word = ^word
			}
			mask[at] &= word
		}
	}
	for i := range e.where {
		c := &e.where[i]
		of, number, err := findNumber(w, c.name)
		if err != nil {
			return fmt.Errorf("inspector: where[%d] = %.200q: %w", i, c.text, err)
		}
		c.filter(component{of, number}, mask)
	}
	return nil
}

// slots returns the slots of the page, of total ones in mask.
func (e *entitiesQuery) slots(w *ecs.World, mask []uint64, total int) ([]ecs.Slot, error) {
	first := min(e.offset, total)
	end := min(first+e.count, total)
	if e.sort == "" || e.sort == "slot" {
		if e.descending {
			first, end = total-end, total-first
		}
		list := slotsOf(mask, first, end)
		if e.descending {
			slices.Reverse(list)
		}
		return list, nil
	}
	by, number, err := findNumber(w, e.sort)
	if err != nil {
		return nil, fmt.Errorf("inspector: sort: %w", err)
	}
	rows := e.keys(component{by, number}, mask, total)
	selectRange(rows, first, end)
	list := make([]ecs.Slot, end-first)
	for i := range list {
		list[i] = rows[first+i].slot
	}
	return list, nil
}

// slotsOf returns those from number first to end-1 of the slots in mask, in ascending order.
func slotsOf(mask []uint64, first, end int) (list []ecs.Slot) {
	seen := 0
	for at, word := range mask {
		n := bits.OnesCount64(word)
		if seen+n <= first {
			seen += n
			continue
		}
		for ; word != 0 && seen < end; word &= word - 1 {
			if seen >= first {
				list = append(list, ecs.Slot(at<<6+bits.TrailingZeros64(word)))
			}
			seen++
		}
		if seen >= end {
			break
		}
	}
	return list
}

// entities answers GET entities.
func (in *Inspector) entities(ctx context.Context, r *Request, s subject) Answer {
	e, err := parseEntitiesQuery(r.Query)
	if err != nil {
		return errorAnswer(err)
	}
	return ask(ctx, s, r.key(), func(sim *evertick.Sim, dst []byte) ([]byte, error) { return e.appendPage(dst, sim) })
}
