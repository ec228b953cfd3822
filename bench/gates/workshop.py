# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds dlex-bench-gates with an FFmpeg that may be changed. For mutants and races."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command, log, **options):
    return subprocess.run([str(part) for part in command], stdout=log, stderr=subprocess.STDOUT, check=True, **options)


class Workshop:
    """FFmpeg's source with the series, its objects, and a build of dlex-bench-gates with it, in one folder."""

    def __init__(self, folder, sanitizer=None):
        self.source, self.objects, self.prefix, self.build = (folder / name for name in ("source", "objects", "prefix", "dlex"))
        log = folder / "workshop.log"
        if folder.exists() and any(folder.iterdir()) and not log.exists():
            sys.exit(f"{folder} has other files; name a folder that does not exist")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.log = log.open("ab")
        self.sanitizer = sanitizer
        self.environment = {**os.environ, **({"CC": f"gcc -g -fsanitize={sanitizer}"} if sanitizer else {})}
        print(f"building; the log is {log}", file=sys.stderr)
        self._prepare()

    def _prepare(self):
        tarball = subprocess.run([ROOT / "patches/fetch"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        self.source.mkdir()
        run("tar", "-xf", tarball, "-C", self.source, "--strip-components=1", log=self.log)
        for patch in sorted((ROOT / "patches/ffmpeg").glob("*.patch")):
            run("patch", "-s", "-F0", "-p1", "-i", patch, log=self.log, cwd=self.source)
        make = ROOT / "patches/wrap/ffmpeg-make"
        run(make, self.source, self.objects, self.prefix, "pristine", log=self.log, env=self.environment)
        options = [f"-Dpkg_config_path={self.prefix / 'lib/pkgconfig'}", "-Dforce_fallback_for=", "--buildtype=debugoptimized"]
        if self.sanitizer:
            options += [f"-Db_sanitize={self.sanitizer}", "-Db_lundef=false"]
        run("meson", "setup", *options, self.build, ROOT, log=self.log)

    def link(self):
        """Returns the program, linked with the libraries as they are now."""
        program = self.build / "bench/gates/dlex-bench-gates"
        program.unlink(missing_ok=True)
        run("ninja", "-C", self.build, program.relative_to(self.build), log=self.log)
        return program

    def rebuild(self):
        run("make", f"-j{os.cpu_count()}", "-C", self.objects, "install", log=self.log, env=self.environment)
        return self.link()
