"""The header, after the preprocessor, as cffi reads it, and the library by it."""

import sys

import cffi

ffi = cffi.FFI()
with open(sys.argv[2]) as header:
    ffi.cdef(header.read())
lib = ffi.dlopen(sys.argv[1])
config = ffi.new("evertick_train_config *", {"struct_size": ffi.sizeof("evertick_train_config"), "worlds": 3})
batch = ffi.new("uint64_t *")
assert lib.evertick_train_create(b"team", config, batch) == lib.EVERTICK_OK
info = ffi.new("evertick_train_info *", {"struct_size": ffi.sizeof("evertick_train_info")})
assert lib.evertick_train_describe(batch[0], info) == lib.EVERTICK_OK
assert (info.worlds, info.agents, ffi.string(info.name)) == (3, 2, b"team")
assert lib.evertick_train_step(batch[0], ffi.NULL) == lib.EVERTICK_ERANGE
text, length = ffi.new("char[100]"), ffi.new("int64_t *")
assert lib.evertick_train_error(batch[0], text, 100, length) == lib.EVERTICK_OK
assert b"buffers = null" in ffi.string(text), ffi.string(text)
assert lib.evertick_train_close(batch[0]) == lib.EVERTICK_OK
