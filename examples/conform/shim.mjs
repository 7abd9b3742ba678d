// Lets a dispatcher for Node answer `playproof conform`: its clock is that of the lines, and its requests are lines.
//
// A dispatcher is `async (call, world) => word`, the word for how the call ended. `call` has the fields of the protocol, and
// `facts`, those of its tool.
// `await world.send(attempt)` gives `{ status, error }`, `await world.sleep(ms)` waits, `world.now` is the moment.
import readline from "node:readline";

class World {
  constructor(call, out) {
    Object.assign(this, { id: call.id, out, now: call.at_ms, draw: 0, isOver: false });
  }

  line() {
    return new Promise((resolve) => (this.next = resolve));
  }

  async send(attempt, asked) {
    this.out.push({ send: this.id, attempt, ...(asked ? { asked } : {}) });
    const line = await this.line();
    this.draw = line.draw ?? 0;
    if (line.ok) return { status: "ok" };
    return { status: "error", error: line.timeout ? { kind: "timeout" } : (line.error ?? undefined) };
  }

  async sleep(ms) {
    this.out.push({ wait: this.id, until_ms: this.now + ms });
    await this.line();
  }
}

export function serve(dispatch) {
  const out = [];
  let worlds = new Map();
  let tools = {};
  const end = (world, outcome) => {
    if (!world.isOver) out.push({ done: world.id, outcome });
    world.isOver = true;
  };
  readline.createInterface({ input: process.stdin }).on("line", (text) => {
    const line = JSON.parse(text);
    for (const known of worlds.values()) known.now = line.at_ms ?? known.now;
    const world = worlds.get(line.id);
    if (line.type === "hello") {
      worlds = new Map();
      tools = line.tools ?? {};
    } else if (line.type === "call") {
      const begun = new World(line, out);
      worlds.set(line.id, begun);
      dispatch({ ...line, facts: tools[line.tool] ?? {} }, begun).then((outcome) => end(begun, outcome));
    } else if (line.type === "cancel" || (line.lost && line.attempt)) {
      end(world, line.lost ? "undetermined" : "cancelled");
    } else if (!line.late) {
      world.next?.(line);
    }
    const named = line.type === "hello" ? { protocol: "dispatch/1" } : {};
    // Promises that can go on have gone on when `setImmediate` runs.
    setImmediate(() => process.stdout.write(JSON.stringify({ ...named, do: out.splice(0) }) + "\n"));
  });
}
