"""Worlds in a library, and the arrays that it reads and writes."""

import copy
import ctypes
import operator
import os

import numpy as np

from . import _library
from ._gym import AutoresetMode
from ._layout import Layout, Part
from ._library import EvertickError, RangeError, StaleError

_DTYPES = {_library.FLOAT32: np.float32, _library.UINT8: np.uint8, _library.INT32: np.int32}
_MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]
_NEVER = 1 << 30  # the largest limit of steps


class Batch:
    """Worlds of one kind, a row of each array for each.

    It pickles and copies with the state of all its worlds.
    """

    handle = 0  # 0: closed
    sent = ()  # the actions of send, and the codes of send and recv, as soon as they are known
    moved = False  # load or fork has changed which rows take part in the next step, and live does not say so yet
    # These are of this process alone.
    _loaded = (
        "lib", "handle", "buffers", "at", "own", "sent", "shown", "shown_final", "shown_mask", "shown_final_mask", "one_choice", "one_reward",
        "one_terminated", "one_truncated",
    )

    def __init__(self, name, worlds, *, seed, mode, workers, limit, first, record, library):
        self.name, self.mode, self.library = str(name), AutoresetMode(mode), library
        self.worlds = _number("num_envs", worlds, 1)
        self.config = (
            _MODES.index(self.mode), self.worlds, unsigned("first", first), unsigned("seed", seed), _limit(limit),
            _number("workers", workers, 0), int(bool(record)), 0,
        )
        self._open()
        self._describe()
        self.rows = n = self.worlds * max(1, len(self.agents))
        self.obs = np.zeros((n, self.observation.size), self.observation.dtype)
        self.final_obs = np.zeros_like(self.obs)
        self.actions = np.zeros((n, self.action.size), self.action.dtype)  # copies of those that the library cannot read
        self.reward = np.zeros(n, np.float32)
        self.terminated, self.truncated, self.final = (np.zeros(n, np.bool_) for _ in range(3))
        # As Discrete.sample wants them. Where the worlds have no masks, all choices make sense, always.
        self.mask = np.full((n, sum(self.action.choices)), not self.masked, np.int8)
        self.final_mask, self.live = np.zeros_like(self.mask), np.zeros(n, np.bool_)
        self._bind()

    # Life.

    def _open(self):
        self.lib, self.process = _library.interface(self.library), os.getpid()
        config, handle = _library.Config(ctypes.sizeof(_library.Config), *self.config), ctypes.c_uint64()
        self.lib.check(self.lib.call.create(_text("name", self.name), ctypes.byref(config), ctypes.byref(handle)))
        self.handle = handle.value

    def _bind(self):
        """Gives the arrays to the library, and makes the views that the environments return."""
        b = self.buffers = _library.Buffers(struct_size=ctypes.sizeof(_library.Buffers))
        for name in ("obs", "reward", "terminated", "truncated", "final", "final_obs", "live"):
            setattr(b, name, _library.Rows.of(getattr(self, name)))
        if self.masked:
            b.mask, b.final_mask = _library.Rows.of(self.mask), _library.Rows.of(self.final_mask)
        else:
            self.mask.flags.writeable = False
        b.actions = self.own = _library.Rows.of(self.actions)
        self.at = ctypes.byref(b)
        self.shown, self.shown_final = self.observation.of(self.obs), self.observation.of(self.final_obs)
        self.shown_mask, self.shown_final_mask = (self.masks and self.masks.of(m) for m in (self.mask, self.final_mask))
        # What one world reads and writes: items of a memoryview are made faster than those of an array.
        flags = (memoryview(a) for a in (self.reward, self.terminated, self.truncated))
        self.one_reward, self.one_terminated, self.one_truncated = flags
        single = self.rows == 1 and self.action.single_choice
        self.one_choice = memoryview(self.actions.reshape(-1)) if single else None

    def close(self):
        """Closes the worlds. Closing them twice is not an error."""
        handle, self.handle = self.handle, 0
        if handle and self.process == os.getpid():  # the library does not survive a fork
            self.lib.check(self.lib.call.close(handle))  # waits for a step that was sent
            self.sent = ()

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass

    def check_open(self):
        """Raises StaleError unless the worlds are there."""
        if not self.handle:
            raise StaleError("the environment is closed")
        if self.process != os.getpid():
            raise StaleError("the environment belongs to another process, from which this one was forked: " + _library.SPAWN)

    def call(self, name, *arguments):
        """Calls a function of the library."""
        self.check_open()
        code = getattr(self.lib.call, name)(self.handle, *arguments)
        if code != 0:
            self.lib.check(code, self.handle)

    def _describe(self):
        info = _library.Info(struct_size=ctypes.sizeof(_library.Info))
        self.call("describe", ctypes.byref(info))
        self.limit = info.max_steps or None
        self.masked = info.masked != 0
        rate = info.steps_per_second
        self.rate = int(rate) if rate == int(rate) else rate
        bounds = [np.zeros(n, np.float32) for n in (info.obs_size, info.obs_size, info.action_size, info.action_size)]
        self.call("bounds", *(a.ctypes.data for a in bounds))
        self.agents = self.lib.agents(self.handle)
        if info.obs_kind == _library.UINT8:
            bounds[1].fill(255)
        shape = tuple(info.obs_shape[: info.obs_dims])
        self.observation = self._layout(_library.OBS, info.obs_parts, info.obs_kind, shape, bounds[:2])
        shape = tuple(info.action_shape[: info.action_dims])
        if info.action_kind == _library.INT32:
            choices = np.zeros(info.action_size, np.int64)
            self.call("choices", choices.ctypes.data, len(choices))
            bounds = [choices] * 4
        self.action = self._layout(_library.ACTION, info.action_parts, info.action_kind, shape, bounds[2:])
        self.masks = self.action.masks() if self.action.choices else None

    def _layout(self, space, count, kind, shape, bounds):
        """The layout of rows; bounds are those of each number, or twice the number of its choices."""
        parts = {}
        for i in range(count):
            p = _library.PartInfo(struct_size=ctypes.sizeof(_library.PartInfo))
            self.call("describe_part", space, i, ctypes.byref(p))
            low, high = (b[p.offset : p.offset + p.size] for b in bounds)
            parts[p.name.decode()] = _part(kind, tuple(p.shape[: p.dims]), low, high, p.offset)
        return Layout(parts or {None: _part(kind, shape, *bounds, 0)}, _DTYPES[kind])

    # Steps.

    def reset(self, seed=None, only=None):
        """Begins episodes: of all worlds, or where only is true.

        seed is None for the next episode of each, a number for the first episode of that seed, or a
        list with an entry of either kind for each world. A step that was sent is received and dropped, unless only says
        that some worlds go on from it.
        """
        if self.pending and only is None:
            try:
                self.recv()
            except EvertickError:  # the step was refused, or has failed, which a reset of all worlds repairs
                pass
        if not self.pending:
            self.sent = ()
        if seed is None or np.ndim(seed) == 0:
            o = {} if seed is None else {"reseed": 1, "seed": unsigned("seed", seed)}
            self._reset(only, **o)
            return
        if len(seed) != self.worlds:
            raise RangeError(f"length of seed = {len(seed)}: wants {self.worlds}")
        given = np.array([s is not None for s in seed])
        seeds = np.array([0 if s is None else unsigned(f"seed[{i}]", s) for i, s in enumerate(seed)], np.uint64)
        only = np.ones(self.worlds, np.bool_) if only is None else only
        if (only & ~given).any():
            self._reset(only & ~given)
        if (only & given).any():
            seeded = only & given  # None, all worlds, also repairs those that have failed
            self._reset(None if seeded.all() else seeded, seeds=seeds.ctypes.data, seeds_count=len(seeds))

    def _reset(self, only, **options):
        o = _library.ResetOptions(struct_size=ctypes.sizeof(_library.ResetOptions), **options)
        if only is not None:
            only = np.ascontiguousarray(only)
            o.only, o.only_count = only.ctypes.data, len(only)
        self.call("reset", ctypes.byref(o), self.at)

    def step(self, actions):
        """Steps all worlds."""
        a = self.readable(actions)
        self.buffers.actions = self.own if a is self.actions else _library.Rows.of(a)
        self.call("step", self.at)

    def step_choice(self, choice):
        """Steps one world with a choice that is one of its space."""
        if not self.handle:
            self.check_open()
        self.one_choice[0] = choice
        self.buffers.actions = self.own
        code = self.lib.call.step(self.handle, self.at)  # which refuses forks as check_open does
        if code != 0:
            self.lib.check(code, self.handle)

    # Ctrl-C raises KeyboardInterrupt between two instructions of Python, as after a call of the library and before its code
    # has been assigned. Extending a list by a map is one instruction, so that the code is in the list if the call was made.

    @property
    def pending(self):
        """Whether the library has a step that was sent, and not received."""
        return len(self.sent) == 2 and self.sent[1] == 0

    def send(self, actions):
        """Begins a step of all worlds."""
        a = self.readable(actions)
        self.buffers.actions = self.own if a is self.actions else _library.Rows.of(a)
        self.sent = [a]  # the library reads it
        self.sent.extend(map(self.lib.call.send, (self.handle,), (self.at,)))
        self.lib.check(self.sent[1], self.handle)

    def recv(self):
        """Ends the step that was sent."""
        self.check_open()
        sent = self.sent
        if len(sent) < 2 or sent[1] != 0:
            raise StaleError("no step was sent")
        if len(sent) == 2:
            sent.extend(map(self.lib.call.recv, (self.handle,)))
        self.sent = ()
        self.lib.check(sent[2], self.handle)

    def ready(self):
        """Whether recv would return at once."""
        out = ctypes.c_int32()
        self.call("poll", ctypes.byref(out))
        return bool(out.value)

    def readable(self, actions):
        """The array of actions itself, if the library can read it in place, or a copy that it can read."""
        self.check_open()
        if self.pending:  # the library may be reading the copy
            raise StaleError("a step was sent, and not received: recv ends it, and reset drops it")
        self.sent = ()
        to, parts = self.actions, self.action.parts
        if None in parts:
            part = parts[None]
            a = actions if isinstance(actions, np.ndarray) else np.asarray(actions)
            if a.shape == (self.rows, *part.shape) and a.dtype == to.dtype and a.flags.c_contiguous and a.flags.aligned:
                return a
            self._copy("actions", part, a, to)
            return to
        if not isinstance(actions, dict) or actions.keys() != parts.keys():
            got = sorted(actions) if isinstance(actions, dict) else type(actions).__name__
            raise TypeError(f"actions: {got}, wants a dict of {sorted(parts)}")
        for name, part in parts.items():
            self._copy(f"actions[{name!r}]", part, np.asarray(actions[name]), to)
        return to

    def _copy(self, field, part, a, to):
        if a.shape != (self.rows, *part.shape):
            raise ValueError(f"{field}: shape {a.shape}, wants {(self.rows, *part.shape)}")
        choices = part.choices is not None
        if choices and a.dtype == object and all(isinstance(v, int) for v in a.flat):
            pass  # whole numbers that no dtype holds
        elif a.dtype.kind not in ("iub" if choices else "iubf"):
            raise TypeError(f"{field}: dtype {a.dtype}, wants {'whole numbers' if choices else 'numbers'}")
        a = a.reshape(self.rows, -1)
        if choices:
            out = (a < 0) | (a >= part.choices)  # before a cast changes them
            if out.any():
                bad = np.argwhere(out & self._stepped()[:, None])
                if len(bad):
                    self._refuse_choice(field, part, a, *bad[0])
                a = a.copy()
                a[out] = 0  # the step ignores them, as it only begins episodes there
        with np.errstate(over="ignore"):  # the library refuses infinities and names the world
            to[:, part.start : part.stop] = a

    def _stepped(self):
        """For each row, whether a step would step it and not only begin its episode."""
        if self.moved:
            live, unused = _library.Rows.of(self.live), np.empty_like(self.obs)
            b = _library.Buffers(struct_size=ctypes.sizeof(_library.Buffers), obs=_library.Rows.of(unused), live=live)
            self.call("observe", ctypes.byref(b))
            self.moved = False
        return self.live

    def _refuse_choice(self, field, part, a, row, k):
        where = f"choice of world[{row}]" if part.shape == () else f"choice of world {row}[{k}]"
        if self.agents:
            world, agent = divmod(int(row), len(self.agents))
            where = f"choice of world {world}, agent {self.agents[agent]!r}" + ("" if part.shape == () else f"[{k}]")
        raise RangeError(f"{field}: {where} = {a[row, k]}: 0 to {part.choices[k] - 1}")

    # The state of worlds.

    def hashes(self):
        """The hash of each world."""
        out = np.zeros(self.worlds, np.uint64)
        self.call("hashes", out.ctypes.data, len(out))
        return out

    def save(self, world):
        """A world as bytes."""
        world, length, room = _index(world), ctypes.c_int64(), 1 << 14
        self.check_open()
        while True:
            data = ctypes.create_string_buffer(room)
            code = self.lib.call.save(self.handle, world, data, room, ctypes.byref(length))
            if code != _library.CAPACITY or length.value <= room:
                self.lib.check(code, self.handle)
                return data.raw[: length.value]
            room = length.value

    def load(self, world, data):
        """Replaces a world by a saved one."""
        data, self.moved = bytes(memoryview(data)), True
        self.call("load", _index(world), data, len(data))

    def fork(self, source, target):
        """Makes world target a copy of world source."""
        self.moved = True
        self.call("fork", _index(source), _index(target))

    def observe(self):
        """Writes the observations, for use after load and fork."""
        self.call("observe", self.at)

    def export(self, world, directory):
        """Writes the last episode of a world as a log that `bench/serve replay verify` verifies."""
        e = _library.Exported(struct_size=ctypes.sizeof(_library.Exported))
        self.call("export", _index(world), _text("directory", os.fspath(directory)), ctypes.byref(e))
        return {"seed": e.seed, "ticks": e.ticks, "hash": e.hash, "steps": e.steps}

    # Pickling.

    def _saved(self, world):
        try:
            return self.save(world)
        except StaleError:  # it has not begun
            return None

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k not in self._loaded}
        if self.handle:
            self.check_open()
            if self.pending:
                raise StaleError("a step was sent, and not received: the environment cannot be copied")
            state["states"] = [self._saved(i) for i in range(self.worlds)]
        return state

    def __setstate__(self, state):
        states = state.pop("states", None)
        self.__dict__.update(state)
        if states is None:
            return
        self._open()
        self._bind()
        for i, data in enumerate(states):
            if data is not None:
                self.load(i, data)

    def __copy__(self):
        return copy.deepcopy(self)


