"""The classes of Gymnasium, where it can be imported; otherwise those of _plain, of the same names."""

import warnings

try:
    import gymnasium
except ImportError:
    gymnasium = None
else:
    try:
        from gymnasium.vector import AutoresetMode as _
    except ImportError:
        warnings.warn(f"evertick needs Gymnasium 1.1 or later, and does without this one, {gymnasium.__version__}", stacklevel=2)
        gymnasium = None

if gymnasium is None:
    from ._plain import AutoresetMode, Box, Dict, Discrete, Env, MultiDiscrete, VectorEnv, batch_space
else:
    from gymnasium import Env
    from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

__all__ = ["AutoresetMode", "Box", "Dict", "Discrete", "Env", "MultiDiscrete", "VectorEnv", "batch_space", "gymnasium"]
