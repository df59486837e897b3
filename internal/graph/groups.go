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
	size    []int      // by island: bytes
	named   []uint32   // by island: its group, counted from 1; 0: none yet
	of      []uint32   // by body: its group, counted from 1; 0: the rest
	runs    []rowRun
	spans   []Span // of all groups
	list    []group
	sets    [EdgeSets]groupEdges
}

// EdgeSets is the number of Colours whose edges Split can put into groups, such as those of contacts and of joints.
const EdgeSets = 2

// group is the range of its spans.
type group struct{ spans, endSpans int }

// groupEdges are the edges of one of the Colours.
type groupEdges struct {
	edges   []uint32    // by body: number of edges that count for it
	items   []groupItem // edges of all groups, by group
	counts  []uint32    // by group, then by run: its edges, then the lane of the next one
	lanes   []uint32    // of all groups
	fills   []uint32    // by group, then by run: the lane after the last one
	colours int         // runs of Colours that groups can have
	list    []edgeRange // by group
}

// edgeRange has ranges of the lists of all groups.
type edgeRange struct {
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
	Bytes     int           // of a group
	EdgeBytes [EdgeSets]int // of an edge of each of the Colours
	BodyBytes int           // of a body
	MeanRows  int           // the least mean number of rows of a span: else there are no groups
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

// MaxBlocks returns the most blocks of a group, of those of one of the Colours.
func (g *Groups) MaxBlocks(set int) (blocks int) {
	for _, k := range g.sets[set].list[:len(g.list)] {
		blocks = max(blocks, (k.endLanes-k.lanes)/Lanes)
	}
	return blocks
}

// Split takes the edges of groups out of Colours of the same bodies, whose edges have runs, but no lanes yet. All but the first may be nil:
// they have no edges. rows are those of all dynamic and all moving bodies, and of others.
func (g *Groups) Split(all [EdgeSets]*Colours, rows []Span, l *Limits) {
	g.islands.Reset(len(all[0].bodyColours))
	for k, c := range all {
		g.joinIslands(&g.sets[k], c, len(all[0].bodyColours), l.Bytes/l.EdgeBytes[k]+1)
	}
	if !g.assignRows(all[0].bodyColours, rows, l) {
		g.list = g.list[:0]
		g.Rest = append(g.Rest[:0], rows...)
		return
	}
	for k, c := range all {
		g.countEdges(&g.sets[k], rows)
		g.takeEdges(&g.sets[k], c)
		g.sets[k].layOut()
	}
}

// joinIslands joins the islands by some edges, and counts each edge for one of its bodies. One of Overflow counts so much that its island fits
// into no group.
func (g *Groups) joinIslands(to *groupEdges, c *Colours, n, tooMany int) {
	to.edges = buffer.Resized(to.edges, n)
	clear(to.edges)
	if c == nil {
		return
	}
	bodies, e := c.bodyColours, &c.Edges
	fixed, end := uint32(firstFixed*c.classes), c.overflowRun()
	for k, kept := range c.kept {
		lo := k * Chunk
		for _, entry := range c.entries[lo : lo+kept] {
			i, run := lo+int(entry&(1<<runBit-1)), entry>>runBit
			a, b := e.A[i], e.B[i]
			if run < fixed {
				g.islands.Union(a, b)
				to.edges[a]++
				continue
			}
			if !bodies.isDynamic(a) {
				a, b = b, a
			}
			if run < end {
				to.edges[a]++
			} else {
				to.edges[a] = uint32(tooMany)
			}
			if bodies.isDynamic(b) || g.moving && g.moves.Has(int(b)) {
				g.islands.Union(a, b)
			}
		}
	}
}

// assignRows gives each island to the group of the one before, by its lowest row, or to a new one, and finds the spans. It reports whether
// groups are of use: some are, and spans are long enough.
func (g *Groups) assignRows(bodies bodyColours, rows []Span, l *Limits) bool {
	n := len(bodies)
	g.size, g.named, g.of = buffer.Resized(g.size, n), buffer.Resized(g.named, n), buffer.Resized(g.of, n)
	clear(g.size)
	clear(g.named)
	clear(g.of)
	parent := g.islands.parent
	for _, p := range rows {
		for i := p.Lo; i < p.Hi; i++ {
			up := g.islands.Find(uint32(i))
			parent[i] = up
			g.size[up] += l.BodyBytes
			for k := range g.sets {
				g.size[up] += int(g.sets[k].edges[i]) * l.EdgeBytes[k]
			}
		}
	}
	g.runs, g.list = g.runs[:0], g.list[:0]
	total, bytes := 0, 0
	before := ^uint32(0) // the group of the last body that may have one
	for _, p := range rows {
		total += p.Hi - p.Lo
		for i := p.Lo; i < p.Hi; i++ {
			k := uint32(0)
			if bodies.isDynamic(uint32(i)) || g.moving && g.moves.Has(i) {
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
				before, g.of[i] = k, k
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

// countEdges counts the edges of each group.
func (g *Groups) countEdges(to *groupEdges, rows []Span) {
	to.list = buffer.Resized(to.list, len(g.list))
	clear(to.list)
	for _, p := range rows {
		for i := p.Lo; i < p.Hi; i++ {
			if k := g.of[i]; k > 0 {
				to.list[k-1].edges += int(to.edges[i])
			}
		}
	}
}

// takeEdges moves the edges of groups from c to items.
func (g *Groups) takeEdges(to *groupEdges, c *Colours) {
	at := 0
	for i := range to.list {
		k := &to.list[i]
		k.items, k.endItems = at, at
		at += k.edges
	}
	to.items, to.counts, to.colours = buffer.Resized(to.items, at), to.counts[:0], 0
	if c == nil {
		return
	}
	to.colours = int(c.overflowRun())
	to.counts = buffer.Resized(to.counts, len(g.list)*to.colours)
	clear(to.counts)
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
			k := &to.list[of-1]
			to.items[k.endItems] = groupItem{uint32(i), run}
			k.endItems++
			to.counts[(of-1)*to.colours+int(run)]++
			counts[run]--
		}
		c.kept[chunk] = left
	}
}

// layOut makes room for the lanes of all groups: those of a run begin a block.
func (t *groupEdges) layOut() {
	t.fills = buffer.Resized(t.fills, len(t.counts))
	lane := 0
	for i := range t.list {
		t.list[i].lanes = lane
		first := i * t.colours
		for run, n := range t.counts[first:][:t.colours] {
			t.counts[first+run] = uint32(lane)
			lane += (int(n) + Lanes - 1) / Lanes * Lanes
			t.fills[first+run] = uint32(lane)
		}
		t.list[i].endLanes = lane
	}
	t.lanes = buffer.Resized(t.lanes, lane)
}

// Fill puts the edges of a group from one of the Colours into lanes, as Colours.Edge has them, and returns these. Workers can fill different
// groups. It must be called once.
func (g *Groups) Fill(set, i int) []uint32 {
	t := &g.sets[set]
	k, next := &t.list[i], t.counts[i*t.colours:][:t.colours]
	for _, item := range t.items[k.items:k.endItems] {
		t.lanes[next[item.run]] = item.edge
		next[item.run]++
	}
	for run, end := range t.fills[i*t.colours:][:t.colours] {
		for at := next[run]; at < end; at++ {
			t.lanes[at] = NoEdge
		}
	}
	return t.lanes[k.lanes:k.endLanes]
}
