"""What the package needs of Gymnasium, for use without it: the same names, arguments and results, as far as
training programs use them."""

import enum

import numpy as np


class AutoresetMode(enum.Enum):
    """When the next episode begins."""

    NEXT_STEP = "NextStep"
    SAME_STEP = "SameStep"
    DISABLED = "Disabled"


class Space:
    """The space of observations or actions."""

    def __init__(self, shape, dtype, seed=None):
        self.shape, self.dtype = shape, None if dtype is None else np.dtype(dtype)
        self._random = np.random.default_rng(seed)

    def seed(self, seed=None):
        """Makes samples reproducible."""
        self._random = np.random.default_rng(seed)
        return seed

    def __contains__(self, x):
        return self.contains(x)

    def __hash__(self):
        return hash(repr(self))

    def _fits(self, x):
        return isinstance(x, np.ndarray) and x.shape == self.shape and np.can_cast(x.dtype, self.dtype)


class Box(Space):
    """Arrays of numbers, each between its bounds."""

    def __init__(self, low, high, shape=None, dtype=np.float32, seed=None):
        shape = np.shape(low) if shape is None else tuple(shape)
        super().__init__(shape, dtype, seed)
        self.low = np.broadcast_to(np.asarray(low, dtype), shape).copy()
        self.high = np.broadcast_to(np.asarray(high, dtype), shape).copy()

    def contains(self, x):
        """Whether x has the shape and a dtype that fits, and is within the bounds."""
        return bool(self._fits(x) and np.all(x >= self.low) and np.all(x <= self.high))

    def sample(self):
        """Uniform between two bounds, normal without bounds, exponential from one bound."""
        if self.dtype.kind != "f":
            return self._random.integers(self.low, self.high, dtype=self.dtype, endpoint=True)
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        below, above = np.isfinite(low), np.isfinite(high)
        drawn = self._random.normal(size=self.shape)
        tail = self._random.exponential(size=self.shape)
        drawn = np.where(below & ~above, np.where(below, low, 0) + tail, drawn)
        drawn = np.where(above & ~below, np.where(above, high, 0) - tail, drawn)
        both = below & above
        uniform = self._random.uniform(np.where(both, low, 0), np.where(both, high, 1))
        return np.where(both, uniform, drawn).astype(self.dtype)

    def __eq__(self, other):
        return (
            isinstance(other, Box)
            and self.dtype == other.dtype
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = Space.__hash__

    def __repr__(self):
        return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"


class Discrete(Space):
    """A choice from 0 to n-1."""

    def __init__(self, n, seed=None, dtype=np.int64):
        super().__init__((), dtype, seed)
        self.n = self.dtype.type(n)

    def contains(self, x):
        """Whether x is a whole number from 0 to n-1."""
        if isinstance(x, (np.generic, np.ndarray)):
            return bool(x.shape == () and x.dtype.kind in "iu" and np.can_cast(x.dtype, self.dtype) and 0 <= x < self.n)
        return isinstance(x, int) and 0 <= x < self.n

    def sample(self, mask=None):
        """Any choice, or one where the mask is not 0; 0 if there is none."""
        if mask is None:
            return self.dtype.type(self._random.integers(self.n))
        if np.shape(mask) != (self.n,):
            raise ValueError(f"mask: shape {np.shape(mask)}, wants {(int(self.n),)}")
        allowed = np.flatnonzero(mask)
        return self.dtype.type(self._random.choice(allowed) if len(allowed) else 0)

    def __eq__(self, other):
        return isinstance(other, Discrete) and self.n == other.n

    __hash__ = Space.__hash__

    def __repr__(self):
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    """Several choices, each from 0 to one less than its entry of nvec."""

    def __init__(self, nvec, dtype=np.int64, seed=None):
        self.nvec = np.array(nvec, dtype)
        super().__init__(self.nvec.shape, dtype, seed)

    def contains(self, x):
        """Whether x has the shape, and whole numbers in range."""
        if isinstance(x, (list, tuple)):
            x = np.array(x)
        return bool(self._fits(x) and np.all(x >= 0) and np.all(x < self.nvec))

    def sample(self, mask=None):
        """Any choices, or those where the masks, one of each choice, are not 0; 0 if there is none."""
        if mask is None:
            return self._random.integers(self.nvec, dtype=self.dtype)
        if not isinstance(mask, tuple) or [len(m) for m in mask] != self.nvec.tolist():
            raise ValueError(f"mask: wants a tuple of arrays of {self.nvec.tolist()} flags")
        allowed = [np.flatnonzero(m) for m in mask]
        return np.array([self._random.choice(a) if len(a) else 0 for a in allowed], self.dtype)

    def __eq__(self, other):
        return isinstance(other, MultiDiscrete) and np.array_equal(self.nvec, other.nvec)

    __hash__ = Space.__hash__

    def __repr__(self):
        return f"MultiDiscrete({self.nvec})"


class Dict(Space):
    """Spaces by name."""

    def __init__(self, spaces, seed=None):
        super().__init__(None, None)
        self.spaces = dict(spaces)
        self.seed(seed)

    def seed(self, seed=None):
        """Makes samples reproducible."""
        seeds = np.random.SeedSequence(seed).spawn(len(self.spaces))
        for space, s in zip(self.spaces.values(), seeds):
            space.seed(s)
        return seed

    def contains(self, x):
        """Whether x has an entry for each name, within its space."""
        return isinstance(x, dict) and x.keys() == self.spaces.keys() and all(x[k] in s for k, s in self.spaces.items())

    def sample(self, mask=None):
        """A sample of each space, with its mask."""
        return {k: s.sample() if mask is None else s.sample(mask[k]) for k, s in self.spaces.items()}

    def __getitem__(self, name):
        return self.spaces[name]

    def __iter__(self):
        return iter(self.spaces)

    def __len__(self):
        return len(self.spaces)

    def keys(self):
        """The names."""
        return self.spaces.keys()

    def values(self):
        """The spaces."""
        return self.spaces.values()

    def items(self):
        """The names with their spaces."""
        return self.spaces.items()

    def __eq__(self, other):
        return isinstance(other, Dict) and self.spaces == other.spaces

    __hash__ = Space.__hash__

    def __repr__(self):
        return "Dict(" + ", ".join(f"{k!r}: {s}" for k, s in self.spaces.items()) + ")"


def batch_space(space, n=1):
    """The space of n rows that are each of a space."""
    if isinstance(space, Dict):
        return Dict({k: batch_space(s, n) for k, s in space.items()})
    if isinstance(space, Box):
        return Box(np.stack([space.low] * n), np.stack([space.high] * n), dtype=space.dtype)
    if isinstance(space, MultiDiscrete):
        return Box(0, np.stack([space.nvec - 1] * n), (n, *space.shape), dtype=space.dtype)
    return MultiDiscrete([space.n] * n, dtype=space.dtype)


class _Random:
    """The random numbers that each environment has for its caller."""

    metadata = {}
    render_mode = spec = None
    _np_random = _np_random_seed = None

    def reset(self, *, seed=None, options=None):
        """Seeds np_random."""
        if seed is not None:
            self._np_random, self._np_random_seed = np.random.Generator(np.random.PCG64(seed)), seed

    @property
    def np_random(self):
        """Random numbers for the caller; the worlds have their own."""
        return self._np_random

    @np_random.setter
    def np_random(self, value):
        self._np_random, self._np_random_seed = value, -1

    @property
    def np_random_seed(self):
        """The seed of np_random; -1: it was replaced."""
        return self._np_random_seed

    @property
    def unwrapped(self):
        """The environment itself."""
        return self


class Env(_Random):
    """The base of environments of one world."""

    def __str__(self):
        return f"<{type(self).__name__} instance>"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        return False

    def has_wrapper_attr(self, name):
        """Whether there is an attribute."""
        return hasattr(self, name)

    def get_wrapper_attr(self, name):
        """An attribute."""
        return getattr(self, name)

    def set_wrapper_attr(self, name, value, *, force=True):
        """Sets an attribute, with force False only if there is one."""
        if not force and not hasattr(self, name):
            return False
        setattr(self, name, value)
        return True


class VectorEnv(_Random):
    """The base of environments of many worlds."""

    closed = False

    def close(self, **kwargs):
        """Closes the environment. Closing it twice is not an error."""
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def __repr__(self):
        return f"{type(self).__name__}(num_envs={self.num_envs})"
