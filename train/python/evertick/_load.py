"""Libraries of worlds, and the environments of their worlds."""

from ._env import Env, described
from ._library import interface
from ._register import register_world
from ._vector import VectorEnv


class Library:
    """A library of worlds. Several can be loaded."""

    def __init__(self, path):
        self._interface = interface(path)
        self.path = self._interface.path

    def version(self) -> int:
        """The version of the interface of the library."""
        return self._interface.version()

    def names(self) -> list:
        """The names of all worlds."""
        return self._interface.names()

    def make_vec(self, name: str, num_envs: int = 1, **options):
        """The VectorEnv of the worlds with a name."""
        return VectorEnv(name, num_envs, library=self.path, **options)

    def make(self, name: str, **options):
        """The Env of the world with a name."""
        return Env(name, library=self.path, **options)

    def register(self, namespace: str) -> None:
        """Registers the worlds of one agent with Gymnasium, as namespace/name-v0, with their limits of steps.

        Those of several agents are no environments of Gymnasium: make_vec and ParallelEnv make them.
        """
        for name in self.names():
            agents, limit = described(name, self.path)
            if agents < 2:
                register_world(f"{namespace}/{name}-v0", name, limit, library=self.path)

    def __repr__(self):
        return f"Library({self.path!r})"


_libraries = {}


def load(path=None) -> Library:
    """The library in a file. None: the file that EVERTICK_TRAIN_LIBRARY names, or the one in this folder.

    A file is loaded once, and stays loaded.
    """
    path = interface(path).path
    if path not in _libraries:
        _libraries[path] = Library(path)
    return _libraries[path]


def library_version() -> int:
    """The version of the interface of the library."""
    return load().version()


def names() -> list:
    """The names of all worlds."""
    return load().names()
