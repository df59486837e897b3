"""Spaces, with the parts of gymnasium.spaces that training programs use."""

import numpy as np


class Space:
    """The space of observations or actions."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self._random = np.random.default_rng()

    def seed(self, seed=None):
        """Makes samples reproducible."""
        self._random = np.random.default_rng(seed)
        return [seed]

    def __contains__(self, x):
        return self.contains(x)

    def _fits(self, x):
        x = np.asarray(x)
        return x.shape == self.shape and np.can_cast(x.dtype, self.dtype, "same_kind")


class Box(Space):
    """Arrays of numbers, each between its bounds."""

    def __init__(self, low, high, shape=None, dtype=np.float32):
        shape = np.shape(low) if shape is None else shape
        super().__init__(shape, dtype)
        self.low = np.broadcast_to(np.asarray(low, dtype), shape).copy()
        self.high = np.broadcast_to(np.asarray(high, dtype), shape).copy()

    def contains(self, x):
        return bool(self._fits(x) and np.all(x >= self.low) and np.all(x <= self.high))

    def sample(self):
        """Uniform where there are bounds, normal where there are none."""
        if self.dtype == np.uint8:
            return self._random.integers(self.low, self.high.astype(int) + 1, dtype=np.int64).astype(np.uint8)
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        bounded = np.isfinite(low) & np.isfinite(high)
        uniform = self._random.uniform(np.where(bounded, low, 0), np.where(bounded, high, 1))
        drawn = np.where(bounded, uniform, self._random.normal(size=self.shape))
        return np.clip(drawn, low, high).astype(self.dtype)

    def __eq__(self, other):
        return (
            isinstance(other, Box)
            and self.dtype == other.dtype
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    def __repr__(self):
        return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"


class Discrete(Space):
    """A choice from 0 to n-1."""

    def __init__(self, n, dtype=np.int32):
        super().__init__((), dtype)
        self.n = int(n)

    def contains(self, x):
        return bool(self._fits(x) and 0 <= x < self.n)

    def sample(self):
        return self.dtype.type(self._random.integers(self.n))

    def __eq__(self, other):
        return isinstance(other, Discrete) and self.n == other.n

    def __repr__(self):
        return f"Discrete({self.n})"


class MultiDiscrete(Space):
    """A choice for each of several."""

    def __init__(self, nvec, dtype=np.int32):
        self.nvec = np.asarray(nvec, dtype)
        super().__init__(self.nvec.shape, dtype)

    def contains(self, x):
        return bool(self._fits(x) and np.all(np.asarray(x) >= 0) and np.all(x < self.nvec))

    def sample(self):
        return self._random.integers(self.nvec, dtype=np.int64).astype(self.dtype)

    def __eq__(self, other):
        return isinstance(other, MultiDiscrete) and np.array_equal(self.nvec, other.nvec)

    def __repr__(self):
        return f"MultiDiscrete({self.nvec})"
