#!/usr/bin/env bash
# Installs the Playproof of this file's own version into a folder, and writes the path of the program to FOLDER/program.
#
#   bash install.sh FOLDER [WHEEL]      needs Python 3.9 with `venv`; a wheel in place of the published one
set -euo pipefail

folder="${1:?the folder}" root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
# The version stands in one place.
version="$(sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml")"
[ -n "$version" ] || { echo "install.sh: $root/Cargo.toml has no version" >&2; exit 2; }
python="$(command -v python3 || command -v python)" || { echo "install.sh: there is no Python" >&2; exit 2; }
"$python" -m venv "$folder"
bin="$folder/bin"
[ -d "$bin" ] || bin="$folder/Scripts"
"$bin/python" -m pip --quiet --disable-pip-version-check install "${2:-playproof==$version}"
program="$bin/playproof"
[ -f "$program" ] || program="$program.exe"
"$program" --version
printf '%s\n' "$program" >"$folder/program"
