#!/bin/sh
# Install Debian's or Ubuntu's PostgreSQL for the tests, where it is missing. The tests start a server of their own.
set -eu
for initdb in /usr/lib/postgresql/*/bin/initdb; do
    [ -x "$initdb" ] && exit 0
done
command -v initdb >/dev/null && exit 0
if ! command -v apt-get >/dev/null; then
    echo "The tests on PostgreSQL need its server (15 or newer). Install it with your system's package manager." >&2
    [ "${CI:-}" ] && exit 1
    exit 0
fi
become=""
if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true 2>/dev/null; then
        echo "PostgreSQL isn't installed, so its tests are skipped. To run them: sudo apt-get install postgresql" >&2
        [ "${CI:-}" ] && exit 1
        exit 0
    fi
    become="sudo"
fi
$become apt-get update -qq
DEBIAN_FRONTEND=noninteractive $become apt-get install -y -qq --no-install-recommends postgresql
