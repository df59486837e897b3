"""How an observation, an action or a mask lies in a row of numbers."""

import numpy as np

from ._gym import Box, Dict, Discrete, MultiDiscrete


class Part:
    """Some numbers of each row, and their space."""

    def __init__(self, space, start, choices=None):
        self.space, self.choices = space, choices  # choices: of each number
        self.shape = space.shape
        self.start, self.stop = start, start + int(np.prod(self.shape, dtype=int))
        self.cuts = None  # of the masks of several choices: where the second and those after it begin

    @classmethod
    def box(cls, low, high, dtype, start=0):
        """Arrays within bounds."""
        return cls(Box(low, high, dtype=dtype), start)

    @classmethod
    def choice(cls, n, start=0):
        """One choice."""
        return cls(Discrete(int(n)), start, np.array([n]))

    @classmethod
    def each(cls, nvec, start=0):
        """Several choices."""
        return cls(MultiDiscrete(nvec), start, np.array(nvec))

    def of(self, rows):
        """The view of the numbers in rows, in their shape."""
        return rows[:, self.start : self.stop].reshape(len(rows), *self.shape)


class Layout:
    """A row: one part, or parts by name, one after the other."""

    def __init__(self, parts, dtype):
        self.dtype = dtype
        self.parts = parts  # by name; one without a name has the name None
        self.space = parts[None].space if None in parts else Dict({k: p.space for k, p in parts.items()})
        self.size = sum(p.stop - p.start for p in parts.values())
        self.single_choice = parts[None].choices is not None and parts[None].shape == () if None in parts else False
        self.choices = [n for p in parts.values() for n in (() if p.choices is None else p.choices)]

    def of(self, rows):
        """The view of rows: an array, or arrays by name."""
        if None in self.parts:
            return self.parts[None].of(rows)
        return {k: p.of(rows) for k, p in self.parts.items()}

    def masks(self):
        """The layout of masks: a flag for each choice."""
        parts, start = {}, 0
        for name, part in self.parts.items():
            n = int(sum(part.choices))
            parts[name] = Part(Box(0, 1, (n,), np.int8), start)
            if isinstance(part.space, MultiDiscrete):
                parts[name].cuts = np.cumsum(part.choices)[:-1].tolist()
            start += n
        return Layout(parts, np.int8)

    def sampled(self, tree, i):
        """A copy of row i of masks, in the form that sample of the space of actions wants: of several choices a tuple."""
        if None in self.parts:
            return _cut(self.parts[None], tree[i])
        return {k: _cut(p, tree[k][i]) for k, p in self.parts.items()}


def _cut(part, mask):
    mask = mask.copy()
    return mask if part.cuts is None else tuple(np.split(mask, part.cuts))


def rows_at(tree, at):
    """Copies of the rows with these numbers, in an array of objects: arrays, or dicts of them."""
    if isinstance(tree, dict):
        rows = [dict(zip(tree, values)) for values in zip(*(v[at] for v in tree.values()))]
    else:
        rows = tree[at]
    return np.array([*rows, None], object)[:-1]  # with None, rows of one shape do not become a matrix


def copied(tree):
    """A copy of an array, or of arrays by name."""
    return {k: v.copy() for k, v in tree.items()} if isinstance(tree, dict) else tree.copy()


def row(tree, i):
    """A copy of a row of an array, or of arrays by name."""
    return {k: v[i].copy() for k, v in tree.items()} if isinstance(tree, dict) else tree[i].copy()
