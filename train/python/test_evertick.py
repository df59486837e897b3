"""Tests of the package, with the library that EVERTICK_TRAIN_LIBRARY names:

    python3 -m unittest -v test_evertick
"""

import copy
import ctypes
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import numpy as np

import evertick
from evertick import AutoresetMode
from support import MODES, differs, single, spread


def actions_of(envs, step, first=0):
    """Actions that depend on step and world alone."""
    return spread(envs.action_space, step, first)


class Worlds(unittest.TestCase):
    def test_names(self):
        self.assertEqual(evertick.names(), ["arm", "ballpole", "cartpole", "pushbox", "tag", "tag-raster", "tag-team"])
        self.assertEqual(evertick.library_version(), 1)
        with self.assertRaisesRegex(evertick.RangeError, "no-such-world"):
            evertick.make_vec("no-such-world")
        with self.assertRaisesRegex(evertick.RangeError, "zero byte"):
            evertick.make_vec("cartpole\0s")

    def test_spaces(self):
        want = {
            "arm": ((20,), np.float32, evertick.Box(-1, 1, (3,))),
            "ballpole": ((11,), np.float32, evertick.Box(-1, 1, (2,))),
            "cartpole": ((4,), np.float32, evertick.Discrete(2)),
            "pushbox": ((13,), np.float32, evertick.Discrete(5)),
            "tag": ((23,), np.float32, evertick.Box(-1, 1, (2,))),
            "tag-raster": ((3, 20, 20), np.uint8, evertick.Box(-1, 1, (2,))),
        }
        for name in single():
            with evertick.make_vec(name, 3) as envs:
                shape, dtype, action = want[name]
                self.assertEqual(envs.single_observation_space.shape, shape)
                self.assertEqual(envs.observation_space.shape, (3, *shape))
                self.assertEqual(envs.observation_space.dtype, dtype)
                self.assertEqual(envs.single_action_space, action)
                obs, info = envs.reset(seed=1)
                self.assertIn(obs, envs.observation_space)
                self.assertEqual("action_mask" in info, name in ("cartpole", "pushbox"))
                envs.action_space.seed(3)
                for _ in range(20):
                    action = envs.action_space.sample()
                    self.assertIn(action, envs.action_space)
                    obs, reward, terminated, truncated, info = envs.step(action)
                self.assertEqual((reward.dtype, terminated.dtype, truncated.dtype), (np.float64, np.bool_, np.bool_))
                self.assertEqual(reward.shape, (3,))

    def test_arrays(self):
        """New arrays at each step, or with copy=False always the same ones."""
        for fresh in (True, False):
            with evertick.make_vec("cartpole", 4, copy=fresh, autoreset_mode="SameStep") as envs, evertick.make_vec("cartpole", 4, autoreset_mode="SameStep") as twin:
                obs, _ = envs.reset(seed=1)
                twin.reset(seed=1)
                kept, was = [obs], obs.copy()
                for step in range(60):
                    out = envs.step(actions_of(envs, step))
                    self.assertEqual(differs(out, twin.step(actions_of(envs, step))), "", step)
                    kept += out[:4]
                self.assertEqual(len({id(a) for a in kept}), 1 + 60 * 4 if fresh else 4)
                self.assertEqual(np.array_equal(obs, was), fresh)
                self.assertEqual(out[1].dtype, np.float64 if fresh else np.float32)

    def test_same_in_any_batch(self):
        for name in single():
            many = evertick.make_vec(name, 40, seed=5, workers=2, copy=False, max_episode_steps=12)
            alone = [evertick.make_vec(name, 1, seed=5, first=i, max_episode_steps=12) for i in (0, 17, 39)]
            rows = {id(e): i for e, i in zip(alone, (0, 17, 39))}
            shown, _ = many.reset()
            for e in alone:
                e.reset()
            for step in range(30):
                many.step(actions_of(many, step))
                hashes = many.hashes()
                for e in alone:
                    i = rows[id(e)]
                    obs, *_ = e.step(actions_of(e, step, i))
                    self.assertEqual(e.hashes()[0], hashes[i], (name, step, i))
                    self.assertTrue(np.array_equal(obs[0], shown[i]), (name, step, i))
            for e in (many, *alone):
                e.close()


