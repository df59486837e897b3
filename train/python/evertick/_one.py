"""What environments of one world have in common."""

import copy

from . import _render


class OneWorld:
    """The calls of one world, whether it has one agent or several."""

    _batch = None  # until it is open

    def render(self):
        """The picture of the world in mode "rgb_array": height x width x 3 bytes, a new array. Otherwise None."""
        return None if self.render_mode is None else _render.frame(self._batch, 0, self.render_size)

    def hash(self) -> int:
        """The hash of the world."""
        return int(self._batch.hashes()[0])

    def save(self) -> bytes:
        """The world as bytes."""
        return self._batch.save(0)

    def export(self, directory) -> dict:
        """Writes the last episode as a log that `bench/serve replay verify` verifies."""
        return self._batch.export(0, directory)

    def close(self):
        """Closes the world. Closing it twice is not an error."""
        if self._batch is not None:
            self._batch.close()

    def __copy__(self):
        return copy.deepcopy(self)
