"""Pictures of worlds."""

import operator

import numpy as np

from ._library import RangeError, UnsupportedError

MODES = ["rgb_array"]
SIZE = (480, 360)
LARGEST = 4096


def checked(mode, size):
    """The mode and the size of pictures, width and height in pixels."""
    if mode is not None and mode not in MODES:
        advice = ""
        if mode == "human":
            advice = "; for a window, gymnasium.make(id, render_mode='human') shows these pictures, with pygame"
        raise UnsupportedError(f"render_mode = {mode!r}: None or one of {MODES}{advice}")
    try:
        width, height = (operator.index(n) for n in size)
    except (TypeError, ValueError):
        raise TypeError(f"render_size = {size!r}: wants width and height in pixels") from None
    for name, n in (("width", width), ("height", height)):
        if not 1 <= n <= LARGEST:
            raise RangeError(f"render_size: {name} = {n}: 1 to {LARGEST}")
    return mode, (width, height)


def frame(batch, world, size):
    """The picture of a world: height x width x 3 bytes."""
    width, height = size
    rgb = np.empty((height, width, 3), np.uint8)
    batch.call("render", world, width, height, rgb.ctypes.data, rgb.nbytes)
    return rgb
