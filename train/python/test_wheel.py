"""A wheel is built as pip builds it, and the package runs from where it is installed."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import evertick

HERE = Path(__file__).parent.resolve()

# In the place of go: building the library once more would take longer than all other tests.
GO = """#!/bin/sh
pwd >{log} && echo "$@" >>{log} && cp {library} "$4" && touch "${{4%.*}}.h"
"""

PROGRAM = """
import evertick
assert evertick.load().path.startswith({target!r}), evertick.load()
envs = evertick.make_vec("tag", 4)
envs.reset(seed=1)
envs.step(envs.action_space.sample())
print(evertick.__file__, evertick.names())
"""


class Wheel(unittest.TestCase):
    def run_in(self, folder, *command, **env):
        done = subprocess.run(
            [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=1200, env={**os.environ, **env}
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_wheel(self):
        missing = [m for m in ("pip", "setuptools", "wheel") if importlib.util.find_spec(m) is None]
        if missing:
            self.skipTest(f"not run: a wheel: there is no {missing}")
        if os.name != "posix" or not (HERE.parent / "worlds").exists():
            self.skipTest("not run: a wheel: no checkout")
        if list(HERE.glob("evertick/libevertick_train.*")):
            self.skipTest("not run: a wheel: there is already a library beside the package")
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "setup.cfg")  # so that the checkout stays as it is
            config.write_text(f"[build]\nbuild_base={folder}/build\n[egg_info]\negg_base={folder}\n")
            go = Path(folder, "bin", "go")
            go.parent.mkdir()
            go.write_text(GO.format(library=evertick.load().path, log=f"{folder}/log"))
            go.chmod(0o755)
            env = {"DIST_EXTRA_CONFIG": str(config), "PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}"}
            pip = ("-m", "pip", "--disable-pip-version-check")
            self.run_in(HERE, *pip, "wheel", ".", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, **env)
            where, asked = Path(folder, "log").read_text().splitlines()
            self.assertEqual(where, str(HERE.parent))
            self.assertRegex(asked, r"^build -buildmode=c-shared -o \S+/libevertick_train\.\w+ ./capi$")
            wheels = list(Path(folder).glob("*.whl"))
            self.assertEqual(len(wheels), 1)
            platform = wheels[0].name.split("-py3-none-")[1]
            self.assertTrue(platform != "any.whl" and os.uname().machine in platform, wheels)
            target = str(Path(folder, "target"))
            self.run_in(folder, *pip, "install", "--no-deps", "--no-index", "--target", target, str(wheels[0]))
            env = {"PYTHONPATH": target, "EVERTICK_TRAIN_LIBRARY": ""}
            out = self.run_in(folder, "-W", "ignore", "-c", PROGRAM.format(target=target), **env)
            self.assertIn(target, out)
            self.assertTrue(Path(target, "evertick", "py.typed").exists())
        self.assertEqual([p.name for p in HERE.iterdir() if p.name == "build" or p.suffix == ".egg-info"], [])


if __name__ == "__main__":
    unittest.main()
