"""What the tests share."""

import numpy as np

import evertick

MODES = list(evertick.AutoresetMode)


def single():
    """The names of the worlds with one agent, which Env and Gymnasium take."""
    return [name for name in evertick.names() if name != "tag-team"]


def spread(space, step, first=0):
    """Actions of a batched space that depend on step, world and place alone."""
    if isinstance(space, evertick.Dict):
        return {k: spread(s, step + i, first) for i, (k, s) in enumerate(space.items())}
    n = space.shape[0]
    world = np.arange(first, first + n).reshape(n, *[1] * (len(space.shape) - 1))
    place = np.arange(int(np.prod(space.shape[1:]))).reshape(1, *space.shape[1:]) if len(space.shape) > 1 else 0
    if space.dtype.kind == "i":  # several choices of each world are a Box
        n = space.nvec if isinstance(space, evertick.MultiDiscrete) else space.high + 1
        return ((step * 7 + world * 3 + place * 5) % n).astype(np.int32)
    return (((step * 5 + world * 3 + place * 2) % 9 - 4) / 4).astype(np.float32)


def differs(a, b):
    """Where two results differ, or "": dicts, tuples, arrays; NaN equals itself."""
    if isinstance(a, dict):
        if not isinstance(b, dict) or a.keys() != b.keys():
            return f"{sorted(a)} and {sorted(b) if isinstance(b, dict) else b}"
        return "".join(f"[{k!r}]{d}" for k in a if (d := differs(a[k], b[k])))
    if isinstance(a, (tuple, list)):
        if len(a) != len(b):
            return f"{len(a)} and {len(b)} entries"
        return "".join(f"[{i}]{d}" for i, (x, y) in enumerate(zip(a, b)) if (d := differs(x, y)))
    if isinstance(a, np.ndarray) and a.dtype == object:
        return differs(list(a), list(b))
    if a is None or b is None or isinstance(a, str):
        return "" if type(a) is type(b) and a == b else f"{a!r} and {b!r}"
    a, b = np.asarray(a), np.asarray(b)
    same = a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f")
    return "" if same else f"{a} and {b}"


def flat(info):
    """An info with masks of several choices as a VectorEnv has them: rows, where one world has a tuple for each choice."""
    out = {}
    for key, value in info.items():
        if isinstance(value, dict):
            value = flat(value)
        elif isinstance(value, np.ndarray) and value.dtype == object and any(isinstance(v, tuple) for v in value):
            rows = [v if v is None else np.concatenate(v) for v in value]
            width = next(len(r) for r in rows if r is not None)
            value = np.array([np.zeros(width, np.int8) if r is None else r for r in rows])
        out[key] = value
    return out


def marked(info):
    """An info without the rows that its masks do not mark."""
    out = {}
    for key, value in info.items():
        mask = info.get("_" + key)
        if mask is None:
            out[key] = value
        elif isinstance(value, dict):
            out[key] = marked(value)
        else:
            out[key] = [row if ok else None for row, ok in zip(value, mask)]
    return out