class Taken(unittest.TestCase):
    """Actions of any form do what those of the dtype of the space do."""

    def same(self, name, forms):
        twin = evertick.make_vec(name, 6, seed=4)
        self.addCleanup(twin.close)
        for label, form in forms:
            with evertick.make_vec(name, 6, seed=4) as envs:
                envs.reset(seed=4)
                twin.reset(seed=4)
                for step in range(12):
                    action = actions_of(envs, step)
                    if name == "tag":
                        action = np.rint(action) + np.float32(0)  # no -0, which no whole number is
                    twin.step(action)
                    envs.step(form(action))
                    self.assertTrue(np.array_equal(envs.hashes(), twin.hashes()), (name, label, step))

    def test_choices(self):
        dtypes = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4", ">i8"]
        forms = [(str(np.dtype(d)), lambda a, d=d: a.astype(d)) for d in dtypes]
        forms += [
            ("flags", lambda a: a.astype(bool) if a.max() < 2 else a), ("list", lambda a: a.tolist()), ("tuple", lambda a: tuple(a.tolist())), ("numpy scalars", list),
            ("gaps", lambda a: np.repeat(a, 2)[::2]), ("backwards", lambda a: a[::-1].copy()[::-1]),
            ("unaligned", lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.int32)),
            ("read only", lambda a: np.frombuffer(a.tobytes(), np.int32)),
        ]
        for name in ("cartpole", "pushbox"):
            self.same(name, forms)

    def test_numbers(self):
        dtypes = [np.float16, np.float32, np.float64, np.int64, np.int8, ">f4"]
        forms = [(str(np.dtype(d)), lambda a, d=d: a.astype(d)) for d in dtypes]
        forms += [
            ("list", lambda a: a.tolist()), ("columns", np.asfortranarray), ("gaps", lambda a: np.repeat(a, 2, axis=1)[:, ::2]),
            ("unaligned", lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.float32).reshape(a.shape)),
        ]
        self.same("tag", forms)

    def test_in_place(self):
        """An array of the right dtype is not copied, and none is kept or changed."""
        with evertick.make_vec("cartpole", 6) as envs:
            envs.reset(seed=1)
            mine = np.ones(6, np.int32)
            envs.step(mine)
            self.assertEqual(envs._batch.buffers.actions.data, mine.ctypes.data)
            wide = np.ones(6, np.int64)
            envs.step(wide)
            self.assertNotEqual(envs._batch.buffers.actions.data, wide.ctypes.data)
            self.assertTrue((wide == 1).all() and (mine == 1).all())


