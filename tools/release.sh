#!/usr/bin/env bash
# Builds what people install, from the `dist` profile: wheel, npm packages, archive, SBOM, checksums.
#
#   bash tools/release.sh                   for this machine
#   bash tools/release.sh TARGET...         for targets of tools/release/manifest.json that this machine can build
#   bash tools/release.sh --gather FOLDER   puts together what several machines have built, and wants all of it
#
# The files go to target/packages. Each is installed and run in an empty place before the script says that it is good.
# What this machine does not build is listed as skipped. Nothing is published. Needs Rust, Python 3.11 with `venv`, and
# for the npm packages node and npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages="$PWD/target/packages"
tools="$PWD/target/release-tools"
python="$(command -v python3 || command -v python)"
# What is built below this folder can be deleted; a build with these flags shares nothing with other builds.
export CARGO_TARGET_DIR="${PLAYPROOF_RELEASE_TARGET:-$PWD/target/release-build}"
# The times of files in archives: those of the commit, so that a second build gives the same bytes.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH="$(git log -1 --format=%ct 2>/dev/null || echo 315532800)"
fi
export SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE=1

pack() { "$python" tools/release/pack.py "$@"; }

if [ "${1:-}" = --gather ]; then
    pack gather "${2:?name the folder with the built files}"
    exit
fi

host="$(rustc -vV | sed -n 's/^host: //p')"
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("$host")
for target in "${targets[@]}"; do
    pack target "$target" >/dev/null # says so, if the manifest does not have it
done

begin() { printf '\n== %s (after %s s)\n' "$1" "$SECONDS"; }

begin "tools"
if [ ! -d "$tools" ]; then
    "$python" -m venv "$tools"
fi
bin="$tools/bin"
[ -d "$bin" ] || bin="$tools/Scripts"
# On Linux, zig links against an old glibc, or musl, whatever this machine has.
wanted=('maturin>=1.9,<2')
case "$host" in *linux*) wanted+=(ziglang) ;; esac
"$bin/python" -m pip --quiet --disable-pip-version-check install "${wanted[@]}"

# No path of this machine stands in the program. Windows needs no library of another installer.
flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo --remap-path-prefix=$PWD=."

for target in "${targets[@]}"; do
    begin "build for $target"
    args=(--profile dist --target "$target" --out "$CARGO_TARGET_DIR/wheels/$target")
    extra=""
    case "$target" in
        *-linux-gnu) args+=(--zig --compatibility manylinux2014) ;;
        *-linux-musl) args+=(--zig --compatibility musllinux_1_2) ;;
        *-windows-msvc) extra=" -C target-feature=+crt-static" ;;
    esac
    rm -rf "$CARGO_TARGET_DIR/wheels/$target"
    PATH="$bin:$PATH" RUSTFLAGS="$flags$extra" "$bin/maturin" build "${args[@]}"

    begin "pack for $target"
    pack pack "$target" --build "$CARGO_TARGET_DIR" --out "$packages"
done

begin "checksums"
pack sums "$packages"

begin "verify"
for target in "${targets[@]}"; do
    "$python" tools/release/verify.py "$target" "$packages"
done

begin "summary"
pack summary "$packages"
