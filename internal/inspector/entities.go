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

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

const (
	usualRows = 50 // of a page of entities
	mostRows  = 500
	mostNames = 64 // columns, tags or clauses of a request
)

// entitiesQuery is a request for a page of the entities that satisfy some conditions.
type entitiesQuery struct {
	offset, count int
	tags, without []string
	where         []clause
	columns       []string
	sort          string // a number; "": by slot, as is "slot" unless a column has this name
	descending    bool
}

func parseEntitiesQuery(q url.Values) (e entitiesQuery, err error) {
	if e.offset, err = countOf(q, "offset", 0, math.MaxInt32); err != nil {
		return e, err
	}
	if e.count, err = countOf(q, "count", usualRows, mostRows); err != nil {
		return e, err
	}
	e.tags, e.without = q["tag"], q["without"]
	e.columns = append([]string{}, q["columns"]...) // an array also of none
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
	}{{"columns", len(e.columns)}, {"tags", len(e.tags) + len(e.without)}, {"clauses of where", len(e.where)}} {
		if n.n > mostNames {
			return e, fault.Field(fault.ErrRange, "inspector: number of "+n.field, n.n)
		}
	}
	e.sort = q.Get("sort")
	e.descending, err = flag(q, "descending", false)
	return e, err
}

// page is the answer to an entitiesQuery, without its rows.
type page struct {
	Tick    uint64   `json:"tick"`
	Total   int      `json:"total"`
	Columns []string `json:"columns"`
}

// entityPage is an entitiesQuery with copies of what it needs.
type entityPage struct {
	*entitiesQuery
	state *stateCopy
	with  [][]uint64 // slots of tags, and then of without
	where []component
	shown []component
	by    *component // to sort by; nil: by slot
}

// copy copies what the query needs.
func (e *entitiesQuery) copy(p *point) (func() ([]byte, error), error) {
	c := p.copy()
	c.copyRows()
	g := &entityPage{entitiesQuery: e, state: c}
	for _, list := range [...]struct {
		field string
		names []string
	}{{"tag", e.tags}, {"without", e.without}} {
		for i, name := range list.names {
			mask, err := c.tag(name)
			if err != nil {
				return nil, fmt.Errorf("inspector: %s[%d]: %w", list.field, i, err)
			}
			g.with = append(g.with, mask)
		}
	}
	for i := range e.where {
		of, err := c.number(e.where[i].name)
		if err != nil {
			return nil, fmt.Errorf("inspector: where[%d] = %.200q: %w", i, e.where[i].text, err)
		}
		g.where = append(g.where, of)
	}
	for i, name := range e.columns {
		of, err := c.number(parseNumberName(name))
		if err != nil {
			return nil, fmt.Errorf("inspector: columns[%d]: %w", i, err)
		}
		g.shown = append(g.shown, of)
	}
	if e.sort == "" {
		return g.answer, nil
	}
	by, err := c.number(parseNumberName(e.sort))
	if err == nil {
		g.by = &by
	} else if _, taken := columnInUse(c.sim.World, "slot"); taken || e.sort != "slot" {
		return nil, fmt.Errorf("inspector: sort: %w", err)
	}
	return g.answer, nil
}

// answer makes the page.
func (g *entityPage) answer() ([]byte, error) {
	mask := g.filter()
	p := page{Tick: g.state.tick, Columns: g.columns, Total: count(mask)}
	slots := g.slots(mask, p.Total)
	dst := append(bytes.TrimSuffix(encode(&p), []byte("}")), `,"rows":[`...)
	bodies := g.state.withBody(slots)
	for i, slot := range slots {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = g.appendRow(dst, slot, bodies[slot])
	}
	return append(dst, "]}"...), nil
}

// appendRow appends {"slot":2,"id":"ent_3","body":false,"values":[1,2]}.
func (g *entityPage) appendRow(dst []byte, slot ecs.Slot, body bool) []byte {
	dst = strconv.AppendUint(append(dst, `{"slot":`...), uint64(slot), 10)
	dst = strconv.AppendUint(append(dst, `,"id":"ent_`...), uint64(g.state.ids[slot]), 10)
	dst = strconv.AppendBool(append(dst, `","body":`...), body)
	dst = append(dst, `,"values":[`...)
	for j := range g.shown {
		if j > 0 {
			dst = append(dst, ',')
		}
		c := &g.shown[j]
		dst = appendNumber(dst, c.kind, c.mem, c.at(int(slot)))
	}
	return append(dst, "]}"...)
}

// filter returns the slots that satisfy all conditions.
func (g *entityPage) filter() []uint64 {
	mask := slices.Clone(g.state.live)
	for i, with := range g.with {
		without := i >= len(g.tags)
		for at, word := range with {
			if without {
				word = ^word
			}
			mask[at] &= word
		}
	}
	for i, of := range g.where {
		g.entitiesQuery.where[i].filter(of, mask)
	}
	return mask
}

// slots returns the slots of the page, of total ones in mask.
func (g *entityPage) slots(mask []uint64, total int) []ecs.Slot {
	first := min(g.offset, total)
	end := min(first+g.count, total)
	if g.by == nil {
		if g.descending {
			first, end = total-end, total-first
		}
		list := slotsOf(mask, first, end)
		if g.descending {
			slices.Reverse(list)
		}
		return list
	}
	rows := g.keys(*g.by, mask, total)
	selectRange(rows, first, end)
	list := make([]ecs.Slot, end-first)
	for i := range list {
		list[i] = rows[first+i].slot
	}
	return list
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
	return askCopy(ctx, s, r.key(), e.copy)
}
