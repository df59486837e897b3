//go:build cgo

package clib

/*
#include "evertick_train.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics/raster"
	"github.com/evertick/evertick/train"
	"github.com/evertick/evertick/worldlog"
)

// batch is the batch of a handle.
type batch struct {
	mu        sync.Mutex
	b         *train.Batch // nil: closed
	panicked  bool         // the batch can only be closed
	lastError string       // of the last call
	data      []byte       // scratch of Save
	hashes    []uint64
	buffers   train.Buffers
	sent      bool // a step runs or has run, and recv has not returned its result
	canvas    *raster.Canvas
}

// handles has the batches by handle: the low 32 bits are an index from 1, the high ones its generation.
var handles struct {
	mu        sync.Mutex
	slots     []handleSlot
	free      []uint32
	lastError string // of the last call without a batch
}

type handleSlot struct {
	generation uint32
	batch      *batch // nil: free
}

// add returns a handle.
func add(b *batch) uint64 {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	if n := len(handles.free); n > 0 {
		i := handles.free[n-1]
		handles.free = handles.free[:n-1]
		handles.slots[i].batch = b
		return uint64(handles.slots[i].generation)<<32 | uint64(i+1)
	}
	handles.slots = append(handles.slots, handleSlot{1, b})
	return 1<<32 | uint64(len(handles.slots))
}

// find returns the batch of a handle, or nil.
func find(handle uint64) *batch {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	return findLocked(handle)
}

// drop frees the slot of a handle, which is then stale.
func drop(handle uint64) *batch {
	handles.mu.Lock()
	defer handles.mu.Unlock()
	b := findLocked(handle)
	if b == nil {
		return nil
	}
	p := &handles.slots[uint32(handle)-1]
	p.batch = nil
	if p.generation++; p.generation != 0 { // otherwise all handles of the slot were used
		handles.free = append(handles.free, uint32(handle)-1)
	}
	return b
}

func findLocked(handle uint64) *batch {
	i := uint32(handle) - 1
	if uint32(handle) == 0 || uint64(i) >= uint64(len(handles.slots)) || handles.slots[i].generation != uint32(handle>>32) {
		return nil
	}
	return handles.slots[i].batch
}

// codes of errors, the first that fits.
var codes = []struct {
	err  error
	code C.int32_t
}{
	{train.ErrWorld, C.EVERTICK_EWORLD}, {fault.ErrNotFinite, C.EVERTICK_ENOTFINITE}, {fault.ErrRange, C.EVERTICK_ERANGE}, {fault.ErrStale, C.EVERTICK_ESTALE},
	{fault.ErrCorrupt, C.EVERTICK_ECORRUPT}, {fault.ErrUnsupported, C.EVERTICK_EUNSUPPORTED},
	{fault.ErrCapacity, C.EVERTICK_ECAPACITY}, {fault.ErrFloatEnv, C.EVERTICK_EFLOATENV},
}

func codeOf(err error) C.int32_t {
	if err == nil {
		return C.EVERTICK_OK
	}
	if ofFile(err) && !errors.Is(err, train.ErrWorld) {
		return C.EVERTICK_EFILE
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return C.EVERTICK_EOTHER // EWORLD would say that only a reset repairs the batch
}

// ofFile reports whether an error is one of the file system.
func ofFile(err error) bool {
	for _, is := range [...]error{fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, worldlog.ErrLocked} {
		if errors.Is(err, is) {
			return true
		}
	}
	var (
		path   *fs.PathError
		link   *os.LinkError
		call   *os.SyscallError
		number syscall.Errno
	)
	return errors.As(err, &path) || errors.As(err, &link) || errors.As(err, &call) || errors.As(err, &number)
}

// withoutBatch runs a call that belongs to no batch.
func withoutBatch(do func() error) (code C.int32_t) {
	var err error
	defer func() {
		if v := recover(); v != nil {
			err, code = fmt.Errorf("panic: %v", v), C.EVERTICK_EPANIC
		}
		handles.mu.Lock()
		defer handles.mu.Unlock()
		handles.lastError = ""
		if err != nil {
			handles.lastError = err.Error()
		}
	}()
	err = do()
	return codeOf(err)
}

// withBatch runs a call on a batch, unless a step was sent.
func withBatch(handle C.uint64_t, do func(h *batch) error) C.int32_t {
	return withAnyBatch(handle, func(h *batch) error {
		if h.sent {
			return fault.Field(fault.ErrStale, "train: a step was sent, and not received, of batch", fmt.Sprintf("%#x", uint64(handle)))
		}
		defer func() { h.buffers = train.Buffers{} }() // the memory is the caller's
		return do(h)
	})
}

// withAnyBatch runs a call on a batch.
func withAnyBatch(handle C.uint64_t, do func(h *batch) error) (code C.int32_t) {
	h := find(uint64(handle))
	if h == nil {
		return withoutBatch(func() error { return stale(uint64(handle)) })
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.b == nil:
		return withoutBatch(func() error { return stale(uint64(handle)) })
	case h.panicked:
		return C.EVERTICK_EPANIC
	}
	h.lastError = ""
	defer func() {
		if v := recover(); v != nil {
			h.panicked, h.lastError, code = true, fmt.Sprintf("panic: %v", v), C.EVERTICK_EPANIC
		}
	}()
	if err := do(h); err != nil {
		h.lastError = err.Error()
		return codeOf(err)
	}
	return C.EVERTICK_OK
}

func stale(handle uint64) error {
	return fault.Field(fault.ErrStale, "train: handle", fmt.Sprintf("%#x", handle))
}

// structSize checks the size that a caller gives for a struct: that of this header, or of an earlier one.
func structSize(name string, got C.uint32_t, want uintptr, earlier ...uintptr) error {
	if uintptr(got) != want && !slices.Contains(earlier, uintptr(got)) {
		return fmt.Errorf("%w: in version %d of this library it is %d", fault.Field(fault.ErrUnsupported, "train: struct_size of "+name, uint32(got)), C.EVERTICK_TRAIN_VERSION, want)
	}
	return nil
}

func null(name string) error { return fault.Field(fault.ErrRange, "train: "+name, "null") }

// copyOut copies bytes to the caller, and zeros after them, if there is room for both.
func copyOut(to unsafe.Pointer, room C.int64_t, length *C.int64_t, data string, zeros int) error {
	if length != nil {
		*length = C.int64_t(len(data))
	}
	if room < 0 || to == nil && room > 0 {
		return fault.Field(fault.ErrRange, "train: room", int64(room))
	}
	if int64(room) < int64(len(data)+zeros) {
		return fault.Field(fault.ErrCapacity, "train: room", int64(room))
	}
	out := unsafe.Slice((*byte)(to), len(data)+zeros)
	clear(out[copy(out, data):])
	return nil
}

//export evertick_train_go_version
func evertick_train_go_version() C.int32_t { return C.EVERTICK_TRAIN_VERSION }

//export evertick_train_go_names
func evertick_train_go_names(text *C.char, room C.int64_t, length *C.int64_t) C.int32_t {
	return withoutBatch(func() error {
		return copyOut(unsafe.Pointer(text), room, length, strings.Join(train.Names(), "\n"), 1)
	})
}

//export evertick_train_go_create
func evertick_train_go_create(name *C.evertick_text, config *C.evertick_train_config_in, handle *C.uint64_t) C.int32_t {
	return withoutBatch(func() error {
		if name == nil || handle == nil {
			return null("name or batch")
		}
		cfg, err := configOf(config)
		if err != nil {
			return err
		}
		def, err := train.ByName(textOf(name, C.EVERTICK_TRAIN_MAX_NAME))
		if err != nil {
			return err
		}
		b, err := newBatch(def, cfg)
		if err != nil {
			return err
		}
		if err := fits(b.Definition()); err != nil {
			return err
		}
		*handle = C.uint64_t(add(&batch{b: b}))
		return nil
	})
}

// fits refuses a definition that the structs of the header have no room for.
func fits(def train.Definition) error {
	for _, s := range [...]struct {
		name string
		is   train.Space
	}{{"Obs", def.Obs}, {"Action", def.Action}} {
		if n := len(s.is.Shape); n > C.EVERTICK_TRAIN_MAX_DIMS {
			return fault.Field(fault.ErrUnsupported, "train: dimensions of Definition."+s.name+".Shape", n)
		}
		for i, p := range s.is.Parts {
			if n := len(p.Space.Shape); n > C.EVERTICK_TRAIN_MAX_DIMS {
				return fault.Field(fault.ErrUnsupported, fmt.Sprintf("train: dimensions of Definition.%s.Parts[%d].Space.Shape", s.name, i), n)
			}
		}
	}
	return nil
}

// textOf reads a string of at most so many bytes.
func textOf(s *C.evertick_text, most int) string {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(s)), most+1)
	for i := range bytes {
		if bytes[i] == 0 {
			return string(bytes[:i])
		}
	}
	return string(bytes)
}

func configOf(c *C.evertick_train_config_in) (cfg train.Config, err error) {
	if c == nil {
		return cfg, nil
	}
	if err := structSize("config", c.struct_size, unsafe.Sizeof(*c)); err != nil {
		return cfg, err
	}
	for _, f := range [...]struct {
		name string
		v    int64
	}{{"worlds", int64(c.worlds)}, {"max_steps", int64(c.max_steps)}, {"workers", int64(c.workers)}, {"autoreset", int64(c.autoreset)}, {"reserved", int64(c.reserved)}} {
		if f.v < 0 && (f.name != "max_steps" || f.v != train.NoLimit) || f.v > 1<<30 || f.name == "autoreset" && f.v > 255 || f.name == "reserved" && f.v != 0 {
			return cfg, fault.Field(fault.ErrRange, "train: config."+f.name, f.v)
		}
	}
	return train.Config{
		Worlds: int(c.worlds), First: uint64(c.first), Seed: uint64(c.seed), Autoreset: train.Autoreset(c.autoreset),
		MaxSteps: int(c.max_steps), Workers: int(c.workers), Record: c.record != 0,
	}, nil
}

//export evertick_train_go_close
func evertick_train_go_close(handle C.uint64_t) C.int32_t {
	h := drop(uint64(handle))
	return withoutBatch(func() error {
		if h == nil {
			return stale(uint64(handle))
		}
		h.mu.Lock() // waits for a running call
		defer h.mu.Unlock()
		defer func() { h.b, h.buffers = nil, train.Buffers{} }()
		if h.sent {
			_ = h.b.StepWait()
		}
		return nil
	})
}

//export evertick_train_go_error
func evertick_train_go_error(handle C.uint64_t, text *C.char, room C.int64_t, length *C.int64_t) C.int32_t {
	message := ""
	if h := find(uint64(handle)); h != nil {
		h.mu.Lock()
		message = h.lastError
		h.mu.Unlock()
	} else {
		handles.mu.Lock()
		message = handles.lastError
		handles.mu.Unlock()
	}
	return codeOf(copyOut(unsafe.Pointer(text), room, length, message, 1))
}

//export evertick_train_go_describe
func evertick_train_go_describe(handle C.uint64_t, info *C.evertick_train_info) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		if info == nil {
			return null("info")
		}
		def := h.b.Definition()
		var full C.evertick_train_info
		if err := structSize("info", info.struct_size, unsafe.Sizeof(full), unsafe.Offsetof(full.agents), unsafe.Offsetof(full.steps_per_second), unsafe.Offsetof(full.masked)); err != nil {
			return err
		}
		plain := h.b.Agents() == 1 && def.Obs.Parts == nil && def.Action.Parts == nil && def.Action.Each == nil
		if uintptr(info.struct_size) == unsafe.Offsetof(full.agents) && !plain {
			return fmt.Errorf("%w: it has no fields for agents, parts and several choices", fault.Field(fault.ErrUnsupported, "train: struct_size of info", uint32(info.struct_size)))
		}
		full = describe(def, h.b.Config())
		full.struct_size = info.struct_size
		if h.b.Masked() {
			full.masked = 1
		}
		copy(bytesOf(unsafe.Pointer(info), uintptr(info.struct_size)), bytesOf(unsafe.Pointer(&full), uintptr(info.struct_size)))
		return nil
	})
}

func bytesOf(p unsafe.Pointer, n uintptr) []byte { return unsafe.Slice((*byte)(p), n) }

func describe(def train.Definition, cfg train.Config) C.evertick_train_info {
	info := C.evertick_train_info{
		autoreset: C.uint32_t(cfg.Autoreset), worlds: C.int64_t(cfg.Worlds), max_steps: C.int64_t(max(0, cfg.MaxSteps)),
		obs_kind: C.uint32_t(def.Obs.Kind), obs_size: C.int64_t(def.Obs.Size()),
		action_kind: C.uint32_t(def.Action.Kind), action_size: C.int64_t(def.Action.Size()),
		choices: C.int64_t(def.Action.Choices), mask_size: C.int64_t(def.Action.MaskSize()), agents: C.int64_t(max(1, len(def.Agents))),
		obs_parts: C.int64_t(len(def.Obs.Parts)), action_parts: C.int64_t(len(def.Action.Parts)),
		steps_per_second: C.double(def.Rate),
	}
	info.obs_dims = shapeOf(def.Obs, &info.obs_shape)
	info.action_dims = shapeOf(def.Action, &info.action_shape)
	writeName(&info.name, def.Name)
	return info
}

// shapeOf writes the shape of a space, and returns the number of its dimensions. Several choices have one.
func shapeOf(s train.Space, to *[C.EVERTICK_TRAIN_MAX_DIMS]C.int64_t) C.uint32_t {
	if s.Each != nil {
		to[0] = C.int64_t(len(s.Each))
		return 1
	}
	for i, n := range s.Shape {
		to[i] = C.int64_t(n)
	}
	return C.uint32_t(len(s.Shape))
}

func writeName(to *[C.EVERTICK_TRAIN_MAX_NAME + 8]C.char, name string) {
	for i := range name {
		to[i] = C.char(name[i])
	}
}

//export evertick_train_go_choices
func evertick_train_go_choices(handle C.uint64_t, choices *C.int64_t, count C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		action := h.b.Definition().Action
		if action.Kind != train.Int32 {
			return fault.Field(fault.ErrUnsupported, "train: choices of actions of", action.Kind)
		}
		if choices == nil || int64(count) != int64(action.Size()) {
			return fault.Field(fault.ErrRange, "train: count of choices", int64(count))
		}
		to := unsafe.Slice(choices, action.Size())
		to[0] = C.int64_t(action.Choices)
		for i, n := range action.Each {
			to[i] = C.int64_t(n)
		}
		return nil
	})
}

//export evertick_train_go_describe_part
func evertick_train_go_describe_part(handle C.uint64_t, space C.uint32_t, index C.int64_t, part *C.evertick_train_part) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		if part == nil {
			return null("part")
		}
		if err := structSize("part", part.struct_size, unsafe.Sizeof(*part)); err != nil {
			return err
		}
		def := h.b.Definition()
		s := def.Obs
		if space == C.EVERTICK_ACTION {
			s = def.Action
		} else if space != C.EVERTICK_OBS {
			return fault.Field(fault.ErrRange, "train: space", uint32(space))
		}
		if index < 0 || int64(index) >= int64(len(s.Parts)) {
			return fmt.Errorf("%w: there are %d parts", fault.Field(fault.ErrRange, "train: index", int64(index)), len(s.Parts))
		}
		offset := 0
		for _, p := range s.Parts[:index] {
			offset += p.Space.Size()
		}
		p := s.Parts[index]
		full := C.evertick_train_part{struct_size: part.struct_size, offset: C.int64_t(offset), size: C.int64_t(p.Space.Size())}
		full.dims = shapeOf(p.Space, &full.shape)
		writeName(&full.name, p.Name)
		*part = full
		return nil
	})
}

//export evertick_train_go_agents
func evertick_train_go_agents(handle C.uint64_t, text *C.char, room C.int64_t, length *C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		return copyOut(unsafe.Pointer(text), room, length, strings.Join(h.b.Definition().Agents, "\n"), 1)
	})
}

//export evertick_train_go_bounds
func evertick_train_go_bounds(handle C.uint64_t, obsLow, obsHigh, actionLow, actionHigh *C.float) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		def := h.b.Definition()
		for _, c := range [...]struct {
			to   *C.float
			from []float32
		}{{obsLow, def.Obs.Low}, {obsHigh, def.Obs.High}, {actionLow, def.Action.Low}, {actionHigh, def.Action.High}} {
			if c.to != nil {
				copy(unsafe.Slice((*float32)(unsafe.Pointer(c.to)), len(c.from)), c.from)
			}
		}
		return nil
	})
}

//export evertick_train_go_reset
func evertick_train_go_reset(handle C.uint64_t, options *C.evertick_train_reset_in, buffers *C.evertick_train_buffers_in) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		o, err := optionsOf(options, h.b.Len())
		if err == nil {
			err = h.setBuffers(buffers, false)
		}
		if err != nil {
			return err
		}
		return h.b.Reset(o, &h.buffers)
	})
}

func optionsOf(c *C.evertick_train_reset_in, n int) (o train.Options, err error) {
	if c == nil {
		return o, nil
	}
	if err := structSize("reset_options", c.struct_size, unsafe.Sizeof(*c)); err != nil {
		return o, err
	}
	o.Reseed, o.Seed = c.reseed != 0, uint64(c.seed)
	if c.seeds != nil {
		if int64(c.seeds_count) != int64(n) {
			return o, fault.Field(fault.ErrRange, "train: reset_options.seeds_count", int64(c.seeds_count))
		}
		o.Seeds = unsafe.Slice((*uint64)(unsafe.Pointer(c.seeds)), n)
	}
	if c.only != nil {
		if int64(c.only_count) != int64(n) {
			return o, fault.Field(fault.ErrRange, "train: reset_options.only_count", int64(c.only_count))
		}
		o.Only = make([]bool, n)
		for i, v := range unsafe.Slice((*byte)(unsafe.Pointer(c.only)), n) {
			o.Only[i] = v != 0
		}
	}
	return o, nil
}

//export evertick_train_go_step
func evertick_train_go_step(handle C.uint64_t, buffers *C.evertick_train_buffers_in) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		if err := h.setBuffers(buffers, true); err != nil {
			return err
		}
		return h.b.Step(&h.buffers)
	})
}

//export evertick_train_go_send
func evertick_train_go_send(handle C.uint64_t, buffers *C.evertick_train_buffers_in) C.int32_t {
	return withAnyBatch(handle, func(h *batch) error {
		if h.sent {
			return fault.Field(fault.ErrStale, "train: a step was sent, and not received, of batch", fmt.Sprintf("%#x", uint64(handle)))
		}
		if err := h.setBuffers(buffers, true); err != nil {
			h.buffers = train.Buffers{}
			return err
		}
		h.sent = true
		return h.b.StepAsync(&h.buffers)
	})
}

//export evertick_train_go_recv
func evertick_train_go_recv(handle C.uint64_t) C.int32_t {
	return withAnyBatch(handle, func(h *batch) error {
		if !h.sent {
			return notSent(handle)
		}
		defer func() { h.sent, h.buffers = false, train.Buffers{} }() // also after a panic of a world
		return h.b.StepWait()
	})
}

func notSent(handle C.uint64_t) error {
	return fault.Field(fault.ErrStale, "train: no step was sent of batch", fmt.Sprintf("%#x", uint64(handle)))
}

//export evertick_train_go_poll
func evertick_train_go_poll(handle C.uint64_t, ready *C.int32_t) C.int32_t {
	return withAnyBatch(handle, func(h *batch) error {
		if ready == nil {
			return null("ready")
		}
		if !h.sent {
			return notSent(handle)
		}
		*ready = 0
		if h.b.StepDone() {
			*ready = 1
		}
		return nil
	})
}

//export evertick_train_go_observe
func evertick_train_go_observe(handle C.uint64_t, buffers *C.evertick_train_buffers_in) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		if err := h.setBuffers(buffers, false); err != nil {
			return err
		}
		return h.b.Observe(&h.buffers)
	})
}

//export evertick_train_go_hashes
func evertick_train_go_hashes(handle C.uint64_t, hashes *C.uint64_t, count C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		if hashes == nil || int64(count) != int64(h.b.Len()) {
			return fault.Field(fault.ErrRange, "train: count of hashes", int64(count))
		}
		h.hashes = h.b.AppendHashes(h.hashes[:0])
		copy(unsafe.Slice((*uint64)(unsafe.Pointer(hashes)), h.b.Len()), h.hashes)
		return nil
	})
}

// world checks the number of a world.
func (h *batch) world(i C.int64_t) (int, error) {
	if i < 0 || int64(i) >= int64(h.b.Len()) {
		return 0, fault.Field(fault.ErrRange, "train: world", int64(i))
	}
	return int(i), nil
}

//export evertick_train_go_save
func evertick_train_go_save(handle C.uint64_t, world C.int64_t, data *C.uint8_t, room C.int64_t, length *C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		i, err := h.world(world)
		if err != nil {
			return err
		}
		if h.data, err = h.b.Save(i, h.data[:0]); err != nil {
			return err
		}
		return copyOut(unsafe.Pointer(data), room, length, unsafe.String(unsafe.SliceData(h.data), len(h.data)), 0)
	})
}

//export evertick_train_go_load
func evertick_train_go_load(handle C.uint64_t, world C.int64_t, data *C.evertick_bytes, length C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		i, err := h.world(world)
		if err != nil {
			return err
		}
		if data == nil || length < 0 || int64(length) > 1<<31-1 {
			return fault.Field(fault.ErrRange, "train: length of data", int64(length))
		}
		if err := room(2*uint64(length), "length of data", int64(length)); err != nil {
			return err
		}
		return h.b.Load(i, unsafe.Slice((*byte)(unsafe.Pointer(data)), int(length)))
	})
}

//export evertick_train_go_fork
func evertick_train_go_fork(handle C.uint64_t, from, to C.int64_t) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		i, errFrom := h.world(from)
		k, errTo := h.world(to)
		if err := errors.Join(errFrom, errTo); err != nil {
			return err
		}
		return h.b.Fork(i, k)
	})
}

//export evertick_train_go_export
func evertick_train_go_export(handle C.uint64_t, world C.int64_t, directory *C.evertick_text, exported *C.evertick_train_exported) C.int32_t {
	return withBatch(handle, func(h *batch) error {
		i, err := h.world(world)
		if err != nil {
			return err
		}
		if directory == nil {
			return null("directory")
		}
		if exported != nil {
			if err := structSize("exported", exported.struct_size, unsafe.Sizeof(*exported)); err != nil {
				return err
			}
		}
		ex, err := h.b.Export(i, C.GoString((*C.char)(unsafe.Pointer(directory))))
		if err == nil && exported != nil {
			exported.seed, exported.ticks, exported.hash, exported.steps = C.uint64_t(ex.Seed), C.uint64_t(ex.Ticks), C.uint64_t(ex.Hash), C.int64_t(ex.Steps)
		}
		return err
	})
}
