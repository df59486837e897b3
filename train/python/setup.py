"""Builds the library of worlds into a wheel, which is then one for its platform."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).parent.resolve()
LIBRARY = "libevertick_train" + {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


class BuildLibrary(build_py):
    """Adds the library, which Go builds unless it is beside the package already."""

    def run(self):
        super().run()
        here = HERE / "evertick" / LIBRARY
        to = here if getattr(self, "editable_mode", False) else Path(self.build_lib).resolve() / "evertick" / LIBRARY
        if here.exists():
            return  # package data, which is copied
        if shutil.which("go") is None or not (HERE.parent / "capi").exists():
            raise SystemExit(f"{here} is not there, and building it needs Go and a checkout of evertick")
        to.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["go", "build", "-buildmode=c-shared", "-o", str(to), "./capi"],
            cwd=HERE.parent, env={**os.environ, "CGO_ENABLED": "1"}, check=True,
        )
        to.with_suffix(".h").unlink()  # that of cgo; evertick_train.h is the interface


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 of one platform: the library has no Python in it."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    """A distribution with code for one platform, so that it is tagged and installed as such."""

    def has_ext_modules(self):
        return True


setup(distclass=PlatformDistribution, cmdclass={"build_py": BuildLibrary, "bdist_wheel": PlatformWheel})
