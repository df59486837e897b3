"""Tests of evertick.distributed, with the library that EVERTICK_TRAIN_LIBRARY names:

    python3 -m unittest -v test_distributed

Where there are mpirun and mpi4py they run this file on 1, 2 and 4 ranks.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

import numpy as np

import evertick
from evertick import distributed

TOTAL, STEPS = 26, 60  # 26 worlds are 7, 7, 6 and 6 on four ranks
NAMES = ["cartpole", "tag", "pushbox"]


def actions_of(envs, first, step):
    """Actions that were drawn by the number of the world and the step."""
    drawn = [np.random.Generator(np.random.Philox(key=first + i, counter=step)) for i in range(envs.num_envs)]
    space = envs.single_action_space
    if isinstance(space, evertick.Discrete):
        return np.array([r.integers(space.n) for r in drawn], np.int32)
    return np.stack([r.uniform(-1, 1, space.shape) for r in drawn]).astype(np.float32)


def run(comm, name):
    """What ranks do: the hashes of all worlds after each step, sums, means, and steps per second."""
    envs = distributed.make_vec(name, TOTAL, comm, seed=3, max_episode_steps=25)
    first, _ = distributed.share(TOTAL, comm.Get_rank(), comm.Get_size())
    envs.reset(seed=11)
    hashes, sums, seconds = [distributed.hashes(envs, comm)], [], 0.0
    returns = np.zeros(envs.num_envs)
    for step in range(STEPS):
        actions = actions_of(envs, first, step)
        before = time.perf_counter()
        obs, reward, *_ = envs.step(actions)
        seconds += time.perf_counter() - before
        returns += reward / 3
        hashes.append(distributed.hashes(envs, comm))
        sums.append(distributed.sum_worlds(obs.astype(np.float64) * 1.1, comm))
    result = {
        "hashes": np.stack(hashes), "sums": np.stack(sums), "returns": distributed.gather(returns, comm),
        "total": distributed.sum_worlds(returns, comm),
        "average": distributed.average([returns[:6], np.float32(returns[:3])], comm)[0],
        "rate": distributed.rate(STEPS * envs.num_envs, seconds, comm),
    }
    envs.close()
    return result


class Alone:
    """A comm of one rank, without MPI."""

    def Get_rank(self):
        return 0

    def Get_size(self):
        return 1

    def allgather(self, value):
        return [value]


class Fixed(Alone):
    """A comm of which this rank hears what the others were given."""

    def __init__(self, *values):
        self.values = list(values)

    def allgather(self, value):
        return self.values


class Shares(unittest.TestCase):
    def test_share(self):
        for total in range(1, 30):
            for ranks in range(1, total + 1):
                shares = [distributed.share(total, r, ranks) for r in range(ranks)]
                self.assertEqual([i for first, n in shares for i in range(first, first + n)], list(range(total)))
                self.assertEqual([n for _, n in shares], sorted((n for _, n in shares), reverse=True))
                self.assertLessEqual(shares[0][1] - shares[-1][1], 1)
        for total, rank, ranks in [(5, -1, 2), (5, 2, 2), (5, 0, 0), (3, 0, 4)]:
            with self.assertRaises(evertick.RangeError):
                distributed.share(total, rank, ranks)

    def test_sums(self):
        rows = [np.array([1e16, 1.0, -1e16, 1.0, 3.0])]
        self.assertEqual(distributed.sum_worlds(rows[0], Alone()), (((1e16 + 1.0) - 1e16) + 1.0) + 3.0)
        parts = [np.array([1e16, 1.0]), np.array([-1e16, 1.0, 3.0])]
        self.assertEqual(distributed.sum_worlds(parts[0], Fixed(*parts)), distributed.sum_worlds(rows[0], Alone()))
        ranks = [[np.float32([1, 2]), np.float64(0.1)], [np.float32([3, 5]), np.float64(0.2)], [np.float32([0, 0]), np.float64(0.3)]]
        mean = distributed.average(ranks[0], Fixed(*ranks))
        self.assertTrue(np.array_equal(mean[0], np.float32([4 / 3, 7 / 3])) and mean[0].dtype == np.float32)
        self.assertEqual(mean[1], ((0.1 + 0.2) + 0.3) / 3)
        self.assertEqual(distributed.rate(10, 2.0, Fixed((10, 2.0), (30, 4.0))), 10.0)

    def test_without_mpi(self):
        with unittest.mock.patch.dict(sys.modules, {"mpi4py": None}):
            with self.assertRaisesRegex(evertick.UnsupportedError, "mpi4py"):
                distributed.make_vec("cartpole", 2)


class Context(dict):
    """As RLlib's EnvContext: a dict with attributes."""

    def __init__(self, config, worker_index, num_workers):
        super().__init__(config)
        self.worker_index, self.num_workers = worker_index, num_workers


