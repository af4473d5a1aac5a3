#!/usr/bin/env bash
# install-deps.sh - installs the Debian packages that are missing, and nothing when none is
#
#   tools/install-deps.sh build     what it takes to build and run dovetail
#   tools/install-deps.sh check     that, and what it takes to run every check
#
# Works as root or through sudo. Elsewhere than on Debian it names what it would have installed.
set -eu

build='gcc libc6-dev make pkgconf libyajl-dev libyaml-dev zlib1g-dev libssl-dev libexpat1-dev'
check='binutils clang clang-format clang-tidy libclang-rt-14-dev llvm libcmocka-dev gcovr python3
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user chromium'

case ${1:-} in
build) wanted=$build ;;
check) wanted="$build $check" ;;
*)
    echo "usage: $0 build|check" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "No apt-get here; on Debian 12 these packages would be needed:" $wanted >&2
    exit 0
fi

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case $state in
    ii*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "These packages are missing and need root or sudo:$missing" >&2
        exit 3
    fi
    as_root=sudo
fi
echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" \
        >"$log" 2>&1 </dev/null || {
        tail -n 30 "$log" >&2
        echo "apt-get $1 failed" >&2
        exit 3
    }
}
apt update
apt install --no-install-recommends $missing