def _part(kind, shape, low, high, start):
    if kind != _library.INT32:
        return Part.box(low.reshape(shape), high.reshape(shape), _DTYPES[kind], start)
    return Part.each(low, start) if shape else Part.choice(low[0], start)


def new_seed():
    """A seed that nobody has chosen."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def unsigned(name, v):
    """A whole number from 0 to 2**64-1."""
    if isinstance(v, bool) or not isinstance(v, (int, np.integer)):
        raise TypeError(f"{name}: a {type(v).__name__}, wants a whole number")
    if not 0 <= int(v) < 1 << 64:
        raise RangeError(f"{name} = {v}: 0 to 2**64-1")
    return int(v)


def _number(name, v, least):
    if not least <= operator.index(v) <= _NEVER:
        raise RangeError(f"{name} = {v}: {least} to {_NEVER}")
    return int(v)


def _index(world):
    """The number of a world, which the library checks: ctypes would drop high bits."""
    if abs(operator.index(world)) >= 1 << 63:
        raise RangeError(f"world = {world}: there is none")
    return operator.index(world)


def _text(name, v):
    """A string of C, which ends at the first zero byte."""
    v = os.fsencode(v)
    if b"\0" in v:
        raise RangeError(f"{name} = {v}: it has a zero byte")
    return v


def _limit(v):
    if v is None:
        return 0
    return -1 if v == -1 else _number("max_episode_steps", v, 1)
