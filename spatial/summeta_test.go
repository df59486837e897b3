package spatial_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// sumScenes calls do with scenes of every family that are larger than those of the brute-force tests, on every level,
// with columns of ordinary or of any values.
func sumScenes(t *testing.T, name string, do func(run *paritytest.Run, s *paritytest.Scene, ix *spatial.Index, what string)) {
	run := paritytest.Start(t, "Sums, "+name)
	points := 1500
	if !long || paritytest.Instrumented || testing.Short() {
		points = 400
	}
	for range rounds(1, 2) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, points, 1+run.IntN(200))
			if run.IntN(2) == 0 {
				s.Category = run.Categories(s.Limit())
			}
			for _, level := range native.Levels() {
				run.Case(level)
				cfg := someConfig(run, s, level)
				do(run, s, build(t, cfg, s), fmt.Sprintf("scene %s, %d points, %+v", s.Name, len(s.X), cfg))
			}
		}
	}
}

// Counts are those of Count, and the nearest is that of Nearest.
func TestSumsAgreeWithOtherQueries(t *testing.T) {
	var first spatial.NearestResult
	sumScenes(t, "other queries", func(run *paritytest.Run, s *paritytest.Scene, ix *spatial.Index, what string) {
		q := queriesOf(s)
		q.Exclude, q.Mask, q.Live = someFilters(run, s, len(q.X))
		n := len(q.X)
		got := &spatial.Sums{Counts: make([]uint32, n), Nearest: make([]uint32, n), NearestDist2: make([]float32, n)}
		counts := make([]uint32, n)
		run.Check(ix.Sum(q, got), ix.Count(q, counts), ix.Nearest(&spatial.NearestQueries{X: q.X, Y: q.Y, Z: q.Z, Radius: q.Radius,
			Exclude: q.Exclude, Mask: q.Mask, Live: q.Live}, &first),
			paritytest.Bits(what+": counts", got.Counts, counts), paritytest.Bits(what+": nearest", got.Nearest, first.Slots),
			paritytest.Bits(what+": squared distance of the nearest", got.NearestDist2, first.Dist2))
	})
}

// SumSelf is Sum with a query at each point.
func TestSumsSelfAgreesWithQueries(t *testing.T) {
	sumScenes(t, "self and queries", func(run *paritytest.Run, s *paritytest.Scene, ix *spatial.Index, what string) {
		_, all := queriesOfSums(run, s)
		want, by := newSums(run, s, all), all.self
		blank(want, all.rows)
		q := &spatial.Queries{X: s.X, Y: s.Y, Z: s.Z, Radius: slices.Repeat([]float32{by.Radius}, len(s.X)), Live: by.Live}
		if !by.IncludeSelf {
			q.Exclude = s.Slots
		}
		rows := make([]int, len(s.X))
		for i, slot := range s.Slots {
			rows[i] = int(slot)
		}
		if by.Mask != nil {
			q.Mask = picked(by.Mask, rows)
		}
		got := askRows(want, rows)
		run.Check(ix.SumSelf(by, want), ix.Sum(q, got), sameSums(what, got, rowsOfSums(want, rows)))
	})
}

// askRows returns sums for a batch of queries that are these rows of another.
func askRows(s *spatial.Sums, rows []int) *spatial.Sums {
	some := rowsOfSums(s, rows)
	for i := range some.Terms {
		if own := some.Terms[i].Own; own != nil {
			some.Terms[i].Own = picked(own, rows)
		}
	}
	blank(some, len(rows))
	return some
}

