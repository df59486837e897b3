"""The library of the package, by ctypes: evertick_train.h documents it."""

import ctypes
import os
import sys
from pathlib import Path

VERSION = 1

FLOAT32, UINT8, INT32 = 0, 1, 2


class EvertickError(Exception):
    """A call that was refused."""


class RangeError(EvertickError, ValueError):
    """An invalid value, length or name."""


class NotFiniteError(EvertickError, ValueError):
    """NaN or infinite."""


class StaleError(EvertickError, RuntimeError):
    """An environment that is closed; an episode that has ended or not begun; a process that was
    forked from one that had loaded the library."""


class CorruptError(EvertickError, ValueError):
    """Saved data that is truncated or altered."""


class UnsupportedError(EvertickError, RuntimeError):
    """Of another version or definition, or not recorded."""


class CapacityError(EvertickError, RuntimeError):
    """Too little room."""


class FloatEnvError(EvertickError, RuntimeError):
    """The thread flushes denormals or does not round as IEEE 754 prescribes, because of a library
    that was built with -ffast-math: results would differ from those of other machines."""


class WorldError(EvertickError, RuntimeError):
    """A world has failed; reset repairs it."""


class PanicError(EvertickError, RuntimeError):
    """A fault of the library; the environment can only be closed."""


_ERRORS = {
    -1: RangeError,
    -2: NotFiniteError,
    -3: StaleError,
    -4: CorruptError,
    -5: UnsupportedError,
    -6: CapacityError,
    -7: FloatEnvError,
    -8: WorldError,
    -9: PanicError,
    -10: StaleError,
}
CAPACITY = -6


class Config(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("autoreset", ctypes.c_uint32),
        ("worlds", ctypes.c_int64),
        ("first", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("max_steps", ctypes.c_int64),
        ("workers", ctypes.c_int64),
        ("record", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class Info(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("autoreset", ctypes.c_uint32),
        ("worlds", ctypes.c_int64),
        ("max_steps", ctypes.c_int64),
        ("obs_kind", ctypes.c_uint32),
        ("obs_dims", ctypes.c_uint32),
        ("obs_shape", ctypes.c_int64 * 4),
        ("obs_size", ctypes.c_int64),
        ("action_kind", ctypes.c_uint32),
        ("action_dims", ctypes.c_uint32),
        ("action_shape", ctypes.c_int64 * 4),
        ("action_size", ctypes.c_int64),
        ("choices", ctypes.c_int64),
        ("name", ctypes.c_char * 72),
    ]


class Rows(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("stride", ctypes.c_int64)]

    @classmethod
    def of(cls, array):
        """The rows of an array without gaps."""
        return cls(array.ctypes.data, array.nbytes, array.nbytes // len(array))


class Buffers(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("obs", Rows),
        ("actions", Rows),
        ("reward", Rows),
        ("terminated", Rows),
        ("truncated", Rows),
        ("final", Rows),
        ("final_obs", Rows),
        ("mask", Rows),
    ]


class ResetOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reseed", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("seeds", ctypes.c_void_p),
        ("seeds_count", ctypes.c_int64),
        ("only", ctypes.c_void_p),
        ("only_count", ctypes.c_int64),
    ]


class Exported(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("ticks", ctypes.c_uint64),
        ("hash", ctypes.c_uint64),
        ("steps", ctypes.c_int64),
    ]


_i64, _u64, _ptr, _text = ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p
_length = ctypes.POINTER(_i64)
_SIGNATURES = {
    "version": [],
    "names": [_text, _i64, _length],
    "create": [_text, ctypes.POINTER(Config), ctypes.POINTER(_u64)],
    "close": [_u64],
    "error": [_u64, _text, _i64, _length],
    "describe": [_u64, ctypes.POINTER(Info)],
    "bounds": [_u64, _ptr, _ptr, _ptr, _ptr],
    "reset": [_u64, ctypes.POINTER(ResetOptions), ctypes.POINTER(Buffers)],
    "step": [_u64, ctypes.POINTER(Buffers)],
    "observe": [_u64, ctypes.POINTER(Buffers)],
    "hashes": [_u64, _ptr, _i64],
    "save": [_u64, _i64, _ptr, _i64, _length],
    "load": [_u64, _i64, _ptr, _i64],
    "fork": [_u64, _i64, _i64],
    "export": [_u64, _i64, _text, ctypes.POINTER(Exported)],
}


class Library:
    """The functions of the library, each as an attribute."""

    def __init__(self, path):
        self._dll = ctypes.CDLL(str(path))  # releases the GIL during calls
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._dll, "evertick_train_" + name)
            function.argtypes, function.restype = arguments, ctypes.c_int32
            setattr(self, name, function)
        found = self.version()
        self.check(min(found, 0), 0)
        if found != VERSION:
            raise UnsupportedError(f"{path} has version {found} of the interface, but this package needs version {VERSION}")

    def words(self, batch):
        """The error message of the last call on a batch."""
        length = _i64()
        text = ctypes.create_string_buffer(4096)
        if self.error(batch, text, len(text), ctypes.byref(length)) == CAPACITY:
            text = ctypes.create_string_buffer(length.value + 1)
            self.error(batch, text, len(text), ctypes.byref(length))
        return text.value.decode("utf-8", "replace")

    def check(self, code, batch):
        """Raises the error of a code."""
        if code != 0:
            raise _ERRORS.get(code, EvertickError)(self.words(batch))


_loaded = None


def _paths():
    if "EVERTICK_TRAIN_LIBRARY" in os.environ:
        yield Path(os.environ["EVERTICK_TRAIN_LIBRARY"])
        return
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    yield Path(__file__).with_name("libevertick_train" + suffix)


def library():
    """The library: the file that EVERTICK_TRAIN_LIBRARY names, or the one in this folder."""
    global _loaded
    if _loaded is None:
        for path in _paths():
            if not path.exists():
                raise FileNotFoundError(
                    f"{path} is not there: go build -buildmode=c-shared -o {path} ./loop/train/capi"
                )
            _loaded = Library(path.resolve())
    return _loaded


def library_version():
    """The version of the interface of the library."""
    return library().version()


def names():
    """The names of all worlds."""
    lib, length = library(), _i64()
    text = ctypes.create_string_buffer(4096)
    lib.check(lib.names(text, len(text), ctypes.byref(length)), 0)
    return text.value.decode().split("\n")
