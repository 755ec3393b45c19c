"""Headless Chromium for tests of HTML pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """Browser that opens files, and records requests and console messages."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1000, dark: bool = False) -> None:
        """Open a file in a window of `width` pixels, with dark colors if `dark`."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        wish = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)  # removes entries of the previous page
        self.driver.get(path.resolve().as_uri())

    def complaints(self) -> list[str]:
        """Return the console messages since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def fetched(self) -> list[str]:
        """Return the addresses that were requested, including that of the page."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        return [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its result."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> list[Any]:
        """Return the elements of a CSS selector."""
        return self.driver.find_elements("css selector", selector)

    def pdf(self) -> bytes:
        """Return the printed page as the bytes of a PDF file."""
        import base64

        return base64.b64decode(self.driver.print_page())

    def too_wide(self) -> int:
        """Return by how many pixels the content of the page is wider than the window."""
        return self.run(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )

    def without_words(self) -> list[str]:
        """Return the images and figures without an alternative text."""
        return self.run(
            """
            // Thumbnails of a gallery are decoration beside their titles.
            const images = Array.from(document.querySelectorAll("img"))
              .filter(image => !image.closest(".sphx-glr-thumbcontainer"))
              .filter(image => !(image.getAttribute("alt") || "").trim()
                && image.getAttribute("role") !== "presentation"
                && image.getAttribute("aria-hidden") !== "true");
            const drawings = Array.from(document.querySelectorAll("svg[role=img]"))
              .filter(drawing => !(drawing.getAttribute("aria-label") || "").trim());
            return images.concat(drawings).map(each => each.outerHTML.slice(0, 200));
            """
        )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver_path = shutil.which("chromedriver")
    assert found, "there is no browser; run .ci/browser.sh install"
    assert driver_path, "there is no chromedriver; run .ci/browser.sh install"
    options = Options()
    options.binary_location = found
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    yield Browser(driver)
    driver.quit()
