"""Replays a corpus in columns: Parquet on one machine with DuckDB, a table on many with Spark.

    python -m playproof.corpus 'folder/*.parquet' --map langfuse -- replay --playbook ours.yaml --format json
    python -m playproof.corpus 'folder/*.parquet' --map langfuse -- impact --candidate new.yaml
    playproof.corpus.replay(spark.read.parquet("s3://.."), "--playbook", "ours.yaml", map="langfuse")

The engine reads the columns that the mapping names and sorts the rows by run; each part goes as JSON lines through the
program, whose partial results `playproof merge` adds. A part is made of the same rows in the same order whatever engine,
worker or attempt makes it.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from .__main__ import find

PARTS = 64
ROWS = 20_000
MAPPINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mappings")
COMMANDS = ("replay", "impact", "propose find")
OF_FILES = ("--playbook", "-p", "--tools", "--base", "-b", "--candidate", "-c")
# What `merge` is asked; everything else is a flag of each part.
SHOWN = {"--stats": 0, "--strict": 0, "--show-args": 0, "--allow-empty": 0, "--format": 1, "--report": 1, "--envelope": 1}
OWN_TRACE = "run_id at_ms type call_id tool args status error attempt idempotency_key latency_ms"


class CorpusError(Exception):
    """The corpus cannot be replayed as a whole; nothing is reported of it."""


class Job:
    """What each part is made with: it goes to the workers, with the files that the flags name."""

    def __init__(self, words: Sequence[str], mapping: Optional[str], command: str = COMMANDS[0]) -> None:
        self.command = command.split()
        self.flags: List[str] = []
        self.shown: List[str] = []
        self.files: Dict[str, bytes] = {}
        self.version = version()
        here = pathlib.Path.cwd()
        project = next((above / "playproof.yaml" for above in [here, *here.parents] if (above / "playproof.yaml").is_file()), None)
        if project is not None:  # its redaction, not the files that it names
            self._take(str(project))
        rest = list(words)
        while rest:
            word = rest.pop(0)
            flag, equals, value = word.partition("=")
            if flag in SHOWN:
                values = [value if equals else (rest.pop(0) if rest else "")] if SHOWN[flag] else []
                self.shown += [flag, *values]
            elif flag in OF_FILES:
                value = value if equals else (rest.pop(0) if rest else "")
                self.flags += [flag, self._take(value) if os.path.isfile(value) else value]
            else:
                self.flags.append(word)
        self.mapping, self.paths = OWN_TRACE, [["call.run", "run_id"], ["call.at", "at_ms"]]
        if mapping is not None:
            shipped = os.path.join(MAPPINGS, mapping + ".yaml")
            path = shipped if os.path.isfile(shipped) else mapping
            self.flags += ["--map", self._take(path)]
            self.mapping = self.files[os.path.basename(path)].decode()
            self.paths = [line.split(": ", 1) for line in self._paths(os.path.basename(path)).splitlines()]

    def _take(self, path: str) -> str:
        name = os.path.basename(path)
        with open(path, "rb") as file:
            text = file.read()
        if self.files.setdefault(name, text) != text:
            raise CorpusError(f"two files are called `{name}`: on a worker they would be one")
        return name

    def _paths(self, mapping: str) -> str:
        """Which paths of a mapping the parts of calls and results are read from, as the program understands it."""
        with tempfile.TemporaryDirectory() as folder:
            self.lay_out(folder)
            command = [program(), "formats", "show", mapping, "--paths"]
            said = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        if said.returncode != 0:
            raise CorpusError(said.stderr.decode("utf-8", "replace").strip())
        return said.stdout.decode()

    def columns(self, all_columns: Sequence[str]) -> List[str]:
        """The columns that the mapping may name."""
        return [name for name in all_columns if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.mapping)]

    def keys(self, columns: Sequence[str]) -> Tuple[List[str], List[str]]:
        """The columns that name the run, the first that has a value, and those that say when a call was made."""

        def of(part: str) -> List[str]:
            paths = [path for of_part, path in self.paths if of_part == part]
            found = [name for path in paths for name in columns if path in (name, f'["{name}"]')]
            return list(dict.fromkeys(found))

        run = of("call.run")
        if not run:
            raise CorpusError("no column of the table is the run: the mapping needs `run: COLUMN`")
        return run, of("call.at")

    def lay_out(self, folder: str) -> None:
        for name, text in self.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)

    def part(self, number: int, lines: Iterable[str]) -> bytes:
        """The partial result of the lines of a part."""
        with tempfile.TemporaryDirectory() as folder:
            self.lay_out(folder)
            command = [program(), *self.command, "-", "--partial", "part", "--allow-empty", *self.flags]
            with open(os.path.join(folder, "said"), "w+b") as said:
                run = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
                assert run.stdin is not None
                try:
                    for line in lines:
                        run.stdin.write(line.encode() + b"\n")
                    run.stdin.close()
                except BrokenPipeError:
                    pass  # it says why
                except BaseException:
                    run.kill()
                    raise
                finally:
                    code = run.wait()
                said.seek(0)
                if code != 0:
                    raise CorpusError(f"part {number}: {said.read().decode('utf-8', 'replace').strip()}")
            with open(os.path.join(folder, "part"), "rb") as file:
                return file.read()

    def parts(self, rows: Iterator[Tuple[int, str]]) -> Iterator[Tuple[int, bytes]]:
        """The partial results of rows that are sorted by part."""
        if version() != self.version:
            raise CorpusError(f"this worker has Playproof {version()}, and the driver {self.version}")
        row = next(rows, None)
        while row is not None:
            number = row[0]

            def lines() -> Iterator[str]:
                nonlocal row
                while row is not None and row[0] == number:
                    yield row[1]
                    row = next(rows, None)

            yield number, self.part(number, lines())

    def merge(self, parts: Iterable[Tuple[int, bytes]], shown: Sequence[str]) -> "subprocess.CompletedProcess[bytes]":
        with tempfile.TemporaryDirectory() as folder:
            self.lay_out(folder)
            names = []
            for number, text in parts:
                names.append(f"{number}.part")
                with open(os.path.join(folder, names[-1]), "wb") as file:
                    file.write(text)
            if not names:
                raise CorpusError("the table has no rows")
            report = [os.path.abspath(word.partition("=")[2]) for word in shown if word.startswith("html=")]
            shown = ["html=" + report[0] if word.startswith("html=") else word for word in shown]
            return subprocess.run([program(), "merge", *names, *shown], cwd=folder, capture_output=True, check=False)


def program() -> str:
    return os.environ.get("PLAYPROOF_BIN") or find()


def version() -> str:
    return subprocess.run([program(), "--version"], capture_output=True, check=True).stdout.decode().split()[-1]


def replay_parquet(
    pattern: str,
    words: Sequence[str] = (),
    map: Optional[str] = None,
    parts: int = PARTS,
    command: str = COMMANDS[0],
) -> "subprocess.CompletedProcess[bytes]":
    """Replays Parquet files on this machine with DuckDB: what `playproof merge` says of the whole."""
    import duckdb

    job = Job(words, map, command)
    with tempfile.TemporaryDirectory() as spill:
        data = duckdb.connect(config={"temp_directory": spill})
        data.execute("SET TimeZone = 'UTC'")
        table = f"read_parquet('{_quoted(pattern)}', union_by_name = true)"
        described = data.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
        columns = job.columns([name for name, *_ in described])
        run, at = job.keys(columns)
        run_of = f"coalesce({', '.join(_name(name) + '::VARCHAR' for name in run)}, '')"
        is_time = {name for name, kind, *_ in described if kind.startswith("TIMESTAMP")}

        def value(name: str) -> str:
            moment = f"strftime({_name(name)}, '%Y-%m-%dT%H:%M:%S.%fZ')"
            return f"{_name(name)} := {moment if name in is_time else _name(name)}"

        selected = ", ".join(value(name) for name in columns)
        part = f"('0x' || substr(md5({run_of}), 1, 6))::INTEGER % {int(parts)}"
        keys = "".join(f", {_name(name)}" for name in at)
        data.execute(
            f"SELECT part, line FROM (SELECT {part} AS part, {run_of} AS run{keys},"
            f" to_json(struct_pack({selected}))::VARCHAR AS line FROM {table})"
            f" ORDER BY part, run{keys}, line"
        )
        rows = (row for batch in iter(lambda: data.fetchmany(ROWS), []) for row in batch)
        return job.merge(job.parts(rows), job.shown)


def replay(
    df: Any, *words: str, map: Optional[str] = None, parts: int = PARTS, command: str = COMMANDS[0]
) -> Dict[str, Any]:
    """Replays a Spark DataFrame on its workers, or runs another of `COMMANDS`: the JSON document of the whole."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    job = Job(words, map, command)
    columns = job.columns(df.columns)
    run, at = job.keys(columns)
    run_of = f.coalesce(*[f.col(f"`{name}`").cast("string") for name in run], f.lit(""))
    part = f.conv(f.substring(f.md5(run_of), 1, 6), 16, 10).cast("int") % parts
    written = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "timeZone": "UTC"}
    line = f.to_json(f.struct(*[f.col(f"`{name}`") for name in columns]), written)
    keys = [f.col(f"`{name}`").alias(f"at{n}") for n, name in enumerate(at)]
    rows = df.select(part.alias("part"), run_of.alias("run"), *keys, line.alias("line"))
    order = ["part", "run", *[f"at{n}" for n in range(len(at))], "line"]
    rows = rows.repartition(min(parts, 4_096), "part").sortWithinPartitions(*order).select("part", "line")

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        pairs = (pair for batch in batches for pair in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()))
        for number, text in job.parts(pairs):
            yield pyarrow.RecordBatch.from_pydict({"part": pyarrow.array([number], pyarrow.int32()), "result": [text]})

    # Kept by the workers, so that all parts are made at once and fetched one by one.
    done = rows.mapInArrow(work, "part int, result binary").persist(StorageLevel.DISK_ONLY)
    try:
        done.count()
        shown = [*job.shown, "--format", "json", "--allow-empty"]
        merged = job.merge(((row.part, bytes(row.result)) for row in done.toLocalIterator()), shown)
    finally:
        done.unpersist()
    if not merged.stdout:
        raise CorpusError(merged.stderr.decode("utf-8", "replace").strip())
    whole: Dict[str, Any] = json.loads(merged.stdout)
    return whole


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def main() -> int:
    own, words = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, words = own[:at], own[at + 1 :]
    parser = argparse.ArgumentParser(prog="python -m playproof.corpus", epilog="then `-- replay`, `-- impact` or `-- propose find`, and its flags")
    parser.add_argument("files", help="Parquet files, as a glob")
    parser.add_argument("--map", help="a mapping file, or langfuse, langsmith, otlp")
    parser.add_argument("--parts", type=int, default=PARTS, help="how many parts the runs are divided into")
    given = parser.parse_args(own)
    command = next((command for command in COMMANDS if words[: len(command.split())] == command.split()), None)
    if command is None:
        parser.error("expected `-- replay`, `-- impact` or `-- propose find`, and its flags, behind the files")
    try:
        import duckdb
    except ImportError:
        parser.error("DuckDB is missing: python -m pip install 'playproof[duckdb]'")
    try:
        merged = replay_parquet(given.files, words[len(command.split()) :], given.map, given.parts, command)
    except (CorpusError, duckdb.Error, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    sys.stdout.buffer.write(merged.stdout)
    sys.stderr.buffer.write(merged.stderr)
    return merged.returncode


if __name__ == "__main__":
    sys.exit(main())
