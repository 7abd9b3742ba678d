"""Puts a built program into what people install: archive, wheel, npm packages, SBOM, checksums.

The manifest beside this file lists every target and file; the version is that of the workspace's Cargo.toml. Builds
nothing and runs nothing of what it packs (that is verify.py).
"""

import argparse
import base64
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tarfile
import zipfile

import licences

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SIZE_MAX = 6_000_000  # bytes of a wheel and of an archive
# The table of failures is a file of the Python package; the one for npm has its text.
FAILURES = b"module.exports = " + (HERE / "python" / "playproof" / "failures.json").read_bytes().rstrip() + b";\n"
DOCUMENTS = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]


def manual():
    """The documents that the README and the help of the program name: they are in the archive."""
    files = [*ROOT.glob("docs/*.md"), *(ROOT / "docs" / "examples").iterdir()]
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def version():
    """The version of the workspace: the only place where one is written."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    section = text.split("[workspace.package]", 1)[1].split("\n[", 1)[0]
    return re.search(r'^version = "([^"]+)"$', section, re.MULTILINE).group(1)


def manifest():
    return json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))


def target_of(name):
    for target in manifest()["targets"]:
        if target["target"] == name:
            return target
    known = ", ".join(target["target"] for target in manifest()["targets"])
    raise SystemExit(f"tools/release/manifest.json has no target `{name}`, only {known}")


def files_of(target):
    """The names of a target's files, by kind."""
    return {kind: name.replace("{version}", version()) for kind, name in target["files"].items()}


def common():
    return {kind: name.replace("{version}", version()) for kind, name in manifest()["common"].items()}


def moment():
    """The seconds that stand in archives, not before 1980, where the clock of zip begins."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800)


def program(target):
    return "playproof.exe" if target["npm"]["os"] == "win32" else "playproof"


# Archives. The entries are sorted, and no entry tells who packed it, so that the same files give the same bytes.

def tar_gz(path, entries):
    """Writes `(name, bytes, is executable)` as a .tar.gz."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data, executable in sorted(entries):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(data), moment(), 0o755 if executable else 0o644
            tar.addfile(info, io.BytesIO(data))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(plain.getvalue())


def zip_file(path, entries):
    """The same as a .zip."""
    when = datetime.datetime.fromtimestamp(moment(), datetime.timezone.utc).timetuple()[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, data, executable in sorted(entries):
            info = zipfile.ZipInfo(name, when)
            info.create_system = 3  # permissions are those of Unix
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, data, compresslevel=9)


def archive(path, entries):
    (zip_file if path.name.endswith(".zip") else tar_gz)(path, entries)


# Wheels.

def wheel(built, path, notices):
    """The wheel as maturin built it, with the licences of the packages that are linked, and with fixed times."""
    with zipfile.ZipFile(built) as wheel_file:
        entries = {info.filename: (wheel_file.read(info), bool(info.external_attr >> 16 & 0o100))
                   for info in wheel_file.infolist() if not info.is_dir()}
    info_folder = next(name.split("/")[0] for name in entries if name.endswith(".dist-info/METADATA"))
    record = f"{info_folder}/RECORD"
    entries[f"{info_folder}/licenses/THIRD-PARTY.md"] = (notices.encode(), False)
    rows = [f"{record},,"]
    for name, (data, _) in entries.items():
        if name != record:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}")
    entries[record] = (("\n".join(sorted(rows)) + "\n").encode(), False)
    zip_file(path, [(name, data, executable) for name, (data, executable) in entries.items()])


# npm packages, as `npm pack` writes them.

def package_json(**fields):
    shared = {"version": version(), "license": "MIT OR Apache-2.0"}
    return (json.dumps({"name": fields.pop("name"), **shared, **fields}, indent=2) + "\n").encode()


def npm_platform(path, target, binary, texts):
    npm = target["npm"]
    fields = {
        "name": f"@playproof/{npm['platform']}",
        "description": f"The program of `playproof` for {target['target']}",
        "os": [npm["os"]],
        "cpu": [npm["cpu"]],
    }
    if "libc" in npm:
        fields["libc"] = [npm["libc"]]
    readme = f"# @playproof/{npm['platform']}\n\nThe program of the package `playproof` for {target['target']}.\n"
    entries = [("package/package.json", package_json(**fields), False),
               ("package/README.md", readme.encode(), False),
               (f"package/bin/{program(target)}", binary, True)]
    entries += [(f"package/{name}", data, False) for name, data in texts.items() if name != "README.md"]
    tar_gz(path, entries)


