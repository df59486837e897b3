"""The library of the package, by ctypes: evertick_train.h documents it."""

import ctypes
import os
import sys
import types
from pathlib import Path

VERSION = 1

FLOAT32, UINT8, INT32 = 0, 1, 2
OBS, ACTION = 0, 1


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
    """Too little room, or too little memory."""


class FloatEnvError(EvertickError, RuntimeError):
    """The thread flushes denormals or does not round as IEEE 754 prescribes, because of a library
    that was built with -ffast-math: results would differ from those of other machines."""


class WorldError(EvertickError, RuntimeError):
    """A world has failed; reset repairs it."""


class FileError(EvertickError, OSError):
    """A file or folder that cannot be read or written, or that is there already."""


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
    -11: FileError,
    -12: EvertickError,
}
CAPACITY, FORKED = -6, -10
SPAWN = (
    "start it by the context 'spawn' or 'forkserver' of multiprocessing; with Gymnasium by "
    "gymnasium.make_vec(..., vectorization_mode='async', vector_kwargs={'context': 'spawn'})"
)


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
        ("agents", ctypes.c_int64),
        ("mask_size", ctypes.c_int64),
        ("obs_parts", ctypes.c_int64),
        ("action_parts", ctypes.c_int64),
        ("steps_per_second", ctypes.c_double),
        ("masked", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


class PartInfo(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("dims", ctypes.c_uint32),
        ("offset", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("shape", ctypes.c_int64 * 4),
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
        ("live", Rows),
        ("final_mask", Rows),
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
    "choices": [_u64, _ptr, _i64],
    "describe_part": [_u64, ctypes.c_uint32, _i64, ctypes.POINTER(PartInfo)],
    "agents": [_u64, _text, _i64, _length],
    "reset": [_u64, ctypes.POINTER(ResetOptions), ctypes.POINTER(Buffers)],
    "step": [_u64, ctypes.POINTER(Buffers)],
    "send": [_u64, ctypes.POINTER(Buffers)],
    "recv": [_u64],
    "poll": [_u64, ctypes.POINTER(ctypes.c_int32)],
    "observe": [_u64, ctypes.POINTER(Buffers)],
    "render": [_u64, _i64, ctypes.c_int32, ctypes.c_int32, _ptr, _i64],
    "hashes": [_u64, _ptr, _i64],
    "save": [_u64, _i64, _ptr, _i64, _length],
    "load": [_u64, _i64, _ptr, _i64],
    "fork": [_u64, _i64, _i64],
    "export": [_u64, _i64, _text, ctypes.POINTER(Exported)],
}


class Interface:
    """The functions of a library of worlds."""

    def __init__(self, path):
        self.path = str(path)
        dll = ctypes.CDLL(self.path)  # releases the GIL during calls
        self.call = types.SimpleNamespace()  # the functions of the header
        for name, arguments in _SIGNATURES.items():
            function = getattr(dll, "evertick_train_" + name, None)
            if function is None:
                raise UnsupportedError(f"{path} has no function evertick_train_{name}: it is no library of worlds, or an older one")
            function.argtypes, function.restype = arguments, ctypes.c_int32
            setattr(self.call, name, function)
        found = self.version()
        if found != VERSION:
            raise UnsupportedError(f"{path} has version {found} of the interface, but this package needs version {VERSION}")

    def version(self) -> int:
        """The version of the interface of the library."""
        found = self.call.version()
        self.check(min(found, 0))
        return found

    def names(self) -> list:
        """The names of all worlds."""
        return self._text(self.call.names).split("\n")

    def agents(self, batch):
        """The names of the agents of a batch."""
        text = self._text(self.call.agents, batch)
        return text.split("\n") if text else []

    def message(self, batch):
        """The error message of the last call on a batch."""
        return self._text(self.call.error, batch)

    def check(self, code, batch=0):
        """Raises the error of a code."""
        if code != 0:
            message = self.message(batch)
            raise _ERRORS.get(code, EvertickError)(f"{message}. In Python, {SPAWN}" if code == FORKED else message)

    def _text(self, function, *arguments):
        room, length = 4096, _i64()
        while True:
            text = ctypes.create_string_buffer(room)
            code = function(*arguments, text, room, ctypes.byref(length))
            if code != CAPACITY or length.value < room:
                if function is not self.call.error:
                    self.check(code, *arguments)
                return text.value.decode("utf-8", "replace")
            room = length.value + 1


_loaded = {}


def interface(path=None) -> Interface:
    """The interface of the library in a file. None: the file that EVERTICK_TRAIN_LIBRARY names, or the one in this folder.

    A file is loaded once, and stays loaded.
    """
    if path is None:
        path = os.environ.get("EVERTICK_TRAIN_LIBRARY") or _own()
    path = Path(path).resolve()
    if path not in _loaded:
        if not path.exists():
            how = f": go build -buildmode=c-shared -o {path} ./train/capi" if path == _own().resolve() else ""
            raise FileNotFoundError(f"{path} is not there{how}")
        _loaded[path] = Interface(path)
    return _loaded[path]


def _own():
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return Path(__file__).with_name("libevertick_train" + suffix)
