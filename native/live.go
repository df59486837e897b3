package native

// Live turns a bitmap by slot, in which bit s%64 of word s/64 is that of slot s,
// into the form of Queries.Live: bit i of live[b] is the bit of p.Blocks[b].Slot[i],
// and zero in the lanes behind the last point. The bitmap has a bit for each slot
// below p.Limit, and live an element for each block. It panics if one of them is
// too short; that slots are below Limit is not checked.
func Live(level Level, p *Points, bitmap []uint64, live []uint16) {
	n := p.Len()
	if len(bitmap) < (p.Limit+63)/64 {
		panic("native: Live: the bitmap is too short")
	}
	if len(p.Blocks) < (n+BlockLen-1)/BlockLen || len(live) < len(p.Blocks) {
		panic("native: Live: Blocks or live is too short")
	}
	if level = must(level); level == Go || n == 0 {
		liveGo(p, n, bitmap, live)
	} else {
		liveC(level, p, bitmap, live)
	}
}

func liveGo(p *Points, n int, bitmap []uint64, live []uint16) {
	for b := range (n + BlockLen - 1) / BlockLen {
		lanes := uint16(0)
		for i, s := range p.Blocks[b].Slot[:min(BlockLen, n-b*BlockLen)] {
			lanes |= uint16(bitmap[s/64]>>(s%64)&1) << i
		}
		live[b] = lanes
	}
}
