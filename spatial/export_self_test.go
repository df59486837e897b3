package spatial

// SmallChunks makes the self queries that go to a Result work in chunks of n
// places, so that tests need no large sets.
func SmallChunks(out *Result, n int) { scratchOf(&out.scratch).self.fewer = n }
