"""What the program is made of: the packages that are linked into it, their licences, and the list of them (SBOM).

Asks Cargo alone, and reads the licence files that each package brings. Knows nothing of archives.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import uuid

NAMES = re.compile(r"^(licen[sc]e|copying|copyright|notice|unlicense|authors)([-._].*)?$", re.IGNORECASE)
# Folders of a package whose licence files are about other things than what is linked.
ELSEWHERE = {"tests", "test", "examples", "benches", "contrib", "doc", "docs", "programs", "fuzz", "target", ".git"}


def cargo(*arguments):
    done = subprocess.run(["cargo", *arguments], check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def linked(target):
    """The packages of others that are in the program for a target, with what Cargo knows of each, by name and version."""
    tree = cargo("tree", "--locked", "--package", "playproof", "--edges", "normal,no-proc-macro", "--target", target,
                 "--prefix", "none", "--format", "{p}")
    wanted = {tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()}
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    members = set(metadata["workspace_members"])
    found = [package for package in metadata["packages"]
             if (package["name"], "v" + package["version"]) in wanted and package["id"] not in members]
    names = {(package["name"], "v" + package["version"]) for package in found}
    own = {(package["name"], "v" + package["version"]) for package in metadata["packages"] if package["id"] in members}
    unknown = sorted(wanted - names - own)
    if unknown or not found:
        raise SystemExit(f"`cargo metadata` does not know {unknown or 'any package'}")
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def licence_files(package):
    """Path and text of each licence file of a package, also of sources of others that it bundles."""
    root = pathlib.Path(package["manifest_path"]).parent
    files = []
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if ELSEWHERE.intersection(inside.parts[:-1]) or len(inside.parts) > 3:
            continue
        if path.is_file() and NAMES.match(path.name) and path.suffix not in (".rs", ".py", ".sh"):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            # What a package offers besides, and does not name itself: zstd is under BSD or the GPL.
            if "GNU GENERAL PUBLIC LICENSE" not in text[:200]:
                files.append((inside.as_posix(), text))
    return files


def toolchain_licences():
    """The standard library is linked too: its licence files, as the toolchain has them."""
    root = pathlib.Path(subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True,
                                       encoding="utf-8").stdout.strip())
    texts = {}
    for path in sorted(root.glob("share/doc/*/LICENSE-*")):
        texts.setdefault(path.name, path.read_text(encoding="utf-8", errors="replace").strip())
    return texts


def words(text):
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def third_party(packages, licences):
    """The text of THIRD-PARTY.md. Equal licence texts are written once. `licences` has texts of the standard licences
    for packages that name one and bring no file."""
    texts, used = {}, {}
    lines = []
    for package in packages:
        named = package["license"] or "(see its files)"
        files = licence_files(package)
        if not files:
            files = [(name, text) for name, text in licences.items() if name_of(name) in named]
            if not files:
                raise SystemExit(f"{package['name']} {package['version']} ({named}) brings no licence file")
        numbers = []
        for _, text in files:
            if not text:
                continue
            key = words(text)
            if key not in texts:
                texts[key] = text
                used[key] = len(texts)
            if used[key] not in numbers:
                numbers.append(used[key])
        places = ", ".join(f"text {number}" for number in numbers)
        lines.append(f"- {package['name']} {package['version']}: {named} ({places})")
    standard = toolchain_licences() or licences
    numbers = []
    for text in standard.values():
        key = words(text)
        if key not in texts:
            texts[key] = text
            used[key] = len(texts)
        numbers.append(used[key])
    places = ", ".join(f"text {number}" for number in dict.fromkeys(numbers))
    lines.append(f"- the standard library of Rust: MIT OR Apache-2.0 ({places})")
    head = ("# Third-party software\n\nThe program holds these packages. Each is followed by its licence and by the "
            "licence texts that come with it; the texts are below, each once.\n")
    parts = [f"## Text {number}\n\n```text\n{texts[key].replace('```', '` ` `')}\n```" for key, number in used.items()]
    return head + "\n" + "\n".join(lines) + "\n\n" + "\n\n".join(parts) + "\n"


def name_of(file):
    return {"LICENSE-MIT": "MIT", "LICENSE-APACHE": "Apache-2.0"}.get(file, "\0")


def sbom(packages, version, target, moment):
    """A CycloneDX list (1.5) of the packages, as text. Its serial number follows from what it says, and its time is that
    of the commit, so that the same sources give the same bytes."""
    components = []
    for package in packages:
        component = {
            "type": "library",
            "bom-ref": purl(package["name"], package["version"]),
            "name": package["name"],
            "version": package["version"],
            "scope": "required",
        }
        if package["license"]:
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        component["purl"] = purl(package["name"], package["version"])
        if package.get("repository"):
            component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        components.append(component)
    subject = {
        "type": "application",
        "bom-ref": f"playproof@{version}",
        "name": "playproof",
        "version": version,
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
        "properties": [{"name": "target", "value": target}],
    }
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": moment, "component": subject},
        "components": components,
        "dependencies": [{"ref": subject["bom-ref"], "dependsOn": [one["bom-ref"] for one in components]}],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True))
    return json.dumps({"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "serialNumber": f"urn:uuid:{serial}",
                       **bom}, indent=2) + "\n"


def purl(name, version):
    return f"pkg:cargo/{name}@{version}"
