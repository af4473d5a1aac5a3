"""report_test.py - the report in a real browser: the figures of --json, the map against the log

Runs two policies on a small cluster, opens report.html in a headless Chromium and reads it as a
person would: through what is rendered. Without a Chromium it says SKIP and ends with code 77.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import browser
import sample

DOVETAIL = os.environ.get("DOVETAIL", "build/dovetail")
POLICIES = ["dovetail", "best-fit", "first-fit"]
VIEWS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]
LIMIT_BYTES = 3 << 20

# The text that an element shows, without what hangs in its <small> and <title>.
PLAIN = """(e => { const c = e.cloneNode(true);
    c.querySelectorAll('small, title').forEach(x => x.remove()); return c.textContent.trim(); })"""


def digits(text):
    return len(text.partition(".")[2])


def agrees(shown, value):
    """A shown number is the value rounded to the digits that are shown."""
    return abs(float(shown) - value) <= 0.5000001 * 10 ** -digits(shown)


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    line = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Opened(unittest.TestCase):
    """A page that all tests of a class share."""

    page = folder = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="report-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.simulate()
        cls.page = browser.Page(browser.find())
        cls.addClassCleanup(cls.page.close)

    def open(self, width=1280, scheme="light"):
        self.page.view(width, scheme)
        self.page.open(self.path)

    def figures_of_table(self):
        """{policy: {figure: shown text}} of the table with all figures."""
        return self.page.run(f"""(() => {{
            const plain = {PLAIN}, table = document.querySelector('table.all');
            const policy = [...table.querySelectorAll('thead th')].slice(2, -1).map(plain);
            const found = Object.fromEntries(policy.map(p => [p, {{}}]));
            for (const row of table.querySelectorAll('tbody tr')) {{
                const name = plain(row.querySelector('th'));
                [...row.querySelectorAll('td')].slice(1, -1).forEach((cell, i) => {{
                    found[policy[i]][name] = plain(cell);
                }});
            }}
            return found;
        }})()""")

    def check_views(self):
        ground = {}
        for width, scheme in VIEWS:
            with self.subTest(width=width, scheme=scheme):
                self.open(width, scheme)
                self.assertEqual(self.page.complaints(), [])
                self.assertEqual(self.page.loaded(), [pathlib.Path(self.path).resolve().as_uri()])
                self.check_overflow(width)
                ground[scheme] = self.check_colours()
        self.assertGreater(luminance(ground["light"]), 0.8)
        self.assertLess(luminance(ground["dark"]), 0.05)

    def check_overflow(self, width):
        self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), width)
        self.assertEqual(self.page.run(f"""[...document.querySelectorAll('body *')].filter(e =>
            !e.closest('.t') && e.getClientRects().length && !e.closest('defs, title') &&
            (e.getBoundingClientRect().right > {width} + 1 || e.getBoundingClientRect().left < -1))
            .map(e => e.outerHTML.slice(0, 120))"""), [])
        self.assertEqual(self.page.run("""[...document.querySelectorAll('svg text')].filter(t => {
            if (!t.getClientRects().length) return false;
            const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
            return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 ||
                a.bottom > b.bottom + 1; }).map(t => t.closest('figure').querySelector('figcaption')
                .firstChild.textContent + ': ' + t.textContent)"""), [])

    def check_colours(self):
        """Words can be read on what is behind them; returns the ground's colour."""
        style = self.page.run("""(() => {
            const of = (s, p) => getComputedStyle(document.querySelector(s))[p];
            return {ground: of('body', 'backgroundColor'), card: of('figure', 'backgroundColor'),
                ink: of('body', 'color'), soft: of('figcaption p', 'color'),
                text: of('svg text', 'fill'), line: of('polyline.l', 'stroke')}; })()""")
        self.assertGreater(contrast(style["ink"], style["ground"]), 7)
        self.assertGreater(contrast(style["soft"], style["card"]), 4.5)
        self.assertGreater(contrast(style["text"], style["card"]), 4.5)
        self.assertGreater(contrast(style["line"], style["card"]), 3)
        return style["ground"]

    def check_words(self):
        """Every chart has a title and a sentence; every drawing says what it is."""
        figures = self.page.run("""[...document.querySelectorAll('figure')].map(f => [
            f.querySelector('figcaption').firstChild.textContent,
            f.querySelector('figcaption p') ? f.querySelector('figcaption p').textContent : '',
            [...f.querySelectorAll('svg')].every(s => s.querySelector('title') ||
                s.getAttribute('aria-label')),
            [...f.querySelectorAll('svg:not(.map)')].every(s => s.querySelector('text.n'))])""")
        self.assertGreater(len(figures), 3)
        for title, sentence, named, axes in figures:
            with self.subTest(figure=title):
                self.assertGreater(len(title), 5)
                self.assertRegex(sentence, r"^[A-Z0-9`].{40,}\.")
                self.assertTrue(named)
                self.assertTrue(axes)
        self.assertEqual(self.page.run("""[...document.querySelectorAll('a[href^="#"]')].filter(a =>
            !document.getElementById(a.hash.slice(1))).map(a => a.hash)"""), [])


