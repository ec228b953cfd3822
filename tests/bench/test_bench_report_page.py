# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the report's page in headless Chromium, without a network. The batch was really run (fixtures/batch).

Not covered: other browsers, screen readers, and the appearance.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from outside import SKIPPED, with_packages

with_packages("rich, scipy, jinja2, plotly, yaml, pydantic, selenium")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

FIXTURE = Path(__file__).resolve().parent / "fixtures/batch"
RUN = "cbs-dlex_slack-r1"
SEEN_RUN = "cbs-dlex_none-r1"
# A busy machine may need long to draw. The tests wait for conditions, never for a fixed time.
PATIENCE_S = 120
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
)


def program(*names):
    found = next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        print(f"{names[0]} is not installed")
        sys.exit(SKIPPED)
    return found


def browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = program("chromium", "chromium-browser", "google-chrome")
    for option in (*OPTIONS, f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(program("chromedriver")))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(holder.cleanup)
        cls.folder = Path(holder.name)
        cls.page = cls.folder / "report.html"
        batch = shutil.copytree(FIXTURE, cls.folder / "batch")
        cls.seen_only(batch / SEEN_RUN)
        command = [sys.executable, "-m", "dlex_bench", "report", batch, "-o", cls.page]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        cls.chromium = browser(cls.folder / "profile")
        cls.addClassCleanup(cls.chromium.quit)
        cls.chromium.set_script_timeout(PATIENCE_S)

    @staticmethod
    def seen_only(run):
        """Reduces a run's record to what an observer without sound would know."""
        with (run / "own/frames.csv").open(newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row["verdict"] == "shown"]
        shutil.rmtree(run / "own")
        (run / "seen").mkdir()
        lines = [f"{row['index']},{row['pts_ns']},shown,{row['shown_ns']},\n" for row in rows[2:]]
        lines[:0] = [f"{row['index']},{row['pts_ns']},unseen,,\n" for row in rows[:2]]
        (run / "seen/frames.csv").write_text("index,pts_ns,verdict,shown_ns,skew_ns\n" + "".join(lines))

    def setUp(self):
        self.look(1280, 900)

    def look(self, width, height, scheme="light", fragment=""):
        """Opens the page again, in a window of this size and with this preferred colour scheme."""
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.resize(width, height)
        self.chromium.get("about:blank")
        for log in ("browser", "performance"):
            self.chromium.get_log(log)
        self.chromium.get(self.page.as_uri() + fragment)
        self.script("try { localStorage.clear() } catch {}")

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def script(self, text, *arguments):
        return self.chromium.execute_script(text, *arguments)

    def one(self, selector):
        return self.chromium.find_element(By.CSS_SELECTOR, selector)

    def wait(self, condition, *arguments):
        WebDriverWait(self.chromium, PATIENCE_S).until(lambda _driver: self.script(f"return {condition}", *arguments))

    def wait_for_timeline(self, run=RUN):
        self.wait("document.getElementById('timeline-plot').dataset.run === arguments[0]", run)

    def open_timeline(self, run=RUN):
        self.script("document.querySelector(`tr[data-run='${arguments[0]}'] td`).click()", run)
        self.wait_for_timeline(run)

    def draw_everything(self):
        """Makes the window so high that all panels are drawn. A panel is drawn when it comes near the visible part."""
        self.resize(self.script("return innerWidth"), 12000)
        self.wait("[...document.querySelectorAll('#panels-grid .plot')].every((plot) => plot.data)")

    def column(self, table, number):
        return self.script(
            "return [...document.getElementById(arguments[0]).tBodies[0].rows].map((row) => row.cells[arguments[1]])"
            ".map((cell) => cell.dataset.value ?? cell.textContent.trim())", table, number,
        )

    def traces(self, element):
        return self.script(
            "return document.getElementById(arguments[0]).data.map("
            "(it) => ({name: it.name ?? '', yaxis: it.yaxis ?? 'y', x: [...it.x], y: [...it.y]}))",
            element,
        )

    # -- console and network ------------------------------------------------------------------------------------------

    def test_browser_console_stays_empty(self):
        self.draw_everything()
        self.open_timeline()
        self.one("#timeline-after").click()
        self.one("#timeline-close").click()
        self.one("#theme").click()
        for name in ("front-section", "front-x", "front-y", "panels-left", "panels-right"):
            Select(self.one(f"#{name}")).select_by_index(1)
        self.assertEqual([entry["message"] for entry in self.chromium.get_log("browser")], [])

    def test_page_makes_no_network_request(self):
        self.draw_everything()
        self.open_timeline()
        messages = [json.loads(entry["message"])["message"] for entry in self.chromium.get_log("performance")]
        asked = [it["params"]["request"]["url"] for it in messages if it["method"] == "Network.requestWillBeSent"]
        self.assertTrue(any(url.startswith("file:") for url in asked), "the log knows of no request at all")
        self.assertEqual([url for url in asked if not url.startswith(("file:", "data:", "blob:"))], [])

    # -- tables ------------------------------------------------------------------------------------------------------

    def test_heading_sorts_its_column_in_both_directions(self):
        heading = self.chromium.find_elements(By.CSS_SELECTOR, "#table-section-cbs thead th")[4]
        self.assertIn("A-V s.d.", heading.text)
        before = self.column("table-section-cbs", 0)
        heading.find_element(By.TAG_NAME, "button").click()
        values = [float(value) for value in self.column("table-section-cbs", 4)]
        self.assertEqual(values, sorted(values))
        self.assertNotEqual(self.column("table-section-cbs", 0), before)
        self.assertEqual(heading.get_attribute("aria-sort"), "ascending")
        heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        self.assertEqual([float(value) for value in self.column("table-section-cbs", 4)], values[::-1])
        self.assertEqual(heading.get_attribute("aria-sort"), "descending")

    def test_runs_without_a_figure_stay_last(self):
        button = self.chromium.find_elements(By.CSS_SELECTOR, "#table-runs thead button")[4]
        for _ in range(2):
            button.click()
            values = self.column("table-runs", 4)
            self.assertEqual(values[-6:], [""] * 6)
            self.assertNotIn("", values[:-6])

    def test_words_sort_as_words(self):
        self.chromium.find_elements(By.CSS_SELECTOR, "#table-runs thead button")[0].click()
        names = self.column("table-runs", 0)
        self.assertEqual(names, sorted(names))

    def test_filter_hides_other_runs(self):
        self.one("#runs-filter").send_keys("cbs-dlex_slack")
        rows = self.chromium.find_elements(By.CSS_SELECTOR, "#table-runs tbody tr")
        self.assertEqual(sum(row.is_displayed() for row in rows), 2)
        self.assertEqual(self.one("#runs-count").text, "2 of 18")

    # -- timelines ---------------------------------------------------------------------------------------------------

    def test_click_on_a_run_opens_its_timeline_with_every_picture(self):
        self.open_timeline()
        self.assertTrue(self.one("#timeline").is_displayed())
        with (FIXTURE / RUN / "own/frames.csv").open(newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row["verdict"] != "none"]
        traces = self.traces("timeline-plot")
        verdicts = {name: it["x"] for it in traces if it["yaxis"] == "y3" for name in set(it["y"])}
        self.assertEqual({name: len(x) for name, x in verdicts.items()},
                         dict(Counter(row["verdict"] for row in rows)))
        skews = next(it["y"] for it in traces if it["yaxis"] == "y")
        recorded = [int(row["skew_ns"]) / 1e6 for row in rows if row["verdict"] == "shown"]
        self.assertEqual(len(skews), len(recorded))
        for drawn, ms in zip(skews, recorded, strict=True):
            self.assertAlmostEqual(drawn, ms, delta=0.006)
        deadlines = next(it["y"] for it in traces if it["name"] == "deadline")
        self.assertEqual(len(deadlines), sum(row["deadline_ns"] != "" for row in rows))
        bars = sum(len(it["y"]) for it in traces if it["name"].startswith("decode of"))
        self.assertEqual(bars, sum(row["decode_end_ns"] != "" for row in rows))

    def test_keyboard_opens_steps_through_and_closes_timelines(self):
        button = self.one(f"tr[data-run='{RUN}'] button.open")
        button.send_keys(Keys.ENTER)
        self.wait_for_timeline()
        self.one("#timeline-after").send_keys(Keys.ENTER)
        names = [name for name in self.column("table-runs", 0) if not name.startswith("gone")]
        after = names[(names.index(RUN) + 1) % len(names)]
        self.wait_for_timeline(after)
        self.assertEqual(self.one("#timeline-title").text, after)
        self.chromium.switch_to.active_element.send_keys(Keys.ESCAPE)
        self.wait("!document.getElementById('timeline').open")
        self.wait("document.activeElement.textContent === arguments[0]", RUN)  # the page does this after the end of the dialog

    def test_link_opens_the_run_that_it_names(self):
        self.look(1280, 900, fragment=f"#run={RUN}")
        self.wait_for_timeline()

    def test_record_only_from_outside_has_a_timeline(self):
        self.open_timeline(SEEN_RUN)
        names = [it["name"] for it in self.traces("timeline-plot")]
        self.assertIn("lag behind the first picture, seen from outside", names)
        self.assertFalse([name for name in names if name.startswith(("decode", "A-V"))])
        self.assertIn("; 2 of the others came before the first shown picture", self.one("#timeline-facts").text)

    def test_line_of_a_timeline_has_a_gap_where_nothing_was_seen(self):
        self.open_timeline(SEEN_RUN)
        y = self.script("""
            const columns = { pts: [0, 4000, 108000], shown: [0, 100, 200], skew: [null, null, null] };
            const none = [null, null, null];
            const view = { ...columns, verdict: "sss", type: "???", droppable: "000", start: none, end: none,
                           deadline: none, cpu: none };
            return timelineFigure({ seen: view })[0].find((it) => it.name?.startsWith("lag")).y;
        """)
        self.assertEqual(y, [0, 1, None, 2])

    def test_point_of_a_panel_opens_its_run(self):
        self.draw_everything()
        run = "cbs-dlex_paper-r1"
        self.script("""
            const shows = (plot) => plot.data.some((trace) => trace.customdata.includes(arguments[0]));
            const plot = [...document.querySelectorAll('#panels-grid .plot')].find(shows);
            plot.emit('plotly_click', { points: [{ customdata: arguments[0] }] });
        """, run)
        self.wait_for_timeline(run)

    def test_failed_run_has_a_reason_and_no_timeline(self):
        self.assertFalse(self.chromium.find_elements(By.CSS_SELECTOR, "tr[data-run^='gone']"))
        self.assertIn("there is no clip", self.one("#table-not-done").text)

    # -- appearance ---------------------------------------------------------------------------------------------------

    def brightness(self, kind):
        colour = self.script(f"return getComputedStyle(document.body).{kind}")
        return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])

    def plot_ink(self):
        return self.script("return document.getElementById('front-plot').layout.font.color")

    def test_dark_theme_is_dark_and_plots_use_it(self):
        self.assertGreater(self.brightness("backgroundColor"), self.brightness("color"))
        light = self.plot_ink()
        self.look(1280, 900, scheme="dark")
        self.assertLess(self.brightness("backgroundColor"), self.brightness("color"))
        dark = self.plot_ink()
        self.assertNotEqual(light, dark)
        self.one("#theme").click()
        self.assertGreater(self.brightness("backgroundColor"), self.brightness("color"))
        self.assertEqual(self.plot_ink(), light)

    def test_narrow_screen_does_not_scroll_sideways(self):
        for width in (360, 1280):
            self.look(width, 740)
            self.draw_everything()
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width)
            self.open_timeline()
            inside = self.script("return document.getElementById('timeline').scrollWidth")
            self.assertLessEqual(inside, self.script("return document.getElementById('timeline').clientWidth"))
            self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width)


if __name__ == "__main__":
    program("chromium", "chromium-browser", "google-chrome")
    program("chromedriver")
    os.environ["SE_AVOID_STATS"] = "true"
    unittest.main()
