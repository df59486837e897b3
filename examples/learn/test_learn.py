"""Tests of learn.py: python3 -m unittest -v test_learn. EVERTICK_LONG=1 learns tag in full: minutes."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

import learn
from learn import CartPole, Tag

HERE = Path(__file__).resolve().parent


class Learn(unittest.TestCase):
    def test_cartpole_is_solved(self):
        size = CartPole.population, CartPole.episodes, CartPole.generations
        one, curve = learn.search(CartPole, *size)
        two, _ = learn.search(CartPole, *size, workers=2)
        self.assertEqual(one.tobytes(), two.tobytes())
        other, _ = learn.search(CartPole, *size, seed=2)
        self.assertNotEqual(one.tobytes(), other.tobytes())
        self.assertLess(curve[0][0], 100)  # it could not do it before
        for p in one, other:
            self.assertGreaterEqual(learn.evaluate(CartPole, CartPole.policy(p[None])).mean(), 495)

    def test_tag_repeats(self):
        one, curve = learn.search(Tag, 16, 4, 2)
        two, again = learn.search(Tag, 16, 4, 2, workers=2)
        self.assertEqual((one.tobytes(), curve), (two.tobytes(), again))

    def test_tag_beats_the_script(self):
        p = np.array(json.loads((HERE / "tag.json").read_text()))
        self.beats(p)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            returns = learn.evaluate(Tag, Tag.policy(p[None]), 16)
            done = learn.export(Tag, p, int(returns.argmax()), log)
            self.assertGreater(done["steps"], 0)
            if not shutil.which("go"):
                self.skipTest("not run: bench/serve replay verify: there is no go")
            verify = ["go", "run", "./bench/serve", "replay", "verify", str(log)]
            out = subprocess.run(verify, cwd=HERE.parent.parent, capture_output=True, text=True)
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
            self.assertIn(f"{done['hash']:016x}", out.stdout)

    def beats(self, p):
        learned = learn.evaluate(Tag, Tag.policy(p[None]), 128).mean()
        self.assertGreater(learned, learn.evaluate(Tag, Tag.script, 128).mean() + 0.5)

    @unittest.skipUnless(os.environ.get("EVERTICK_LONG"), "not run: learning tag in full: needs EVERTICK_LONG=1")
    def test_tag_learns(self):
        self.beats(learn.search(Tag, Tag.population, Tag.episodes, Tag.generations, workers=2)[0])


if __name__ == "__main__":
    unittest.main()
