package spatial

import "github.com/evertick/evertick/internal/neighbours"

// filteredSelf answers a self query with filters as a batch of Radius queries at its points.
type filteredSelf struct {
	queries neighbours.Queries
	own     []uint32 // slots of the centres
	masks   []uint32 // their masks
}

func (f *filteredSelf) search(s *selfSearch, first, last int, rows *neighbours.Rows) int {
	ix, q, n := s.ix, &f.queries, last-first
	q.X, q.Y, q.Z, q.Radius = resize(q.X, n), resize(q.Y, n), resize(q.Z, n), resize(q.Radius, n)
	f.own, f.masks, q.Exclude, q.Mask = resize(f.own, n), resize(f.masks, n), nil, nil
	for i := range n {
		q.X[i], q.Y[i], q.Z[i], f.own[i] = ix.point(first + i)
		q.Radius[i] = s.query.Radius
	}
	if s.query.Keep != neighbours.KeepAll {
		q.Exclude = f.own
	}
	if s.mask != nil {
		q.Mask = f.masks
		for i, slot := range f.own {
			q.Mask[i] = s.mask[slot]
		}
	}
	q.Live = s.live.bits
	from := rows.Fill
	done := neighbours.Radius(ix.level, &ix.grid, &ix.points, q, rows)
	if s.query.Keep == neighbours.KeepAbove {
		f.keepAbove(from, rows.Ends[:done], rows)
	}
	return done
}

// keepAbove removes from rows, which begin at from, the slots below the centre's.
func (f *filteredSelf) keepAbove(from int, ends []uint32, rows *neighbours.Rows) {
	to := from
	for i, end := range ends {
		for ; from < int(end); from++ {
			if rows.Slots[from] < f.own[i] {
				continue
			}
			rows.Slots[to] = rows.Slots[from]
			if rows.Dist2 != nil {
				rows.Dist2[to] = rows.Dist2[from]
			}
			to++
		}
		ends[i] = uint32(to)
	}
	rows.Fill = to
}
