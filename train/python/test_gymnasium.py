"""The environments beside Gymnasium's own, where Gymnasium can be imported."""

import functools
import os
import pickle
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np

import evertick
from evertick import _register
from support import MODES, differs, flat, marked, single

try:
    import gymnasium
    import gymnasium.wrappers.vector
    from gymnasium.utils.env_checker import check_env, data_equivalence
except ImportError:
    gymnasium = None

OWN = os.environ.get("EVERTICK_OWN_LIBRARY")


def needs_gymnasium(case):
    return unittest.skipIf(gymnasium is None, "not run: Gymnasium cannot be imported")(case)


def create(name, first, **options):
    """One world; at the top, so that other processes find it."""
    return evertick.make(name, first=first, **options)


def beside(name, n, mode, **options):
    """The worlds as ours, and as Gymnasium's vector of ours."""
    ours = evertick.make_vec(name, n, autoreset_mode=mode, **options)
    fns = [functools.partial(create, name, i, **options) for i in range(n)]
    return ours, gymnasium.vector.SyncVectorEnv(fns, autoreset_mode=mode)


@needs_gymnasium
class Beside(unittest.TestCase):
    """Our VectorEnv beside a SyncVectorEnv of our Env: equal results in each step."""

    def equal(self, ours, theirs, where):
        self.assertEqual(differs(ours[:-1], theirs[:-1]), "", where)
        self.assertEqual(differs(marked(ours[-1]), marked(flat(theirs[-1]))), "", where)
        for key in (k for k in theirs[-1] if k.startswith("_")):
            self.assertEqual(differs(ours[-1][key], theirs[-1][key]), "", where)

    def walk(self, name, mode, steps=70, n=5, limit=25, **options):
        """Returns how many episodes have ended, and how many steps of the ends were truncated."""
        ours, theirs = beside(name, n, mode, max_episode_steps=limit, **options)
        self.assertEqual(ours.single_observation_space, theirs.single_observation_space)
        self.assertEqual(ours.single_action_space, theirs.single_action_space)
        self.assertEqual(ours.observation_space, theirs.observation_space)
        self.assertEqual(ours.action_space, theirs.action_space)
        self.assertEqual(ours.metadata, theirs.metadata)
        rng, ends, truncations = np.random.default_rng(), 0, 0
        seed = int(rng.integers(1 << 32))
        ours.action_space.seed(seed)
        seeds = [seed + i // 2 for i in range(n)]
        self.equal(ours.reset(seed=seeds), theirs.reset(seed=seeds), (name, seed))
        for step in range(steps):
            action = ours.action_space.sample()
            a, b = ours.step(action), theirs.step(action)
            self.equal(a, b, (name, mode, seed, step))
            over = a[2] | a[3]
            ends, truncations = ends + over.sum(), truncations + a[3].sum()
            if mode is evertick.AutoresetMode.DISABLED and over.any():
                options = [{"reset_mask": over.copy()} for _ in range(2)]
                some = [seed + step if step % 2 else None] * n
                self.equal(ours.reset(seed=some, options=options[0]), theirs.reset(seed=some, options=options[1]), (name, seed, step))
        ours.close()
        theirs.close()
        return ends, truncations

    def test_step_by_step(self):
        for name in single():
            for mode in MODES:
                with self.subTest(name, mode=mode):
                    ends, truncations = self.walk(name, mode)
                    self.assertGreaterEqual(ends, 5)
                    if name.startswith("tag"):
                        self.assertGreater(truncations, 0)

    @unittest.skipUnless(OWN, "not run: a library of one's own: EVERTICK_OWN_LIBRARY names none")
    def test_own(self):
        """Named parts, whose masks are a dict, and several choices."""
        evertick.load(OWN).register("own")
        registered = {env_id for env_id in gymnasium.registry if env_id.startswith("own/")}
        self.addCleanup(lambda: [gymnasium.registry.pop(env_id) for env_id in registered])
        for name in ("boxes", "choices", "parts"):
            with self.subTest(name, how="register"):
                self.assertIn(f"own/{name}-v0", registered)
            for mode in MODES:
                with self.subTest(name, mode=mode):
                    self.assertGreaterEqual(self.walk(name, mode, library=OWN)[0], 5)

    def test_other_processes(self):
        """The creators pickle, and the library is loaded in each process."""
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("not run: AsyncVectorEnv: it needs cloudpickle")
        fns = [functools.partial(create, "pushbox", i, max_episode_steps=9) for i in range(2)]
        theirs = gymnasium.vector.AsyncVectorEnv(fns, context="spawn", shared_memory=False)
        with evertick.make_vec("pushbox", 2, max_episode_steps=9) as ours:
            self.equal(ours.reset(seed=[4, 4]), theirs.reset(seed=[4, 4]), "reset")
            for step in range(25):
                action = ours.action_space.sample()
                self.equal(ours.step(action), theirs.step(action), step)
        theirs.close()


# How each wrapper of gymnasium.wrappers.vector is made. A new one is missed by test_all_known.
VECTOR_WRAPPERS = {
    "ArrayConversion": lambda w, e: w(e, np, np),
    "ClipAction": lambda w, e: w(e),
    "ClipReward": lambda w, e: w(e, -0.5, 0.5),
    "DictInfoToList": lambda w, e: w(e),
    "DtypeObservation": lambda w, e: w(e, np.float64),
    "FilterObservation": lambda w, e: w(e, list(e.single_observation_space)),
    "FlattenObservation": lambda w, e: w(e),
    "GrayscaleObservation": lambda w, e: w(e),
    "HumanRendering": lambda w, e: w(e),
    "JaxToNumpy": lambda w, e: w(e),
    "JaxToTorch": lambda w, e: w(e),
    "NormalizeObservation": lambda w, e: w(e),
    "NormalizeReward": lambda w, e: w(e),
    "NumpyToTorch": lambda w, e: w(e),
    "RecordEpisodeStatistics": lambda w, e: w(e),
    "RecordVideo": lambda w, e: w(e, "/nonexistent/videos"),
    "RescaleAction": lambda w, e: w(e, np.float32(-0.5), np.float32(0.5)),
    "RescaleObservation": lambda w, e: w(e, np.float32(0), np.float32(1)),
    "ReshapeObservation": lambda w, e: w(e, (1, *e.single_observation_space.shape)),
    "ResizeObservation": lambda w, e: w(e, (10, 10)),
    "TransformAction": lambda w, e: w(e, lambda a: a),
    "TransformObservation": lambda w, e: w(e, lambda o: o * 2),
    "TransformReward": lambda w, e: w(e, lambda r: r * 2),
    "VectorizeTransformAction": lambda w, e: w(e, gymnasium.wrappers.TransformAction, func=lambda a: a, action_space=e.single_action_space),
    "VectorizeTransformObservation": lambda w, e: w(
        e, gymnasium.wrappers.TransformObservation, func=lambda o: o * 2, observation_space=e.single_observation_space
    ),
    "VectorizeTransformReward": lambda w, e: w(e, gymnasium.wrappers.TransformReward, func=lambda r: r * 2),
}
# These apply to all worlds, or to those with such actions or observations.
ALWAYS = {
    "ClipReward", "DictInfoToList", "DtypeObservation", "FlattenObservation", "NormalizeReward", "RecordEpisodeStatistics",
    "ReshapeObservation", "TransformAction", "TransformObservation", "TransformReward", "VectorizeTransformAction",
    "VectorizeTransformObservation", "VectorizeTransformReward", "ArrayConversion", "NormalizeObservation",
}


@needs_gymnasium
class Wrapped(unittest.TestCase):
    """Each wrapper of Gymnasium around our VectorEnv, beside the same around a SyncVectorEnv of our Env. A wrapper
    does not apply if it refuses Gymnasium's vector; it must refuse ours, too."""

    def test_all_known(self):
        self.assertEqual(set(gymnasium.wrappers.vector.__all__), set(VECTOR_WRAPPERS))

    def walk(self, env, make):
        """What a wrapped environment does."""
        try:
            env = make(env)
        except Exception as e:
            env.close()
            return f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
        env.action_space.seed(3)
        out = [env.reset(seed=[5] * env.num_envs)]
        for _ in range(45):
            out.append(env.step(env.action_space.sample()))
        env.close()
        return [(step[:-1], [self.timeless(i) for i in step[-1]] if isinstance(step[-1], list) else self.timeless(marked(step[-1]))) for step in out]

    def timeless(self, info):
        """An info without the times that RecordEpisodeStatistics measures."""
        if "episode" in info:
            info = {**info, "episode": {k: v for k, v in info["episode"].items() if k not in ("t", "_t")}}
        return info

    def one(self, name, wrapper, mode):
        """Why a wrapper does not apply, or ""."""
        try:
            cls = getattr(gymnasium.wrappers.vector, wrapper)
        except ImportError as e:
            return f"not run: {e}"
        make = functools.partial(VECTOR_WRAPPERS[wrapper], cls)
        ours, theirs = (self.walk(env, make) for env in beside(name, 3, mode, max_episode_steps=20))
        if isinstance(theirs, str):
            self.assertIsInstance(ours, str, f"{wrapper} refuses Gymnasium's vector, but not ours: {theirs}")
            return ("not run: " if "NotInstalled" in theirs or "NotFound" in theirs else "") + theirs
        self.assertEqual(differs(ours, theirs), "", (name, wrapper, mode))
        return ""

    def test_each(self):
        refused = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for wrapper in VECTOR_WRAPPERS:
                for mode in MODES[:2]:
                    for name in single():
                        with self.subTest(wrapper, name=name, mode=mode):
                            why = self.one(name, wrapper, mode)
                            if why:
                                refused.setdefault((wrapper, why.split(", got")[0]), []).append(f"{name} {mode.value}")
                            if why and mode is evertick.AutoresetMode.NEXT_STEP and not why.startswith("not run"):
                                self.assertNotIn(wrapper, ALWAYS)
        for (wrapper, why), where in refused.items():
            if why.startswith("not run: "):
                print(f"not run: {wrapper} around {where[0]} and {len(where) - 1} others: {why[9:159]}")
            else:
                print(f"does not apply: {wrapper} around {', '.join(where)}: {why[:150]}")


# A user of these two sees the same with Gymnasium's own CartPole: a speed has no bound.
UNBOUNDED = ("minimum value is -infinity", "maximum value is infinity")


@needs_gymnasium
class Registered(unittest.TestCase):
    def test_ids(self):
        self.assertEqual({name for name, _ in _register.WORLDS.values()}, set(single()))
        for env_id, (name, steps) in _register.WORLDS.items():
            self.assertEqual(evertick.make(name).max_episode_steps, steps)
            self.assertEqual(gymnasium.spec(env_id).max_episode_steps, steps)

    def test_check_env(self):
        for env_id, (name, _) in _register.WORLDS.items():
            with self.subTest(env_id), warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                env = gymnasium.make(env_id)
                check_env(env.unwrapped)
                env.close()
                rest = [str(w.message) for w in seen if not any(u in str(w.message) for u in UNBOUNDED)]
                self.assertEqual(rest, [])
                self.assertTrue(not seen or name in ("arm", "ballpole", "cartpole", "pushbox"), env_id)

    def test_make(self):
        """Passive checks and the order of calls, which make adds, find nothing, and an episode ends where it should."""
        for env_id in _register.WORLDS:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                env = gymnasium.make(env_id, max_episode_steps=17)
                env.action_space.seed(1)
                env.reset(seed=1)
                steps, over = 0, False
                while not over:
                    obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
                    self.assertIs(type(reward), float)
                    self.assertIs(type(terminated), bool)
                    self.assertIs(type(truncated), bool)
                    self.assertIn(obs, env.observation_space)
                    steps, over = steps + 1, terminated or truncated
                self.assertTrue(steps == 17 if truncated else steps < 17, env_id)
                env.close()

    def test_again(self):
        """A second registration changes nothing; one of another library replaces the first, as Gymnasium says aloud."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            before = dict(gymnasium.registry)
            _register.register()
            self.assertEqual(before, dict(gymnasium.registry))
            self.addCleanup(gymnasium.registry.pop, "again/cartpole-v0")
            for _ in range(2):
                _register.register_world("again/cartpole-v0", "cartpole", library="/one.so")
        with self.assertWarnsRegex(UserWarning, "again/cartpole-v0"):
            _register.register_world("again/cartpole-v0", "cartpole", library="/two.so")
        self.assertEqual(gymnasium.spec("again/cartpole-v0").kwargs["library"], "/two.so")

    @unittest.skipUnless(OWN, "not run: a library of one's own: EVERTICK_OWN_LIBRARY names none")
    def test_library(self):
        """All that a library registers, make and make_vec make, with as many rows as worlds: no world of several agents."""
        library = evertick.load(OWN)
        before = set(gymnasium.registry)
        library.register("own")
        added = set(gymnasium.registry) - before
        self.addCleanup(lambda: [gymnasium.registry.pop(env_id) for env_id in added])
        self.assertEqual(added, {f"own/{name}-v0" for name in library.names() if not name.startswith("team")})
        for env_id in added:
            env, envs = gymnasium.make(env_id), gymnasium.make_vec(env_id, num_envs=3)
            self.assertEqual((envs.num_envs, gymnasium.spec(env_id).max_episode_steps), (3, 6))
            env.reset(seed=1)
            env.step(env.action_space.sample())
            env.close()
            envs.close()

    def test_other_processes(self):
        """The default of Linux, fork, is refused, and the error says what to write; that works."""
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("not run: AsyncVectorEnv: it needs cloudpickle")
        options = {"vectorization_mode": "async", "num_envs": 2}
        if sys.platform == "linux":
            program = "import evertick, gymnasium; evertick.names(); gymnasium.make_vec('evertick/Tag-v0', vectorization_mode='async', vector_kwargs={'context': 'fork'})"
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", program], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=300
            )
            self.assertIn("StaleError", done.stderr)
            self.assertIn("vector_kwargs={'context': 'spawn'}", done.stderr)
        envs = gymnasium.make_vec("evertick/Tag-v0", vector_kwargs={"context": "spawn"}, **options)
        with evertick.make_vec("tag", 2) as ours:
            self.assertEqual(envs.reset(seed=[3, 3])[0].shape, ours.reset(seed=[3, 3])[0].shape)
            envs.step(envs.action_space.sample())
        envs.close()

    def test_longer(self):
        """make can lengthen episodes as well: there is one limit, not two."""
        env = gymnasium.make("evertick/Tag-v0", max_episode_steps=700)
        env.reset(seed=1)
        for step in range(700):
            truncated = env.step(np.zeros(2, np.float32))[3]
            self.assertEqual(truncated, step == 699)
        env.close()

    def test_make_vec(self):
        for env_id, (name, steps) in _register.WORLDS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                envs = gymnasium.make_vec(env_id, num_envs=3, workers=2)
                self.assertIs(type(envs), evertick.VectorEnv)
                self.assertIsInstance(envs, gymnasium.vector.VectorEnv)
                self.assertEqual((envs.num_envs, envs.max_episode_steps, envs.name), (3, steps, name))
                self.assertEqual(repr(envs), f"VectorEnv({env_id}, num_envs=3)")
                again = gymnasium.make_vec(envs.spec)
                self.assertEqual((again.num_envs, again.max_episode_steps), (3, steps))
                again.close()
                sync = gymnasium.make_vec(env_id, num_envs=2, vectorization_mode="sync")
                sync.reset(seed=1)
                sync.step(sync.action_space.sample())
                sync.close()
                envs.close()
                short = gymnasium.make_vec(env_id, num_envs=2, max_episode_steps=4, autoreset_mode="SameStep")
                short.reset(seed=1)
                for step in range(4):
                    truncated = short.step(short.action_space.sample())[3]
                self.assertTrue(truncated.all())
                short.close()
        self.assertEqual(gymnasium.envs.registration.EnvSpec.from_json(envs.spec.to_json()).id, env_id)

    def test_make_is_make_vec(self):
        """Under TimeLimit an Env does what the same world of a VectorEnv does."""
        env = gymnasium.make("evertick/CartPole-v0", first=1)
        with evertick.make_vec("cartpole", 2, autoreset_mode="Disabled") as envs:
            obs, _ = envs.reset(seed=9)
            self.assertEqual(differs(env.reset(seed=9)[0], obs[1]), "")
            for step in range(8):
                a = step % 2
                ours, theirs = envs.step([a, a]), env.step(a)
                self.assertEqual(differs([np.asarray(v[1]) for v in ours[:4]], [np.asarray(v) for v in theirs[:4]]), "")
        env.close()

    def test_copies_of_wrapped(self):
        env = gymnasium.make("evertick/PushBox-v0")
        env.reset(seed=2)
        env.step(1)
        other = pickle.loads(pickle.dumps(env))
        for action in (1, 2, 3):
            self.assertTrue(data_equivalence(env.step(action), other.step(action), exact=True))
        self.assertEqual(env.unwrapped.hash(), other.unwrapped.hash())
        env.close()
        other.close()


if __name__ == "__main__":
    unittest.main()