class Ray(unittest.TestCase):
    """The env creator, with contexts as Ray makes them. Ray itself is not used."""

    def test_worlds_are_those_of_one_batch(self):
        for name in NAMES:
            whole = evertick.make_vec(name, 12, seed=9)
            contexts = [Context({"num_envs": 4}, w, 3) for w in (1, 2)] + [{"num_envs": 4, "worker_index": 3, "num_workers": 3}]
            runners = [distributed.rllib_env(name, seed=9)(c) for c in contexts]
            whole.reset()
            for e in runners:
                e.reset()
            for step in range(20):
                whole.step(actions_of(whole, 0, step))
                for w, e in enumerate(runners):
                    e.step(actions_of(e, 4 * w, step))
                self.assertTrue(np.array_equal(np.concatenate([e.hashes() for e in runners]), whole.hashes()), (name, step))
            for e in (whole, *runners):
                e.close()

    def test_contexts(self):
        create = distributed.rllib_env("cartpole")
        with create(Context({}, 0, 0)) as alone, create(Context({"num_envs": 3}, 0, 2)) as driver:
            self.assertEqual((alone.num_envs, driver.num_envs), (1, 3))
        with self.assertRaisesRegex(evertick.RangeError, "worker_index is missing"):
            create({"num_envs": 4})
        with self.assertRaisesRegex(evertick.RangeError, "worker_index = 4"):
            create(Context({}, 4, 3))

    def test_ray_is_not_imported(self):
        self.assertNotIn("ray", sys.modules)


class Ranks(unittest.TestCase):
    def test_ranks(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None or importlib.util.find_spec("mpi4py") is None:
            self.skipTest("not run: worlds on several processes: there is no mpirun or no mpi4py")
        with tempfile.TemporaryDirectory() as folder:
            for name in NAMES:
                want = run(Alone(), name)
                self.assertGreater(len(np.unique(want["hashes"])), TOTAL * STEPS)  # something happens
                for ranks in (1, 2, 4):
                    self.compare(mpirun, folder, name, ranks, want)

    def compare(self, mpirun, folder, name, ranks, want):
        out = Path(folder) / f"{name}{ranks}"
        out.mkdir()
        # A rank that finds no CPU free must wait without using one.
        command = [mpirun, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(ranks), sys.executable, __file__, "rank", name, out]
        env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        files = sorted(out.iterdir())
        self.assertEqual(len(files), ranks)
        loaded = [np.load(f) for f in files]
        for got in loaded:  # every rank has gathered the same
            for key in ("hashes", "sums", "returns", "total"):
                self.assertEqual(got[key].tobytes(), want[key].tobytes(), (name, ranks, key))
            self.assertEqual(got["average"].tobytes(), loaded[0]["average"].tobytes())
        print(f"{name}: {ranks} ranks, {TOTAL} worlds: {float(loaded[0]['rate']):,.0f} steps/s together", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] != ["rank"]:
        unittest.main()
    from mpi4py import MPI

    np.savez(Path(sys.argv[3]) / str(MPI.COMM_WORLD.Get_rank()), **run(MPI.COMM_WORLD, sys.argv[2]))
