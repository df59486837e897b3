"""The vector environment."""

import ctypes
import enum
import os

import numpy as np

from . import _library
from ._library import RangeError, StaleError
from ._spaces import Box, Discrete, MultiDiscrete

_DTYPES = {_library.FLOAT32: np.float32, _library.UINT8: np.uint8, _library.INT32: np.int32}


class AutoresetMode(enum.Enum):
    """When the next episode begins; the values are those of gymnasium."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


_MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


def make_vec(name, num_envs=1, **options):
    """The vector environment of the worlds with a name, as gymnasium.make_vec."""
    return VectorEnv(name, num_envs, **options)


class VectorEnv:
    """Worlds of one kind, stepped together, after gymnasium.vector.VectorEnv.

    name           one of evertick.names()
    num_envs       how many worlds
    seed           of the batch, until reset sets another
    autoreset_mode an AutoresetMode, or its value
    workers        threads that step chunks of worlds; results do not depend on it
    max_steps      truncates episodes; 0: the maximum of the world
    first          number of the first world: world i has the episodes of world first + i
                   of a larger batch
    record         keep the actions of episodes, for export

    Observations, rewards and flags are the same arrays at each step, and the library writes
    to them. Rewards are float32. Actions have the shape of action_space. An array of its dtype
    without gaps is read in place. Others are copied: choices from whole numbers of any dtype, numbers from those
    and from floats of any dtype, which are rounded to float32; and both from lists.

    The library does not survive a fork of the process that has loaded it: in the child every call is a
    StaleError. Start other processes by "spawn" or "forkserver".
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
    render_mode = None
    spec = None

    def __init__(
        self, name, num_envs=1, *, seed=0, autoreset_mode=AutoresetMode.NEXT_STEP, workers=1, max_steps=0, first=0, record=False
    ):
        self.closed = True  # until it is open
        self._lib = _library.library()
        mode = AutoresetMode(autoreset_mode)
        self.num_envs, self.name = int(num_envs), name
        if self.num_envs < 1:
            raise RangeError(f"num_envs = {num_envs}: must be at least 1")
        config = _library.Config(
            ctypes.sizeof(_library.Config), _MODES.index(mode), self.num_envs, _unsigned("first", first),
            _unsigned("seed", seed), int(max_steps), int(workers), int(bool(record)), 0,
        )
        handle = ctypes.c_uint64()
        self._lib.check(self._lib.create(str(name).encode(), ctypes.byref(config), ctypes.byref(handle)), 0)
        self._batch, self.closed = handle.value, False
        self._process = os.getpid()
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.autoreset_mode = mode
        self._describe()
        self._allocate()

    # Spaces and buffers.

    def _describe(self):
        info = _library.Info(struct_size=ctypes.sizeof(_library.Info))
        self._call("describe", ctypes.byref(info))
        self.max_steps = info.max_steps
        obs_low, obs_high = np.zeros(info.obs_size, np.float32), np.full(info.obs_size, 255, np.float32)
        act_low, act_high = np.zeros(info.action_size, np.float32), np.zeros(info.action_size, np.float32)
        self._call("bounds", *(a.ctypes.data for a in (obs_low, obs_high, act_low, act_high)))
        n, shape = self.num_envs, tuple(info.obs_shape[: info.obs_dims])
        dtype = _DTYPES[info.obs_kind]
        low, high = obs_low.reshape(shape), obs_high.reshape(shape)
        self.single_observation_space = Box(low, high, dtype=dtype)
        self.observation_space = Box(np.stack([low] * n), np.stack([high] * n), dtype=dtype)
        if info.action_kind == _library.INT32:
            self.single_action_space = Discrete(info.choices)
            self.action_space = MultiDiscrete([info.choices] * n)
        else:
            shape = tuple(info.action_shape[: info.action_dims])
            low, high = act_low.reshape(shape), act_high.reshape(shape)
            self.single_action_space = Box(low, high)
            self.action_space = Box(np.stack([low] * n), np.stack([high] * n))

    def _allocate(self):
        n, obs = self.num_envs, self.observation_space
        self._obs = np.zeros(obs.shape, obs.dtype)
        self._reward = np.zeros(n, np.float32)
        self._terminated, self._truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._final = np.zeros(n, np.bool_)
        self._final_obs = np.zeros(obs.shape, obs.dtype)
        self._mask = None
        self._actions = np.zeros(self.action_space.shape, self.action_space.dtype)  # copies of those of other dtypes
        b = self._buffers = _library.Buffers(struct_size=ctypes.sizeof(_library.Buffers))
        for name in ("obs", "reward", "terminated", "truncated", "final", "final_obs"):
            setattr(b, name, _library.Rows.of(getattr(self, "_" + name)))
        if isinstance(self.single_action_space, Discrete):
            self._mask = np.zeros((n, self.single_action_space.n), np.bool_)
            b.mask = _library.Rows.of(self._mask)
        self._buffers_at = ctypes.byref(b)

    @property
    def unwrapped(self):
        return self

    # Steps.

    def reset(self, *, seed=None, options=None):
        """Begins episodes, and returns observations and info.

        seed      None: the next episode of each world. A number: the first episode of that seed. A
                  list: a seed for each world; None in it is an error.
        options   {"reset_mask": array of bool}: only these worlds begin.
        """
        o = _library.ResetOptions(struct_size=ctypes.sizeof(_library.ResetOptions))
        options = dict(options or {})
        only = options.pop("reset_mask", None)
        if options:
            raise RangeError(f"options {sorted(options)}: only reset_mask is supported")
        if only is not None:
            only = self._array("reset_mask", only, (self.num_envs,), np.bool_)
            o.only, o.only_count = only.ctypes.data, len(only)
        if seed is not None and np.ndim(seed) == 0:
            o.reseed, o.seed = 1, _unsigned("seed", seed)
        elif seed is not None:
            seeds = np.array([_unsigned("seed", s) for s in seed], np.uint64)
            o.seeds, o.seeds_count = seeds.ctypes.data, len(seeds)
        self._call("reset", ctypes.byref(o), self._buffers_at)
        return self._obs, self._info()

    def step(self, actions):
        """Steps all worlds: observations, rewards, terminated, truncated, info.

        info has "action_mask" if actions are choices, and, in SAME_STEP, where an episode has
        ended, "final_obs", an array with a row for each world, and "_final_obs" and "_final_info",
        which mark the worlds whose rows are valid.
        """
        a = self._taken(actions)
        self._buffers.actions = _library.Rows(a.ctypes.data, a.nbytes, a.nbytes // self.num_envs)
        self._call("step", self._buffers_at)
        info = self._info()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._final.any():
            info["final_obs"], info["_final_obs"] = self._final_obs, self._final
            info["final_info"], info["_final_info"] = {}, self._final
        return self._obs, self._reward, self._terminated, self._truncated, info

    def observe(self):
        """The observations, for use after load and fork."""
        self._call("observe", self._buffers_at)
        return self._obs

    def close(self, **_):
        """Closes the environment. Closing it twice is not an error."""
        if not self.closed:
            self.closed = True
            if self._process == os.getpid():  # the library does not survive a fork
                self._lib.check(self._lib.close(self._batch), 0)

    # The state of worlds.

    def hashes(self):
        """The hash of each world."""
        out = np.zeros(self.num_envs, np.uint64)
        self._call("hashes", out.ctypes.data, len(out))
        return out

    def save(self, world):
        """A world as bytes."""
        length, room = ctypes.c_int64(), 1 << 14
        while True:
            data = ctypes.create_string_buffer(room)
            self._open()
            code = self._lib.save(self._batch, int(world), data, room, ctypes.byref(length))
            if code != _library.CAPACITY or length.value <= room:
                self._lib.check(code, self._batch)
                return data.raw[: length.value]
            room = length.value

    def load(self, world, data):
        """Replaces a world by a saved one."""
        self._call("load", int(world), ctypes.c_char_p(bytes(data)), len(data))

    def fork(self, source, target):
        """Makes world target a copy of world source."""
        self._call("fork", int(source), int(target))

    def export(self, world, directory):
        """Writes the last episode of a world as a log that `bench replay verify` verifies."""
        e = _library.Exported(struct_size=ctypes.sizeof(_library.Exported))
        self._call("export", int(world), str(directory).encode(), ctypes.byref(e))
        return {"seed": e.seed, "ticks": e.ticks, "hash": e.hash, "steps": e.steps}

    # Helpers.

    def _open(self):
        if self.closed:
            raise StaleError("the environment is closed")
        if self._process != os.getpid():
            raise StaleError("the environment belongs to another process, from which this one was forked: start it by 'spawn'")

    def _call(self, name, *arguments):
        self._open()
        code = getattr(self._lib, name)(self._batch, *arguments)
        if code != 0:
            self._lib.check(code, self._batch)

    def _info(self):
        return {} if self._mask is None else {"action_mask": self._mask}

    def _taken(self, actions):
        """The array of actions itself, if the library can read it in place, or a copy that it can read."""
        to = self._actions
        a = actions if isinstance(actions, np.ndarray) else np.asarray(actions)
        if a.shape != to.shape:
            raise ValueError(f"actions: shape {a.shape}, wants {to.shape}")
        if a.dtype == to.dtype and a.flags.c_contiguous and a.flags.aligned:
            return a
        choices = to.dtype == np.int32
        if choices and a.dtype == object and all(isinstance(v, int) for v in a):
            pass  # whole numbers that no dtype holds
        elif a.dtype.kind not in ("iu" if choices else "iuf"):
            raise TypeError(f"actions: dtype {a.dtype}, wants {'whole numbers' if choices else 'numbers'}")
        if choices:
            n = self.single_action_space.n
            bad = np.flatnonzero((a < 0) | (a >= n))  # before a cast changes them
            if len(bad):
                raise RangeError(f"actions: choice of world[{bad[0]}] = {a[bad[0]]}: 0 to {n - 1}")
        with np.errstate(over="ignore"):  # the library refuses infinities and names the world
            to[...] = a
        return to

    def _array(self, name, array, shape, dtype):
        """The array itself, if the library can read it in place."""
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{name}: a {type(array).__name__}, wants a numpy array")
        if array.shape != tuple(shape):
            raise ValueError(f"{name}: shape {array.shape}, wants {tuple(shape)}")
        if array.dtype != dtype:
            raise TypeError(f"{name}: dtype {array.dtype}, wants {np.dtype(dtype)}")
        if not array.flags.c_contiguous or not array.flags.aligned:
            raise ValueError(f"{name}: has gaps or is not aligned; numpy.ascontiguousarray copies it")
        return array

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass

    def __repr__(self):
        return f"VectorEnv({self.name!r}, num_envs={self.num_envs})"


def _unsigned(name, v):
    if isinstance(v, bool) or not isinstance(v, (int, np.integer)):
        raise TypeError(f"{name}: a {type(v).__name__}, wants a whole number")
    if not 0 <= int(v) < 1 << 64:
        raise RangeError(f"{name} = {v}: 0 to 2**64-1")
    return int(v)
