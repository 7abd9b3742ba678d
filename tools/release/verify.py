"""Installs what was packed for a target as a user does, in empty places without Rust, and runs it there.

Wants the same output from archive, wheel and npm package, in less than ten seconds from nothing. What this machine cannot
try is said to be skipped.
"""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import pack

SECONDS_MAX = 10
WINDOWS = os.name == "nt"


def say(result, what):
    print(f"{result:<8} {what}", flush=True)


def want(true, what):
    if not true:
        raise SystemExit(f"verify: FAILED: {what}")


def runs_here(target):
    """Whether a program for a target runs on this machine."""
    npm = target["npm"]
    system = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}.get(platform.system())
    cpu = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    return (npm["os"], npm["cpu"]) == (system, cpu)


def bare(home):
    """An environment without Rust, and without what this user has set up."""
    if WINDOWS:
        kept = {name: os.environ[name] for name in ("SystemRoot", "PATH", "TEMP", "PATHEXT", "ComSpec") if name in os.environ}
        kept["PATH"] = os.pathsep.join(part for part in kept["PATH"].split(os.pathsep) if "cargo" not in part.lower())
        return {**kept, "USERPROFILE": str(home), "APPDATA": str(home)}
    folders = ["/usr/bin", "/bin"]
    found = shutil.which("node")
    # A folder with node alone: beside it there may be other things, such as Rust.
    if found:
        (home / "node").mkdir(exist_ok=True)
        for name in ("node", "npm", "npx"):
            there = shutil.which(name)
            if there:
                (home / "node" / name).symlink_to(pathlib.Path(there).resolve())
        folders.insert(0, str(home / "node"))
    path = os.pathsep.join(folders)
    want(not any(shutil.which(name, path=path) for name in ("cargo", "rustc", "playproof")), f"no Rust on {path}")
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8"}


