"""Worlds of a library of one's own, with all kinds of spaces: that of testdata/worlds, at EVERTICK_OWN_LIBRARY."""

import copy
import os
import pickle
import unittest

import numpy as np

import evertick
from evertick import Box, Dict, Discrete, MultiDiscrete
from support import MODES, differs, single, spread

PATH = os.environ.get("EVERTICK_OWN_LIBRARY")


def rows(tree, i):
    return {k: v[i] for k, v in tree.items()}


@unittest.skipUnless(PATH, "not run: a library of one's own: EVERTICK_OWN_LIBRARY names none")
class Own(unittest.TestCase):
    def setUp(self):
        self.lib = evertick.load(PATH)

    def vec(self, name, n, **options):
        envs = self.lib.make_vec(name, n, **options)
        self.addCleanup(envs.close)
        return envs

    def test_beside_the_other(self):
        self.assertEqual(self.lib.names(), ["boxes", "choices", "parts", "team", "team-parts"])
        self.assertIn("cartpole", evertick.names())
        with self.assertRaisesRegex(evertick.RangeError, "cartpole"):
            self.lib.make("cartpole")

    def test_spaces(self):
        parts = Dict({"gear": Discrete(3), "keys": MultiDiscrete([2, 4])})
        boxes = Dict({"steer": Box(-1, 1, (1,)), "aim": Box(-2, 2, (2,))})
        for name, action, n in (
            ("choices", MultiDiscrete([2, 3, 5]), 3), ("parts", parts, 3), ("boxes", boxes, 3), ("team", Discrete(3), 6), ("team-parts", parts, 9)
        ):
            envs = self.vec(name, 3)
            self.assertEqual(envs.single_action_space, action)
            self.assertEqual((envs.num_envs, envs.num_worlds), (n, 3))
            obs, info = envs.reset(seed=1)
            self.assertIn(obs, envs.observation_space)
            self.assertEqual(obs["last"].shape[0], n)
            self.assertEqual("live" in info, name.startswith("team"))
            for _ in range(15):
                action = envs.action_space.sample()
                self.assertIn(action, envs.action_space)
                self.assertIn(envs.step(action)[0], envs.observation_space)

    def flat(self, actions, envs):
        """The numbers of actions as they lie in a row: not in the order of a Dict, which may be sorted."""
        order = {"parts": ["gear", "keys"], "team-parts": ["gear", "keys"], "boxes": ["steer", "aim"]}.get(envs.name)
        parts = [actions] if order is None else [actions[k] for k in order]
        return np.concatenate([np.asarray(v).reshape(envs.num_envs, -1) for v in parts], 1)

    def test_actions_arrive(self):
        """The observation shows the last action, number by number."""
        for name in self.lib.names():
            envs = self.vec(name, 2)
            envs.reset(seed=1)
            for step in range(3):
                a = spread(envs.action_space, step)
                obs, reward, *_ = envs.step(a)
                flat = self.flat(a, envs)
                self.assertEqual(differs(obs["last"][:, 1:], flat.astype(np.float32)), "", name)
                self.assertEqual(differs(reward, (step + 1 + flat.sum(1)).astype(np.float32)), "", name)

    def test_refused(self):
        envs = self.vec("parts", 2)
        envs.reset(seed=1)
        good = {"gear": [0, 2], "keys": [[0, 3], [1, 0]]}
        envs.step(good)
        before = envs.hashes()
        for bad, error, words in (
            ({**good, "gear": [0, 3]}, evertick.RangeError, r"actions\['gear'\]: choice of world\[1\] = 3: 0 to 2"),
            ({**good, "keys": [[0, 4], [1, 0]]}, evertick.RangeError, r"actions\['keys'\]: choice of world 0\[1\] = 4: 0 to 3"),
            ({**good, "keys": [0, 1]}, ValueError, r"actions\['keys'\]: shape \(2,\), wants \(2, 2\)"),
            ({**good, "gear": [0.0, 1.0]}, TypeError, r"actions\['gear'\]: dtype float64"),
            ({"gear": [0, 0]}, TypeError, r"\['gear'\], wants a dict of \['gear', 'keys'\]"),
            ([0, 1], TypeError, "list, wants a dict"),
        ):
            with self.assertRaisesRegex(error, words):
                envs.step(bad)
        self.assertTrue(np.array_equal(envs.hashes(), before))
        team = self.vec("team", 2)
        team.reset(seed=1)
        for bad in (np.array([0, 0, 0, 3]), np.array([0, 0, 0, 3], np.int32)):
            with self.assertRaisesRegex(evertick.RangeError, 'world 1, agent .blue. = 3'):
                team.step(bad)

    def test_masks(self):
        for name, want in (("choices", [1] * 9 + [0]), ("team", [1, 1, 0])):
            mask = self.vec(name, 2).reset(seed=1)[1]["action_mask"]
            self.assertEqual(mask.tolist(), [[bool(v) for v in want]] * len(mask))
        mask = self.vec("parts", 2).reset(seed=1)[1]["action_mask"]
        self.assertEqual({k: v.tolist() for k, v in mask.items()}, {"gear": [[True] * 3] * 2, "keys": [[True] * 5 + [False]] * 2, "_gear": [True] * 2, "_keys": [True] * 2})

    def test_modes_and_copies(self):
        for name in self.lib.names():
            for mode in MODES[:2]:
                envs = self.vec(name, 3, autoreset_mode=mode)
                envs.reset(seed=2)
                ends = 0
                for step in range(14):
                    twin = pickle.loads(pickle.dumps(envs)) if step in (3, 4, 5) else copy.deepcopy(envs)
                    a = spread(envs.action_space, step)
                    out = envs.step(a)
                    self.assertEqual(differs(twin.step(a), out), "", (name, step))
                    self.assertTrue(np.array_equal(twin.hashes(), envs.hashes()))
                    twin.close()
                    ends += int(out[2].sum())
                    for i, last in enumerate(out[4].get("final_obs", [])):
                        self.assertEqual(last is not None, bool(out[4]["_final_obs"][i]))
                        if last is not None:
                            self.assertIn(last, envs.single_observation_space)
                self.assertGreaterEqual(ends, 2 * envs.num_envs)

    def test_reset_mask_of_agents(self):
        envs = self.vec("team", 2, autoreset_mode="Disabled")
        envs.reset(seed=1)
        for _ in range(2):
            envs.step([0, 0, 0, 0])
        obs, info = envs.reset(options={"reset_mask": np.array([False, False, True, True])})
        self.assertEqual(obs["steps"].ravel().tolist(), [2, 2, 0, 0])
        self.assertEqual(info["_live"].tolist(), [False, False, True, True])
        with self.assertRaisesRegex(ValueError, "world 1"):
            envs.reset(options={"reset_mask": np.array([True, True, True, False])})

    def test_one(self):
        for name in ("choices", "parts", "boxes"):
            with self.lib.make(name, first=1) as env:
                envs = self.vec(name, 2, autoreset_mode="Disabled")
                self.assertEqual(differs(env.reset(seed=3)[0], rows(envs.reset(seed=3)[0], 1)), "")
                for step in range(3):
                    a = spread(envs.action_space, step)
                    one = rows(a, 1) if isinstance(a, dict) else a[1]
                    obs, reward, *_ = envs.step(a)
                    self.assertEqual(differs(env.step(one)[:2], (rows(obs, 1), reward[1])), "")
        with self.assertRaisesRegex(evertick.UnsupportedError, "red"):
            self.lib.make("team")

    def test_parallel(self):
        """The agents of one world, beside the rows of a VectorEnv."""
        for name in ("team", "team-parts"):
            envs = self.vec(name, 1, autoreset_mode="Disabled")
            env = evertick.ParallelEnv(name, library=PATH)
            self.addCleanup(env.close)
            agents = env.possible_agents
            self.assertEqual(agents, list(envs.agents))
            obs, infos = env.reset(seed=3)
            want, _ = envs.reset(seed=3)
            self.assertEqual(list(obs), agents)
            left = agents
            while left:
                self.assertEqual(env.agents, left)
                twin = pickle.loads(pickle.dumps(env))
                a = {agent: env.action_space(agent).sample() for agent in agents}
                batch = [a[agent] for agent in agents]
                batch = {k: [x[k] for x in batch] for k in batch[0]} if isinstance(batch[0], dict) else batch
                want = envs.step(batch)
                out = env.step({agent: a[agent] for agent in left})
                self.assertEqual(differs(twin.step({agent: a[agent] for agent in left}), out), "")
                twin.close()
                for agent in left:
                    i = agents.index(agent)
                    self.assertIn(out[0][agent], env.observation_space(agent))
                    self.assertEqual(differs(out[0][agent], rows(want[0], i)), "")
                    self.assertEqual([o[agent] for o in out[1:4]], [want[1][i], want[2][i], want[3][i]])
                    self.assertEqual([type(o[agent]) for o in out[1:4]], [float, bool, bool])
                self.assertTrue(all(list(o) == left for o in out))
                self.assertEqual(env.hash(), int(envs.hashes()[0]))
                left = [agent for agent in left if not out[2][agent] and not out[3][agent]]
            self.assertEqual((env.agents, env.step({})), ([], ({}, {}, {}, {}, {})))
            with self.assertRaises(evertick.RangeError):
                env.step({agents[0]: 0})
            data = env.save()
            env.reset()
            with self.assertRaisesRegex(evertick.RangeError, agents[1]):
                env.step({agents[0]: env.action_space(agents[0]).sample()})
            env.load(data)
            self.assertEqual(env.agents, [])


