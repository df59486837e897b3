"""Training worlds of evertick: many small deterministic worlds, stepped together.

    import evertick
    envs = evertick.make_vec("cartpole", num_envs=4096, workers=2)
    obs, info = envs.reset(seed=1)
    obs, reward, terminated, truncated, info = envs.step(actions)

VectorEnv is a gymnasium.vector.VectorEnv and Env a gymnasium.Env where Gymnasium is installed, and its worlds are
registered, as "evertick/CartPole-v0". Without it they have the same methods. A step of all worlds is one
call of the library.
"""

from ._env import Env, make
from ._gym import AutoresetMode, Box, Dict, Discrete, MultiDiscrete
from ._library import (
    CapacityError,
    CorruptError,
    EvertickError,
    FileError,
    FloatEnvError,
    NotFiniteError,
    PanicError,
    RangeError,
    StaleError,
    UnsupportedError,
    WorldError,
)
from ._load import Library, library_version, load, names
from ._parallel import ParallelEnv
from ._register import register
from ._vector import VectorEnv, make_vec

register()

__all__ = [
    "AutoresetMode",
    "Box",
    "CapacityError",
    "CorruptError",
    "Dict",
    "Discrete",
    "Env",
    "EvertickError",
    "FileError",
    "FloatEnvError",
    "Library",
    "MultiDiscrete",
    "NotFiniteError",
    "PanicError",
    "ParallelEnv",
    "RangeError",
    "StaleError",
    "UnsupportedError",
    "VectorEnv",
    "WorldError",
    "library_version",
    "load",
    "make",
    "make_vec",
    "names",
]
