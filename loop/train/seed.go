package train

import "github.com/evertick/evertick/loop"

// Seed returns the seed of an episode, from the seed of a batch, the number of the world and
// the number of the episode, both counted from 0. It is words 0 and 1, the first the low half,
// of loop.Philox4x32 of
//
//	counter words 0, 1   world, low half first
//	counter words 2, 3   episode, low half first
//	key                  seed
//
// so that a world has the same episodes in a batch of any size. Under one seed the 128 bits
// of a block are different for any two episodes of any two worlds; the 64 of them that are
// taken agree by chance only.
func Seed(seed, world, episode uint64) uint64 {
	b := loop.Philox4x32(
		[4]uint32{uint32(world), uint32(world >> 32), uint32(episode), uint32(episode >> 32)},
		[2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(b[1])<<32 | uint64(b[0])
}
