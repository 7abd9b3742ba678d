"""`python -m playproof`: runs the program that the wheel has installed, with the same arguments and exit code."""

import os
import subprocess
import sys
import sysconfig


def candidates() -> "list[str]":
    """Where an installer may have put the program: beside this Python, for this user, below a target folder."""
    name = "playproof" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts")]
    user = "nt_user" if os.name == "nt" else "posix_user"
    if sys.platform == "darwin" and sysconfig.get_config_var("PYTHONFRAMEWORK"):
        user = "osx_framework_user"
    folders.append(sysconfig.get_path("scripts", scheme=user))
    package = os.path.dirname(os.path.abspath(__file__))
    # `pip install --target FOLDER` makes FOLDER/bin, `--prefix FOLDER` makes FOLDER/bin above FOLDER/lib/pythonX/site-packages.
    above = os.path.dirname(package)
    folders.append(os.path.join(above, "bin"))
    prefix = os.path.dirname(above) if os.name == "nt" else os.path.dirname(os.path.dirname(os.path.dirname(above)))
    folders.append(os.path.join(prefix, "Scripts" if os.name == "nt" else "bin"))
    return [os.path.join(folder, name) for folder in folders if folder]


def find() -> str:
    """The path of the program, or an explanation and exit code 2."""
    tried = candidates()
    for path in tried:
        if os.path.isfile(path):
            return path
    print("playproof: the program is not where its package expects it; looked at:", file=sys.stderr)
    for path in tried:
        print("  " + path, file=sys.stderr)
    print("Install it again: python -m pip install --force-reinstall playproof", file=sys.stderr)
    sys.exit(2)


def main() -> None:
    program = [find(), *sys.argv[1:]]
    if os.name == "nt":
        # Windows cannot replace a process: `exec` would return to the shell before the program ends.
        sys.exit(subprocess.run(program, check=False).returncode)
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
