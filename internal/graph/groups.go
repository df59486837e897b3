package graph

import (
	"github.com/evertick/evertick/internal/bitset"
	"github.com/evertick/evertick/internal/buffer"
)

// Span is a range of rows of bodies.
type Span struct{ Lo, Hi int }

// Groups are sets of whole islands of bodies. Edges of different islands share no dynamic body, so groups can be solved one after the
// other or at the same time, each in the cache of one CPU, with the result of solving all edges colour by colour. An island that is too
// large for a group stays with the rest, as does one with an edge of Overflow.
//
// A body that is not dynamic, but moves, is part of the islands that it touches, since its state changes while these are solved. The zero
// Groups is ready for use: Begin, Move, and Split. It keeps its buffers.
type Groups struct {
	// Rest are the rows of no group: those of large islands, of bodies that do not move, and of no body. A span of the rows that Split gets
	// is never joined with the next one.
	Rest []Span

	islands Islands
	moves   bitset.Set // bodies that are not dynamic, but move
	moving  bool       // there are any
	edges   []uint32   // by body: number of edges that count for it
	size    []int      // by island: bytes
	named   []uint32   // by island: its group, counted from 1; 0: none yet
	of      []uint32   // by body: its group, counted from 1; 0: the rest
	runs    []rowRun
	spans   []Span // of all groups
	list    []group
	items   []groupItem // edges of all groups, by group
	counts  []uint32    // by group, then by run: its edges, then the lane of the next one
	lanes   []uint32    // of all groups
	fills   []uint32    // by group, then by run: the lane after the last one
	colours int         // runs of Colours that groups can have
}

// group has ranges of the lists of all groups.
type group struct {
	spans, endSpans int
	items, endItems int
	lanes, endLanes int
	edges           int
}

// rowRun is rows of one group, or of the rest.
type rowRun struct {
	group uint32
	Span
}

// groupItem is an edge of a group with its run.
type groupItem struct{ edge, run uint32 }

// Limits say which groups Split makes.
type Limits struct {
	Bytes     int // of a group
	EdgeBytes int // of an edge
	BodyBytes int // of a body
	MeanRows  int // the least mean number of rows of a span: else there are no groups
}

// Begin removes all groups of so many bodies.
func (g *Groups) Begin(bodies int) {
	g.moves.Reset(bodies)
	g.moving = false
	g.list, g.Rest = g.list[:0], g.Rest[:0]
}

// Move marks a body that is not dynamic, but moves.
func (g *Groups) Move(body int) {
	g.moves.Add(body)
	g.moving = true
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.list) }

// Spans returns the rows of the bodies of a group, ascending.
func (g *Groups) Spans(i int) []Span {
	k := &g.list[i]
	return g.spans[k.spans:k.endSpans]
}

// MaxBlocks returns the most blocks of a group.
func (g *Groups) MaxBlocks() (blocks int) {
	for i := range g.list {
		blocks = max(blocks, (g.list[i].endLanes-g.list[i].lanes)/Lanes)
	}
	return blocks
}

// Split takes the edges of groups out of c, whose edges have runs, but no lanes yet. rows are those of all dynamic and all moving bodies,
// and of others.
func (g *Groups) Split(c *Colours, rows []Span, l *Limits) {
	g.joinIslands(c, l)
	if g.assignRows(c, rows, l) {
		g.takeEdges(c)
		g.layOut()
		return
	}
	g.list = g.list[:0]
	g.Rest = append(g.Rest[:0], rows...)
}

// joinIslands finds the islands, and counts each edge for one of its bodies. One of Overflow counts so much that its island fits into no
// group.
func (g *Groups) joinIslands(c *Colours, l *Limits) {
	bodies, e := c.bodyColours, &c.Edges
	g.islands.Reset(len(bodies))
	g.edges = buffer.Resized(g.edges, len(bodies))
	clear(g.edges)
	fixed, end := uint32(firstFixed*c.classes), c.overflowRun()
	tooMany := uint32(l.Bytes/l.EdgeBytes + 1)
	for k, kept := range c.kept {
		lo := k * Chunk
		for _, entry := range c.entries[lo : lo+kept] {
			i, run := lo+int(entry&(1<<runBit-1)), entry>>runBit
			a, b := e.A[i], e.B[i]
			if run < fixed {
				g.islands.Union(a, b)
				g.edges[a]++
				continue
			}
			if !bodies.isDynamic(a) {
				a, b = b, a
			}
			if run < end {
				g.edges[a]++
			} else {
				g.edges[a] = tooMany
			}
			if bodies.isDynamic(b) || g.moving && g.moves.Has(int(b)) {
				g.islands.Union(a, b)
			}
		}
	}
}

