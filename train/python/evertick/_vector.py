"""The vector environment."""

import copy

import numpy as np

from . import _gym, _render
from ._batch import Batch, new_seed
from ._gym import AutoresetMode
from ._layout import copied, rows_at
from ._library import RangeError


def make_vec(name: str, num_envs: int = 1, **options) -> "VectorEnv":
    """The vector environment of the worlds with a name, as gymnasium.make_vec."""
    return VectorEnv(name, num_envs, **options)


class VectorEnv(_gym.VectorEnv):
    """Worlds of one kind, stepped together: a gymnasium.vector.VectorEnv, where Gymnasium is installed.

    name              one of evertick.names()
    num_envs          how many worlds. If a world has several agents, it has a row for each, as if they
                      were environments: the attribute num_envs is the number of all rows, num_worlds that of worlds
    seed              of the batch, until reset sets another; None: any, np_random_seed says which
    autoreset_mode    an AutoresetMode, or its value
    workers           threads that step chunks of worlds; results do not depend on it
    max_episode_steps truncates episodes; None: the limit of the world, -1: no limit
    first             number of the first world: world i has the episodes of world first + i
                      of a larger batch
    record            keep the actions of episodes, for export
    copy              True: reset and step return new arrays, rewards as float64, as Gymnasium's vectors do. False: they
                      return the arrays that the library writes to, rewards as float32, and the next call overwrites them
    render_mode       "rgb_array": render returns pictures
    render_size       of these: width and height in pixels
    library           path of another library of worlds; None: that of evertick.load()

    Actions have the shape of action_space. Those that the library can read in place,
    float32 or int32 without gaps, are not copied. Others are: choices from whole numbers of any dtype, numbers
    from those and from floats of any dtype, which are rounded to float32; and both from lists.

    An environment pickles and copies with the state of all its worlds. The library does not survive a fork of the
    process that has loaded it: in the child every call is a StaleError. Start other processes by "spawn" or
    "forkserver": gymnasium.make_vec with vectorization_mode="async" needs vector_kwargs={"context": "spawn"}. An environment is for one thread at a time; others may use other environments meanwhile.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": _render.MODES, "render_fps": 60}  # an environment has the rate of its world
    _batch = None  # until it is open

    def __init__(
        self, name: str, num_envs: int = 1, *, seed=None, autoreset_mode=AutoresetMode.NEXT_STEP, workers: int = 1,
        max_episode_steps=None, first: int = 0, record: bool = False, copy: bool = True, library=None, render_mode=None, render_size=_render.SIZE
    ):
        self.render_mode, self.render_size = _render.checked(render_mode, render_size)
        seed = new_seed() if seed is None else seed
        self._batch = b = Batch(
            name, num_envs, seed=seed, mode=autoreset_mode, workers=workers, limit=max_episode_steps, first=first, record=record,
            library=library,
        )
        super().reset(seed=int(seed))
        self.name, self.num_envs, self.autoreset_mode, self.copy = b.name, b.rows, b.mode, copy
        self.num_worlds, self.agents = b.worlds, tuple(b.agents)
        self.metadata = {**self.metadata, "autoreset_mode": b.mode, "render_fps": b.rate}
        self.max_episode_steps = b.limit
        self.single_observation_space, self.single_action_space = b.observation.space, b.action.space
        self.observation_space = _gym.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = _gym.batch_space(self.single_action_space, self.num_envs)
        self._extra = {}  # of set_attr
        self._all = np.ones(self.num_envs, np.bool_)

    def reset(self, *, seed=None, options=None):
        """Begins episodes, and returns observations and info.

        seed      None: the next episode of each world. A number: the first episode of that seed; world i has the
                  episodes of world first + i. A list with one of those for each world (not for each agent).
        options   {"reset_mask": array of bool}: only these worlds begin.
        """
        only = self._reset_mask(options)
        self._batch.reset(seed, only)
        if seed is not None and np.ndim(seed) == 0:
            super().reset(seed=int(seed))
        return self._give(self._batch.shown), self._info(self._all if only is None else only.repeat(self.num_envs // self.num_worlds))

    def step(self, actions):
        """Steps all worlds: observations, rewards, terminated, truncated, info.

        info has, where actions are choices, "action_mask": int8, 1 for each choice that makes sense, in a row for each world; of
        several choices those of the first one come first. Worlds without masks have a row of ones, with copy=False always
        the same array, which cannot be written. And in SAME_STEP, where an episode has
        ended, "final_obs", its last observation or None, and "final_info", with the masks of that observation. "_action_mask",
        "_final_obs" and "_final_info" mark the worlds that have them. With several agents "live" marks those that take part in the next step.
        """
        self._batch.step(actions)
        return self._outcome()

    def send(self, actions) -> None:
        """Begins a step, which recv ends. Until then the actions may not be changed, arrays of copy=False not be read, and
        other calls are StaleErrors, but ready, close, and a reset of all worlds, which drops the step."""
        self._batch.send(actions)

    def recv(self):
        """Waits for the step of send, and returns what step returns. An invalid action is an error here. After Ctrl-C
        another recv returns the step, unless the first one had got it and was about to return."""
        self._batch.recv()
        return self._outcome()

    def ready(self) -> bool:
        """Whether recv would return at once."""
        return self._batch.ready()

    def _outcome(self):
        b = self._batch
        info = self._info(self._all)
        if b.mode is AutoresetMode.SAME_STEP and b.final.any():
            self._add_final(info)
        obs = self._give(b.shown)
        reward = b.reward.astype(np.float64) if self.copy else b.reward
        return obs, reward, self._give(b.terminated), self._give(b.truncated), info

    def observe(self):
        """The observations, for use after load and fork."""
        self._batch.observe()
        return self._give(self._batch.shown)

    def render(self):
        """A picture of each world in mode "rgb_array", in a tuple: height x width x 3 bytes each, new arrays. Otherwise None."""
        if self.render_mode is None:
            return None
        return tuple(_render.frame(self._batch, i, self.render_size) for i in range(self._batch.worlds))

    def close_extras(self, **_):
        """Closes the worlds."""
        if self._batch is not None:
            self._batch.close()

    # The state of worlds.

    def hashes(self):
        """The hash of each world."""
        return self._batch.hashes()

    def save(self, world: int) -> bytes:
        """A world as bytes."""
        return self._batch.save(world)

    def load(self, world: int, data: bytes) -> None:
        """Replaces a world by a saved one."""
        self._batch.load(world, data)

    def fork(self, source: int, target: int) -> None:
        """Makes world target a copy of world source."""
        self._batch.fork(source, target)

    def export(self, world: int, directory) -> dict:
        """Writes the last episode of a world as a log that `bench/serve replay verify` verifies."""
        return self._batch.export(world, directory)

    # Attributes of worlds.

    def call(self, name: str, *args, **kwargs) -> tuple:
        """What each world returns for a method of Env, or its attribute of that name."""
        if name == "hash":
            return tuple(self.hashes().tolist())
        if name in ("save", "load", "export"):
            return tuple(getattr(self, name)(i, *args, **kwargs) for i in range(self.num_worlds))
        if name in self._extra:
            return self._extra[name]
        value = getattr(self, {"observation_space": "single_observation_space", "action_space": "single_action_space"}.get(name, name))
        if callable(value):
            raise AttributeError(f"{name}: worlds are not called one by one")
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple:
        """The attribute of each world."""
        return self.call(name)

    def set_attr(self, name: str, values) -> None:
        """Keeps a value for each world, for get_attr: from a list or tuple, or the same for all. No world reads them."""
        if hasattr(self, name):
            raise AttributeError(f"{name}: worlds cannot change it")
        values = tuple(values) if isinstance(values, (list, tuple)) else (values,) * self.num_envs
        if len(values) != self.num_envs:
            raise RangeError(f"length of values = {len(values)}: wants {self.num_envs}")
        self._extra[name] = values

    # Helpers.

    def _give(self, tree):
        return copied(tree) if self.copy else tree

    def _info(self, which):
        """The info of the worlds that are marked."""
        b = self._batch
        info = self._masks(b.shown_mask, which)
        if b.agents:
            info.update(live=self._give(b.live), _live=self._give(which))
        return info

    def _masks(self, masks, which):
        """The part of an info that has masks. As in those of Gymnasium, flags mark the worlds of each entry, also within a dict."""
        if masks is None:
            return {}
        masks = self._give(masks)
        if isinstance(masks, dict):
            masks = {**masks, **{"_" + k: self._give(which) for k in masks}}
        return {"action_mask": masks, "_action_mask": self._give(which)}

    def _add_final(self, info):
        b = self._batch
        last, at = np.full(self.num_envs, None, object), np.flatnonzero(b.final)
        last[at] = rows_at(b.shown_final, at)
        if b.masked:
            b.final_mask[~b.final] = 0  # of earlier ends
        else:
            b.final_mask[:] = b.final[:, None]
        final_info = self._masks(b.shown_final_mask, b.final)
        info.update(final_obs=last, _final_obs=b.final.copy(), final_info=final_info, _final_info=b.final.copy())

    def _reset_mask(self, options):
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if options:
            raise RangeError(f"options {sorted(options)}: only reset_mask is supported")
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"reset_mask: {getattr(mask, 'dtype', type(mask).__name__)}, wants a numpy array of bool")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask: shape {mask.shape}, wants {(self.num_envs,)}")
        if not mask.any():
            raise ValueError("reset_mask: no world is marked")
        if not self.agents:
            return mask
        mask = mask.reshape(self.num_worlds, -1)
        if (mask.any(1) != mask.all(1)).any():
            raise ValueError(f"reset_mask: some agents of world {np.flatnonzero(mask.any(1) != mask.all(1))[0]} are marked and others not")
        return mask.all(1)

    def __copy__(self):
        return copy.deepcopy(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        if self.spec is not None:
            return super().__repr__()
        return f"{type(self).__name__}({self.name!r}, num_envs={self.num_envs})"