class Sent(unittest.TestCase):
    """send and recv are the halves of step."""

    def test_same(self):
        for name in single():
            with evertick.make_vec(name, 40, workers=2) as envs, evertick.make_vec(name, 40) as twin:
                self.assertEqual(differs(envs.reset(seed=1), twin.reset(seed=1)), "")
                for step in range(20):
                    a = spread(envs.action_space, step)
                    envs.send(a.tolist() if step % 2 else a)
                    want = twin.step(a)
                    self.assertEqual(differs(envs.recv(), want), "", (name, step))
                self.assertTrue(np.array_equal(envs.hashes(), twin.hashes()))

    def test_refused(self):
        envs = evertick.make_vec("cartpole", 3)
        envs.reset(seed=1)
        with self.assertRaises(evertick.StaleError):
            envs.recv()
        envs.send([0, 1, 0])
        for ask in (lambda: envs.send([0, 1, 0]), lambda: envs.step([0, 1, 0]), envs.hashes, envs.reset, lambda: copy.deepcopy(envs)):
            with self.assertRaises(evertick.StaleError):
                ask()
        sent = envs._batch.actions.copy()
        with self.assertRaises(evertick.StaleError):
            envs.step([1, 1, 1])
        self.assertTrue(np.array_equal(envs._batch.actions, sent), "actions have changed that the library reads")
        envs.recv()
        envs.send(np.array([0, 2, 0], np.int32))
        with self.assertRaisesRegex(evertick.RangeError, r"world\[1\] = 2"):
            envs.recv()
        before = envs.hashes()
        with self.assertRaises(evertick.RangeError):
            envs.send([0, 2, 0])
        self.assertTrue(np.array_equal(envs.hashes(), before))
        envs.send([1, 1, 1])
        while not envs.ready():
            pass
        envs.recv()
        envs.send([1, 1, 1])
        envs.close()

    def test_interrupted(self):
        """Ctrl-C at a call of the library: it can still read the actions, and another recv returns the step."""
        with evertick.make_vec("cartpole", 3) as envs, evertick.make_vec("cartpole", 3) as twin:
            b = envs._batch
            call = b.call

            def early(*_):
                raise KeyboardInterrupt

            def late(*arguments):
                call(*arguments)
                raise KeyboardInterrupt

            envs.reset(seed=1)
            twin.reset(seed=1)
            for interrupted, ask in ((late, lambda: envs.send([0, 1, 0])), (early, envs.recv)):
                b.call = interrupted
                with self.assertRaises(KeyboardInterrupt):
                    ask()
                self.assertIsNotNone(b.sent)
            del b.call
            self.assertEqual(differs(envs.recv(), twin.step([0, 1, 0])), "")
            self.assertEqual(differs(envs.step([1, 1, 0]), twin.step([1, 1, 0])), "")


if __name__ == "__main__":
    unittest.main()
