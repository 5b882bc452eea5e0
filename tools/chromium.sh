#!/bin/sh
# Has a Chromium on this machine for the tests of the dashboard: Debian's package, where it is missing and can be had.
# It never fails: without a Chromium those tests are skipped, and fail under CI=true.
set -eu
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done

none() {
    if [ "${CI:-}" = true ]; then outcome=fail; else outcome="are skipped"; fi
    echo "There is no Chromium here, and $1: the tests of the dashboard in a browser $outcome." >&2
    exit 0
}

command -v apt-get >/dev/null || none "no apt-get to install it with"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    none "only root may install it (apt-get install chromium)"
fi

# A mirror that does not answer is given up soon: whoever tests something else waits for it.
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=15 \
        -o Acquire::https::Timeout=15 -o DPkg::Lock::Timeout=30 "$@" </dev/null >/dev/null 2>&1
}

install() {
    apt install -y --no-install-recommends chromium
}

echo "Installing Debian's chromium for the tests of the dashboard ..." >&2
install || { apt update && install; } || none "apt-get could not install it (try: apt-get install chromium)"