def npm_launcher(path):
    platforms = [f"@playproof/{target['npm']['platform']}" for target in manifest()["targets"]]
    fields = {
        "name": "playproof",
        "description": "Replays and tests the failure playbooks of LLM agents",
        "keywords": ["agents", "llm", "retry", "testing", "tool-calls"],
        "bin": {"playproof": "bin/playproof.js"},
        "exports": {f".{below}": {form: {"types": f"./lib/{name}.d.{ending}", "default": f"./lib/{name}.{module}"}
                                  for form, ending, module in (("import", "mts", "mjs"), ("require", "cts", "cjs"))}
                    for below, name in (("", "index"), ("/testing", "testing"))},
        "files": ["bin", "lib"],
        "engines": {"node": ">=20"},
        "optionalDependencies": {name: version() for name in sorted(platforms)},
    }
    entries = [("package/package.json", package_json(**fields), False),
               ("package/bin/playproof.js", (HERE / "npm" / "bin" / "playproof.js").read_bytes(), True)]
    entries += [(f"package/{name}", (ROOT / name).read_bytes(), False) for name in DOCUMENTS if name != "CHANGELOG.md"]
    for file in sorted((HERE / "npm" / "lib").iterdir()):
        # One text has the types of both forms.
        names = [file.name.replace(".d.ts", ending) for ending in (".d.mts", ".d.cts")] if ".d." in file.name else [file.name]
        entries += [(f"package/lib/{name}", FAILURES if file.name == "failures.cjs" else file.read_bytes(), False) for name in names]
    tar_gz(path, entries)


# Commands.

def pack(name, build, out):
    target = target_of(name)
    files = files_of(target)
    out.mkdir(parents=True, exist_ok=True)
    binary = (build / name / "dist" / program(target)).read_bytes()
    built = list((build / "wheels" / name).glob("*.whl"))
    if [wheel_file.name for wheel_file in built] != [files["wheel"]]:
        raise SystemExit(f"maturin built {[wheel_file.name for wheel_file in built]}, the manifest has {files['wheel']}")
    packages = licences.linked(name)
    own = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE-MIT", "LICENSE-APACHE")}
    notices = licences.third_party(packages, own)
    texts = {name: (ROOT / name).read_bytes() for name in DOCUMENTS}
    texts["THIRD-PARTY.md"] = notices.encode()
    when = datetime.datetime.fromtimestamp(moment(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    bom = licences.sbom(packages, version(), name, when)
    (out / files["sbom"]).write_text(bom, encoding="utf-8", newline="\n")
    folder = re.sub(r"\.(tar\.gz|zip)$", "", files["archive"])
    entries = [(f"{folder}/{program(target)}", binary, True), (f"{folder}/sbom.cdx.json", bom.encode(), False)]
    documents = {**texts, **{name: (ROOT / name).read_bytes() for name in manual()}}
    archive(out / files["archive"], entries + [(f"{folder}/{name}", data, False) for name, data in documents.items()])
    wheel(built[0], out / files["wheel"], notices)
    npm_platform(out / files["npm"], target, binary, texts)
    npm_launcher(out / common()["npm"])
    print(f"{len(packages)} packages are linked; {len(notices):,} bytes of licences")


def expected():
    """The names of all files of a release but the checksums, each with its target or none."""
    names = {name: target["target"] for target in manifest()["targets"] for name in files_of(target).values()}
    return {**names, common()["npm"]: None}


def sums(folder):
    """Writes the checksums of what is there; refuses a file that the manifest does not have."""
    here = sorted(path.name for path in folder.iterdir() if path.name != common()["checksums"])
    strange = [name for name in here if name not in expected()]
    if strange:
        raise SystemExit(f"{folder} has files that tools/release/manifest.json does not list: {', '.join(strange)}")
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in here]
    (folder / common()["checksums"]).write_text("".join(lines), encoding="utf-8", newline="\n")
    print("".join(lines), end="")


def too_large(folder):
    return [f"{path.name} has {path.stat().st_size:,} bytes, more than {SIZE_MAX:,}"
            for path in sorted(folder.iterdir()) if path.stat().st_size > SIZE_MAX]


def gather(folder):
    """Moves the files of several builds (each in a folder of its own, or not) together, wants all of them, and writes
    the checksums."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.parent != folder and path.name != common()["checksums"]:
            shutil.copyfile(path, folder / path.name)
    for path in [path for path in folder.iterdir() if path.is_dir()]:
        shutil.rmtree(path)
    missing = [name for name in expected() if not (folder / name).is_file()]
    problems = [f"missing: {name}" for name in missing] + too_large(folder)
    if problems:
        raise SystemExit("\n".join(problems))
    sums(folder)
    print(f"all {len(expected())} files of {len(manifest()['targets'])} targets are there")


def summary(folder):
    """What is there with its size, and what is skipped because another machine builds it."""
    if problems := too_large(folder):
        raise SystemExit("\n".join(problems))
    skipped = {}
    for name, target in expected().items():
        path = folder / name
        if path.is_file():
            print(f"built    {path.stat().st_size:>10,}  {name}")
        else:
            skipped.setdefault(target, []).append(name)
    for target, names in skipped.items():
        print(f"skipped  {target}: not built here: {', '.join(names)}")
    print(f"release: {len(expected()) - sum(map(len, skipped.values()))} files of {version()} are good, "
          f"{len(skipped)} targets are skipped; they are in {folder}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("version")
    commands.add_parser("target").add_argument("name")
    one = commands.add_parser("pack")
    one.add_argument("name")
    one.add_argument("--build", type=pathlib.Path, required=True)
    one.add_argument("--out", type=pathlib.Path, required=True)
    for name in ("sums", "gather", "summary"):
        commands.add_parser(name).add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    match given.command:
        case "version":
            print(version())
        case "target":
            print(json.dumps(target_of(given.name)))
        case "pack":
            pack(given.name, given.build, given.out)
        case _:
            {"sums": sums, "gather": gather, "summary": summary}[given.command](given.folder)


if __name__ == "__main__":
    sys.exit(main())
