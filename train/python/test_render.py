"""Pictures of worlds."""

import pickle
import unittest
import warnings

import numpy as np

import evertick
from evertick import _register

try:
    import gymnasium
    from gymnasium.utils.env_checker import check_env
except ImportError:
    gymnasium = None

WHITE = (255, 255, 255)
# A colour that only what it names has, by world.
SHOWS = {
    "cartpole": {"cart": (0x30, 0x47, 0x5E), "pole": (0xD0, 0x8A, 0x3E)},
    "pushbox": {"disc": (0xD6, 0x2F, 0x2F), "box": (0x2F, 0x80, 0xE0), "goal": (0x2E, 0x9E, 0x5B)},
    "tag": {"player": (0xD6, 0x2F, 0x2F), "pursuer": (0xEF, 0x8B, 0x3A), "runner": (0x2F, 0x80, 0xE0)},
    "tag-raster": {"player": (0xD6, 0x2F, 0x2F)},
}


def has(frame, color):
    return bool((frame == np.array(color, np.uint8)).all(axis=2).any())


class Render(unittest.TestCase):
    def test_env(self):
        for name, colors in SHOWS.items():
            with evertick.make(name, seed=5, render_mode="rgb_array") as env:
                self.assertEqual(env.metadata["render_modes"], ["rgb_array"])
                env.reset()
                first = env.render()
                self.assertEqual((first.shape, first.dtype), ((360, 480, 3), np.uint8))
                self.assertTrue(has(first, WHITE))
                for what, color in colors.items():
                    self.assertTrue(has(first, color), f"{name}: {what}")
                kept, before = first.copy(), env.hash()
                self.assertTrue(np.array_equal(env.render(), first), "the same state gives another picture")
                self.assertEqual(env.hash(), before, "a picture has changed the world")
                env.action_space.seed(1)
                for _ in range(12):
                    env.step(env.action_space.sample())
                self.assertFalse(np.array_equal(env.render(), first), "a world that has moved gives the same picture")
                self.assertTrue(np.array_equal(first, kept), "an earlier picture has changed")

    def test_vector(self):
        """World i has the picture of an Env of that number; a copy has the pictures of the original."""
        with evertick.make_vec("pushbox", 3, seed=8, render_mode="rgb_array", render_size=(90, 60)) as envs:
            envs.reset()
            for _ in range(5):
                envs.step(np.array([1, 3, 4]))
            frames = envs.render()
            self.assertIsInstance(frames, tuple)
            self.assertEqual([f.shape for f in frames], [(60, 90, 3)] * 3)
            for i, action in enumerate([1, 3, 4]):
                with evertick.make("pushbox", seed=8, first=i, render_mode="rgb_array", render_size=(90, 60)) as env:
                    env.reset()
                    for _ in range(5):
                        env.step(action)
                    self.assertTrue(np.array_equal(env.render(), frames[i]), i)
            with pickle.loads(pickle.dumps(envs)) as again:
                for a, b in zip(again.render(), frames, strict=True):
                    self.assertTrue(np.array_equal(a, b))

    def test_parallel(self):
        with evertick.make("tag", seed=4, render_mode="rgb_array") as env:
            parallel = evertick.ParallelEnv("tag", seed=4, render_mode="rgb_array")
            env.reset()
            parallel.reset()
            self.assertTrue(np.array_equal(env.render(), parallel.render()))
            parallel.close()
            self.assertIsNone(evertick.ParallelEnv("tag").render())

    def test_rate(self):
        """A film of an episode has the speed of the world."""
        for name, rate in (("cartpole", 50), ("pushbox", 60), ("tag", 60)):
            for env in (evertick.make(name), evertick.make_vec(name, 2), evertick.ParallelEnv(name)):
                self.assertEqual(env.metadata["render_fps"], rate)
                self.assertIs(type(env.metadata["render_fps"]), int)
                env.close()

    def test_refused(self):
        for mode in ("human", "ansi", 3):
            with self.assertRaisesRegex(evertick.UnsupportedError, "render_mode = "):
                evertick.make("cartpole", render_mode=mode)
        with self.assertRaisesRegex(evertick.UnsupportedError, "pygame"):
            evertick.make_vec("cartpole", 2, render_mode="human")
        for size in ((0, 5), (5, 4097), (-1, 5)):
            with self.assertRaisesRegex(evertick.RangeError, "render_size"):
                evertick.make("cartpole", render_mode="rgb_array", render_size=size)
        for size in ((1.5, 2), (3,), (1, 2, 3), None, "ab"):
            with self.assertRaisesRegex(TypeError, "render_size = "):
                evertick.make("cartpole", render_mode="rgb_array", render_size=size)
        with evertick.make("cartpole") as env, evertick.make_vec("cartpole", 2) as envs:
            self.assertIsNone(env.render_mode)
            self.assertIsNone(env.render())
            self.assertIsNone(envs.render())
        with evertick.make("cartpole", render_mode="rgb_array") as env:
            with self.assertRaisesRegex(evertick.StaleError, "has not begun"):
                env.render()
        with self.assertRaises(evertick.StaleError):
            env.render()

    @unittest.skipIf(gymnasium is None, "not run: Gymnasium cannot be imported")
    def test_gymnasium(self):
        for env_id in _register.WORLDS:
            with gymnasium.make(env_id, render_mode="rgb_array", render_size=(40, 30)) as env:
                env.reset(seed=1)
                self.assertEqual(env.render().shape, (30, 40, 3))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of bounds that are infinite
                    check_env(env.unwrapped)
        envs = gymnasium.make_vec("evertick/Tag-v0", 2, vectorization_mode="vector_entry_point", render_mode="rgb_array")
        envs.reset(seed=1)
        self.assertEqual([f.shape for f in envs.render()], [(360, 480, 3)] * 2)
        envs.close()


if __name__ == "__main__":
    unittest.main()