// assignRows gives each island to the group of the one before, by its lowest row, or to a new one, and finds the spans. It reports whether
// groups are of use: some are, and spans are long enough.
func (g *Groups) assignRows(c *Colours, rows []Span, l *Limits) bool {
	n := len(c.bodyColours)
	g.size, g.named, g.of = buffer.Resized(g.size, n), buffer.Resized(g.named, n), buffer.Resized(g.of, n)
	clear(g.size)
	clear(g.named)
	clear(g.of)
	parent := g.islands.parent
	for _, p := range rows {
		for i := p.Lo; i < p.Hi; i++ {
			up := g.islands.Find(uint32(i))
			parent[i] = up
			g.size[up] += l.BodyBytes + int(g.edges[i])*l.EdgeBytes
		}
	}
	g.runs, g.list = g.runs[:0], g.list[:0]
	total, bytes := 0, 0
	before := ^uint32(0) // the group of the last body that may have one
	for _, p := range rows {
		total += p.Hi - p.Lo
		for i := p.Lo; i < p.Hi; i++ {
			k := uint32(0)
			if c.bodyColours.isDynamic(uint32(i)) || g.moving && g.moves.Has(i) {
				up := parent[i]
				size := g.size[up]
				switch {
				case size == l.BodyBytes && before == 0: // alone: it must not end a span
				case size > l.Bytes:
				case g.named[up] > 0:
					k = g.named[up]
				default:
					if len(g.list) == 0 || bytes+size > l.Bytes {
						g.list, bytes = append(g.list, group{}), 0
					}
					bytes += size
					k = uint32(len(g.list))
					g.named[up] = k
				}
				if before, g.of[i] = k, k; k > 0 {
					g.list[k-1].edges += int(g.edges[i])
				}
			}
			last := len(g.runs) - 1
			if last >= 0 && g.runs[last].group == k && g.runs[last].Hi == i && (k > 0 || i > p.Lo) {
				g.runs[last].Hi++
			} else {
				g.runs = append(g.runs, rowRun{k, Span{i, i + 1}})
			}
		}
	}
	if len(g.list) == 0 || total < len(g.runs)*l.MeanRows {
		return false
	}
	g.sortSpans()
	return true
}

// sortSpans puts the spans of each group together.
func (g *Groups) sortSpans() {
	grouped := 0
	for _, r := range g.runs {
		if r.group > 0 {
			g.list[r.group-1].endSpans++
			grouped++
		}
	}
	at := 0
	for i := range g.list {
		k := &g.list[i]
		at += k.endSpans
		k.spans, k.endSpans = at-k.endSpans, at-k.endSpans
	}
	g.spans, g.Rest = buffer.Resized(g.spans, grouped), g.Rest[:0]
	for _, r := range g.runs {
		if r.group == 0 {
			g.Rest = append(g.Rest, r.Span)
			continue
		}
		k := &g.list[r.group-1]
		g.spans[k.endSpans] = r.Span
		k.endSpans++
	}
}

// takeEdges moves the edges of groups from c to items.
func (g *Groups) takeEdges(c *Colours) {
	at := 0
	for i := range g.list {
		k := &g.list[i]
		k.items, k.endItems = at, at
		at += k.edges
	}
	g.colours = int(c.overflowRun())
	g.items, g.counts = buffer.Resized(g.items, at), buffer.Resized(g.counts, len(g.list)*g.colours)
	clear(g.counts)
	for chunk, kept := range c.kept {
		lo, left := chunk*Chunk, 0
		entries, counts := c.entries[lo:lo+kept], c.countsOf(chunk)
		for _, entry := range entries {
			i, run := lo+int(entry&(1<<runBit-1)), entry>>runBit
			a := c.Edges.A[i]
			if !c.bodyColours.isDynamic(a) {
				a = c.Edges.B[i]
			}
			of := int(g.of[a])
			if of == 0 {
				entries[left] = entry
				left++
				continue
			}
			k := &g.list[of-1]
			g.items[k.endItems] = groupItem{uint32(i), run}
			k.endItems++
			g.counts[(of-1)*g.colours+int(run)]++
			counts[run]--
		}
		c.kept[chunk] = left
	}
}

// layOut makes room for the lanes of all groups: those of a run begin a block.
func (g *Groups) layOut() {
	g.fills = buffer.Resized(g.fills, len(g.counts))
	lane := 0
	for i := range g.list {
		g.list[i].lanes = lane
		first := i * g.colours
		for run, n := range g.counts[first:][:g.colours] {
			g.counts[first+run] = uint32(lane)
			lane += (int(n) + Lanes - 1) / Lanes * Lanes
			g.fills[first+run] = uint32(lane)
		}
		g.list[i].endLanes = lane
	}
	g.lanes = buffer.Resized(g.lanes, lane)
}

// Fill puts the edges of a group into lanes, as Colours.Edge has them, and returns these. Workers can fill different groups. It must be
// called once.
func (g *Groups) Fill(i int) []uint32 {
	k, next := &g.list[i], g.counts[i*g.colours:][:g.colours]
	for _, t := range g.items[k.items:k.endItems] {
		g.lanes[next[t.run]] = t.edge
		next[t.run]++
	}
	for run, end := range g.fills[i*g.colours:][:g.colours] {
		for at := next[run]; at < end; at++ {
			g.lanes[at] = NoEdge
		}
	}
	return g.lanes[k.lanes:k.endLanes]
}