// Neither other terms, nor other queries of the batch, nor results of an earlier call change a result.
func TestSumsAreIndependent(t *testing.T) {
	var used spatial.Sums // keeps its memory over all cases
	sumScenes(t, "independence", func(run *paritytest.Run, s *paritytest.Scene, ix *spatial.Index, what string) {
		batch, self := queriesOfSums(run, s)
		for _, k := range []*sumQuery{batch, self} {
			want := newSums(run, s, k)
			blank(want, k.rows)
			run.Check(k.ask(ix, want))

			order := run.Perm(len(want.Terms))
			used.Softening = want.Softening
			used.Terms, used.Counts, used.Nearest, used.NearestDist2 = picked(want.Terms, order), slices.Clone(want.Counts), nil, nil
			blank(&used, k.rows)
			run.Check(k.ask(ix, &used), sameSums(what+": terms in another order, no nearest", &used,
				&spatial.Sums{Terms: picked(want.Terms, order), Counts: want.Counts}))

			if k.q == nil || k.rows < 2 {
				continue
			}
			cut := 1 + run.IntN(k.rows-1)
			for _, part := range [][2]int{{0, cut}, {cut, k.rows}} {
				q, rows := *k.q, numbered(k.rows)[part[0]:part[1]]
				q.X, q.Y, q.Z, q.Radius = picked(q.X, rows), picked(q.Y, rows), picked(q.Z, rows), picked(q.Radius, rows)
				if q.Exclude != nil {
					q.Exclude = picked(q.Exclude, rows)
				}
				if q.Mask != nil {
					q.Mask = picked(q.Mask, rows)
				}
				got := askRows(want, rows)
				run.Check(ix.Sum(&q, got), sameSums(what+": part of the batch", got, rowsOfSums(want, rows)))
			}
		}
	})
}

// Neither the number of workers, nor what the index held before, nor a snapshot changes a result.
func TestSumsOfTheSamePoints(t *testing.T) {
	other := goldenScene()
	sumScenes(t, "same points", func(run *paritytest.Run, s *paritytest.Scene, ix *spatial.Index, what string) {
		batch, self := queriesOfSums(run, s)
		x, y, z := s.Columns()
		saved := ix.Snapshot(nil)
		for _, k := range []*sumQuery{batch, self} {
			want := newSums(run, s, k)
			blank(want, k.rows)
			run.Check(k.ask(ix, want))
			got := cloneSums(want)
			same := func(how string) {
				t.Helper()
				blank(got, k.rows)
				run.Check(k.ask(ix, got), sameSums(what+": "+how, got, want))
			}
			for _, workers := range []int{1, 2, 7} {
				run.Check(ix.SetWorkers(workers))
				same(fmt.Sprintf("%d workers", workers))
			}
			ox, oy, oz := other.Columns()
			run.Check(ix.Build(ox, oy, oz, other.Slots), ix.Sum(queriesOf(other), &spatial.Sums{Counts: make([]uint32, len(other.QueryX))}))
			run.Check(ix.Build(x, y, z, s.Slots))
			if s.Category != nil {
				ix.SetCategories(s.Category)
			}
			same("after Build of other points")
			run.Check(ix.Build(ox, oy, oz, other.Slots), ix.Restore(saved))
			same("after Restore")
		}
	})
}

// On whole numbers no sum rounds: neither the cells nor the order of slots change a result.
func TestSumsOfWholeNumbersDoNotDependOnTheGrid(t *testing.T) {
	run := paritytest.Start(t, "Sums, whole numbers")
	for range paritytest.Rounds(10) {
		s := latticeScene(run, 1+run.IntN(1500), 1+run.IntN(100))
		of := make([]float32, s.Limit())
		for i := range of {
			of[i] = float32(run.IntN(2001) - 1000)
		}
		q := queriesOf(s)
		totals := make([]float32, len(q.X)) // in order of slots, of integers
		for i, row := range bruteForce(s, q) {
			sum := int32(0)
			for _, h := range row {
				sum += int32(of[h.slot])
			}
			totals[i] = float32(sum)
		}
		for _, level := range native.Levels() {
			run.Case(level)
			got := &spatial.Sums{Terms: []spatial.Term{{Of: of, To: make([]float32, len(q.X))}}}
			run.Check(build(t, someConfig(run, s, level), s).Sum(q, got), paritytest.Bits("totals", got.Terms[0].To, totals))
		}
	}
}

