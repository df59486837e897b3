package search

import (
	"context"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// Match says which players meet in which worlds: world World of a batch of package train with a seed, and
// the Worlds-1 after it.
type Match struct {
	Seed, World uint64
	Worlds      int
	Players     []int // numbers of sets of parameters
}

// Play plays a match: players has a set of parameters for each of the players. It returns the score of each
// of them. The result must depend on its arguments alone.
type Play func(ctx context.Context, m Match, players [][]float32) ([]float64, error)

// Function makes Play a function for a Registry.
func (play Play) Function() Function {
	return func(shared []byte) (Work, error) {
		sets, err := parseSets(shared)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, job []byte) ([]byte, error) {
			m, err := parseMatch(job, len(sets))
			if err != nil {
				return nil, err
			}
			players := make([][]float32, len(m.Players))
			for i, p := range m.Players {
				players[i] = sets[p]
			}
			scores, err := play(ctx, m, players)
			if err == nil && len(scores) != len(players) {
				err = fault.Field(fault.ErrRange, fmt.Sprintf("search: scores of %d players", len(players)), len(scores))
			}
			var result []byte
			for _, score := range scores {
				result = wire.AppendU64s(result, math.Float64bits(score))
			}
			return result, err
		}, nil
	}
}

// Evaluate plays matches of sets of parameters by the Play of a name in the Registry of the workers. It returns the
// score of each set: the sum over the matches in their order, and over the players of a match in theirs. The
// sets travel to each worker once. Errors are evertick.ErrRange for a match without worlds, or with a player that is not there, and those of
// Pool.Do.
func Evaluate(ctx context.Context, p Pool, function string, sets [][]float32, matches []Match) ([]float64, error) {
	for i, m := range matches {
		if m.Worlds < 1 || uint64(m.Worlds) > math.MaxUint32 {
			return nil, fault.Field(fault.ErrRange, fmt.Sprintf("search: matches[%d].Worlds", i), m.Worlds)
		}
		for k, player := range m.Players {
			if player < 0 || player >= len(sets) {
				return nil, fault.Field(fault.ErrRange, fmt.Sprintf("search: matches[%d].Players[%d] of %d sets", i, k, len(sets)), player)
			}
		}
	}
	jobs := func(yield func([]byte) bool) {
		for _, m := range matches {
			if !yield(appendMatch(nil, m)) {
				return
			}
		}
	}
	totals, n := make([]float64, len(sets)), 0
	for result, err := range p.Do(ctx, Task{Function: function, Shared: appendSets(nil, sets)}, jobs) {
		if err != nil {
			return nil, err
		}
		players := matches[n].Players
		if len(result) != 8*len(players) {
			return nil, fault.Field(fault.ErrCorrupt, fmt.Sprintf("search: result of match %d: bytes", n), len(result))
		}
		for i, player := range players {
			totals[player] += math.Float64frombits(wire.U64At(result, i))
		}
		n++
	}
	return totals, nil
}

// appendSets appends the length of each set, as an uvarint, and its numbers.
func appendSets(dst []byte, sets [][]float32) []byte {
	for _, set := range sets {
		dst = wire.AppendF32s(wire.AppendUvarints(dst, uint64(len(set))), set...)
	}
	return dst
}

func parseSets(data []byte) ([][]float32, error) {
	var sets [][]float32
	r := wire.NewReader(data)
	for r.Len() > 0 {
		set := make([]float32, r.Count(r.Uvarint(), math.MaxInt, 4))
		r.F32s(set)
		sets = append(sets, set)
	}
	return sets, r.Done()
}

// appendMatch appends uvarints: the seed, the first world, the number of worlds, and the players.
func appendMatch(dst []byte, m Match) []byte {
	dst = wire.AppendUvarints(dst, m.Seed, m.World, uint64(m.Worlds))
	for _, p := range m.Players {
		dst = wire.AppendUvarints(dst, uint64(p))
	}
	return dst
}

// parseMatch reads what appendMatch wrote for so many sets.
func parseMatch(data []byte, sets int) (Match, error) {
	r := wire.NewReader(data)
	m := Match{Seed: r.Uvarint(), World: r.Uvarint(), Worlds: int(r.Canonical(1, math.MaxUint32))}
	for r.Len() > 0 {
		player := r.Uvarint()
		if player >= uint64(sets) {
			r.Fail("player", player)
		}
		m.Players = append(m.Players, int(player))
	}
	return m, r.Done()
}
