"""Worlds of a library of one's own, with all kinds of spaces: that of testdata/worlds, at EVERTICK_OWN_LIBRARY."""

import copy
import os
import pickle
import sys
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
        self.assertEqual(self.lib.names(), ["boxes", "choices", "parts", "solo", "team", "team-parts"])
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

    def allowed(self, action, mask):
        """Whether an action is of choices that its mask allows, or the first where it allows none."""
        if isinstance(mask, dict):
            return all(self.allowed(action[k], mask[k]) for k in mask)
        if isinstance(mask, tuple):
            return all(self.allowed(a, m) for a, m in zip(action, mask))
        return bool(mask[action]) or not mask.any() and action == 0

    def test_masks_for_samples(self):
        """What an info has as mask is what sample of the space takes, whatever the space, of one world and of several agents."""
        envs = [self.lib.make(name) for name in ("choices", "parts")] + [evertick.make(name) for name in ("cartpole", "pushbox")]
        forms = set()
        for env in envs:
            _, info = env.reset(seed=1)
            for _ in range(8):
                mask = info["action_mask"]
                forms.add(type(mask))
                action = env.action_space.sample(mask)
                self.assertTrue(self.allowed(action, mask), (action, mask))
                _, _, terminated, truncated, info = env.step(action)
                if terminated or truncated:
                    info = env.reset()[1]
            env.close()
        self.assertEqual(forms, {np.ndarray, tuple, dict})
        for name in ("team", "team-parts"):
            env = evertick.ParallelEnv(name, library=PATH)
            _, infos = env.reset(seed=1)
            while env.agents:
                actions = {a: env.action_space(a).sample(infos[a]["action_mask"]) for a in env.agents}
                self.assertTrue(all(self.allowed(actions[a], infos[a]["action_mask"]) for a in env.agents))
                infos = env.step(actions)[4]
            env.close()
        vec = evertick.make_vec("pushbox", 4)
        mask = vec.reset(seed=1)[1]["action_mask"]
        self.assertIn(vec.action_space.sample(tuple(mask)), vec.action_space)
        vec.close()

    def test_ignored_actions(self):
        """Where a step only begins an episode, and of agents that have ended, any number is ignored, in any form; elsewhere
        it is refused, also after load and fork."""
        for name in ("cartpole", "team", "team-parts", "choices"):
            make = evertick.make_vec if name == "cartpole" else self.lib.make_vec
            with make(name, 4, max_episode_steps=3) as envs, make(name, 4, max_episode_steps=3) as twin:
                envs.reset(seed=1)
                twin.reset(seed=1)
                saved = [envs.save(i) for i in range(4)]
                live, ignored = np.ones(envs.num_envs, bool), 0
                for step in range(40):
                    if step % 7 == 5:  # a world that has begun in the place of one that has ended
                        for e in (envs, twin):
                            e.load(step % 4, saved[step % 4])
                            e.fork(step % 4, (step + 1) % 4)
                        agents = envs.num_envs // 4
                        for world in (step % 4, (step + 1) % 4):
                            live[world * agents:][:agents] = True
                    good = spread(envs.action_space, step)
                    for number, dtype in ((-1, np.int64), (99, np.int8), (1 << 40, np.int64), (1 << 80, object)):
                        padded = self.padded(good, ~live, number, dtype)
                        if step % 3 == 0 and live.any():
                            row = np.flatnonzero(live)[step % live.sum()]
                            with self.assertRaisesRegex(evertick.RangeError, str(number)):
                                envs.step(self.padded(padded, np.arange(len(live)) == row, number, dtype))
                    out = envs.step(padded)
                    self.assertEqual(differs(out, twin.step(good)), "", (name, step))
                    ignored += (~live).sum()
                    over = out[2] | out[3]
                    live = out[4]["live"].copy() if "live" in out[4] else ~over
                self.assertGreater(ignored, 8)

    def padded(self, actions, rows, number, dtype):
        if isinstance(actions, dict):
            return {k: self.padded(v, rows, number, dtype) for k, v in actions.items()}
        out = np.array(actions, dtype)
        out[rows] = number
        return out

    def test_ends_at_once(self):
        """The work of Python does not grow with the worlds that end in a step."""
        def calls(n):
            count = 0
            envs = evertick.make_vec("cartpole", n, autoreset_mode="SameStep", max_episode_steps=2)
            envs.reset(seed=1)
            envs.step(np.zeros(n, np.int32))

            def profile(frame, event, arg):
                nonlocal count
                count += event in ("call", "c_call")

            sys.setprofile(profile)
            out = envs.step(np.zeros(n, np.int32))
            sys.setprofile(None)
            self.assertEqual([last is not None for last in out[4]["final_obs"]], [True] * n)
            envs.close()
            return count

        self.assertEqual(calls(3), calls(500))

    def test_constant_masks(self):
        """Worlds without masks have masks of ones: new arrays, or always one that nothing writes."""
        for name, masked in (("cartpole", False), ("pushbox", True), ("tag-team", None)):
            for fresh in (True, False):
                for mode in MODES[:2]:
                    with evertick.make_vec(name, 3, copy=fresh, autoreset_mode=mode, max_episode_steps=2) as envs:
                        infos = [envs.reset(seed=1)[1]] + [envs.step(spread(envs.action_space, step))[4] for step in range(4)]
                        if masked is None:
                            self.assertFalse(any("action_mask" in info for info in infos))
                            continue
                        self.assertEqual(envs._batch.buffers.mask.data is not None, masked)
                        masks = [info["action_mask"] for info in infos]
                        self.assertEqual({m.dtype for m in masks}, {np.dtype(np.int8)})
                        self.assertEqual(len({id(m) for m in masks}), 5 if fresh else 1)
                        self.assertTrue(masked or all((m == 1).all() for m in masks))
                        self.assertEqual(masks[0].flags.writeable, fresh or masked)
                        for info in infos:
                            if "final_info" in info:
                                self.assertTrue((info["final_info"]["action_mask"].any(1) == info["_final_info"]).all())
                        twin = pickle.loads(pickle.dumps(envs))
                        self.assertEqual(differs(twin.step(spread(envs.action_space, 9)), envs.step(spread(envs.action_space, 9))), "")
                        twin.close()

    def test_parallel_api(self):
        """What the test of PettingZoo's parallel API asks for, in our words: unknown options of reset are not an error."""
        for name in ("team", "team-parts", "choices"):
            env = evertick.ParallelEnv(name, library=PATH)
            env.max_cycles = 30
            env.reset(seed=0, options={"options": 1})
            for _ in range(2):
                obs, infos = env.reset()
                self.assertEqual((list(obs), list(infos)), (env.agents, env.agents))
                live, gone = set(env.agents), set()
                for _ in range(30):
                    obs, rewards, terminations, truncations, infos = env.step({a: env.action_space(a).sample() for a in env.agents})
                    self.assertFalse(gone & set(env.agents))
                    for got in (obs, rewards, terminations, truncations, infos):
                        self.assertIs(type(got), dict)
                        self.assertEqual(set(got), live)
                    over = {a for a in live if terminations[a] or truncations[a]}
                    gone, live = gone | over, live - over
                    self.assertEqual(set(env.agents), live)
                    self.assertLessEqual(live | gone, set(env.possible_agents))
                    if not live:
                        break
                self.assertEqual(gone, set(env.possible_agents))
                for a in env.possible_agents:
                    self.assertIs(env.observation_space(a), env.observation_space(a))
                    self.assertIs(env.action_space(a), env.action_space(a))
            env.close()

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

    def test_one_named_agent(self):
        """A world of one agent is one of Gymnasium and of PettingZoo, whether the agent has a name or not."""
        envs, parallel = self.vec("solo", 1, autoreset_mode="Disabled"), evertick.ParallelEnv("solo", library=PATH)
        with self.lib.make("solo") as env, parallel:
            obs, infos = parallel.reset(seed=3)
            self.assertEqual((parallel.agents, envs.agents, envs.num_envs), (["only"], ("only",), 1))
            first, info = env.reset(seed=3)
            self.assertEqual(differs(first, rows(envs.reset(seed=3)[0], 0)) + differs(obs["only"], first) + differs(infos["only"], info), "")
            for step in range(4):
                self.assertEqual(parallel.agents, ["only"])
                want = env.step(step % 3)
                self.assertEqual(differs(tuple(out["only"] for out in parallel.step({"only": step % 3})), want), "")
                self.assertEqual(differs(rows(envs.step([step % 3])[0], 0), want[0]), "")
            self.assertTrue(want[2])
            self.assertEqual(parallel.agents, [])

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
        for ask in (lambda: envs.send([0, 1, 0]), lambda: envs.step([0, 1, 0]), envs.hashes, envs.observe, lambda: copy.deepcopy(envs)):
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

    def test_reset(self):
        """A reset of all worlds drops a step that was sent, also one that is refused; a reset of some does not."""
        with evertick.make_vec("cartpole", 3, autoreset_mode="Disabled") as envs, evertick.make_vec("cartpole", 3, autoreset_mode="Disabled") as twin:
            envs.reset(seed=1)
            for actions in ([0, 1, 0], np.array([0, 7, 0], np.int32)):
                envs.send(actions)
                with self.assertRaises(evertick.StaleError):
                    envs.reset(options={"reset_mask": np.array([True, False, False])})
                for seed in (2, [3, None, 4]):
                    self.assertEqual(differs(envs.reset(seed=seed)[0], twin.reset(seed=seed)[0]), "")
                with self.assertRaises(evertick.StaleError):
                    envs.recv()
                self.assertEqual(differs(envs.step([1, 1, 0]), twin.step([1, 1, 0])), "")

    def interrupt(self, function, names, at):
        """Calls it, with a KeyboardInterrupt before instruction number at of the functions with these names. Returns whether
        there was one, and the result."""
        count = 0

        def trace(frame, event, arg):
            nonlocal count
            if frame.f_code.co_name not in names or not frame.f_code.co_filename.endswith(("_batch.py", "_vector.py")):
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                count += 1
                if count == at:
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return False, function()
        except KeyboardInterrupt:
            return True, None
        finally:
            sys.settrace(before)

    def test_interrupted(self):
        """Ctrl-C at any instruction of send and recv: recv returns the step, or says that there is none and all goes on; and
        after a reset everything works."""
        actions, more = np.array([0, 1, 0], np.int32), [1, 1, 0]
        with evertick.make_vec("cartpole", 3) as envs, evertick.make_vec("cartpole", 3) as twin:
            seen = {"send": 0, "recv": 0, "again": 0, "gone": 0}
            for which in ("send", "recv"):
                at = 0
                while True:
                    at += 1
                    envs.reset(seed=at)
                    twin.reset(seed=at)
                    was, want = twin.hashes().copy(), twin.step(actions)
                    if which == "recv":
                        envs.send(actions)
                    function = envs.recv if which == "recv" else lambda: envs.send(actions)
                    interrupted, out = self.interrupt(function, {which}, at)
                    if not interrupted:
                        break
                    seen[which] += 1
                    if at % 3 == 0:  # the user begins anew
                        twin.reset(seed=9)
                        self.assertEqual(differs(envs.reset(seed=9)[0], twin.reset(seed=9)[0]), "", (which, at))
                    else:
                        try:
                            self.assertEqual(differs(envs.recv(), want), "", (which, at))
                            seen["again"] += 1
                        except evertick.StaleError:
                            seen["gone"] += 1
                            if np.array_equal(envs.hashes(), was):  # send was interrupted before the library heard of it
                                self.assertEqual(which, "send")
                                self.assertEqual(differs(envs.step(actions), want), "")
                    self.assertEqual(differs(envs.step(more), twin.step(more)), "", (which, at))
                    self.assertTrue(np.array_equal(envs.hashes(), twin.hashes()), (which, at))
            self.assertTrue(min(seen.values()) > 3, seen)


if __name__ == "__main__":
    unittest.main()
