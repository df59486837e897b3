"""The names of the worlds in Gymnasium."""

from ._gym import gymnasium

# Their limits are those of the worlds: gymnasium.make wants them without loading the library.
WORLDS = {
    "evertick/Arm-v0": ("arm", 400),
    "evertick/BallPole-v0": ("ballpole", 500),
    "evertick/CartPole-v0": ("cartpole", 500),
    "evertick/PushBox-v0": ("pushbox", 900),
    "evertick/Tag-v0": ("tag", 600),
    "evertick/TagRaster-v0": ("tag-raster", 600),
}


def register_world(env_id: str, name: str, max_episode_steps=None, library=None) -> None:
    """Registers a world with Gymnasium, for make and make_vec. Without Gymnasium it does nothing."""
    if gymnasium is None:
        return
    kwargs = {"name": name} if library is None else {"name": name, "library": str(library)}
    known = gymnasium.registry.get(env_id)
    if known is not None and known.kwargs == kwargs:  # of another library Gymnasium says that it replaces the first one
        return
    gymnasium.register(
        env_id, entry_point="evertick._env:" + ("UntimedEnv" if max_episode_steps else "Env"), vector_entry_point="evertick:VectorEnv",
        max_episode_steps=max_episode_steps, kwargs=kwargs,
    )


def register() -> None:
    """Registers the worlds of WORLDS."""
    for env_id, (name, steps) in WORLDS.items():
        register_world(env_id, name, steps)
