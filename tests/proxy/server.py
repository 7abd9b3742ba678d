"""A server whose calls say what it does: `do` has a list for each request, of `sleep`, `effect`, `ask`, `progress`, `raw`,
`result`, `error`, `die`. Its ledger has a line for each effect, `seen` a line for each message."""
import json, os, sys, threading, time

lock, turns, asked = threading.Lock(), {}, {}


def put(message):
    with lock:
        sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        sys.stdout.flush()


def note(name, text):
    with lock, open(name, "a") as file:
        file.write(text + "\n")


def serve(message):
    params = message["params"]
    args = params.get("arguments") or {}
    steps = args.get("do", [[{"result": {"content": []}}]])
    key = json.dumps(args, sort_keys=True)
    with lock:
        turn = turns[key] = turns.get(key, -1) + 1
    for step in steps[min(turn, len(steps) - 1)]:
        if "sleep" in step:
            time.sleep(step["sleep"])
        elif "effect" in step:
            note("ledger", step["effect"])
        elif "progress" in step:
            token = params.get("_meta", {}).get("progressToken")
            put({"jsonrpc": "2.0", "method": "notifications/progress",
                 "params": {"progressToken": token, "progress": step["progress"]}})
        elif "raw" in step:
            sys.stdout.write(step["raw"])
            sys.stdout.flush()
        elif "ask" in step:
            event = asked["s1"] = threading.Event()
            put({"jsonrpc": "2.0", "id": "s1", "method": "elicitation/create", "params": {}})
            event.wait()
        elif "die" in step:
            os._exit(step["die"])
        else:
            put({"jsonrpc": "2.0", "id": message["id"], **step})


for line in sys.stdin:
    note("seen", line.rstrip("\n"))
    try:
        message = json.loads(line)
    except ValueError:
        put("echo " + line.rstrip("\n"))
        continue
    if isinstance(message, dict) and message.get("method") == "tools/call":
        threading.Thread(target=serve, args=(message,), daemon=True).start()
    elif isinstance(message, dict) and "method" in message and "id" in message:
        put({"jsonrpc": "2.0", "id": message["id"], "result": {}})
    elif isinstance(message, dict) and "id" in message and message["id"] in asked:
        asked[message["id"]].set()
# answers that are on their way come first
time.sleep(float(os.environ.get("LINGER", "0")))