class Gangs(Opened):
    @classmethod
    def simulate(cls):
        cls.runs = sample.simulate(DOVETAIL, cls.folder, POLICIES)
        cls.path = os.path.join(cls.folder, "out", "report.html")
        cls.metrics = {run["policy"]: run["metrics"] for run in cls.runs}

    def log(self, policy):
        return sample.Log(os.path.join(self.folder, "out", f"page-{policy}-7.log"))

    def test_all_figures_stand_in_the_table(self):
        self.open()
        found = self.figures_of_table()
        self.assertEqual(list(found), POLICIES)
        for policy, metrics in self.metrics.items():
            known = {name: value for name, value in metrics.items() if value is not None}
            self.assertGreater(len(known), 60)
            for name, value in known.items():
                with self.subTest(policy=policy, figure=name):
                    self.assertTrue(agrees(found[policy].get(name, "nan"), value))

    def test_waits_by_size_are_those_of_json(self):
        self.open()
        found = self.page.run("""[...document.querySelectorAll('[data-figure]')].map(e =>
            [e.dataset.policy, e.dataset.figure, e.textContent])""")
        want = {(p, f"wait_s_p{q}_{c}") for p in POLICIES for q in (50, 90, 99)
                for c in ("1", "2-7", "8", "9-15", "16-63", "64+")
                if self.metrics[p].get(f"wait_s_p{q}_{c}") is not None}
        self.assertEqual({(policy, figure) for policy, figure, _ in found}, want)
        for policy, figure, text in found:
            with self.subTest(policy=policy, figure=figure):
                self.assertTrue(agrees(text, self.metrics[policy][figure]))

    def chart(self, title):
        """The texts of the drawing under this title, in order."""
        return self.page.run(f"""[...document.querySelectorAll('figure')].filter(f =>
            f.querySelector('figcaption').firstChild.textContent === {json.dumps(title)})
            .flatMap(f => [...f.querySelectorAll('svg text')].map({PLAIN}))""")

    def test_topology_charts_show_the_figures(self):
        self.open()
        hits, spread = (self.chart(title) for title in (
            "Topology hits by size", "Hosts and groups used over the fewest possible"))
        for texts, figures in ((hits, ("hit_pct", "hit_gpuh_pct")),
                               (spread, ("nnd_mean", "nnd_gpuh", "ngd_mean", "ngd_gpuh"))):
            bars = [texts[i + 1].removesuffix(" %") for i, text in enumerate(texts)
                    if text in POLICIES]
            want = [self.metrics[policy][figure] for figure in figures for policy in POLICIES]
            for shown, value in zip(bars, want, strict=False):
                self.assertTrue(agrees(shown, value), (shown, value))
        # By size: the parts make the whole.
        for policy in POLICIES:
            parts = [texts.split(" of ") for name, texts in zip(hits, hits[1:])
                     if name == policy and " of " in texts]
            self.assertGreater(len(parts), 1)
            self.assertEqual(sum(int(p[1]) for p in parts), self.metrics[policy]["hit_jobs"])
            share = 100 * sum(int(p[0]) for p in parts) / sum(int(p[1]) for p in parts)
            self.assertAlmostEqual(share, self.metrics[policy]["hit_pct"], 5)

    def test_jobs_by_domain_count_every_gang(self):
        self.open()
        gangs = sum(line.get("pods", 1) > 1 for line in sample.workload(7)
                    if line["kind"] == "job")
        for level in ("leaf", "feed"):
            for policy in POLICIES:
                texts = self.page.run(f"""[...document.querySelectorAll('figure')].filter(f =>
                    f.querySelector('figcaption').firstChild.textContent ===
                    'Jobs by {level}: {policy}').flatMap(f =>
                    [...f.querySelectorAll('rect title')].map(t => t.textContent))""")
                counts = [int(text.split()[0]) for text in texts]
                started = {line["job"] for line in self.log(policy).lines
                           if line["kind"] == "start" and len(line["pods"]) > 1}
                self.assertEqual(sum(counts), len(started), (level, policy))
                self.assertLessEqual(len(started), gangs)

    def test_promises_are_those_of_json(self):
        self.open()
        rows = self.page.run("""[...document.querySelectorAll('[aria-label=promises] tbody tr')].map(
            r => [...r.children].map(c => c.textContent))""")
        self.assertGreater(min(self.metrics[policy]["promises"] for policy in POLICIES), 0)
        shown = {row[0]: dict(zip(POLICIES, map(int, row[1:]))) for row in rows}
        for policy, metrics in self.metrics.items():
            self.assertEqual(shown["all"][policy], metrics["promises"])
            self.assertEqual(shown["kept, earlier than promised"][policy] +
                             shown["kept, within a second"][policy], metrics["promises_kept"])
            self.assertEqual(shown["late, with an excuse"][policy], metrics["promises_excused"])

    def test_views(self):
        self.check_views()

    def test_words(self):
        self.open()
        self.check_words()

    def test_map_follows_the_log(self):
        """Held, failed and drained GPUs at moments of the slider, counted from the log."""
        self.open()
        times = self.page.run("JSON.parse(document.getElementById('map0').textContent).times")
        start = min(line["t"] for line in self.log(POLICIES[0]).lines if "t" in line)
        self.assertGreater(len(times), 100)
        seen = set()
        for moment in range(0, len(times), len(times) // 25):
            sums = self.page.run(f"""(() => {{ const r = document.querySelector('.maps input');
                r.value = {moment}; r.dispatchEvent(new Event('input'));
                return [...document.querySelectorAll('.sum')].map(s => s.textContent); }})()""")
            for policy, text in zip(POLICIES, sums, strict=True):
                holders, down, drain = self.log(policy).at(round((start + times[moment]) * 1e9))
                want = f"{len(holders)} of 192 GPUs held, {len(down)} failed, {len(drain)} drained"
                self.assertEqual(text, want, (policy, times[moment]))
                seen.add((len(holders) > 0, len(down), len(drain)))
        self.assertGreaterEqual(len(seen), 4)  # idle, busy, failed, drained were all there

    def test_keys_tell_who_sits_where(self):
        """By the keyboard alone: the slider moves, and a GPU says what the log says of it."""
        self.open()
        self.page.run("document.querySelector('.maps input').focus()")
        before = self.page.run("document.querySelector('output').textContent")
        self.page.key("ArrowRight", 39)
        after = self.page.run("document.querySelector('output').textContent")
        self.assertNotEqual(before, after)
        moment, times = self.page.run("""[+document.querySelector('.maps input').value,
            JSON.parse(document.getElementById('map0').textContent).times]""")
        log = self.log(POLICIES[0])
        start = min(line["t"] for line in log.lines if "t" in line)
        holders, _, _ = log.at(round((start + times[moment]) * 1e9))
        self.page.run("document.querySelector('.map').focus()")
        told = {}
        for key, code, presses in (("ArrowDown", 40, 9), ("ArrowRight", 39, 40)):
            for _ in range(presses):
                self.page.key(key, code)
                text = self.page.run("document.querySelector('.say').textContent")
                place = re.match(r"leaf (\w+), host (\w+), GPU (\d+): (.*)", text)
                self.assertTrue(place, text)
                told[place[2], int(place[3])] = place[4]
        self.assertGreater(len(told), 40)
        for place, text in told.items():
            jobs = holders.get(place, [])
            if len(jobs) == 1:
                self.assertTrue(text.startswith(f"job {jobs[0]} of team "), (place, text, jobs))
            else:
                self.assertIn("several jobs" if jobs else "free", text)
        self.assertEqual(self.page.complaints(), [])

    def test_without_scripts(self):
        """All drawings stand, and the still map is what the script draws at that moment."""
        count = """[...document.querySelectorAll('.map')].map(m => Object.fromEntries(
            [...m.querySelectorAll('.cells path')].map(p =>
            [p.getAttribute('class'), p.getAttribute('d').split('M').length - 1])))"""
        self.open()
        svgs = self.page.run("document.querySelectorAll('svg').length")
        drawn = self.page.run(count)
        self.page.scripts(False)
        try:
            self.open()
            self.assertEqual(self.page.run("document.querySelectorAll('svg').length"), svgs)
            self.assertEqual(self.page.run(count), drawn)
            self.assertFalse(self.page.run(
                "document.querySelector('.player').getClientRects().length"))
        finally:
            self.page.scripts(True)

    def test_print(self):
        self.open(scheme="dark")
        self.assertEqual(self.page.printed()[:5], b"%PDF-")
        self.page.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.page.run("getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")
        self.assertFalse(self.page.run("document.querySelector('nav').getClientRects().length"))

    def test_size(self):
        self.assertLess(os.path.getsize(self.path), LIMIT_BYTES)


class Arrivals(Opened):
    @classmethod
    def simulate(cls):
        cls.runs = sample.arrivals(DOVETAIL, cls.folder)
        cls.path = os.path.join(cls.folder, "report.html")

    def test_figures_are_means_of_the_seeds(self):
        self.open()
        found = self.figures_of_table()
        for policy, figures in found.items():
            for name, shown in figures.items():
                values = [run["metrics"][name] for run in self.runs if run["policy"] == policy]
                with self.subTest(policy=policy, figure=name):
                    self.assertEqual(len(values), 2)
                    self.assertTrue(agrees(shown, sum(values) / 2))

    def test_views(self):
        self.check_views()

    def test_words(self):
        self.open()
        self.check_words()
        self.assertEqual(self.page.run("document.querySelectorAll('script').length"), 0)


if __name__ == "__main__":
    if not browser.find():
        print("SKIP the report in a browser: no Chromium here (Debian: apt-get install chromium)")
        sys.exit(77)
    unittest.main()