// Without z, in Build and in queries, everything is at z = 0.
func TestSumsInTwoDimensions(t *testing.T) {
	run := paritytest.Start(t, "Sums, two dimensions")
	s := drawExactly(run, "uniform", 900)
	clear(s.Z)
	for i := range 100 {
		s.QueryX, s.QueryY, s.QueryZ = append(s.QueryX, s.X[i]), append(s.QueryY, run.Near(s.Y[i])), append(s.QueryZ, 0)
		s.Radius, s.Exclude = append(s.Radius, s.Scale*4*run.Float32()), append(s.Exclude, s.Slots[i])
	}
	x, y, _ := s.Columns()
	batch, self := queriesOfSums(run, s)
	for _, level := range native.Levels() {
		run.Case(level)
		cfg := spatial.Config{CellSize: s.Scale, Level: level, Workers: 2}
		for _, k := range []*sumQuery{batch, self} {
			want := newSums(run, s, k)
			blank(want, k.rows)
			got, flat := cloneSums(want), *k
			blank(got, k.rows)
			if k.q != nil {
				q := *k.q
				q.Z, flat.q = nil, &q
			}
			run.Check(k.ask(build(t, cfg, s), want), flat.ask(indexOf(t, cfg, x, y, nil, s.Slots), got), sameSums("without z", got, want))
		}
	}
}

func TestSumsAllocateNothingAfterWarmUp(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	run := paritytest.Start(t, "Sums, allocations")
	s := goldenScene()
	s.Scale = 20
	x, y, z := s.Columns()
	batch, self := queriesOfSums(run, s)
	for _, filtered := range []bool{false, true} {
		batch.q.Exclude, batch.q.Mask, batch.q.Live, self.self.Mask, self.self.Live = nil, nil, nil, nil, nil
		if filtered {
			batch.q.Exclude, batch.q.Mask, batch.q.Live = s.Exclude, run.Categories(batch.rows), run.Bitmap(s.Limit())
			self.self.Mask, self.self.Live = run.Categories(s.Limit()), batch.q.Live
		}
		for _, level := range native.Levels() {
			for _, workers := range []int{1, 2, 7} {
				ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: workers}, s)
				of := make([]float32, s.Limit())
				for _, k := range []*sumQuery{batch, self} {
					sums := &spatial.Sums{Terms: everyTerm(of, make([]float32, k.rows))[:64], Counts: make([]uint32, k.rows),
						Nearest: make([]uint32, k.rows), NearestDist2: make([]float32, k.rows)}
					blank(sums, k.rows)
					do := func() {
						if err := ix.Build(x, y, z, s.Slots); err != nil {
							t.Error(err)
						}
						if err := k.ask(ix, sums); err != nil {
							t.Error(err)
						}
					}
					for range 5 {
						do()
					}
					if n := allocations(5, do); n != 0 {
						t.Errorf("level %s, %d workers, self %t, filters %t: %g allocations", level, workers, k.q == nil, filtered, n)
					}
				}
			}
		}
	}
}

// Any number of goroutines may sum over one index, each with a Sums of its own.
func TestConcurrentSums(t *testing.T) {
	run := paritytest.Start(t, "Sums, concurrent")
	s := goldenScene()
	s.Scale = 20
	batch, self := queriesOfSums(run, s)
	rounds := 6
	if paritytest.Instrumented {
		rounds = 2
	}
	for _, level := range native.Levels() {
		ix := build(t, spatial.Config{CellSize: 8, Level: level, Workers: 2}, s)
		want := []*spatial.Sums{newSums(run, s, batch), newSums(run, s, self)}
		blank(want[0], batch.rows)
		blank(want[1], self.rows)
		run.Check(batch.ask(ix, want[0]), self.ask(ix, want[1]))
		var done sync.WaitGroup
		for reader := range 8 {
			done.Add(1)
			go func() {
				defer done.Done()
				for i := range rounds {
					kind := (reader + i) % 2
					k := []*sumQuery{batch, self}[kind]
					got := cloneSums(want[kind])
					blank(got, k.rows)
					if err := cmp.Or(k.ask(ix, got), sameSums(fmt.Sprintf("level %s, reader %d", level, reader), got, want[kind])); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		done.Wait()
	}
}
