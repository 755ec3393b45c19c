"""Reports in a browser: no requests, tables that can be sorted and filtered, printing."""

from __future__ import annotations

import numpy as np
import pytest
from combined import compare_and_test

import isodepth
from isodepth.cli import main
from isodepth.show.repeat import Reading
from isodepth.show.report import write_report_of_files
from isodepth.table.frames import NamedArray
from isodepth.table.readers import ReadOptions, read_table

pytestmark = pytest.mark.browser

EVIL = "<script>alert(1)</script>"
WEATHER = ("examples/weather/june.csv", "examples/weather/july.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def weather(folder):
    """Report of the weather tables, which the command line writes."""
    path = folder / "weather.html"
    code = main(
        ["report", *WEATHER, "-o", str(path), "--blocks", "day",
         "--nan-policy", "omit", "--n-directions", "100"]
    )  # fmt: skip
    assert code == 0
    return path


@pytest.fixture(scope="module")
def evil(folder):
    """Report in which names of columns and samples, titles, notes and commands look like markup."""
    rng = np.random.default_rng(0)
    names = (
        EVIL,
        '"><img src=x onerror=alert(2)>',
        "</title></style></script><svg onload=alert(3)>",
        "d",
    )
    x, y = (
        NamedArray(rng.normal(size=(60, 4)), names),
        NamedArray(rng.normal(size=(60, 4)) + 1, names),
    )
    result = compare_and_test(x, y, n_permutations=19, n_directions=20, random_state=0)
    path = folder / "evil.html"
    write_report_of_files(
        result, path, (Reading(names[2]), Reading(EVIL)), names=(EVIL, names[1]),
        title=names[2], notes=names, command=names[2],
    )  # fmt: skip
    return path


@pytest.fixture(scope="module")
def monitor(folder):
    june, july = (read_table(path, ReadOptions(missing=True)).numbers for path in WEATHER)
    rows = [table.points[~np.isnan(table.points).any(axis=1)][:, 1:] for table in (june, july)]
    names = june.columns[1:]
    made = isodepth.Monitor(
        NamedArray(np.random.default_rng(0).permutation(rows[0]), names), random_state=0
    )
    for start in range(0, 1200, 60):
        made.check(NamedArray(rows[1][start : start + 60], names))
    path = folder / "monitor.html"
    made.report(path)
    return path


@pytest.fixture(scope="module")
def embeddings(folder):
    """Report of samples with 60 unnamed columns, whose difference is described by typical rows."""
    x, y = np.random.default_rng(0).normal(size=(2, 150, 60))
    y[:40, :20] += 2
    path = folder / "embeddings.html"
    isodepth.two_sample_test(x, y, n_permutations=99, random_state=0).report(path)
    return path


OPEN_ALL = "document.querySelectorAll('details').forEach(each => { each.open = true; })"


@pytest.fixture(params=["weather", "evil", "monitor", "embeddings"])
def page(request):
    return request.getfixturevalue(request.param)


def column(browser, table: str, place: int) -> list[str]:
    """Return the texts of the cells in column number `place` of a table, for the visible rows."""
    return browser.run(
        """
        return Array.from(document.getElementById(arguments[0]).tBodies[0].rows)
          .filter(row => row.offsetParent !== null)
          .map(row => row.cells[arguments[1]].textContent);
        """,
        table,
        place,
    )


def values(browser, table: str, place: int) -> list[float]:
    return [
        float(value)
        for value in browser.run(
            """
            return Array.from(document.getElementById(arguments[0]).tBodies[0].rows)
              .map(row => row.cells[arguments[1]].dataset.value);
            """,
            table,
            place,
        )
    ]


def test_nothing_is_loaded_and_the_console_is_empty(browser, page) -> None:
    browser.open(page)
    assert browser.complaints() == []
    assert [url for url in browser.fetched() if not url.startswith("data:")] == [page.as_uri()]


def test_figures_have_alternative_text_and_are_drawn(browser, page) -> None:
    browser.open(page)
    assert browser.without_words() == []
    sizes = browser.run(
        "return Array.from(document.querySelectorAll('figure svg'))"
        ".map(each => each.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert len(sizes) >= (1 if page.stem == "monitor" else 2)
    assert all(width > 300 and height > 100 for width, height in sizes)


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_no_page_is_wider_than_its_window(browser, page, width) -> None:
    browser.open(page, width=width)
    assert browser.too_wide() == 0


def test_a_page_prints(browser, page) -> None:
    browser.open(page)
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF")
    pages = pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ")
    assert 2 <= pages <= 8
    assert len(pdf) > 20_000


def lightness(color: str) -> float:
    numbers = color[color.index("(") + 1 : color.index(")")].split(",")[:3]
    return sum(map(float, numbers)) / 3


def test_light_and_dark(browser, weather) -> None:
    read = (
        "return ['background-color', 'color'].map(name =>"
        " getComputedStyle(document.body).getPropertyValue(name))"
    )
    ink = (
        "return Array.from(document.querySelectorAll('figure svg [style*=\"fill: var(--ink)\"]'))"
        ".map(each => getComputedStyle(each).fill)"
    )
    for dark in (False, True):
        browser.open(weather, dark=dark)
        paper, text = map(lightness, browser.run(read))
        assert (paper < 60) == dark
        assert (text > 180) == dark
        letters = browser.run(ink)
        assert letters
        assert all((lightness(color) > 180) == dark for color in letters)


def test_columns_are_sorted_by_a_click(browser, weather) -> None:
    browser.open(weather)
    browser.run(OPEN_ALL)
    pvalues = values(browser, "columns", 1)
    assert pvalues == sorted(pvalues)
    names = column(browser, "columns", 0)
    heads = browser.find("#columns thead th")
    heads[0].find_element("css selector", "button").click()
    assert column(browser, "columns", 0) == sorted(names, key=str.lower)
    assert heads[0].get_attribute("aria-sort") == "ascending"
    heads[0].find_element("css selector", "button").click()
    assert column(browser, "columns", 0) == sorted(names, key=str.lower, reverse=True)
    pvalue = [head.text for head in heads].index("p-value")
    heads[pvalue].find_element("css selector", "button").click()
    assert values(browser, "columns", pvalue) == sorted(
        values(browser, "columns", pvalue), reverse=True
    )
    heads[pvalue].find_element("css selector", "button").click()
    assert values(browser, "columns", pvalue) == sorted(values(browser, "columns", pvalue))
    assert heads[0].get_attribute("aria-sort") is None
    assert browser.complaints() == []


def test_rows_are_filtered_by_the_search_field(browser, weather) -> None:
    browser.open(weather)
    browser.run(OPEN_ALL)
    everything = column(browser, "columns", 0)
    box = browser.find('.filter[data-for="columns"]')[0]
    assert box.is_displayed()
    count = len(everything)
    assert count > 2
    assert box.find_element("css selector", "output").text == f"{count} of {count} rows"
    field = box.find_element("css selector", "input")
    field.send_keys("WIND")
    assert sorted(column(browser, "columns", 0)) == ["wind_dir", "wind_speed"]
    assert box.find_element("css selector", "output").text == f"2 of {count} rows"
    field.send_keys("<script>")
    assert column(browser, "columns", 0) == []
    field.clear()
    field.send_keys(" ")
    assert column(browser, "columns", 0) == everything


def test_markup_in_names_has_no_effect(browser, evil) -> None:
    from selenium.common.exceptions import NoAlertPresentException

    browser.open(evil)
    with pytest.raises(NoAlertPresentException):
        _ = browser.driver.switch_to.alert.text
    assert EVIL in browser.run("return document.body.textContent")
    assert browser.find("h1")[0].text == "</title></style></script><svg onload=alert(3)>"
    assert len(browser.find("script")) == 1
    assert browser.find("img") == []
    assert browser.run("return document.querySelectorAll('[onload], [onerror]').length") == 0
    # A script that is added later does not run: the policy allows one script.
    browser.run(
        "const script = document.createElement('script');"
        "script.textContent = 'window.ran = true'; document.body.append(script);"
    )
    assert browser.run("return window.ran") is None


def test_the_headline_comes_first(browser, weather) -> None:
    browser.open(weather)
    text = browser.find(".verdict")[0].text
    assert text.startswith("july differs from june (p = 0.001): ")
    assert len(text.split()) <= 25


def test_pages_are_readable_without_scripts(browser, weather) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(weather)
        assert not browser.find('.filter[data-for="columns"]')[0].is_displayed()
        assert browser.find(".changes tbody tr")[0].is_displayed()
        browser.find("details summary")[0].click()
        assert browser.find("#columns tbody tr")[0].is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_row_numbers_do_not_wrap(browser, folder) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 1200, 4))
    y[[1100, 1150], 0] = 1e6
    path = folder / "rows.html"
    isodepth.two_sample_test(x, y, n_permutations=19, random_state=0).report(path)
    browser.open(path)
    lines = browser.run(
        "return Array.from(document.querySelectorAll('#suspicious tbody th'))"
        ".map(cell => [cell.textContent, document.createRange()].concat([cell]))"
        ".map(([text, range, cell]) => { range.selectNodeContents(cell);"
        " return [text, range.getClientRects().length]; })"
    )
    assert max(len(text) for text, _ in lines) >= 4
    assert {count for _, count in lines} == {1}


def test_embeddings_are_described_by_rows(browser, embeddings) -> None:
    browser.open(embeddings)
    assert "most typical rows" in browser.find("table")[0].text
    assert "column " not in browser.find("body")[0].text


def test_suspicious_rows_on_a_phone_and_in_print(browser, folder) -> None:
    """Names of 60 characters fit on a narrow page, and only the first rows are printed."""
    rng = np.random.default_rng(1)
    names = tuple(letter * 60 for letter in "abcd")
    x, y = rng.normal(size=(2, 600, 4))
    y[:60] = -9999.0
    path = folder / "rows.html"
    result = isodepth.compare(
        NamedArray(x, names), NamedArray(y, names), n_directions=20, random_state=0
    )
    result.report(path, names=("x" * 60, "y" * 60))
    browser.open(path, width=390)
    assert browser.too_wide() == 0
    cells = "return Array.from(document.querySelectorAll('#suspicious td, #suspicious th'))"
    inside = cells + ".every(cell => cell.scrollWidth <= 390)"
    assert browser.run(inside)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        rows = browser.find("#suspicious tbody tr")
        assert len(rows) == 60
        assert [row.is_displayed() for row in rows] == [True] * 12 + [False] * 48
        assert browser.find(".printed")[0].is_displayed()
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
