"""The environment of one world with several agents, as PettingZoo has it."""

import copy

import numpy as np

from . import _render
from ._batch import Batch, new_seed
from ._gym import AutoresetMode
from ._layout import row
from ._library import RangeError
from ._one import OneWorld

try:
    from pettingzoo import ParallelEnv as _Base
except ImportError:
    _Base = object


class ParallelEnv(OneWorld, _Base):
    """One world: a pettingzoo.ParallelEnv, where PettingZoo is installed.

    The arguments are those of VectorEnv. Observations, rewards, flags and infos are dicts by agent: of those in
    `agents`, which take part. An agent leaves after the step that ends it; when none is left, only reset goes on. An
    environment pickles and copies with its state.
    """

    def __init__(self, name: str, *, seed=None, max_episode_steps=None, first: int = 0, record: bool = False, library=None,
                 render_mode=None, render_size=_render.SIZE):
        self.render_mode, self.render_size = _render.checked(render_mode, render_size)
        self._batch = b = Batch(
            name, 1, seed=new_seed() if seed is None else seed, mode=AutoresetMode.DISABLED, workers=1, limit=max_episode_steps,
            first=first, record=record, library=library,
        )
        self.name, self.max_episode_steps = b.name, b.limit
        self.metadata = {"name": b.name, "render_modes": _render.MODES, "render_fps": b.rate}
        self.possible_agents = list(b.agents or ["agent_0"])
        # A space for each: their samples are independent.
        self.observation_spaces = {a: copy.deepcopy(b.observation.space) for a in self.possible_agents}
        self.action_spaces = {a: copy.deepcopy(b.action.space) for a in self.possible_agents}

    def observation_space(self, agent):
        """The space of the observations of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent):
        """The space of the actions of an agent."""
        return self.action_spaces[agent]

    @property
    def agents(self) -> list:
        """Those that take part in the next step."""
        return [a for a, live in zip(self.possible_agents, self._batch.live.tolist()) if live]

    @property
    def num_agents(self) -> int:
        """How many agents take part."""
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        """How many agents take part in the first step."""
        return len(self.possible_agents)

    @property
    def unwrapped(self):
        """The environment itself."""
        return self

    def reset(self, seed=None, options=None):
        """Begins an episode: observations and infos. seed is None for the next episode, or a number.

        options are for what wraps environments, as in PettingZoo: the worlds have none, and ignore them.
        """
        if np.ndim(seed) != 0:
            raise TypeError(f"seed: a {type(seed).__name__}, wants a whole number")
        self._batch.reset(seed)
        at = self._places()
        return self._rows(at), self._infos(at)

    def step(self, actions):
        """Observations, rewards, terminations, truncations and infos of a step, of the agents that took part in it.

        actions has one of each agent in `agents`. Infos have "action_mask" where actions are choices, as
        sample of the action space takes it.
        """
        b, at = self._batch, self._places()
        if actions.keys() != {a for a, _ in at}:
            raise RangeError(f"actions of {sorted(actions)}: wants those of {sorted(self.agents)}")
        if not at:
            return {}, {}, {}, {}, {}
        b.step(self._gathered(actions, at))
        outcomes = [{a: of[i] for a, i in at} for of in (b.one_reward, b.one_terminated, b.one_truncated)]
        return self._rows(at), *outcomes, self._infos(at)

    def load(self, data: bytes):
        """Replaces the world by a saved one, and returns observations and infos."""
        b = self._batch
        b.load(0, data)
        b.observe()
        at = self._places()
        return self._rows(at), self._infos(at)

    def _places(self):
        """The agents that take part in the next step, with their rows."""
        live = self._batch.live.tolist()
        return [(a, i) for i, a in enumerate(self.possible_agents) if live[i]]

    def _gathered(self, actions, at):
        """The actions of all agents, zeros for those that do not take part."""
        some = next(iter(actions.values()))
        keys = list(some) if isinstance(some, dict) else [None]
        out = {}
        for key in keys:
            rows = [None] * len(self.possible_agents)
            for agent, i in at:
                rows[i] = np.asarray(actions[agent] if key is None else actions[agent][key])
            out[key] = np.stack([np.zeros_like(next(r for r in rows if r is not None)) if r is None else r for r in rows])
        return out[None] if None in out else out

    def _rows(self, at):
        return {a: row(self._batch.shown, i) for a, i in at}

    def _infos(self, at):
        b = self._batch
        return {a: {} if b.masks is None else {"action_mask": b.masks.sampled(b.shown_mask, i)} for a, i in at}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"ParallelEnv({self.name!r})"
