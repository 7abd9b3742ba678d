#!/usr/bin/env bash
# tests/kill.sh [N [SECONDS]]: kills every writing command at N points (1,000 where none is given): at each system call that changes a file, where
# strace is installed, and at random moments. Each project must then be as before or as after, once any command has run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PLAYPROOF_KILLS="${1:-1000}"
[ -z "${2:-}" ] || export PLAYPROOF_KILL_SECONDS="$2"
command -v strace >/dev/null || echo "strace is not installed: kills come at random moments alone"
exec cargo test --locked --test all -- --nocapture --exact hardening::kills::every_writing_command_is_whole_wherever_it_is_killed
