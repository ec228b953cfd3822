# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the installed library in the ways in which users take it: pkg-config, a Meson dependency, a Meson subproject.

Not covered: what the tools of a distribution change (strip, multiarch directories).

Run as: python3 test_package_install.py LIBDLEX
"""

import json

from package_testing import SOURCE, STRICT, Case, compilers, installed, main, need, programs_of_readme, run

REPOSITORY = SOURCE.parent
VERSION_PROGRAM = """#include <stdio.h>
#include <dlex/dlex.h>
int main(void) { printf("%s %s %d\\n", DLEX_VERSION, dlex_version(), DLEX_VERSION_NUMBER); return 0; }
"""
MESON_BUILD = """project('user', 'c', default_options: ['c_std=gnu11', 'werror=true', 'warning_level=2'])
test('first', executable('first', 'first.c', dependencies: {dependency}))
"""


class QuickStart(Case):
    def programs(self):
        programs = programs_of_readme()
        self.assertTrue(programs, "the quick start has no program")
        return [self.write(f"first{number}.c", text) for number, text in enumerate(programs)]

    def check(self, static=False, package="dlex"):
        for compiler in compilers("gcc", "clang"):
            for source in self.programs():
                program = installed().compile(compiler, source, self.dir / "program", "-std=gnu11", "-O2", *STRICT,
                                              static=static, package=package)
                self.assertIn("12 ms", installed().run(program))

    def test_programs_run_with_the_shared_library(self):
        self.check()
        self.assertIn("libdlex.so.0", installed().run(need("ldd"), self.dir / "program"))

    def test_programs_run_with_the_static_library(self):
        self.check(static=True)

    def test_programs_run_with_the_guard(self):
        self.check(package="dlex-guard")
        self.assertIn("libdlex-guard.so.0", installed().run(need("ldd"), self.dir / "program"))


class Files(Case):
    def test_every_public_header_is_installed(self):
        ours = {path.relative_to(SOURCE / "include") for path in (SOURCE / "include").rglob("*.h")}
        theirs = {path.relative_to(installed().include) for path in installed().include.rglob("*.h")}
        self.assertEqual(ours, theirs)

    def test_installed_version_is_the_projects_version(self):
        introspected = run(need("meson"), "introspect", "--projectinfo", SOURCE / "meson.build")
        version = installed().flags("--modversion")[0]
        self.assertIn(f'"version": "{version}"', introspected)
        source = self.write("version.c", VERSION_PROGRAM)
        program = installed().compile(need("cc"), source, self.dir / "version", "-std=gnu11", *STRICT)
        major, minor, patch = map(int, version.split("."))
        number = major * 10000 + minor * 100 + patch
        self.assertEqual(installed().run(program), f"{version} {version} {number}\n")

    def test_only_the_library_is_installed(self):
        places = {path.relative_to(installed().dir).parts[:2] for path in installed().dir.rglob("*") if path.is_file()}
        allowed = {("include", "dlex"), ("share", "man"), ("share", "doc"), ("lib", "pkgconfig")}
        rest = {"/".join(place) for place in places - allowed}
        self.assertEqual({name for name in rest if "dlex" not in name and "oml_exceptions" not in name}, set())


class Build(Case):
    def test_an_installation_builds_neither_tests_nor_examples(self):
        run(need("meson"), "setup", self.dir / "build", SOURCE)
        targets = json.loads(run(need("meson"), "introspect", "--targets", self.dir / "build"))
        built = {target["name"] for target in targets if target["build_by_default"]}
        self.assertEqual(built, {"dlex", "dlex-guard"})


class Meson(Case):
    def build(self, *setup_options, dependency="dependency('dlex')", **environment):
        self.write("user/meson.build", MESON_BUILD.format(dependency=dependency))
        self.write("user/first.c", programs_of_readme()[0])
        meson = need("meson")
        said = run(meson, "setup", self.dir / "build", self.dir / "user", *setup_options, **environment)
        run(meson, "test", "-C", self.dir / "build", **environment)
        return said

    def build_with_subproject(self, dependency, source=SOURCE):
        (self.dir / "user" / "subprojects").mkdir(parents=True)
        (self.dir / "user" / "subprojects" / "dlex").symlink_to(source)
        said = self.build("--force-fallback-for=dlex", "--wrap-mode=nodownload", dependency=dependency)
        self.assertRegex(said, r"Subproject dlex finished")
        targets = run(need("meson"), "introspect", "--targets", self.dir / "build")
        for absent in ("dlex-play", "test_dlex"):
            self.assertNotIn(absent, targets)

    def test_dependency_is_found_by_pkg_config(self):
        self.assertRegex(self.build(**installed().environment), r"dependency dlex found: YES")

    def test_subproject_provides_a_plain_dependency_without_player_and_tests(self):
        self.build_with_subproject("dependency('dlex')")

    def test_subproject_provides_a_named_variable(self):
        self.build_with_subproject("dependency('dlex', fallback: ['dlex', 'dlex_dep'], "
                                   "default_options: ['tests=disabled'])")

    def test_the_whole_repository_as_a_subproject_serves_the_same(self):
        if not (REPOSITORY / "player").is_dir():
            self.skipTest("the library stands alone here")
        self.build_with_subproject("dependency('dlex')", source=REPOSITORY)

    def test_the_whole_repository_serves_a_named_variable(self):
        if not (REPOSITORY / "player").is_dir():
            self.skipTest("the library stands alone here")
        self.build_with_subproject("dependency('dlex', fallback: ['dlex', 'dlex_dep'], "
                                   "default_options: ['player=disabled', 'tests=disabled'])", source=REPOSITORY)


if __name__ == "__main__":
    main()
