"""The environment of one world."""

import numpy as np

from . import _gym, _render
from ._batch import Batch, new_seed
from ._gym import AutoresetMode
from ._layout import row
from ._library import RangeError, UnsupportedError
from ._one import OneWorld


def make(name: str, **options) -> "Env":
    """The environment of the world with a name, as gymnasium.make."""
    return Env(name, **options)


class Env(OneWorld, _gym.Env):
    """One world: a gymnasium.Env, where Gymnasium is installed.

    The arguments are those of VectorEnv; with the same seed, world number `first` of a VectorEnv does the same.
    After the end of an episode only reset goes on. An environment pickles and copies with its state.
    """

    metadata = {"render_modes": _render.MODES, "render_fps": 60}  # an environment has the rate of its world

    def __init__(self, name: str, *, seed=None, max_episode_steps=None, first: int = 0, record: bool = False, library=None,
                 render_mode=None, render_size=_render.SIZE):
        self.render_mode, self.render_size = _render.checked(render_mode, render_size)
        seed = new_seed() if seed is None else seed
        self._batch = b = Batch(
            name, 1, seed=seed, mode=AutoresetMode.DISABLED, workers=1, limit=max_episode_steps, first=first, record=record,
            library=library,
        )
        if b.agents:
            raise UnsupportedError(f"{name} has the agents {b.agents}: make it a ParallelEnv or a VectorEnv")
        super().reset(seed=int(seed))
        self.name, self.max_episode_steps = b.name, b.limit
        self.metadata = {**self.metadata, "render_fps": b.rate}
        self.observation_space, self.action_space = b.observation.space, b.action.space

    def reset(self, *, seed=None, options=None):
        """Begins an episode: observation and info. seed is None for the next episode, or a number."""
        if options:
            raise RangeError(f"options {sorted(options)}: there are none")
        if seed is not None and np.ndim(seed) != 0:
            raise TypeError(f"seed: a {type(seed).__name__}, wants a whole number")
        self._batch.reset(seed)
        if seed is not None:
            super().reset(seed=int(seed))
        return self._observation(), self._info()

    def step(self, action):
        """Observation, reward, terminated, truncated and info of a step. info has "action_mask" where actions are choices."""
        b = self._batch
        if isinstance(action, dict):
            action = {k: np.asarray(v)[None] for k, v in action.items()}
        else:
            action = np.asarray(action)
            if action.shape != self.action_space.shape:
                raise ValueError(f"action: shape {action.shape}, wants {self.action_space.shape}")
            action = action[None]
        b.step(action)
        return self._observation(), float(b.reward[0]), bool(b.terminated[0]), bool(b.truncated[0]), self._info()

    def observe(self):
        """The observation, for use after load."""
        self._batch.observe()
        return self._observation()

    def load(self, data: bytes) -> None:
        """Replaces the world by a saved one."""
        self._batch.load(0, data)

    def _observation(self):
        return row(self._batch.shown, 0)

    def _info(self):
        mask = self._batch.shown_mask
        return {} if mask is None else {"action_mask": row(mask, 0)}


class UntimedEnv(Env):
    """An Env without a limit of its own, for gymnasium.make, which adds its TimeLimit."""

    def __init__(self, name: str, *, max_episode_steps: int = -1, **options):
        super().__init__(name, max_episode_steps=max_episode_steps, **options)
