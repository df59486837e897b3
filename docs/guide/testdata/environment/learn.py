import evertick
import numpy as np

POLICIES, WORLDS, STEPS = 32, 32, 200  # each policy flies in so many worlds
envs = evertick.make_vec("hover", num_envs=POLICIES * WORLDS, workers=2)
random = np.random.default_rng(1)
mean, spread = np.zeros(2), np.ones(2)

for generation in range(6):
    policies = mean + spread * random.normal(size=(POLICIES, 2))
    weights = np.repeat(policies, WORLDS, axis=0)
    obs, _ = envs.reset(seed=generation)
    returns, flying = np.zeros(len(weights)), np.ones(len(weights), bool)
    for _ in range(STEPS):
        actions = np.clip((obs * weights).sum(axis=1, keepdims=True), -1, 1)
        obs, reward, terminated, truncated, _ = envs.step(actions.astype(np.float32))
        returns += reward * flying
        flying &= ~(terminated | truncated)
    score = returns.reshape(POLICIES, WORLDS).mean(axis=1)
    best = policies[np.argsort(score)[-8:]]
    mean, spread = best.mean(axis=0), best.std(axis=0) + 0.05
    print(f"generation {generation}: mean return {score.mean():.1f}")
envs.close()
