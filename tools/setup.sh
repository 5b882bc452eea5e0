#!/bin/sh
# Makes .venv hold what one lock file says, and this tree as an editable install.
# When nothing has changed it does nothing, needs no network and takes a few milliseconds.
#
#   PYTHON=python3.12 sh tools/setup.sh requirements-dev.lock
set -eu
cd "$(dirname "$0")/.."
lock=$1
python=${PYTHON:-python3}
here=$(pwd -P)

# Quiet, and no writes outside this tree and the temporary folder. Indexes and mirrors stay the user's own settings.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_USER=0

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

wanted() {
    cat "$1" pyproject.toml | cksum
}

# A copied or moved tree carries a .venv that points at the old one; a removed Python leaves one that points nowhere.
usable() {
    [ "$(cat .venv/made-in 2>/dev/null)" = "$here" ] && .venv/bin/python -c 'import pip' 2>/dev/null
}

up_to_date() {
    usable && [ "$(cat ".venv/installed-$lock" 2>/dev/null)" = "$(wanted "$lock")" ]
}

require_python() {
    command -v "$python" >/dev/null ||
        fail "Haulwright needs Python 3.11 or newer, and there is no $python here." \
            "Install it, or name another one: make setup PYTHON=/path/to/python3.12"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Haulwright needs Python 3.11 or newer, and $python is $("$python" --version 2>&1)." \
            "Name a newer one: make setup PYTHON=python3.12"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make virtual environments: its venv or ensurepip module is missing." \
            "On Debian and Ubuntu: apt-get install python3-venv"
}

make_venv() {
    require_python
    "$python" -m venv --clear .venv || fail "$python could not make .venv in $here; the reason stands above."
    printf '%s\n' "$here" >.venv/made-in
}

# On a terminal the names of the packages as they come, in one line that goes away; elsewhere nothing more.
show_names() {
    while read -r verb name _; do
        case $verb in
        Collecting) printf '\r\033[K  %s' "${name%%==*}" >&2 ;;
        Installing) printf '\r\033[K  unpacking' >&2 ;;
        esac
    done
    printf '\r\033[K' >&2
}

install_lock() {
    if [ ! -t 2 ]; then
        .venv/bin/python -m pip install --quiet --require-hashes --requirement "$lock"
        return
    fi
    rm -f .venv/lock-installed # a pipe tells nothing of its first part
    {
        PYTHONUNBUFFERED=1 .venv/bin/python -m pip install --progress-bar off --require-hashes --requirement "$lock" &&
            : >.venv/lock-installed
    } | show_names
    [ -e .venv/lock-installed ]
}

install() {
    packages=$(grep -c '^[A-Za-z0-9][^ ]*==' "$lock")
    began=$(date +%s)
    echo "Installing $lock into .venv: $packages packages, a minute or so the first time ..."
    install_lock
    .venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
    echo "Installed in $(($(date +%s) - began)) s."
}

# The development lock contains the other one, in the same versions.
record() {
    wanted "$lock" >".venv/installed-$lock"
    if [ "$lock" = requirements-dev.lock ]; then
        wanted requirements.lock >.venv/installed-requirements.lock
    fi
}

up_to_date && exit 0
usable || make_venv
install
record
