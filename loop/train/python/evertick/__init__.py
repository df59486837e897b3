"""Training worlds of evertick: many small deterministic worlds, stepped together.

    import evertick
    envs = evertick.make_vec("cartpole", num_envs=4096, workers=2)
    obs, info = envs.reset(seed=1)
    obs, reward, terminated, truncated, info = envs.step(actions)

The API is that of gymnasium.vector.VectorEnv, without importing it. A step of all worlds is
one call of the library. The arrays are the same at each step: reset and step return
the arrays that the library has written to, and the next call overwrites them. Copy what you
want to keep.
"""

from ._library import (
    CapacityError,
    CorruptError,
    EvertickError,
    FloatEnvError,
    NotFiniteError,
    PanicError,
    RangeError,
    StaleError,
    UnsupportedError,
    WorldError,
    library_version,
    names,
)
from ._spaces import Box, Discrete, MultiDiscrete
from ._vector import AutoresetMode, VectorEnv, make_vec

__all__ = [
    "AutoresetMode",
    "Box",
    "CapacityError",
    "CorruptError",
    "Discrete",
    "EvertickError",
    "FloatEnvError",
    "MultiDiscrete",
    "NotFiniteError",
    "PanicError",
    "RangeError",
    "StaleError",
    "UnsupportedError",
    "VectorEnv",
    "WorldError",
    "library_version",
    "make_vec",
    "names",
]
