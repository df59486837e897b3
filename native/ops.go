package native

import "math/bits"

// Ops runs operations on columns, row by row. The zero Ops works on all rows, on
// the best level, in the goroutine of the caller. The methods compute the loops of
// their comments in the rows that Live names; the others keep their bits.
//
// Columns that an operation reads and columns that it writes are the same or do not overlap, and all have one length;
// a method panics if the lengths differ. NaN, infinities and zeros of either sign behave as in IEEE 754, unless a
// method says otherwise. The error of a method is ErrFloatEnv, as Pool.Run returns it, unless its comment names
// others. ErrRange and ErrNotFinite mean that an argument was refused, and nothing was changed.
//
// One goroutine at a time may use an Ops, and it must not be copied after use. It allocates nothing, except that
// reductions (Bounds, Sum, FirstNotFinite) and the checks of an index keep memory for the result of each 16384 rows.
type Ops struct {
	// Level on which kernels run. The methods panic on one that Resolve refuses.
	Level Level
	// Pool provides workers for more than one chunk of rows. nil: the calling goroutine alone.
	Pool *Pool
	// Live names the rows to work on: row i is bit i%64 of word i/64. nil: all. It has a bit for each row.
	Live []uint64

	// The columns of the running operation. They are cleared when it is done, so that the garbage collector can free
	// them.
	columns [opColumns][]float32
	used    int // columns that are set
	scalars [opScalars]float32
	bitmap  []uint64 // beside Live: of rows that teleported, say
	index   []uint32
	limit   int // of the numbers in index

	comparison Comparison
	work       opTask
	found      findings

	kernels bool // use kernels even for few rows: for tests
}

const (
	opColumns = 16
	opScalars = 8

	// opChunk is the number of rows that a worker takes at a time, a multiple of
	// 64, so that each chunk begins with a word of the bitmap.
	opChunk = 1 << 14

	// opBreakEven is the number of rows from which a kernel call, about 30 ns, is cheaper than the Go loop of an
	// operation that takes a third of a nanosecond per row.
	opBreakEven = 96
)

// rowOp is an operation that computes each row from that row alone.
type rowOp struct {
	// plain computes all rows lo to hi-1 in Go: it is the specification. nil: kernel does so, on level Go.
	plain func(o *Ops, lo, hi int)
	// kernel is the same on a level above Go.
	kernel opKernel
	// worth is the number of rows from which a kernel call is cheaper than plain, from BenchmarkOps on a Zen 5.
	worth int
}

// opKernel runs an operation on the rows lo to hi-1 that live names. live begins with the bit of row lo, or is nil.
type opKernel func(o *Ops, level Level, live []uint64, lo, hi int)

// run computes rows lo to hi-1.
func (op *rowOp) run(o *Ops, level Level, lo, hi int) {
	live := o.Live
	if level == Go && op.plain != nil {
		if live == nil {
			op.plain(o, lo, hi)
			return
		}
		for from, to := named(live, lo, hi); from < to; from, to = named(live, to, hi) {
			op.plain(o, from, to)
		}
		return
	}
	if live != nil {
		live = live[lo/64:]
	}
	op.kernel(o, level, live, lo, hi)
}

// opTask is Ops as a Task, hidden from users.
type opTask struct {
	o     *Ops
	level Level
	rows  int
	op    *rowOp
}

// Do runs one chunk.
func (t *opTask) Do(_, chunk int) {
	lo := chunk * opChunk
	t.op.run(t.o, t.level, lo, min(lo+opChunk, t.rows))
}

// set begins an operation. It writes no more columns than there are: with few rows, the cost of a call is that of set, do
// and clear.
func (o *Ops) set(columns ...[]float32) {
	copy(o.columns[:], columns)
	o.used, o.bitmap, o.index = len(columns), nil, nil
}

func (o *Ops) clear() {
	for k := range o.columns[:o.used] {
		o.columns[k] = nil
	}
	o.bitmap, o.index = nil, nil
}

// do runs an operation over rows [0, rows), in chunks if there are workers.
func (o *Ops) do(rows int, op *rowOp) error {
	err := o.run(rows, op)
	o.clear()
	return err
}

func (o *Ops) run(rows int, op *rowOp) error {
	level := must(o.Level)
	if words := (rows + 63) / 64; o.Live != nil && len(o.Live) < words || o.bitmap != nil && len(o.bitmap) < words {
		panic("native: Ops: a bitmap has no bit for each row")
	}
	if rows < op.worth && !o.kernels {
		level = Go
	}
	if rows > opChunk && o.Pool.Workers() > 1 {
		o.work = opTask{o, level, rows, op}
		return o.Pool.Run((rows+opChunk-1)/opChunk, &o.work)
	}
	if err := CheckFloatEnv(); err != nil {
		return err
	}
	if rows > 0 {
		op.run(o, level, 0, rows)
	}
	return nil
}

// vec3 and quat return the columns from number k on, in rows lo to hi-1.

func (o *Ops) vec3(k, lo, hi int) Vec3 {
	c := o.columns[k:]
	return Vec3{c[0][lo:hi], c[1][lo:hi], c[2][lo:hi]}
}

func (o *Ops) quat(k, lo, hi int) Quat {
	c := o.columns[k:]
	return Quat{c[0][lo:hi], c[1][lo:hi], c[2][lo:hi], c[3][lo:hi]}
}

// checkRows panics with a message unless all columns have the given number of rows.
func checkRows(message string, rows int, columns ...[]float32) {
	for _, c := range columns {
		if len(c) != rows {
			panic(message)
		}
	}
}

// named returns the next range of rows [from, to), at or after row i and below n, that a bitmap names without a gap;
// from == to if there is none. nil names all.
func named(live []uint64, i, n int) (from, to int) {
	if live == nil {
		return i, n
	}
	from = nextRow(live, 0, i, n)
	return from, nextRow(live, ^uint64(0), from, n)
}

// split computes rows lo to hi-1: it calls jump for the rows that the bitmap names, and between for the others.
func (o *Ops) split(lo, hi int, between, jump func(o *Ops, lo, hi int)) {
	if o.bitmap == nil {
		between(o, lo, hi)
		return
	}
	for lo < hi {
		from, to := named(o.bitmap, lo, hi)
		between(o, lo, from)
		jump(o, from, to)
		lo = to
	}
}

// nextRow returns the first row at or after row i whose bit differs from the bits of other, which are all equal, or n.
func nextRow(live []uint64, other uint64, i, n int) int {
	for i < n {
		if w := (live[i/64] ^ other) >> (i % 64); w != 0 {
			return min(i+bits.TrailingZeros64(w), n)
		}
		i += 64 - i%64
	}
	return n
}
