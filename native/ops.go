package native

// Ops runs operations on columns, row by row. The zero Ops works on all rows, on
// the best level, in the goroutine of the caller. The methods compute the loops of
// their comments in the rows that Live names; the others keep their bits.
//
// Columns that an operation reads and columns that it writes are the same or do
// not overlap, and all have one length; a method panics if the lengths differ. NaN and
// infinities go through as IEEE 754 says, unless a method says otherwise. The
// error of a method is ErrFloatEnv, as Pool.Run returns it, unless it says more.
//
// An Ops is for one goroutine at a time. It allocates nothing.
type Ops struct {
	// Level on which kernels run. The methods panic on one that Resolve refuses.
	Level Level
	// Pool of workers for more than one chunk of rows. nil: no others.
	Pool *Pool
	// Live names the rows to work on: row i is bit i%64 of word i/64. nil: all.
	// It has a bit for each row.
	Live []uint64

	// What the running operation works on. Cleared when it is done, so that
	// the columns can be collected.
	columns [opColumns][]float32
	scalars [opScalars]float32
	work    opTask
}

const (
	opColumns = 16
	opScalars = 8

	// opChunk is the number of rows that a worker takes at a time, a multiple of
	// 64, so that each chunk begins with a word of the bitmap.
	opChunk = 1 << 14

	// opBreakEven is the number of rows from which a kernel call, about 30 ns, is
	// cheaper than the Go loop, about a third of a nanosecond a row.
	opBreakEven = 96
)

// opKernel runs an operation in rows lo to hi-1, on Go or a level above; live
// begins with the bit of row lo, or is nil.
type opKernel func(o *Ops, level Level, live []uint64, lo, hi int)

// opTask is Ops as a Task, which only the package can see.
type opTask struct {
	o      *Ops
	level  Level
	rows   int
	kernel opKernel
}

// Do runs one chunk.
func (t *opTask) Do(_, chunk int) {
	lo := chunk * opChunk
	t.run(lo, min(lo+opChunk, t.rows))
}

func (t *opTask) run(lo, hi int) {
	live := t.o.Live
	if live != nil {
		live = live[lo/64:]
	}
	t.kernel(t.o, t.level, live, lo, hi)
}

func (o *Ops) set(columns ...[]float32) { copy(o.columns[:], columns) }

// run runs an operation over rows [0, rows), in chunks if there are workers.
func (o *Ops) run(rows int, kernel opKernel) error {
	level := must(o.Level)
	if o.Live != nil && len(o.Live) < (rows+63)/64 {
		panic("native: Ops.Live has no bit for each row")
	}
	if rows < opBreakEven {
		level = Go
	}
	o.work = opTask{o, level, rows, kernel}
	defer o.clear()
	if chunks := (rows + opChunk - 1) / opChunk; chunks > 1 && o.Pool.Workers() > 1 {
		return o.Pool.Run(chunks, &o.work)
	}
	if err := CheckFloatEnv(); err != nil {
		return err
	}
	if rows > 0 {
		o.work.run(0, rows)
	}
	return nil
}

func (o *Ops) clear() {
	o.work = opTask{}
	o.columns = [opColumns][]float32{}
}

// checkRows panics with a message unless all columns have that many rows.
func checkRows(message string, rows int, columns ...[]float32) {
	for _, c := range columns {
		if len(c) != rows {
			panic(message)
		}
	}
}

// named reports whether a bitmap names row i; nil names all.
func named(live []uint64, i int) bool {
	return live == nil || live[i/64]>>(i%64)&1 != 0
}
