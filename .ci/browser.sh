#!/usr/bin/env bash
# A browser and its driver, from the packages of the distribution.
#   .ci/browser.sh install   install both where they are missing and that is possible
#   .ci/browser.sh           only say whether they are there
# Ends with 0 where both are there, and with 1 and one line that says why not.
set -uo pipefail

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

ready() { browser >/dev/null && command -v chromedriver >/dev/null; }

install() {
    command -v apt-get >/dev/null || return 1
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq chromium chromium-driver >/dev/null 2>&1
}

if ! ready && [ "${1:-}" = install ]; then install; fi
if ready; then
    echo "browser: $(browser)"
    exit 0
fi
echo "browser: there is no chromium with chromedriver here, and it cannot be installed" \
    "(apt-get as root: apt-get install chromium chromium-driver)" >&2
exit 1
