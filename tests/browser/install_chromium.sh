#!/bin/sh
# Install Debian's or Ubuntu's Chromium for the browser tests, where it is missing.
set -eu
if ! command -v apt-get >/dev/null; then
    echo "The browser tests need Chromium. Install it with your system's package manager." >&2
    exit 1
fi
become=""
[ "$(id -u)" -eq 0 ] || become="sudo"
$become apt-get update -qq
# Ubuntu has the whole browser only.
package=chromium-headless-shell
apt-cache show "$package" >/dev/null 2>&1 || package=chromium
DEBIAN_FRONTEND=noninteractive $become apt-get install -y -qq --no-install-recommends "$package" fonts-dejavu-core fonts-noto-core
