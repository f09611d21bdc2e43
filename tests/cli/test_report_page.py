"""The HTML report in a real browser: its controls work, the browser reports no errors, and nothing is fetched from the
network. Without Chromium, the test is reported as skipped (exit status 77).
"""

import bisect
import http.server
import json
import re
import sqlite3
import sys
import threading
import unittest

import chromium
import harness

BROWSER = chromium.find()
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"><b>'\"&"
SITES = "document.querySelector('#sites tbody')"
CANVASES = "document.querySelector('.canvases')"
SITE_ROWS = f"[...{SITES}.rows].filter((row) => !row.matches('.sub'))"


def serve(folder, policy):
    """An HTTP server for a folder that sends each file with this policy for its content."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def end_headers(self):
            self.send_header("Content-Security-Policy", policy)
            super().end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def data_of(element):
    """JavaScript for the data in the <script> element of that id; `element` is a JavaScript expression."""
    return f"JSON.parse(document.getElementById({element}).textContent)"


def parts_below(ids):
    """For each row with an id, how many rows without an id follow."""
    below, last = {}, None
    for name in ids:
        last = name or last
        below[last] = below.get(last, -1) + 1
    return below


class ReportPage(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.page = chromium.Page(BROWSER)

    @classmethod
    def tearDownClass(cls):
        cls.page.close()

    def setUp(self):
        super().setUp()
        self.page.requests.clear()
        self.page.problems.clear()

    def open_report(self, *traces):
        result = self.wic_prof("report", *traces, "--format", "html", "-f", "-o", "report.html")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.page.open(self.work / "report.html")

    def record_both_ways(self):
        self.record("t.wicprof", "--seconds", 1, run_options=("--schedule", "poll:500ms,park:500ms"))

    def tearDown(self):
        # In every test, the browser fetches only the page and reports no errors.
        self.assertEqual([url for url in self.page.requests if not url.endswith("/report.html")], [])
        self.assertEqual(self.page.problems, [])
        super().tearDown()

    def each(self, selector, value):
        """The values of a JavaScript expression in `e` for all elements that match the selector."""
        return self.page.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => {value})")

    def visible(self, selector):
        """How many of the elements that match the selector are visible."""
        return self.each(selector, "e.checkVisibility()").count(True)

    def view(self):
        self.page.settle()
        return tuple(float(value) for value in self.page.js(f"[{CANVASES}.dataset.from, {CANVASES}.dataset.to]"))

    def colour_of_body(self):
        return self.page.js("getComputedStyle(document.body).backgroundColor")

    def test_tables_sort(self):
        self.record_both_ways()
        with sqlite3.connect(self.work / "t.wicprof") as database:  # a site with two strategies has a row for each
            database.execute("UPDATE wait SET strategy_id = CASE iteration % 2 WHEN 0 THEN 1 ELSE 2 END "
                             "WHERE site_id = (SELECT min(site_id) FROM wait)")
        self.open_report("t.wicprof")
        column = self.each("#sites th", "e.textContent").index("waits")
        head = f"#sites th:nth-child({column + 1})"
        counts = f"{SITE_ROWS}.map((row) => Number(row.cells[{column}].dataset.value))"
        self.page.click(f"{head} button")
        self.assertEqual(self.page.js(f"document.querySelector('{head}').ariaSort"), "descending")
        values = self.page.js(counts)
        self.assertGreater(len(values), 1)
        self.assertEqual(values, sorted(values, reverse=True))
        ids = f"[...{SITES}.rows].map((row) => row.matches('.sub') ? '' : row.id)"
        before = parts_below(self.page.js(ids))
        self.assertGreater(max(before.values()), 0)
        self.page.click(f"{head} button")
        self.assertEqual(self.page.js(f"document.querySelector('{head}').ariaSort"), "ascending")
        self.assertEqual(self.page.js(counts), sorted(values))
        self.assertEqual(self.page.js("document.querySelectorAll('#sites th[aria-sort]').length"), 1)
        self.assertEqual(parts_below(self.page.js(ids)), before, "a row's parts move with it")
        self.page.click("#sites th:first-child button")
        names = self.page.js(f"{SITE_ROWS}.map((row) => row.cells[0].textContent)")
        self.assertEqual(names, sorted(names))

    def test_theme_follows_the_browser_and_the_switch(self):
        self.record("t.wicprof")
        self.open_report("t.wicprof")
        self.page.js("localStorage.clear()")
        self.open_report("t.wicprof")
        self.page.media(prefers_color_scheme="light")
        light = self.colour_of_body()
        self.page.media(prefers_color_scheme="dark")
        dark = self.colour_of_body()
        self.assertNotEqual(light, dark)
        self.page.click("button.theme")
        self.assertEqual(self.colour_of_body(), light)
        self.page.click("button.theme")
        self.assertEqual(self.colour_of_body(), dark)
        self.page.media(prefers_color_scheme="light")
        self.assertEqual(self.colour_of_body(), dark, "the switch takes precedence over the browser's preference")
        self.open_report("t.wicprof")
        self.assertEqual(self.colour_of_body(), dark, "the switch stays after a reload")
        self.page.js("localStorage.clear()")

    def test_paper_is_light_and_has_no_controls(self):
        self.record_both_ways()
        self.open_report("t.wicprof")
        self.page.js("document.documentElement.dataset.theme = 'dark'")
        self.page.media("print")
        self.assertEqual(self.colour_of_body(), "rgb(255, 255, 255)")
        self.assertEqual(self.visible("nav, .bar, .canvases, .command button, .jump"), 0)
        self.assertGreater(self.visible(".still svg"), 0, "the picture replaces the timeline")
        self.assertEqual(self.page.js("getComputedStyle(document.querySelector('#sites tr')).breakInside"), "avoid")
        self.assertTrue(self.page.pdf().startswith(b"%PDF"))
        self.page.media()

    def test_timeline_zooms_moves_and_explains(self):
        self.record_both_ways()
        self.open_report("t.wicprof")
        whole = self.view()
        self.assertEqual(whole[0], 0)
        self.page.js(f"{CANVASES}.scrollIntoView()")
        left, top, width = self.page.js(
            f"(({{ left, top, width }}) => [left, top, width])({CANVASES}.getBoundingClientRect())")
        x, y = left + width * 0.6, top + 70

        self.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)  # with Ctrl
        near = self.view()
        self.assertLess(near[1] - near[0], 0.7 * (whole[1] - whole[0]))
        self.page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.page.mouse("mouseMoved", x - 100, y, button="left", buttons=1)
        self.page.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
        moved = self.view()
        self.assertGreater(moved[0], near[0])
        self.assertAlmostEqual(moved[1] - moved[0], near[1] - near[0], delta=2)
        self.page.mouse("mousePressed", x - 100, y, button="left", buttons=1, clickCount=1, modifiers=8)  # with Shift
        self.page.mouse("mouseMoved", x, y, button="left", buttons=1, modifiers=8)
        self.page.mouse("mouseReleased", x, y, button="left", clickCount=1, modifiers=8)
        marked = self.view()
        self.assertLess(marked[1] - marked[0], 0.3 * (moved[1] - moved[0]))
        self.assertGreaterEqual(marked[0], moved[0])
        self.page.key("s")
        self.assertGreater(self.view()[1] - self.view()[0], marked[1] - marked[0])
        before = self.view()
        self.page.key("d")
        self.assertGreater(self.view()[0], before[0])
        self.page.key("0")
        self.assertEqual(self.view(), whole)

        # The pointer over a wait shows its description. The first lane with waits has one somewhere.
        said = ""
        for part in range(30, 100):
            self.page.mouse("mouseMoved", left + width * part / 100, top + 36 + 22 + 24 + 12)
            if self.page.js("!document.querySelector('.tip').hidden"):
                said = self.page.js("document.querySelector('.tip').textContent")
                if re.search(r" of \d+: (polling|parked)", said):
                    break
        self.assertRegex(said, r"SM \d+\n.*[\d.]+ of \d+: (polling|parked)\n(.*\n)?from ")

    def test_buttons_of_the_timeline(self):
        self.record_both_ways()
        self.open_report("t.wicprof")
        whole = self.view()
        change = next(i for i, text in enumerate(self.each(".bar button", "e.textContent"))
                      if text.startswith("Change to park"))
        self.page.click(f".bar button:nth-of-type({change + 1})")
        near = self.view()
        at = self.page.js(data_of("'timeline-data'") + ".marks[0][0]")
        self.assertTrue(whole[0] < near[0] < at < near[1] < whole[1])
        self.page.click(".bar button:nth-of-type(1)")
        self.assertEqual(self.view(), whole)

    def test_a_finding_leads_to_its_evidence(self):
        self.record_both_ways()
        self.open_report("t.wicprof")
        whole = self.view()
        self.assertGreater(self.page.js("document.querySelectorAll('.jump').length"), 0)
        self.page.click(".jump")
        near = self.view()
        wanted = self.page.js("(({ from, to }) => [Number(from), Number(to)])(document.querySelector('.jump').dataset)")
        self.assertTrue(near[0] <= wanted[0] < wanted[1] <= near[1])
        self.assertLess(near[1] - near[0], whole[1] - whole[0])
        self.assertTrue(self.page.js(f"{CANVASES}.getBoundingClientRect().top < innerHeight"), "not on the screen")
        links = self.each('a[href^="#"]', "[e.hash, document.querySelector(e.hash) !== null]")
        self.assertEqual([link for link, leads_somewhere in links if not leads_somewhere], [])

    def test_nothing_in_a_trace_becomes_part_of_the_page(self):
        self.record_both_ways()
        with sqlite3.connect(self.work / "t.wicprof") as database:
            rows = database.execute("SELECT DISTINCT value FROM string WHERE value IN ('left', 'right')")
            names = [row[0] for row in rows]
            self.assertEqual(sorted(names), ["left", "right"])
            for name in names:
                database.execute("UPDATE string SET value = ? WHERE value = ?", (HOSTILE + name, name))
            database.execute("UPDATE meta SET value = ? WHERE key IN ('app', 'command', 'host')", (HOSTILE,))
        self.open_report("t.wicprof")
        self.assertEqual(self.page.js("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.page.js("document.title"), HOSTILE + " - wic-prof")
        self.assertEqual(self.page.js("document.querySelector('h1').textContent"), HOSTILE)
        self.assertTrue(self.page.js(f"{SITES}.rows[0].cells[0].textContent").startswith(HOSTILE))
        groups = self.page.js(data_of("'timeline-data'") + ".lanes.map((lane) => lane.group)")
        self.assertIn(HOSTILE + "left", groups)
        self.assertGreater(self.view()[1], 0)

    def test_script_runs_by_its_hash_alone(self):
        self.record("t.wicprof")
        self.open_report("t.wicprof")
        report = self.work / "report.html"
        report.write_text(report.read_text().replace("</body>", "<script>document.title = 'taken'</script></body>"))
        self.page.open(report)
        self.assertNotEqual(self.page.js("document.title"), "taken")
        self.assertTrue(any("Content Security Policy" in text for text in self.page.problems), self.page.problems)
        self.page.problems.clear()

    def test_where_a_server_forbids_styles_and_scripts(self):
        """The policy with which Jenkins sends files."""
        self.record_both_ways()
        self.assertEqual(self.wic_prof("report", "t.wicprof", "-o", "report.html").returncode, 0)
        server = serve(self.work, "sandbox; default-src 'none'; img-src 'self'; style-src 'self'")
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.page.open(f"http://127.0.0.1:{server.server_port}/report.html")
        self.assertTrue(any("Content Security Policy" in text for text in self.page.problems), self.page.problems)
        self.page.problems.clear()
        nodes = self.page.call("DOM.getDocument", depth=-1)["root"]["nodeId"]

        def node(selector):
            return self.page.call("DOM.querySelector", nodeId=nodes, selector=selector)["nodeId"]

        def drawn(selector):
            return {item["name"]: item["value"] for item in self.page.call(
                "CSS.getComputedStyleForNode", nodeId=node(selector))["computedStyle"]}
        self.page.call("DOM.enable")
        self.page.call("CSS.enable")
        self.assertEqual(drawn("body")["margin-top"], "8px", "the page's style is not applied")
        self.assertEqual(drawn(".still svg.narrow")["display"], "none")
        self.assertEqual(drawn(".still svg.wide .lane")["fill"], "rgb(236, 239, 242)")
        self.assertEqual(drawn(".still svg.wide .poll")["fill"], "rgb(213, 94, 0)")
        self.assertEqual(drawn(".legend .swatch")["width"], "12px")
        self.assertEqual(drawn(".jump")["display"], "none")
        self.page.call("CSS.disable")

    def test_without_script_the_picture_stays(self):
        self.record_both_ways()
        self.page.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            self.open_report("t.wicprof")
            nodes = self.page.call("DOM.getDocument", depth=-1)
            box = self.page.call("DOM.getBoxModel", nodeId=self.page.call(
                "DOM.querySelector", nodeId=nodes["root"]["nodeId"], selector=".still svg")["nodeId"])
            self.assertGreater(box["model"]["height"], 50)
        finally:
            self.page.call("Emulation.setScriptExecutionDisabled", value=False)

    def views(self):
        """The time span that the timeline of each trace shows, before and after: (from, to)."""
        self.page.settle()
        return [tuple(float(value) for value in view)
                for view in self.each(".canvases", "[e.dataset.from, e.dataset.to]")]

    def iteration_at(self, time, side):
        """The position of a time among the pairs of iterations by which the page aligns its traces, as a number."""
        pairs = self.page.js(data_of("'timeline-pairs'"))
        begins, at = [], 0
        for i in range(2 * side + 1, len(pairs), 4):
            at += pairs[i]
            begins.append(at)
        whole = bisect.bisect_right(begins, time) - 1
        self.assertTrue(0 <= whole < len(begins) - 1, "no iteration at this time")
        return whole + (time - begins[whole]) / (begins[whole + 1] - begins[whole])

    def assert_aligned(self, views):
        (first, first_end), (second, second_end) = views
        self.assertAlmostEqual(first_end - first, second_end - second, delta=1)
        self.assertAlmostEqual(self.iteration_at(first, 0), self.iteration_at(second, 1), delta=0.001)

    def test_timelines_of_two_traces_move_together(self):
        self.record("a.wicprof")
        self.record("b.wicprof", run_options=("--mode", "park"))
        self.open_report("a.wicprof", "b.wicprof")
        self.assertEqual(self.each(".moving h3", "e.textContent"), ["before: a.wicprof", "after: b.wicprof"])
        self.assertEqual(self.page.js("document.querySelectorAll('#timeline .bar').length"), 1)
        whole = self.views()
        both = "['-before', ''].map((side) => " + data_of("'timeline-data' + side") + ")"
        spans = self.page.js(both + ".map((data) => data.to)")
        for (begin, end), span in zip(whole, spans):
            self.assertTrue(begin <= 0 < span <= end, "both traces are shown completely")
        self.assertAlmostEqual(whole[0][1] - whole[0][0], whole[1][1] - whole[1][0], delta=1)

        # Zoomed in: when one timeline moves, the other shows the same iteration at the same scale.
        self.page.click(".bar button:nth-of-type(2)")
        near = self.views()
        self.assertLess(near[1][1] - near[1][0], 0.5 * (whole[1][1] - whole[1][0]))
        self.assert_aligned(near)
        last = near
        for which in (0, 1):
            self.page.js(f"document.querySelectorAll('.canvases')[{which}].focus()")
            for key in ("w", "d", "d", "s", "a"):
                self.page.key(key)
                now = self.views()
                self.assertNotEqual(now, last)
                self.assertAlmostEqual(now[0][1] - now[0][0], now[1][1] - now[1][0], delta=1)
                last = now
            self.assert_aligned(last)
        self.page.click(".bar button:nth-of-type(1)")
        self.assertEqual(self.views(), whole)
        # A colour means the same in both.
        words = self.page.js(both + ".map((data) => JSON.stringify(data.words))")
        self.assertEqual(words[0], words[1])
        self.page.js(f"{CANVASES}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'e' }}))")
        self.page.settle()
        self.assertEqual(self.each(".canvases", "e.dataset.arrows"), ["false", "false"])

    def test_paper_has_both_traces(self):
        self.record("a.wicprof")
        self.record("b.wicprof", run_options=("--mode", "park"))
        self.open_report("a.wicprof", "b.wicprof")
        self.page.media("print")
        shown = self.each(".still h3", "e.textContent")
        self.assertEqual(shown[:2], ["before: a.wicprof", "after: b.wicprof"])
        self.assertEqual(self.visible(".still svg"), len(shown))
        self.page.media()

    def on_a_phone(self):
        self.page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
        self.addCleanup(self.page.call, "Emulation.clearDeviceMetricsOverride")

    def assert_fits_a_phone(self):
        """Nothing is beyond the right edge, nothing scrolls sideways, and no text is too small to read."""
        self.page.settle()
        self.assertEqual(self.page.js("innerWidth"), 390)
        self.assertEqual(self.page.js("document.documentElement.scrollWidth"), 390)
        outside = """[...document.querySelectorAll('body *')].filter((e) => {
            const box = e.getBoundingClientRect();
            return e.checkVisibility() && box.width > 0 && (box.right > 391 || box.left < -1); })
            .map((e) => e.outerHTML.slice(0, 120))"""
        self.assertEqual(self.page.js(outside), [])
        sideways = """[...document.querySelectorAll('body *')]
            .filter((e) => e.scrollWidth > e.clientWidth + 1)
            .filter((e) => /auto|scroll|hidden/.test(getComputedStyle(e).overflowX))
            .map((e) => e.outerHTML.slice(0, 120))"""
        self.assertEqual(self.page.js(sideways), [])
        # A drawing scales its text.
        sizes = self.page.js("""[...document.querySelectorAll('svg text, td, p, h3, li, code, button, .badge')]
            .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 0)
            .map((e) => [parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM?.().a ?? 1),
                         e.outerHTML.slice(0, 120)])""")
        self.assertGreater(len(sizes), 50)
        self.assertEqual([size for size in sizes if size[0] < 10], [])
        cut = """[...document.querySelectorAll('svg')].filter((e) => e.checkVisibility())
            .flatMap((svg) => [...svg.querySelectorAll('text')].filter((text) => {
                const box = text.getBoundingClientRect(), around = svg.getBoundingClientRect();
                return box.left < around.left - 1 || box.right > around.right + 1; }))
            .map((text) => text.textContent)"""
        self.assertEqual(self.page.js(cut), [])

    def test_on_a_phone(self):
        self.on_a_phone()
        self.record_both_ways()
        self.open_report("t.wicprof")
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                self.page.media(prefers_color_scheme=scheme)
                self.assert_fits_a_phone()
        # Each cell of a table says of which column it is.
        labels = self.each("#sites tbody tr:first-child td", "getComputedStyle(e, '::before').content")
        self.assertEqual(labels[0], "none", "the name of the row")
        self.assertIn('"waiters"', labels)
        self.page.media()

    def test_two_traces_on_a_phone(self):
        self.on_a_phone()
        self.record("a.wicprof")
        self.record("b.wicprof", run_options=("--mode", "park"))
        self.open_report("a.wicprof", "b.wicprof")
        self.assert_fits_a_phone()

    def test_the_picture_without_script_on_a_phone(self):
        self.on_a_phone()
        self.record_both_ways()
        self.open_report("t.wicprof")
        self.page.js("document.documentElement.classList.remove('scripted')")
        self.assertGreater(self.visible(".still svg.narrow"), 0)
        self.assert_fits_a_phone()

    def test_a_wide_screen_shows_each_drawing_once(self):
        self.record_both_ways()
        self.open_report("t.wicprof")
        self.assertEqual(self.visible("svg.narrow"), 0)
        self.assertGreater(self.visible("svg.wide"), 1)

    def test_iterations_fill_the_chart(self):
        """The axis counts iterations, so that a few short ones at the end of a long run are not a few pixels."""
        self.record("a.wicprof", "--period-us", 20000, "--wait-us", 15000, "--iterations", 30)
        self.record("b.wicprof", "--period-us", 400, "--iterations", 30, run_options=("--mode", "park"))
        self.open_report("a.wicprof", "b.wicprof")
        widths = self.each("#comparison svg.wide path.mid", "e.getBBox().width")
        whole = self.page.js("document.querySelector('#comparison svg.wide').viewBox.baseVal.width")
        self.assertEqual(len(widths), 2)
        for width in widths:
            self.assertGreater(width, whole / 3)
        self.assertIn("iteration 0", self.each("#comparison svg.wide text", "e.textContent"))

    def test_a_change_reads_as_a_phrase(self):
        self.record("a.wicprof", "--period-us", 20000, "--wait-us", 15000, "--iterations", 30)
        self.record("b.wicprof", "--period-us", 400, "--iterations", 30, run_options=("--mode", "park"))
        self.open_report("a.wicprof", "b.wicprof")
        shown = self.each("#comparison .tile.ratio b, .summary .tile:first-child b", "e.textContent")
        self.assertEqual(len([text for text in shown if text.endswith(" times shorter")]), 2, shown)
        both = self.each("#comparison .tile", "e.firstElementChild.textContent")
        self.record_both_ways()
        self.open_report("t.wicprof")
        one = self.each("#comparison .tile", "e.firstElementChild.textContent")
        self.assertEqual([text.split(":")[0] for text in both], [text.split(":")[0] for text in one], "the same cards")

    def test_two_traces_and_a_trace_without_waits(self):
        self.record("a.wicprof")
        self.record("b.wicprof", run_options=("--mode", "park"))
        self.open_report("a.wicprof", "b.wicprof")
        self.assertIn("wic-prof compare a.wicprof b.wicprof",
                      self.page.js("document.querySelector('#comparison').textContent"))
        self.assertEqual(self.wic_prof("run", "-o", "none.wicprof", "--", "true").returncode, 0)
        self.open_report("none.wicprof")
        self.assertIn("None", self.page.js("document.querySelector('#sites').textContent"))
        self.assertIn("Could not look", self.page.js("document.querySelector('#figures').textContent"))


if __name__ == "__main__":
    if BROWSER is None:
        print("no Chromium: the report page was not tested")
        sys.exit(77)
    harness.main()
