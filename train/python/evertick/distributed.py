"""Worlds on many processes, by MPI (mpi4py) or by Ray's RLlib.

    mpirun -n 4 python3 train.py

    from evertick import distributed
    envs = distributed.make_vec("tag", 4096)          # 1024 worlds on each of four ranks
    obs, info = envs.reset(seed=1)
    ...
    distributed.sum_worlds(returns)                   # over all 4096, the same for any number of ranks

What is equal for any number of ranks, bit for bit:

    worlds        World i does the same, with the same actions, on whichever rank it is: observations,
                  rewards, flags and hashes. hashes() proves it.
    gather        The rows of all worlds, in the order of their numbers.
    sum_worlds    It gathers, and then adds in the order of the numbers.

and what is equal for the same number of ranks only:

    average       The mean over ranks, of gradients for example, added in the order of ranks. Each rank
                  has added its own part before, so that other numbers of ranks round otherwise.

MPI's own reductions add in an order that depends on the library and the number of ranks; nothing here uses
them. Neither mpi4py nor ray is imported before a function needs it. A comm is any object with
Get_rank, Get_size and allgather, as those of mpi4py; None is MPI.COMM_WORLD. All ranks must call the same
functions in the same order.
"""

import numpy as np

from . import _vector
from ._library import RangeError, UnsupportedError

__all__ = ["average", "gather", "hashes", "make_vec", "rate", "rllib_env", "rllib_env_runner", "share", "sum_worlds"]


def share(total, rank, ranks):
    """The worlds of a rank: the number of the first, and how many, as Share of package train.

    Shares are in the order of ranks. The first total % ranks have one world more than the others.
    """
    if not 0 <= rank < ranks:
        raise RangeError(f"rank = {rank}: 0 to {ranks - 1}")
    if total < ranks:
        raise RangeError(f"total = {total}: a world for each of {ranks} ranks at least")
    n, more = divmod(total, ranks)
    return rank * n + min(rank, more), n + (rank < more)


def make_vec(name, num_envs_total, comm=None, **options):
    """The rank's share of a vector environment, with the options of evertick.make_vec but first.

    Seeds for reset: a number is that of the whole batch, on all ranks. A list has those of the worlds of this rank.
    """
    comm = _comm(comm)
    first, n = share(num_envs_total, comm.Get_rank(), comm.Get_size())
    return _vector.make_vec(name, n, first=first, **options)


def gather(rows, comm=None):
    """The rows of all worlds in the order of their numbers, on every rank. rows has those of this rank's worlds."""
    return np.concatenate(_comm(comm).allgather(np.asarray(rows)))


def hashes(envs, comm=None):
    """The hashes of all worlds, in the order of their numbers."""
    return gather(envs.hashes(), comm)


def sum_worlds(rows, comm=None):
    """The sum over all worlds, in float64, added in the order of their numbers, on every rank.

    It is the same for any number of ranks if the rows are.
    """
    rows = gather(rows, comm)
    return _sum(rows) if len(rows) else np.zeros(rows.shape[1:])


def average(arrays, comm=None):
    """The mean over ranks of each of some arrays, say of gradients or weights, on every rank.

    It adds in float64, in the order of ranks, and returns arrays of the given dtypes. Every rank has the same
    bits, in every run with as many ranks.
    """
    every = _comm(comm).allgather([np.asarray(a) for a in arrays])
    return [(_sum(np.stack(parts)) / len(every)).astype(parts[0].dtype) for parts in zip(*every)]


def rate(steps, seconds, comm=None):
    """Steps per second of all ranks: the sum of steps over the longest time. It is a measurement, and never the same twice."""
    every = _comm(comm).allgather((steps, seconds))
    return sum(n for n, _ in every) / max(s for _, s in every)


def _sum(rows):
    """The sum of rows from the first to the last; numpy.sum adds them in another order."""
    total = np.array(rows[0], np.float64)
    for row in rows[1:]:
        total += row
    return total


def _comm(comm):
    if comm is not None:
        return comm
    try:
        from mpi4py import MPI
    except ImportError as e:
        raise UnsupportedError("this needs mpi4py, or a comm") from e
    return MPI.COMM_WORLD


# Ray. It was written from Ray's documentation and has not been run with Ray.


def rllib_env(name, **options):
    """The env creator of RLlib for worlds with a name, with the options of evertick.make_vec but first.

        from ray.rllib.algorithms.ppo import PPOConfig
        from ray.tune.registry import register_env
        register_env("evertick-tag", distributed.rllib_env("tag", seed=1))
        config = (
            PPOConfig()
            .environment("evertick-tag")
            .env_runners(
                env_runner_cls=distributed.rllib_env_runner(),
                num_env_runners=4, num_envs_per_env_runner=256, gym_env_vectorize_mode="vector_entry_point",
            )
        )

    Env runner w of W, which RLlib numbers from 1, has the worlds w-1 times n to w times n - 1, if each has
    n worlds: the shares of W ranks. A runner on the driver, which has number 0 and is alone, has the first n.

    Give the seed here, not by config.debugging(seed=...): RLlib makes a seed for each runner from that one.

    Not tested with Ray. What the creator makes of a context is tested.
    """

    def create(context):
        worker, workers = _runner(context)
        first, n = _runner_share(int(context.get("num_envs", 1)), worker, workers)
        return _vector.make_vec(name, n, first=first, **options)

    return create


def _runner(context):
    """The number of an env runner, and how many there are, from the EnvContext of RLlib or a dict with them as entries."""
    found = []
    for key in ("worker_index", "num_workers"):
        value = getattr(context, key, None)
        if value is None:
            value = context.get(key)
        if value is None:
            raise RangeError(f"env context: {key} is missing: use rllib_env_runner, or put it into env_config")
        found.append(int(value))
    return found


def _runner_share(num_envs, worker, workers):
    """The first world and the number of worlds of an env runner with num_envs worlds, as each of the others has."""
    if not 0 <= worker <= workers:
        raise RangeError(f"worker_index = {worker}: 0 to {workers}")
    return share(num_envs * max(workers, 1), max(worker - 1, 0), max(workers, 1))


def rllib_env_runner():
    """A SingleAgentEnvRunner of RLlib that puts its number into the context of the env creator.

    RLlib's own gives the creator of a vector environment a dict, in which the number is missing. Not tested with Ray.
    """
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

    class EnvRunner(SingleAgentEnvRunner):
        def make_env(self):
            config = self.config.copy(copy_frozen=False)
            numbers = {"worker_index": self.worker_index or 0, "num_workers": self.num_workers or 0}
            config.env_config = {**config.env_config, **numbers}
            self.config = config
            super().make_env()

    return EnvRunner
