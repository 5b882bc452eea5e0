#!/bin/sh
# Has a Chromium on this machine for the tests of the dashboard: Debian's package, where it is missing and can be had.
# Without one those tests are skipped, and fail under CI=true.
set -eu
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "There is no Chromium here, and it cannot be installed: apt-get install chromium, as root." >&2
    exit 0
fi
echo "Installing Debian's chromium for the tests of the dashboard ..."
export DEBIAN_FRONTEND=noninteractive
apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 ||
    { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } ||
    echo "Debian's chromium could not be installed; the reason stands above." >&2
