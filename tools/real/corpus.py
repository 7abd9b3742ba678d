"""`playproof.corpus` on 200,000 calls in Parquet: DuckDB, and Spark with two workers, one of which is killed in the middle,
give what one process gives. Says what each costs."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.abspath("tools/release/python"))
os.environ.update(PYTHONPATH=sys.path[0], PYSPARK_PYTHON=sys.executable)  # for the workers

import duckdb  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from playproof import corpus  # noqa: E402

CALLS = int(os.environ.get("CALLS", "200000"))
PARTS = 8
TOOLS = "['pay', 'get_order', 'send_mail', 'post']"
SAID = "['429 Too Many Requests', 'request timed out after 30 s', '503 Service Unavailable', 'permission denied']"


def write(folder: str) -> None:
    """Runs of six calls with the columns of Langfuse, over four files that cut runs."""
    moment = "TIMESTAMP '2026-01-01' + INTERVAL (i * 37 + {}) MILLISECOND"
    for n in range(4):
        duckdb.sql(
            f"""COPY (SELECT 'o' || i AS id, 't' || (i // 6) AS trace_id, NULL::VARCHAR AS session_id, 'TOOL' AS type,
            {TOOLS}[1 + (i * 7919) % 4] AS name, '{{"order":' || (i % 3) || ',"of":' || (i // 6) || '}}' AS input,
            {moment.format(0)} AS start_time, {moment.format(20)} AS end_time, 'x' AS unused,
            CASE WHEN i % 5 = 0 THEN 'ERROR' ELSE 'DEFAULT' END AS level,
            CASE WHEN i % 5 = 0 THEN {SAID}[1 + (i * 31) % 4] END AS status_message,
            CASE WHEN i % 5 != 0 THEN '{{"fine":true}}' END AS output
            FROM range({n}, {CALLS}, 4) t(i)) TO '{folder}/{n}.parquet' (FORMAT parquet)"""
        )


def cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def sums(whole: dict) -> dict:
    """What does not depend on the number of the parts: not their accounts, nor which of the calls that went alike is shown."""
    counts = sorted(call["count"] for call in whole["calls"])
    return {**{key: value for key, value in whole.items() if key != "inputs"}, "calls": counts}


def of_duckdb(folder: str, parts: int) -> dict:
    own, binary, began = cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN), time.monotonic()
    merged = corpus.replay_parquet(f"{folder}/*.parquet", ["--format", "json"], "langfuse", parts)
    assert merged.returncode in (0, 1), merged.stderr
    beside = (cpu(resource.RUSAGE_SELF) - own) * 1e6 / CALLS
    took, binary = time.monotonic() - began, cpu(resource.RUSAGE_CHILDREN) - binary
    print(f"DuckDB, {parts} parts: {took:.1f} s; {binary:.1f} s CPU in the program, {beside:.1f} us a call beside it")
    return json.loads(merged.stdout)


def of_spark(spark: SparkSession, folder: str) -> dict:
    began = time.monotonic()
    whole = corpus.replay(spark.read.parquet(folder), map="langfuse", parts=PARTS)
    print(f"Spark, {PARTS} parts, two workers: {time.monotonic() - began:.1f} s", flush=True)
    return whole


def executors() -> list:
    """The processes of the executors that this process has started."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, check=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    own = {os.getpid()}
    for _ in range(6):
        own |= {int(pid) for pid, above, _ in rows if int(above) in own}
    is_executor = "CoarseGrainedExecutorBackend"
    return [int(pid) for pid, _, args in rows if int(pid) in own and is_executor in args and "java" in args]


def kill_one(spark: SparkSession, killed: list, is_over: threading.Event) -> None:
    """Kills an executor as soon as a part is made, and while others are."""
    tracker = spark.sparkContext.statusTracker()
    while not is_over.is_set() and not killed:
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info and info.numTasks == PARTS and info.numCompletedTasks >= 1 and info.numActiveTasks >= 1:
                killed.append(executors()[0])
                os.kill(killed[0], signal.SIGKILL)
                return
        time.sleep(0.01)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        one, several = of_duckdb(folder, 1), of_duckdb(folder, PARTS)
        assert sums(one) == sums(several), "parts are not the whole"
        assert len(several["inputs"]) == PARTS and len(one["calls"]) > 1, several["inputs"]
        spark = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.enabled", "false")
            .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
            .config("spark.executorEnv.PLAYPROOF_BIN", os.environ["PLAYPROOF_BIN"])
            .getOrCreate()
        )
        try:
            spark.sparkContext.setLogLevel("OFF")
            assert of_spark(spark, folder) == several, "Spark gives another whole"
            killed, is_over = [], threading.Event()
            killer = threading.Thread(target=kill_one, args=(spark, killed, is_over))
            killer.start()
            whole = of_spark(spark, folder)
            is_over.set()
            killer.join()
            assert killed, "no executor was killed in the middle"
            assert whole == several, "another whole after a worker was killed"
            print("the same, also with a worker killed in the middle")
        finally:
            spark.stop()


main()
