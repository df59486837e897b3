"""The cross-entropy method learns to balance a pole, and to catch runners, with numpy alone.

    python3 learn.py cartpole
    python3 learn.py tag --workers 2 --weights tag.json --curve tag.svg --episode out/tag

It needs package evertick and its library: see docs/guide/training.md.

The method draws the parameters of many policies around a mean, plays some episodes with each, and moves the mean to
that of the best eighth (R. Y. Rubinstein and D. P. Kroese, "The Cross-Entropy Method", 2004). Runs with the same
arguments on one machine end with the same parameters, bit for bit, with any number of workers.
"""

import argparse
import json

import numpy as np

import evertick


class CartPole:
    """A linear policy: push to the right if the weighted sum of the four numbers is positive."""

    name = "cartpole"
    start, spread = np.zeros(4), 1.0
    population, episodes, generations = 64, 16, 8

    @staticmethod
    def policy(p):
        return lambda obs: ((p * obs).sum(1) > 0).astype(np.int32)

    @staticmethod
    def script(obs):
        """Push to the side to which the pole falls."""
        return (obs[:, 2] + obs[:, 3] > 0).astype(np.int32)


class Tag:
    """A direction, from those to the agents in sight.

    It is the sum of 0-11: for each of the six agents of the observation, its offset and its direction, each with
    a weight; 12, 13: the position and its cube, which grows near the walls; 14: the velocity; 15: the velocity
    again if there is no runner in sight.
    """

    name = "tag"
    start, spread = np.array([0.0, 1.0] + 14 * [0.0]), 0.5  # towards the nearest runner, as the script
    population, episodes, generations = 48, 24, 12

    @staticmethod
    def policy(p):
        def act(obs):
            others = obs[:, 4:22].reshape(-1, 6, 3)
            offset, seen = others[:, :, :2], others[:, :, 2]
            pairs = np.stack([offset, direction(offset)], 2)
            at, velocity = obs[:, 0:2], obs[:, 2:4]
            d = (p[:, :12].reshape(-1, 6, 2, 1) * pairs).sum((1, 2))
            d += p[:, 12:13] * at + p[:, 13:14] * at**3 + (p[:, 14:15] + p[:, 15:16] * (1 - seen[:, :1])) * velocity
            return direction(d)

        return act

    @staticmethod
    def script(obs):
        """Run to the nearest runner in sight, or else to the centre."""
        return direction(np.where(obs[:, 6:7] > 0, obs[:, 4:6], -obs[:, 0:2]))


TASKS = {task.name: task for task in (CartPole, Tag)}
UNSEEN = 1 << 32  # a seed that no generation has


def direction(d):
    """Vectors of length 1, or 0, in the directions of d."""
    length = np.sqrt((d * d).sum(-1, keepdims=True))
    return (d / np.maximum(length, 1e-6)).astype(np.float32)


def play(envs, act, seed):
    """The return of the first episode of each world."""
    obs, _ = envs.reset(seed=seed)
    total, running = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool)
    while running.any():
        obs, reward, terminated, truncated, _ = envs.step(act(obs))
        total += reward * running
        running &= ~(terminated | truncated)
    return total


def worlds(task, count, **options):
    return evertick.make_vec(task.name, count, autoreset_mode="SameStep", **options)


def search(task, population, episodes, generations, seed=1, workers=1, report=None):
    """The parameters, and for each generation the mean return of all policies and of the best eighth."""
    rng = np.random.Generator(np.random.PCG64(seed))
    mean, spread, curve = task.start, np.full(len(task.start), task.spread), []
    with worlds(task, population * episodes, workers=workers) as envs:
        for generation in range(generations):
            drawn = mean + spread * rng.standard_normal((population, len(mean)))
            returns = play(envs, task.policy(drawn.repeat(episodes, 0)), seed + generation)
            returns = returns.reshape(population, episodes).mean(1)
            best = np.argsort(-returns, kind="stable")[: population // 8]
            mean, spread = drawn[best].mean(0), drawn[best].std(0) + 0.02 * task.spread
            curve.append((returns.mean(), returns[best].mean()))
            if report:
                report(f"generation {generation + 1:2}: mean return {curve[-1][0]:7.2f}, best eighth {curve[-1][1]:7.2f}")
    return mean, curve


def evaluate(task, act, episodes=1024, workers=1):
    """The returns of episodes that no search has seen."""
    with worlds(task, episodes, workers=workers) as envs:
        return play(envs, act, UNSEEN)


def export(task, p, world, directory):
    """Plays the unseen episode of one world again, and writes it as a log."""
    with worlds(task, 1, first=world, record=True) as envs:
        play(envs, task.policy(p[None]), UNSEEN)
        return envs.export(0, directory)


def draw(curve, script, path):
    """Writes the curve as SVG: the mean return of each generation, its best eighth, and the script as a line."""
    width, height, left, top = 560, 240, 48, 16
    values = [v for row in curve for v in row] + [script]
    low, high = min(values), max(values)
    x = [left + i * (width - left - 8) / max(1, len(curve) - 1) for i in range(len(curve))]

    def y(v):
        return top + (high - v) * (height - top - 32) / (high - low)

    def line(column, colour):
        points = " ".join(f"{a:.1f},{y(row[column]):.1f}" for a, row in zip(x, curve))
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'

    def label(a, b, text, colour="#555", anchor="start"):
        return f'<text x="{a:.1f}" y="{b:.1f}" fill="{colour}" text-anchor="{anchor}">{text}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<path d="M{left} {y(script):.1f}H{width - 8}" stroke="#999" stroke-dasharray="4 4"/>',
        label(width - 8, y(script) - 4, f"script {script:.2f}", anchor="end"),
        line(0, "#1f77b4"),
        line(1, "#d62728"),
        label(left, height - 8, "generation 1"),
        label(width - 8, height - 8, f"{len(curve)}", anchor="end"),
        label(left - 6, y(high) + 4, f"{high:.1f}", anchor="end"),
        label(left - 6, y(low) + 4, f"{low:.1f}", anchor="end"),
        label(width // 2, height - 8, "mean return", "#1f77b4"),
        label(width // 2 + 90, height - 8, "best eighth", "#d62728"),
        "</svg>",
    ]
    with open(path, "w") as f:
        f.write("\n".join(parts) + "\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("task", choices=TASKS)
    ap.add_argument("--population", type=int, help="policies of a generation, at least 16")
    ap.add_argument("--episodes", type=int, help="that each policy plays")
    ap.add_argument("--generations", type=int)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--workers", type=int, default=1)
    ap.add_argument("--weights", help="write the parameters to this file")
    ap.add_argument("--curve", help="write the returns of the generations as an SVG picture")
    ap.add_argument("--episode", help="write the best episode as a log into this directory (tag)")
    a = ap.parse_args()
    task = TASKS[a.task]
    size = [getattr(a, name) or getattr(task, name) for name in ("population", "episodes", "generations")]
    p, curve = search(task, *size, a.seed, a.workers, print)
    script = evaluate(task, task.script, workers=a.workers).mean()
    returns = evaluate(task, task.policy(p[None]), workers=a.workers)
    print(f"1024 unseen episodes: return {returns.mean():.2f}, of the script {script:.2f}")
    if a.weights:
        with open(a.weights, "w") as f:
            json.dump(p.tolist(), f)
            f.write("\n")
    if a.curve:
        draw(curve, script, a.curve)
    if a.episode:
        best = int(returns.argmax())
        print(f"world {best}, return {returns[best]:.2f}: {export(task, p, best, a.episode)}")


if __name__ == "__main__":
    main()