def run(environment, folder, *command, code=0):
    words = [str(word) for word in command]
    if WINDOWS:
        words[0] = shutil.which(words[0], path=environment["PATH"]) or words[0]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, encoding="utf-8", errors="replace")
    want(done.returncode == code, f"{words} exited with {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def first_steps(environment, folder, *program):
    """`--version`, `demo`, and a new project that checks clean. Returns what `demo` printed."""
    folder.mkdir()
    want(run(environment, folder, *program, "--version").split()[1] == pack.version(), "the version is that of Cargo.toml")
    run(environment, folder, *program, "init")
    run(environment, folder, *program, "lint")
    run(environment, folder, *program, "check")
    return run(environment, folder, *program, "demo", code=1)


def verify_sums(folder):
    lines = (folder / pack.common()["checksums"]).read_text(encoding="utf-8").splitlines()
    want(lines, "there are checksums")
    for line in lines:
        digest, name = line.split("  ")
        want(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, f"the checksum of {name}")
    say("good", f"{len(lines)} checksums")


def verify_contents(target, folder):
    """Every archive has its documents, and the program names no folder of this machine."""
    files = pack.files_of(target)
    path = folder / files["archive"]
    wanted = {pack.program(target), "sbom.cdx.json", "THIRD-PARTY.md", *pack.DOCUMENTS, *pack.manual()}
    if path.name.endswith(".zip"):
        with zipfile.ZipFile(path) as opened:
            content = {name.split("/", 1)[1]: opened.read(name) for name in opened.namelist()}
    else:
        with tarfile.open(path) as opened:
            content = {name.split("/", 1)[1]: opened.extractfile(name).read() for name in opened.getnames()}
    want(set(content) == wanted, f"{path.name} has {sorted(content)}")
    for place in (pack.ROOT, pathlib.Path.home() / ".cargo"):
        want(str(place).encode() not in content[pack.program(target)], f"the program does not name {place}")
    bom = json.loads(content["sbom.cdx.json"])
    notices = content["THIRD-PARTY.md"].decode()
    for component in bom["components"]:
        want(f"- {component['name']} {component['version']}: " in notices, f"the licence of {component['name']}")
    want(json.loads((folder / files["sbom"]).read_text(encoding="utf-8")) == bom, "one SBOM")
    with zipfile.ZipFile(folder / files["wheel"]) as wheel:
        names = {info.filename for info in wheel.infolist()}
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = [row for row in csv.reader(io.StringIO(wheel.read(record).decode())) if row]
        want({row[0] for row in rows} == names, "RECORD lists every file of the wheel")
        for name, digest, _ in rows:
            if digest:
                made = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                want(digest == f"sha256={made}", f"the hash of {name} in the wheel")
        want(any(name.endswith("THIRD-PARTY.md") for name in names), "the wheel has the licences")
    say("good", f"{path.name}: {len(bom['components'])} packages in SBOM and licences; {files['wheel']}: every hash")


def from_archive(target, folder, place, environment):
    shutil.unpack_archive(folder / pack.files_of(target)["archive"], place)
    program = next(place.glob(f"*/{pack.program(target)}"))
    return first_steps(environment, place / "project", program)


def from_wheel(target, folder, place, environment):
    started = time.monotonic()
    run(environment, place, sys.executable, "-m", "venv", place / "venv")
    scripts = place / "venv" / ("Scripts" if WINDOWS else "bin")
    python = scripts / ("python.exe" if WINDOWS else "python")
    wheel = folder / pack.files_of(target)["wheel"]
    run(environment, place, python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index", wheel)
    demo = run(environment, place, scripts / pack.program(target), "demo", code=1)
    took(started, "an empty folder to the wheel's demo")
    client = "import playproof._dispatcher as client; print(client.find_program())"
    found = run(environment, place, python, "-c", client)
    want(pathlib.Path(found.strip()).samefile(scripts / pack.program(target)), "the client of the wheel finds the program")
    want(first_steps(environment, place / "project", scripts / pack.program(target)) == demo, "demo says the same twice")
    want(first_steps(environment, place / "module", python, "-m", "playproof") == demo, "`python -m playproof` is the same")
    return demo


def from_npm(target, folder, place, environment):
    started = time.monotonic()
    (place / "package.json").write_text('{ "private": true }\n', encoding="utf-8")
    files = [folder / pack.common()["npm"], folder / pack.files_of(target)["npm"]]
    # Offline: the packages of the other platforms do not exist yet, and npm may leave out what is optional.
    run(environment, place, "npm", "install", "--offline", "--no-audit", "--no-fund", *files)
    demo = run(environment, place, "npx", "--no-install", "playproof", "demo", code=1)
    took(started, "an empty folder to npm's demo")
    launcher = place / "node_modules" / "playproof" / "bin" / "playproof.js"
    want(first_steps(environment, place / "project", "node", launcher) == demo, "the launcher says the same")
    shutil.rmtree(place / "node_modules" / "@playproof")
    done = subprocess.run([shutil.which("node", path=environment["PATH"]), str(launcher), "demo"], env=environment,
                          capture_output=True, encoding="utf-8")
    want(done.returncode == 2 and "--include=optional" in done.stderr, f"a missing program is explained: {done.stderr}")
    return demo


def took(started, what):
    seconds = time.monotonic() - started
    want(seconds < SECONDS_MAX, f"{what} took {seconds:.1f} s, more than {SECONDS_MAX}")
    say("good", f"{what} took {seconds:.1f} s")


def main(name, folder):
    target = pack.target_of(name)
    verify_sums(folder)
    verify_contents(target, folder)
    if not runs_here(target):
        say("skipped", f"running the program: this machine does not run {name}")
        return
    with tempfile.TemporaryDirectory() as scratch:
        home = pathlib.Path(scratch)
        environment = bare(home)
        ways = {"archive": from_archive, "wheel": from_wheel, "npm": from_npm}
        libc = target["npm"].get("libc", "glibc")
        if libc != "glibc":
            del ways["wheel"], ways["npm"]
            say("skipped", f"installing wheel and npm package: this machine may not have {libc}")
        elif not (shutil.which("npm") and shutil.which("node")):
            del ways["npm"]
            say("skipped", "installing the npm packages: node and npm are not installed")
        said = {}
        for way, install in ways.items():
            (home / way).mkdir()
            said[way] = install(target, folder, home / way, environment)
            say("good", f"from the {way}: --version, init, lint, check, demo")
        want(len(set(said.values())) == 1 and "duplicate_effect" in said["archive"], "every way prints the same demo")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve())