class Forked(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_fork(self):
        """A forked process is refused at once, whatever it asks for, and the first one goes on."""
        envs = evertick.make_vec("cartpole", 64, workers=2)
        self.addCleanup(envs.close)
        envs.reset(seed=1)
        envs.step([0] * 64)
        before = envs.hashes()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = []
            signal.alarm(60)
            for ask in (lambda: envs.step([0] * 64), lambda: evertick.make_vec("cartpole"), evertick.names, envs.hashes, envs.close):
                try:
                    ask()
                    said.append("done")
                except evertick.StaleError as e:
                    said.append("forked" if "forked" in str(e) else str(e))
                except BaseException as e:
                    said.append(repr(e))
            os.write(write, " ".join(said).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as f:
            self.assertEqual(f.read(), "forked forked forked forked done")
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(np.array_equal(envs.hashes(), before))
        envs.step([1] * 64)


class Autoreset(unittest.TestCase):
    def run_to_end(self, mode):
        envs = evertick.make_vec("cartpole", 3, seed=2, autoreset_mode=mode)
        self.addCleanup(envs.close)
        self.assertIs(envs.metadata["autoreset_mode"], AutoresetMode(mode))
        envs.reset()
        one = np.ones(3, np.int32)
        for _ in range(100):
            out = envs.step(one)
            if out[2].any():
                return envs, out
        self.fail("no episode has ended")

    def test_next_step(self):
        envs, (obs, reward, terminated, _, info) = self.run_to_end("NextStep")
        ended = terminated.copy()
        self.assertNotIn("final_obs", info)
        self.assertTrue((np.abs(obs[ended, 2]) > 0.2).all())
        obs, reward, terminated, truncated, _ = envs.step(np.zeros(3, np.int32))
        self.assertTrue((np.abs(obs[ended]) <= 0.05).all())
        self.assertTrue((reward[ended] == 0).all() and not terminated[ended].any() and not truncated[ended].any())

    def test_same_step(self):
        envs, (obs, reward, terminated, _, info) = self.run_to_end(AutoresetMode.SAME_STEP)
        ended = terminated.copy()
        self.assertTrue(np.array_equal(info["_final_obs"], ended))
        self.assertEqual([last is not None for last in info["final_obs"]], ended.tolist())
        self.assertTrue((np.abs(np.stack(info["final_obs"][ended])[:, 2]) > 0.2).all())
        self.assertTrue((np.abs(obs[ended]) <= 0.05).all())
        self.assertTrue((reward == 1).all())

    def test_disabled(self):
        envs, (obs, _, terminated, _, _) = self.run_to_end("Disabled")
        ended = terminated.copy()
        before = envs.hashes()
        with self.assertRaises(evertick.StaleError):
            envs.step(np.ones(3, np.int32))
        self.assertTrue(np.array_equal(envs.hashes(), before))
        was = obs.copy()
        obs, _ = envs.reset(options={"reset_mask": ended})
        self.assertTrue((np.abs(obs[ended]) <= 0.05).all())
        self.assertTrue(np.array_equal(obs[~ended], was[~ended]))
        envs.step(np.ones(3, np.int32))

    def test_truncated(self):
        with evertick.make_vec("tag", 2, max_episode_steps=5) as envs:
            envs.reset()
            for step in range(5):
                _, _, terminated, truncated, _ = envs.step(actions_of(envs, step))
                self.assertEqual(truncated.tolist(), [step == 4] * 2)
                self.assertFalse(terminated.any())


class Reset(unittest.TestCase):
    def test_seeds(self):
        with evertick.make_vec("cartpole", 3) as envs:
            a = envs.reset(seed=4)[0].copy()
            b = envs.reset()[0].copy()
            self.assertFalse(np.array_equal(a, b))
            self.assertTrue(np.array_equal(envs.reset(seed=4)[0], a))
            self.assertTrue(np.array_equal(envs.reset()[0], b))
            self.assertTrue(np.array_equal(envs.reset(seed=[4, 4, 4])[0], a))
            self.assertFalse(np.array_equal(envs.reset(seed=[4, 5, 4])[0], a))
            for bad in ([1, 2], -1, 1 << 64, [1, 2, -3]):
                with self.assertRaises(ValueError):
                    envs.reset(seed=bad)
            for bad in (1.5, "1", True, [1, 2.5, 2]):
                with self.assertRaises(TypeError):
                    envs.reset(seed=bad)
            envs.reset(seed=4)
            mixed = envs.reset(seed=[None, 4, None])[0]
            self.assertEqual(differs(mixed, np.stack([b[0], a[1], b[2]])), "")
            self.assertTrue(np.array_equal(envs.reset(seed=np.int64(4))[0], a))
            self.assertEqual(envs.np_random_seed, 4)
            self.assertEqual(envs.np_random.integers(1 << 40), np.random.default_rng(4).integers(1 << 40))
            with self.assertRaises(ValueError):
                envs.reset(options={"reset_maks": None})
            for bad, error in (
                (np.ones(2, np.bool_), ValueError), (np.zeros(3, np.bool_), ValueError), ([True] * 3, TypeError), (np.ones(3), TypeError)
            ):
                with self.assertRaisesRegex(error, "reset_mask"):
                    envs.reset(options={"reset_mask": bad})
            mask = np.array([False, True, False])
            options = {"reset_mask": mask}
            info = envs.reset(options=options)[1]
            self.assertEqual(info["_action_mask"].tolist(), [False, True, False])
            self.assertIs(options["reset_mask"], mask)

    def test_all_at_once(self):
        """A seed for each world begins all worlds in one call, the only one that repairs worlds that have failed."""
        with evertick.make_vec("cartpole", 3) as envs:
            envs.reset()
            asked = []
            envs._batch._reset = lambda only, **_: asked.append(only)
            envs.reset(seed=[1, 2, 3])
            envs.reset()
            self.assertEqual(asked, [None, None])
            del envs._batch._reset

    def test_unseeded(self):
        """Without a seed there is another one each time, and it can be asked for."""
        first, second = (evertick.make_vec("cartpole", 2) for _ in range(2))
        a, b = first.reset()[0], second.reset()[0]
        self.assertFalse(np.array_equal(a, b))
        self.assertTrue(np.array_equal(second.reset(seed=first.np_random_seed)[0], a))
        with evertick.make_vec("cartpole", 2, seed=7) as third:
            self.assertTrue(np.array_equal(third.reset()[0], first.reset(seed=7)[0]))
        for e in (first, second):
            e.close()


class Refused(unittest.TestCase):
    def test_actions(self):
        with evertick.make_vec("tag", 4) as envs:
            with self.assertRaises(evertick.StaleError):
                envs.step(np.zeros((4, 2), np.float32))  # before reset
            envs.reset()
            before = envs.hashes()
            good = np.zeros((4, 2), np.float32)
            nan = good.copy()
            nan[2, 1] = np.nan
            far = good.copy()
            far[3, 0] = 1.5
            for bad, error, words in (
                (good[:3], ValueError, "shape"),
                (np.zeros((4, 3), np.float32), ValueError, "shape"),
                (np.zeros(8, np.float32), ValueError, "shape"),
                (good.astype(np.complex64), TypeError, "dtype complex64"),
                (good.astype(str), TypeError, "dtype"),
                (good.tolist()[:3], ValueError, "shape"),
                ([[0, 0], [0], [0, 0], [0, 0]], ValueError, ""),
                (None, ValueError, "shape"),
                (nan.astype(np.float64), evertick.NotFiniteError, r"world 2\[1\]"),
                (np.where(np.isnan(nan), 1e300, 0.0), evertick.NotFiniteError, r"world 2\[1\]"),
                (np.asfortranarray(far), evertick.RangeError, r"world 3\[0\] = 1.5"),
                (far.tolist(), evertick.RangeError, r"world 3\[0\] = 1.5"),
                (nan, evertick.NotFiniteError, r"world 2\[1\]"),
                (far, evertick.RangeError, r"world 3\[0\] = 1.5"),
            ):
                with self.assertRaisesRegex(error, words):
                    envs.step(bad)
            self.assertTrue(np.array_equal(envs.hashes(), before))
            envs.step(good)

    def test_choices(self):
        with evertick.make_vec("cartpole", 2) as envs:
            envs.reset()
            with self.assertRaisesRegex(evertick.RangeError, r"world\[1\] = 2"):
                envs.step(np.array([0, 2], np.int32))
            before = envs.hashes()
            for bad, error, words in (
                (np.array([0, 2], np.int64), evertick.RangeError, r"world\[1\] = 2: 0 to 1"),
                (np.array([-1, 0], np.int8), evertick.RangeError, r"world\[0\] = -1"),
                (np.array([1 << 32, 0]), evertick.RangeError, r"world\[0\] = 4294967296"),  # 0 as an int32
                (np.array([0, (1 << 64) - 1], np.uint64), evertick.RangeError, r"world\[1\] = 18446744073709551615"),
                ([0, 1 << 80], evertick.RangeError, r"world\[1\] = 1208925819614629174706176"),
                ([0, 2], evertick.RangeError, r"world\[1\] = 2"),
                (np.array([0.0, 1.0]), TypeError, "dtype float64, wants whole numbers"),
                ([0, 1.5], TypeError, "float64"),
                (["0", "1"], TypeError, "dtype"),
                ([0, None], TypeError, "dtype object"),
                ([0], ValueError, "shape"),
                (1, ValueError, "shape"),
                (np.zeros((2, 1), np.int64), ValueError, "shape"),
                ("01", ValueError, "shape"),
            ):
                with self.assertRaisesRegex(error, words):
                    envs.step(bad)
            self.assertTrue(np.array_equal(envs.hashes(), before))

    def test_configuration(self):
        for bad in ({"num_envs": 0}, {"num_envs": -3}, {"workers": -1}, {"workers": 5000}, {"max_episode_steps": 0}, {"max_episode_steps": -2}):
            with self.assertRaises(ValueError):
                evertick.make_vec("cartpole", **bad)
        with self.assertRaises(ValueError):
            evertick.make_vec("cartpole", autoreset_mode="Sometimes")
        with self.assertRaises(evertick.UnsupportedError):
            evertick.make_vec("cartpole", record=True)

    def test_closed(self):
        envs = evertick.make_vec("cartpole", 2)
        envs.reset()
        envs.close()
        envs.close()
        with self.assertRaises(evertick.StaleError):
            envs.step(np.zeros(2, np.int32))
        with self.assertRaises(evertick.StaleError):
            envs.reset()


class Saving(unittest.TestCase):
    def test_save_load_fork(self):
        for name in single():
            with evertick.make_vec(name, 3, seed=8) as envs:
                envs.reset()
                for step in range(10):
                    envs.step(actions_of(envs, step))
                data = envs.save(1)
                envs.fork(1, 2)
                hashes = envs.hashes()
                self.assertEqual(hashes[1], hashes[2])
                envs.step(actions_of(envs, 10))
                self.assertNotEqual(envs.hashes()[1], hashes[1])
                envs.load(0, data)
                self.assertEqual(envs.hashes()[0], hashes[1])
                self.assertEqual(differs(envs.observe()[0], envs.reset(options={"reset_mask": np.arange(3) == 2})[0][0]), "")
                with self.assertRaises(evertick.CorruptError):
                    envs.load(0, data[:-1])
                with self.assertRaises(evertick.CorruptError):
                    envs.load(0, b"")
                with self.assertRaises(evertick.RangeError):
                    envs.save(3)
                with self.assertRaises(evertick.RangeError):
                    envs.load(-1, data)
                for world in (1 << 63, 1 << 64, -(1 << 64)):
                    with self.assertRaisesRegex(evertick.RangeError, "world = "):
                        envs.save(world)

    def test_export(self):
        with tempfile.TemporaryDirectory() as folder, evertick.make_vec("pushbox", 2, record=True) as envs:
            envs.reset()
            for step in range(15):
                envs.step(actions_of(envs, step))
            out = envs.export(1, Path(folder, "log"))
            self.assertEqual((out["steps"], out["ticks"]), (15, 16))
            self.assertTrue(any(Path(folder, "log").iterdir()))
            with self.assertRaisesRegex(evertick.RangeError, "zero byte"):
                envs.export(1, str(Path(folder, "log2\0")))
            with self.assertRaises(TypeError):
                envs.export(1, None)
            for taken in (Path(folder, "log"), __file__):
                with self.assertRaises(evertick.FileError) as seen:
                    envs.export(1, taken)
                self.assertIsInstance(seen.exception, OSError)
                envs.step(actions_of(envs, 3))
            envs.export(1, os.fsencode(Path(folder, "bytes")))
            self.assertEqual(sorted(os.listdir(folder)), ["bytes", "log"])


class Pickled(unittest.TestCase):
    """A pickle or a copy goes on as the original does."""

    def same(self, envs, others, steps=30):
        for step in range(steps):
            a = actions_of(envs, step)
            want = envs.step(a)
            for other in others:
                self.assertEqual(differs(other.step(a), want), "", step)
                self.assertTrue(np.array_equal(other.hashes(), envs.hashes()), step)
        seeds = [None] * envs.num_envs
        want = envs.reset(seed=seeds)
        for other in others:
            self.assertEqual(differs(other.reset(), want), "")

    def test_vector(self):
        for name in single():
            for mode in MODES[:2]:
                with self.subTest(name, mode=mode), evertick.make_vec(name, 3, autoreset_mode=mode, max_episode_steps=9, first=4) as envs:
                    envs.reset(seed=3)
                    for step in range(9):  # the last one ends the episodes
                        envs.step(actions_of(envs, step))
                    envs.load(1, envs.save(2))
                    others = [pickle.loads(pickle.dumps(envs)), copy.deepcopy(envs), copy.copy(envs)]
                    self.same(envs, others)
                    for other in others:
                        self.assertEqual((other.metadata, other.max_episode_steps, other.copy), (envs.metadata, 9, True))
                        other.close()

    def test_not_begun(self):
        """Worlds that have not begun, have ended or are closed are so in the copy."""
        with evertick.make_vec("cartpole", 3, seed=6, autoreset_mode="Disabled", max_episode_steps=1) as envs:
            other = copy.deepcopy(envs)
            self.assertEqual(differs(other.reset(), envs.reset()), "")
            envs.step([0, 1, 0])
            with self.assertRaises(evertick.StaleError):
                pickle.loads(pickle.dumps(envs)).step([0, 1, 0])
            other.close()
            self.assertTrue(copy.copy(other).closed)

    def test_one(self):
        for name in single():
            env = evertick.make(name, seed=5)
            env.reset()
            env.action_space.seed(1)
            env.step(env.action_space.sample())
            other = pickle.loads(pickle.dumps(env))
            for _ in range(20):
                a = env.action_space.sample()
                self.assertEqual(differs(a, other.action_space.sample()), "")
                self.assertEqual(differs(env.step(a), other.step(a)), "")
                self.assertEqual(env.hash(), other.hash())
            env.close()
            other.close()


class One(unittest.TestCase):
    """The environment of one world."""

    def test_beside_vector(self):
        for name in single():
            with evertick.make_vec(name, 3, autoreset_mode="Disabled") as envs, evertick.make(name, first=2) as env:
                obs, _ = envs.reset(seed=4)
                one, info = env.reset(seed=4)
                self.assertEqual(differs(one, obs[2]), "")
                self.assertIn(one, env.observation_space)
                for step in range(15):
                    actions = actions_of(envs, step)
                    want, got = envs.step(actions), env.step(actions[2])
                    self.assertEqual(differs(got[:4], tuple(v[2] for v in want[:4])), "")
                    self.assertEqual(differs(got[4], {k: v[2] for k, v in want[4].items() if not k.startswith("_")}), "")
                    self.assertEqual([type(v) for v in got[1:4]], [float, bool, bool])
                    self.assertIsNot(got[0], one)
                self.assertEqual(env.hash(), int(envs.hashes()[2]))
                env.load(envs.save(0))
                self.assertEqual(env.hash(), int(envs.hashes()[0]))
                self.assertEqual(differs(env.observe(), envs.observe()[0]), "")

    def test_actions(self):
        with evertick.make("cartpole") as env:
            with self.assertRaises(evertick.StaleError):
                env.step(0)
            env.reset(seed=1)
            calls = []
            sys.setprofile(lambda frame, event, arg: calls.append(frame.f_code.co_name) if event == "call" else None)
            env.step(1)
            sys.setprofile(None)
            self.assertLess(len(calls), 9, calls)  # the short way
            env.reset(seed=1)
            twin = evertick.make("cartpole")
            twin.reset(seed=1)
            for good in (0, 1, np.int32(0), np.int64(1), np.uint8(0), np.array(1), True):
                self.assertEqual(differs(env.step(good), twin.step(np.array(int(good), np.int32))), "")  # not by the short way
                self.assertEqual(env.hash(), twin.hash())
            twin.close()
            before = env.hash()
            for bad, error, words in (
                (2, evertick.RangeError, r"world\[0\] = 2: 0 to 1"), (-1, evertick.RangeError, "= -1"), (0.0, TypeError, "dtype float64"),
                ([0], ValueError, r"shape \(1,\), wants \(\)"), (None, TypeError, "dtype object"), ("0", TypeError, "dtype"),
            ):
                with self.assertRaisesRegex(error, words):
                    env.step(bad)
            self.assertEqual(env.hash(), before)
        with evertick.make("tag") as env:
            env.reset(seed=1)
            for good in ([0, 0.5], (1, -1), np.zeros(2), np.zeros(2, np.float32), np.zeros(2, int)):
                env.step(good)
            for bad in (0.5, [0, 2], [0, 0, 0], [0, np.nan]):
                with self.assertRaises(ValueError):
                    env.step(bad)

    def test_ends(self):
        with evertick.make("tag", max_episode_steps=3) as env:
            env.reset(seed=1)
            self.assertEqual([env.step([0, 0])[3] for _ in range(3)], [False, False, True])
            with self.assertRaises(evertick.StaleError):
                env.step([0, 0])
            env.reset()
            env.step([0, 0])
        with evertick.make("tag", max_episode_steps=-1) as env:
            self.assertIsNone(env.max_episode_steps)
            env.reset(seed=1)
            self.assertFalse(any(env.step([0, 0])[3] for _ in range(700)))
        with self.assertRaises(ValueError):
            env.reset(options={"low": 1})
        with self.assertRaises(evertick.StaleError):
            env.reset()


class Attributes(unittest.TestCase):
    def test_call(self):
        with evertick.make_vec("tag", 3) as envs:
            envs.reset(seed=1)
            self.assertEqual(envs.call("hash"), tuple(envs.hashes().tolist()))
            self.assertEqual(envs.call("save"), tuple(envs.save(i) for i in range(3)))
            self.assertEqual(envs.get_attr("action_space"), (envs.single_action_space,) * 3)
            self.assertEqual(envs.get_attr("max_episode_steps"), (600,) * 3)
            envs.set_attr("level", [1, 2, 3])
            self.assertEqual(envs.get_attr("level"), (1, 2, 3))
            envs.set_attr("level", 5)
            self.assertEqual(envs.get_attr("level"), (5, 5, 5))
            for name in ("max_episode_steps", "step"):
                with self.assertRaisesRegex(AttributeError, name):
                    envs.set_attr(name, 3)
            for name in ("step", "nothing"):
                with self.assertRaisesRegex(AttributeError, name):
                    envs.call(name)
            with self.assertRaises(ValueError):
                envs.set_attr("level", [1, 2])
            self.assertIs(envs.unwrapped, envs)
            self.assertIsNone(envs.render_mode)

    def test_libraries(self):
        """A library is loaded once; a copy of its file is another one."""
        first = evertick.load()
        self.assertIs(evertick.load(first.path), first)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "other.so")
            shutil.copy(first.path, path)
            second = evertick.load(path)
            self.assertIsNot(second, first)
            self.assertEqual(second.names(), evertick.names())
            with second.make_vec("cartpole", 2) as a, first.make_vec("cartpole", 2) as b, second.make("cartpole") as c:
                self.assertEqual(differs(a.reset(seed=1), b.reset(seed=1)), "")
                self.assertEqual(differs(c.reset(seed=1)[0], b.reset(seed=1)[0][0]), "")
                self.assertIsNot(a._batch.lib, b._batch.lib)
                with copy.deepcopy(a) as d:
                    self.assertIs(d._batch.lib, a._batch.lib)
            with self.assertRaisesRegex(FileNotFoundError, "nothing.so"):
                evertick.load(Path(folder, "nothing.so"))


FAST = """
static volatile float zero;
float touch(float x) { return x * zero; }
"""


class FloatEnvironment(unittest.TestCase):
    """A library that was linked with -ffast-math makes the thread that loads it flush denormals."""

    def test_fast_math(self):
        gcc = shutil.which("gcc")
        if gcc is None:
            self.skipTest("not run: gcc is not installed")
        with tempfile.TemporaryDirectory() as folder:
            source, fast = Path(folder, "fast.c"), Path(folder, "fast.so")
            source.write_text(FAST)
            subprocess.run([gcc, "-ffast-math", "-O2", "-shared", "-fPIC", "-o", fast, source], check=True)
            # gcc 13 and later leave crtfastmath.o out of shared libraries: -mdaz-ftz asks for it.
            if not self.flushes(fast):
                more = subprocess.run([gcc, "-mdaz-ftz", "-O2", "-shared", "-fPIC", "-o", fast, source], capture_output=True)
                if more.returncode != 0 or not self.flushes(fast):
                    self.skipTest("not run: this compiler builds no library that flushes denormals")
            out = self.child(fast, """
                try:
                    evertick.make_vec("cartpole", 2).reset()
                except evertick.FloatEnvError as e:
                    print("refused:", e)
            """)
            self.assertIn("refused:", out)
            self.assertIn("denormals", out)

    def test_in_the_middle(self):
        """Also if it comes between two steps; the worlds are as they were."""
        gcc = shutil.which("gcc")
        if gcc is None:
            self.skipTest("not run: gcc is not installed")
        with tempfile.TemporaryDirectory() as folder:
            source, fast = Path(folder, "fast.c"), Path(folder, "fast.so")
            source.write_text(FAST)
            subprocess.run([gcc, "-ffast-math", "-O2", "-shared", "-fPIC", "-o", fast, source], check=True)
            if not self.flushes(fast):
                self.skipTest("not run: this compiler builds no library that flushes denormals")
            out = self.child("", f"""
                envs = evertick.make_vec("cartpole", 2)
                envs.reset()
                envs.step(np.zeros(2, np.int32))
                before = envs.hashes()
                ctypes.CDLL({str(fast)!r})
                try:
                    envs.step(np.zeros(2, np.int32))
                except evertick.FloatEnvError:
                    print("refused", bool((envs.hashes() == before).all()))
            """)
            self.assertIn("refused True", out)

    def child(self, first, program):
        """Runs a program with the package in another process, a library loaded first."""
        head = "import ctypes, sys\n"
        if first:
            head += f"ctypes.CDLL({str(first)!r})\n"
        head += "import numpy as np\nimport evertick\n"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", head + textwrap.dedent(program)],
            capture_output=True, text=True, cwd=Path(__file__).parent, env=os.environ, timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def flushes(self, path):
        out = self.child(path, "print(float(np.float32(2.0**-126) * np.float32(0.5)) == 0)")
        return "True" in out


class Interface(unittest.TestCase):
    def test_structs(self):
        """The structs have the sizes that the library wants: every call above says so. Their
        fields are those of the header, in its order."""
        header = Path(__file__).parent.parent / "clib" / "evertick_train.h"
        if not header.exists():
            self.skipTest("not run: the header is not beside the package")
        from evertick import _library

        text = header.read_text()
        for struct, name in (
            (_library.Config, "config"), (_library.Info, "info"), (_library.PartInfo, "part"), (_library.Rows, "rows"), (_library.Buffers, "buffers"),
            (_library.ResetOptions, "reset_options"), (_library.Exported, "exported"),
        ):
            body = text.split(f"typedef struct evertick_train_{name} {{")[1].split("}")[0]
            lines = [line.split("/*")[0].strip() for line in body.splitlines()]
            fields = [line.split(";")[0].split("[")[0].replace("*", " ").split()[-1] for line in lines if ";" in line]
            self.assertEqual(fields, [f[0] for f in struct._fields_], name)
        for function in _library._SIGNATURES:
            self.assertIn(f"evertick_train_{function}(", text)
        self.assertEqual(text.count("int32_t evertick_train_"), len(_library._SIGNATURES))

    def test_version(self):
        from evertick import _library

        self.assertEqual(ctypes.sizeof(_library.Rows), 24)


if __name__ == "__main__":
    unittest.main()
