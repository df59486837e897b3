"""The environment of one world."""

import numpy as np

from . import _gym, _render
from ._batch import Batch, new_seed
from ._gym import AutoresetMode
from ._layout import row
from ._library import RangeError, UnsupportedError
from ._one import OneWorld


_WHOLE = frozenset((int, np.int32, np.int64))


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
        if len(b.agents) > 1:
            raise UnsupportedError(f"{name} has the agents {b.agents}: make it a ParallelEnv or a VectorEnv")
        super().reset(seed=int(seed))
        self.name, self.max_episode_steps = b.name, b.limit
        self.metadata = {**self.metadata, "render_fps": b.rate}
        self.observation_space, self.action_space = b.observation.space, b.action.space
        self._choices = int(b.action.choices[0]) if b.one_choice is not None else 0

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
        """Observation, reward, terminated, truncated and info of a step. info has "action_mask" where actions are
        choices, as sample of action_space takes it."""
        b = self._batch
        if type(action) in _WHOLE and b.one_choice is not None and 0 <= action < self._choices:
            b.step_choice(action)
            return self._outcome()
        if isinstance(action, dict):
            action = {k: np.asarray(v)[None] for k, v in action.items()}
        else:
            action = np.asarray(action)
            if action.shape != self.action_space.shape:
                raise ValueError(f"action: shape {action.shape}, wants {self.action_space.shape}")
            action = action[None]
        b.step(action)
        return self._outcome()

    def _outcome(self):
        b = self._batch
        return self._observation(), b.one_reward[0], b.one_terminated[0], b.one_truncated[0], self._info()

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
        b = self._batch
        return {} if b.masks is None else {"action_mask": b.masks.sampled(b.shown_mask, 0)}


def described(name, library):
    """How many agents a world has, and its limit of steps or None."""
    b = Batch(name, 1, seed=0, mode=AutoresetMode.DISABLED, workers=1, limit=None, first=0, record=False, library=library)
    b.close()
    return max(1, len(b.agents)), b.limit


class UntimedEnv(Env):
    """An Env without a limit of its own, for gymnasium.make, which adds its TimeLimit."""

    def __init__(self, name: str, *, max_episode_steps: int = -1, **options):
        super().__init__(name, max_episode_steps=max_episode_steps, **options)
