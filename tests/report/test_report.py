"""Reports contain the numbers of the result, in one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import urllib.parse
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from combined import compare_and_test

import isodepth
from isodepth.errors import InvalidInputError, InvalidOptionError, MissingExtraError
from isodepth.functions.changes import lower_percent
from isodepth.report import html_report
from isodepth.rows.checks import Check
from isodepth.rows.rows import TwoSamples
from isodepth.show.columns import column_figure
from isodepth.show.pair import Pair
from isodepth.show.repeat import Reading, repeat_code
from isodepth.show.report import html_report_of_files
from isodepth.table.frames import NamedArray

pytest.importorskip("matplotlib")

EVIL = "<script>alert(1)</script>"
QUOTES = "\"'><img src=x onerror=alert(2)>"


def pair(shift: float = 2.0):
    rng = np.random.default_rng(0)
    x = NamedArray(rng.normal(size=(60, 3)), ("temp", EVIL, QUOTES))
    y = NamedArray(rng.normal(size=(50, 3)) + [shift, 0, 0], x.columns)
    return x, y


def compared(shift: float = 2.0, **options):
    options = {"n_permutations": 39, "n_directions": 20, "random_state": 0, **options}
    return compare_and_test(*pair(shift), **options)


@pytest.fixture(scope="module")
def comparison():
    return compared()


@pytest.fixture(scope="module")
def monitor():
    rng = np.random.default_rng(0)
    made = isodepth.Monitor(NamedArray(rng.normal(size=(3000, 2)), (EVIL, "b")), random_state=0)
    for shift in (0, 0, 3, 3, 3, 3, 3, 3):
        made.check(NamedArray(rng.normal(size=(30, 2)) + [0, shift], (EVIL, "b")))
    return made


@pytest.fixture(scope="module")
def pages(comparison, monitor):
    return {
        "comparison": html_report(comparison, names=(EVIL, "July"), notes=[QUOTES], command=EVIL),
        "test": html_report(comparison.test),
        "untested": html_report(isodepth.compare(*pair(), n_directions=20, random_state=0)),
        "monitor": html_report(monitor, labels=[EVIL] * 8, title=QUOTES),
    }


KINDS = ["comparison", "test", "untested", "monitor"]


class Reader(HTMLParser):
    """Parser of elements with attributes, and of text outside of scripts and styles."""

    VOID = ("br", "img", "meta", "link", "input", "hr", "col")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


# -- one file, and safe ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_whole_load_nothing_and_run_one_script(pages, kind) -> None:
    page = pages[kind]
    elements = read(page).elements
    tags = [tag for tag, _ in elements]
    assert tags.count("html") == tags.count("main") == tags.count("h1") == tags.count("script") == 1
    assert not {"link", "iframe", "object", "embed", "base", "form", "img"} & set(tags)
    for tag, attributes in elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href", "xlink:href", "action", "data"):
                known = ("#", "data:image/png;base64,", "data:text/csv;")
                assert value.startswith(known), (tag, name, value[:80])
    assert not re.search("https?://|@import", page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [a["content"] for _, a in elements if a.get("http-equiv")]
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_values_of_the_data_are_text(pages) -> None:
    text = "".join(read(pages["comparison"]).words)
    assert EVIL in text
    assert QUOTES in text
    assert html.escape(EVIL) in pages["monitor"]


@pytest.mark.parametrize("kind", KINDS)
def test_figures_have_alternative_text_and_distinct_identifiers(pages, kind) -> None:
    elements = read(pages[kind]).elements
    labels = [a["aria-label"] for tag, a in elements if tag == "svg" and a["role"] == "img"]
    assert len(set(labels)) == len(labels) >= (1 if kind == "monitor" else 2)
    assert min(map(len, labels)) > 20
    names = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(set(names)) == len(names)
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', pages[kind])) <= set(names)


def test_figures_have_the_colors_of_the_page(pages) -> None:
    svg = re.findall(r"<figure.*?(<svg.*?</svg>)", pages["comparison"], flags=re.DOTALL)
    assert len(svg) == 4
    for text in svg:
        assert "var(--ink)" in text
        for color in ("#222222", "#0072b2", "#000000"):
            assert color not in text


def test_the_same_input_gives_the_same_bytes(pages) -> None:
    assert (
        html_report(compared(), names=(EVIL, "July"), notes=[QUOTES], command=EVIL)
        == (pages["comparison"])
    )
    assert "Made with isodepth" in pages["comparison"]


# -- content -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_pictures")
def test_headlines_of_a_comparison(comparison, pages) -> None:
    """The headline depends on the test alone, not on the contributions to the distance."""
    text = " ".join("".join(read(pages["test"]).words).split())
    first = comparison.test.changes[0]
    assert first.columns == ("temp",)
    label, values = first._label, " → ".join(first._values)
    assert f"Y differs from X (p = {comparison.test.pvalue:.3g}): {label} {values}." in text
    x, _ = pair()
    alike = compare_and_test(x, x, n_permutations=39, n_directions=20, random_state=0)
    page = html_report(alike)
    assert "No significant difference between X and Y (p = 1)." in page
    assert "Contribution of each column" not in page
    assert "X and Y are at distance" in pages["untested"]


def test_headlines_are_short(comparison) -> None:
    names = ("a" * 60, "b" * 60)
    headline = comparison._headline(names).sentence
    assert len(headline.split()) <= 25
    assert len(Pair(comparison, names).lines()) <= 12
    assert len(str(comparison).splitlines()) <= 12


@pytest.mark.usefixtures("without_pictures")
def test_suspicious_rows_are_shown_under_their_numbers_as_given() -> None:
    x, y = pair(0.0)
    y.points[3, 1] = np.nan
    y.points[7, 0] = -9999.0
    result = isodepth.compare(x, y, nan_policy="omit", n_directions=20, random_state=0)
    page = html_report_of_files(
        result, (Reading("a.csv"), Reading("b.csv")), names=("June", "July")
    )
    cells = [re.findall(r'data-value="([^"]*)"', row) for row in re.findall("<tr>(.*?)</tr>", page)]
    assert ["July", "b.csv", "50", "49", "1"] in cells
    assert any(row[:3] == ["7", "July", "-9999.0"] for row in cells)
    assert "<mark>temp = -9999</mark>" in page
    assert "July%2C7%2Ctemp%2C-9999.0" in page.replace(",", "%2C")
    content = Pair(result, ("June", "July")).content()
    assert content["suspicious_rows"]["rows"][0]["row"] == 7
    assert content["headline"] in html.unescape(page)
    low, high = content["chance_level"]["interval"]
    assert f"19 random splits of the same rows: {low:.3g} to {high:.3g}" in page


@pytest.mark.usefixtures("without_pictures")
def test_rows_with_one_unusual_value_are_headlined() -> None:
    x, y = pair(0.0)
    y.points[:6] = -9999.0
    options = {"n_permutations": 39, "n_directions": 20, "random_state": 0}
    result = compare_and_test(x, y, **options)
    assert "suspicious_rows()" in str(result)
    assert "6 rows of Y look wrong: temp and 2 more columns = -9999" in str(result)
    assert "6 rows of Y look wrong" in result.test.headline
    content = Pair(result, ("June", "July")).content()
    wrong = "6 rows of July look wrong: temp and 2 more columns = -9999"
    start = f"July differs from June (p = {result.test.pvalue:.3g}): "
    assert content["headline"].startswith(start)
    assert wrong in content["headline"]
    # Few rows are in the headline if their values are far beyond any extrapolation.
    y.points[2:6] = pair(0.0)[1].points[2:6]
    few = compare_and_test(x, y, **options)
    assert "2 rows of July look wrong" in Pair(few, ("June", "July")).content()["headline"]
    y.points[:2] = 5.0
    few = compare_and_test(x, y, **options)
    assert "look wrong" not in Pair(few, ("June", "July")).content()["headline"]


@pytest.mark.usefixtures("without_pictures")
def test_json_contains_the_tables_and_the_code_of_the_page(comparison) -> None:
    content = Pair(comparison, ("June", "July")).content()
    page = html.unescape(html_report(comparison, names=("June", "July")))
    assert content["code"] in page
    unchanged = content["unchanged_columns"]
    assert {each["column"] for each in unchanged} == {EVIL, QUOTES}
    for each in unchanged:
        assert f'data-value="{each["pvalue"]}"' in page
        assert f'data-value="{each["medians"][1]}"' in page


@pytest.mark.usefixtures("without_pictures")
def test_an_omitted_level_of_chance_is_stated(comparison, monkeypatch) -> None:
    monkeypatch.setattr("isodepth.show.pair.MOST_SPLIT_PROJECTIONS", 1)
    content = Pair(comparison, ("June", "July")).content()
    assert content["chance_level"] is None
    assert "omitted" in content["chance_level_omitted"]
    assert content["chance_level_omitted"] in html_report(comparison)
    assert content["chance_level_omitted"] in "\n".join(Pair(comparison, ("a", "b")).lines())


@pytest.mark.usefixtures("without_pictures")
def test_the_python_of_a_report_makes_the_comparison_again(comparison) -> None:
    page = html_report(comparison)
    made = dict(zip("XY", pair(), strict=True))
    code = re.findall(r"<pre><code>(import isodepth.*?)</code>", page, re.DOTALL)[0]
    exec(html.unescape(code).rpartition("\n")[0], made)
    assert made["comparison"].distance == comparison.distance
    assert made["test"].pvalue == comparison.test.pvalue


@pytest.mark.usefixtures("without_pictures")
def test_the_python_of_a_report_of_categories_alone_makes_the_test_again() -> None:
    pd = pytest.importorskip("pandas")
    x, y = (pd.DataFrame({"kind": list(values)}) for values in ("aabbc" * 8, "abccc" * 8))
    test = isodepth.two_sample_test(x, y, n_permutations=59, random_state=3)
    page = html.unescape(html_report(test))
    (call,) = re.findall(r"test = (isodepth\.two_sample_test\(.*?\))\n", page)
    again = eval(call, {"isodepth": isodepth, "X": x, "Y": y})
    np.testing.assert_array_equal(again.null_distribution, test.null_distribution)
    assert again.pvalue == test.pvalue


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tolerance": 0.02, "alpha": 0.1},
        {"scale": None, "n_directions": 7, "kinds": {"b": "omit"}},
        {"method": "regions"},
        {"method": isodepth.Metric(levels=5)},
        {"method": isodepth.Metric(depth="irw", q=1, p=np.inf, eps=0.3, levels=20)},
    ],
)
def test_the_code_of_a_test_repeats_it(options) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    x, y = (pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")) for _ in range(2))
    y.iloc[:9, 0] = np.nan
    test = isodepth.two_sample_test(x, y, n_permutations=39, random_state=3, **options)
    call = repeat_code(test, None).split("test = ")[1].split("\n")[0]
    again = eval(call, {"isodepth": isodepth, "X": x, "Y": y})
    np.testing.assert_array_equal(again.null_distribution, test.null_distribution)
    assert again.signature == test.signature
    assert again.alpha == test.alpha
    assert again.kinds == test.kinds


@pytest.mark.parametrize("options", [{"n_directions": 1000}, {"n_directions": 7, "eps": 0.3}])
def test_the_code_of_random_levels_repeats_them(options) -> None:
    x, y = (each.points for each in pair())
    result = isodepth.Metric.paper(n_levels=4, random_state=3, **options).compare(x, y)
    call = repeat_code(result, None).split("comparison = ")[1].split("\n")[0]
    assert call.startswith("isodepth.Metric.paper(")
    again = eval(call, {"isodepth": isodepth, "X": x, "Y": y})
    assert (again.distance, again.signature) == (result.distance, result.signature)


def test_the_code_of_a_test_in_chunks_repeats_it() -> None:
    x, y = (isodepth.scan(each.points) for each in pair())
    test = isodepth.two_sample_test(x, y, max_rows=30, n_permutations=19, random_state=3)
    call = repeat_code(test, None).split("test = ")[1].split("\n")[0]
    again = eval(call, {"isodepth": isodepth, "X": x, "Y": y})
    np.testing.assert_array_equal(again.null_distribution, test.null_distribution)


@pytest.mark.parametrize(
    "options",
    [
        {"scale": np.ones(3)},
        {"method": isodepth.Metric(depth=lambda points: points[:, 0], levels=20)},
    ],
)
def test_a_test_with_objects_as_options_has_no_code(options) -> None:
    test = isodepth.two_sample_test(*pair(), n_permutations=5, **options)
    assert "cannot be repeated" in repeat_code(test, None)


def test_the_code_of_a_test_with_a_generator_has_the_drawn_seed() -> None:
    test = isodepth.two_sample_test(
        *pair(), n_permutations=5, random_state=np.random.default_rng(0)
    )
    assert f"random_state={test.settings['random_state']})" in repeat_code(test, None)


@pytest.mark.usefixtures("without_pictures")
def test_settings_are_listed_by_option(comparison) -> None:
    """A report lists the settings in the attribute `settings`, by the names of the options."""
    page = html_report(comparison)
    section = page[page.index("<summary>Settings") : page.index("<summary>How to repeat it")]
    cells = re.findall(r"<td>([^<]*)</td><td>([^<]*)</td>", section)
    assert ("n_permutations", "39") in cells
    assert ("blocks", "none") in cells
    assert cells.count(("random_state", "0")) == 2
    assert len(cells) == len(comparison.settings) + len(comparison.test.settings)
    given = isodepth.compare(*pair(), directions=np.eye(3))
    assert given.settings["directions"].startswith("given:3:")
    shown = f"<td>directions</td><td>{given.settings['directions']}</td>"
    assert shown in html_report(given)


@pytest.mark.usefixtures("without_pictures")
def test_settings_that_cannot_be_written_down_are_not_made_up() -> None:
    x, y = pair()
    page = html_report(isodepth.compare(x, y, directions=np.eye(3)))
    assert "cannot be repeated from files alone" in page
    assert "..." not in page[page.index("How to repeat it") :]


def test_the_distance_of_a_test_is_named_for_what_it_is(pages) -> None:
    """A report names the settings of the distance of a test.

    They and the distance differ from those of `compare`.
    """
    assert "Distance between trimmed regions " in pages["test"]
    assert "settings of the test: 20 levels, q = 2" in pages["test"]
    assert "<h3>Distance between trimmed regions</h3>" in pages["test"]
    for page in ("comparison", "untested"):
        assert "trimmed regions" not in pages[page]


def test_a_monitor_without_a_file_has_no_code(pages) -> None:
    assert "Monitor.load" not in pages["monitor"]


@pytest.mark.usefixtures("without_pictures")
def test_the_verdict_of_a_monitor(monitor, pages) -> None:
    last = monitor.verdicts[-1]
    assert last.alarm
    assert f"Alarm since batch {last.alarm_since} of 8" in pages["monitor"]
    change = str(last.changes[0]).replace("->", "→")
    assert f"of 8: {html.escape(change)}" in pages["monitor"]
    monitor_alone = isodepth.Monitor(
        np.random.default_rng(0).normal(size=(2000, 2)), random_state=0
    )
    assert "No batch has been checked yet" in html_report(monitor_alone)
    monitor_alone.check(np.random.default_rng(1).normal(size=(30, 2)))
    assert "No alarm in 1 batch " in html_report(monitor_alone)


@pytest.mark.usefixtures("without_pictures")
def test_samples_in_chunks_have_a_report() -> None:
    x, y = pair()
    result = isodepth.compare(
        isodepth.scan(x.points), isodepth.scan(y.points), levels=10, refine=0, n_directions=20,
        random_state=0,
    )  # fmt: skip
    page = html_report(result)
    read(page)
    assert "Figures and medians are those of random rows" not in page  # all rows are in memory
    assert "Figures and medians are those" not in html_report(compared())
    rows = result.suspicious_rows()
    for row in rows:
        assert f"<mark>{row.column} = {row.value:.6g}</mark></td>" in page
    with pytest.raises(InvalidInputError, match="typical rows need both samples in memory"):
        result.typical_rows()
    with pytest.raises(InvalidInputError, match="read in chunks"):
        result.plot("nested_regions")


def mixed(rows_of_x: str = "aabbc" * 10, rows_of_y: str = "abbbc" * 10):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    return tuple(
        pd.DataFrame({"size": rng.normal(size=len(rows)), "kind": list(rows)})
        for rows in (rows_of_x, rows_of_y)
    )


def test_every_column_has_a_figure_and_categories_have_numbers() -> None:
    test = isodepth.two_sample_test(*mixed(), n_permutations=19, random_state=0)
    page = html_report(test)
    assert not test.changes
    figures = re.findall(r'<td class="small"[^>]*><svg.*?aria-label="([^"]*)"', page)
    assert {text.split(" in X")[0] for text in figures} == {"Column size", "Column kind"}
    assert "a: 40% and 20%, b: 40% and 60%, c: 20% and 20%" in page
    assert "<summary>All 2 columns, with figures</summary>" in page


@pytest.mark.usefixtures("without_pictures")
def test_columns_beyond_the_maximum_have_no_figure_and_the_page_states_it(monkeypatch) -> None:
    monkeypatch.setattr("isodepth.show.pair._MAX_COLUMNS", 2)
    page = html_report(compared(0.0))
    assert "The first 2 columns have figures." in page
    (table,) = re.findall(r'<table id="columns".*?</table>', page, flags=re.DOTALL)
    assert table.count("<tr>") == 1 + 3
    assert table.count('<td class="small" data-value=""></td>') == 1


@pytest.mark.usefixtures("without_pictures")
def test_a_constant_column_is_part_of_a_report() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2)) * [1, 0] + [0, 7]
    page = html_report(compare_and_test(x, y + [3, 0], n_permutations=19, random_state=0))
    assert "column 1 is constant (7)" in page


@pytest.mark.usefixtures("without_pictures")
def test_columns_without_values_are_drawn() -> None:
    samples = TwoSamples((np.full((3, 1), np.nan), np.full((2, 1), np.nan)), ("empty",), {})
    from matplotlib.figure import Figure

    assert column_figure("empty", samples, Figure()) == "no values"


@pytest.mark.usefixtures("without_pictures")
def test_figures_of_regions_are_collapsed_if_changes_explain_the_difference(comparison) -> None:
    summary = "<summary>Figures of the most typical rows"
    assert comparison.test.changes
    assert f"<details>{summary}" in html_report(comparison)
    alike = compared(0.0)
    assert not alike.test.changes
    assert f"<details open>{summary}" in html_report(alike)


@pytest.mark.usefixtures("without_pictures")
def test_the_subtitle_is_one_sentence() -> None:
    x, y = pair(2.0)
    x.points[:4, 2] = np.nan
    y.points[7, 1] = -9999.0
    result = compare_and_test(
        x, y, nan_policy="omit", n_permutations=39, n_directions=20, random_state=0
    )
    page = html_report(result, names=("June", "July"))
    counts = result.suspicious_rows()._summary(("June", "July"))
    dropped = "4 rows with missing values, left out of the distance"
    assert f'<p class="quiet">Also found: {counts} and {dropped}.</p>' in page
    x, y = pair(0.0)
    assert Pair(isodepth.compare(x, x, n_directions=20, random_state=0)).subtitle == ""


@pytest.mark.usefixtures("without_pictures")
def test_equality_is_not_suggested_if_most_rows_or_values_are_not_compared() -> None:
    for missing, kind in ((29, "alike"), (31, "open")):
        x, y = np.random.default_rng(0).normal(size=(2, 60, 3))
        x[:missing] = y[:missing] = np.nan
        result = isodepth.two_sample_test(x, y, n_permutations=19, random_state=0)
        assert not result.significant
        assert result._headline(("X", "Y")).status == kind
        page = html_report(result)
        assert f'<p class="verdict {kind}">' in page
        assert ("Only 48% of the values of X could be compared." in page) == (kind == "open")
    x, y = np.random.default_rng(0).normal(size=(2, 60, 3))
    x, y = (pd.DataFrame(each, columns=[*"abc"]) for each in (x, y))
    result = isodepth.two_sample_test(x, y.drop(columns="c"), n_permutations=19, random_state=0)
    assert result._headline(("X", "Y")).status == "open"
    x, y = mixed()
    for table in (x, y):
        for name in ("first", "second", "third"):
            table[name] = [f"{name} {k}" for k in range(len(table))]
    result = isodepth.two_sample_test(x, y, n_permutations=19, random_state=0)
    assert [kind.use for kind in result.kinds].count("omit") == 3
    assert result._unused_part(("X", "Y")) == "Only 40% of the values of X could be compared."
    assert result._headline(("X", "Y")).status == "open"


@pytest.mark.usefixtures("without_pictures")
def test_changes_show_their_share_of_rows(comparison) -> None:
    change = comparison.test.changes[0]
    assert change.changed_share > 0.01
    text = f"at least {lower_percent(change.changed_share)}"
    assert f'<td class="number" data-head="changed rows:">{text}</td>' in html_report(comparison)
    assert "changed rows" in comparison._repr_html_()


@pytest.mark.usefixtures("without_pictures")
def test_standard_input_has_a_name(comparison) -> None:
    page = html_report_of_files(comparison, (Reading("-"), Reading("b.csv")))
    assert ">standard input</td>" in page


@pytest.mark.usefixtures("without_pictures")
def test_checks_come_before_the_test(comparison, monkeypatch) -> None:
    check = Check(kind="empty", columns=(EVIL,), text=f"{EVIL} became empty", sample="Y")
    monkeypatch.setitem(comparison.test.__dict__, "checks", (check,))
    page = html_report(comparison)
    assert page.index("<h2>Checks</h2>") < page.index("<h2>What changed</h2>")
    assert f"<li>{html.escape(EVIL)} became empty</li>" in page
    share = comparison.test.changed_share_text
    assert "% confidence)" in share
    assert f"{share[0].upper()}{share[1:]}." in page


# -- files and mistakes ---------------------------------------------------------------------------


@pytest.mark.usefixtures("without_pictures")
def test_a_report_is_written_whole_or_not_at_all(comparison, tmp_path, monkeypatch) -> None:
    target = tmp_path / "report.html"
    target.write_text("before")
    with monkeypatch.context() as broken:
        broken.setattr("isodepth.show.report.render", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            comparison.report(target)
    assert target.read_text() == "before"
    comparison.report(target, names=("June", "July"))
    assert target.read_text(encoding="utf-8") == html_report(comparison, names=("June", "July"))
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_path_is_checked_before_any_work(comparison, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("isodepth.show.report.html_report_of_files", lambda *_, **__: 1 / 0)
    with pytest.raises(InvalidOptionError, match="there is no folder"):
        comparison.report(tmp_path / "absent" / "report.html")
    for name in ("report", "report.txt"):
        with pytest.raises(InvalidOptionError, match=f"{name}: its name must end in .html or .htm"):
            comparison.report(tmp_path / name)


def test_what_does_not_apply_is_refused(comparison, monitor) -> None:
    with pytest.raises(InvalidOptionError, match="unknown option 'labels'"):
        html_report(comparison, labels=["a"])
    with pytest.raises(InvalidOptionError, match="unknown option 'names'"):
        html_report(monitor, names=("a", "b"))
    with pytest.raises(InvalidOptionError, match="names must be two"):
        html_report(comparison, names="ab")
    with pytest.raises(InvalidOptionError, match="two different strings, got 'A' twice"):
        html_report(comparison, names=("A", "A"))
    with pytest.raises(InvalidInputError, match="got Verdict"):
        html_report(monitor.verdicts[0])
    with pytest.raises(InvalidInputError, match="labels must name each of the 8"):
        html_report(monitor, labels=["a"])


def test_an_unknown_option_lists_the_public_options(comparison, monitor, tmp_path) -> None:
    for result, own in ((comparison, "names"), (comparison.test, "names"), (monitor, "labels")):
        known = rf"options are title, {own}, notes, command"
        with pytest.raises(InvalidOptionError, match=rf"'tittle'; did you mean 'title'.*{known}"):
            result.report(tmp_path / "report.html", tittle="a")
        with pytest.raises(InvalidOptionError, match=rf"unknown option 'sources'.*{known}"):
            html_report(result, sources=("a", "b"))


def test_without_matplotlib_the_message_says_what_to_install(comparison, monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"a report with figures needs matplotlib"):
        html_report(comparison)


def test_one_column_has_a_report_too(tmp_path) -> None:
    result = isodepth.compare([[0.0], [1.0], [2.0]], [[1.0], [2.0], [4.0]], depth="halfspace")
    result.report(tmp_path / "one.html")
    page = (tmp_path / "one.html").read_text("utf-8")
    read(page)
    assert len(page) > 10_000


def test_the_rows_of_a_test_include_those_with_missing_values() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    x[:3, 0] = np.nan
    result = compare_and_test(x, y, nan_policy="omit", n_permutations=19, n_directions=9)
    rows = Pair(result).row_counts
    assert rows == {
        "sample": ["X", "Y"],
        "file": None,
        "rows": [40, 30],
        "tested rows": [40, 30],
        "rows in the distance": [37, 30],
        "left out of the distance, with missing values": [3, 0],
    }
    rows = Pair(result.test).row_counts
    assert [*rows] == ["sample", "file", "rows", "tested rows"]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("kind", ["location", "joint"])
def test_the_report_says_which_pvalues_are_adjusted(kind: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400, 2))
    if kind == "location":
        y = y + [1, 0]
    else:  # a small shift of two strongly correlated columns
        x[:, 1] = x[:, 0] + 0.1 * x[:, 1]
        y[:, 1] = y[:, 0] + 0.1 * y[:, 1] + 0.3
    test = isodepth.two_sample_test(x, y, n_permutations=199, random_state=0)
    assert {change.kind for change in test.changes} >= {kind}
    page = html_report(test)
    assert "is adjusted for all columns and pairs" in page
    assert ("joint change of several columns has the p-value" in page) == (kind == "joint")


@pytest.mark.usefixtures("without_pictures")
def test_dates_are_shown_as_dates() -> None:
    pytest.importorskip("matplotlib")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    first = pd.Timestamp("2024-01-01")
    x, y = (
        pd.DataFrame({"t": first + pd.to_timedelta(rng.integers(0, 100, 200), "D"), "v": values})
        for values in rng.normal(size=(2, 200))
    )
    y.loc[3, "v"] = 90.0
    options = {"kinds": {"t": "numeric"}, "n_permutations": 19, "random_state": 0}
    page = html_report(isodepth.two_sample_test(x, y, **options))
    row = re.search(r"t = ([^<,]*)", page)
    assert row is not None
    assert row[1].strip() == f"{y['t'][3]:%Y-%m-%d}"
    assert "2024-01-01 to 2024-04-09" in page


def test_characters_that_change_the_direction_are_shown_as_codes() -> None:
    rng = np.random.default_rng(0)
    X, Y = (pd.DataFrame({"a\u202eb": rng.normal(size=40) + i}) for i in range(2))
    test = isodepth.two_sample_test(X, Y, n_permutations=19, random_state=0)
    for page in (html_report(test, names=("june\u2066", "july")), test._repr_html_()):
        assert "\u202e" not in page
        assert "\u2066" not in page
        assert r"a\u202eb" in page
    labels = test.plot("contributions").get_yticklabels()
    assert [label.get_text() for label in labels] == [r"a\u202eb"]


def test_rows_of_folders_have_files_and_all_values_and_figures_show_the_sentinel(tmp_path) -> None:
    rng = np.random.default_rng(0)
    sources = []
    for name in ("june", "july"):
        (tmp_path / name).mkdir()
        for day in range(2):
            frame = pd.DataFrame(rng.normal(15, 3, size=(300, 2)), columns=["temp", "dewp"])
            if (name, day) == ("july", 1):
                frame.loc[[7, 8], "temp"] = -999.0
            frame.round(1).to_csv(tmp_path / name / f"{day}.csv", index=False)
        sources.append(isodepth.scan(tmp_path / name))
    for options in ({}, {"max_rows": 100}):  # all rows, and random rows, which lack -999
        test = isodepth.two_sample_test(*sources, n_permutations=19, random_state=0, **options)
        page = html.unescape(html_report(test))
        for row in (7, 8):
            assert f'{row}<br><span class="quiet">{tmp_path}/july/1.csv</span>' in page
        assert re.search(r"<mark>temp = -999</mark>, <span class=.quiet.>dewp = [\d.]+<", page)
        assert "; -999 in 2 rows" in page
        csv = urllib.parse.unquote(re.search(r'href="data:text/csv[^,]*,([^"]*)"', page)[1])
        header, first, *_ = csv.splitlines()
        assert header == "sample,row,file,file_row,column,value,score"
        assert first.startswith(f"Y,307,{tmp_path}/july/1.csv,7,temp,-999.0,")
        assert ("random rows, because" in page) == bool(options)
