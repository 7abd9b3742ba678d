// One life of the program, spoken to in lines. Knows nothing of what they say.
"use strict";

const { spawn } = require("node:child_process");
const { missing } = require("./program.cjs");

const STDERR_MAX = 64 * 1024;
const ENDS_WITHIN_MS = 5_000;

class Process {
  #child;
  #said = [];
  #stderr = "";
  #isHeld = true;

  constructor([command, ...args], onLine, onEnd) {
    // What a terminal sends to the program, Ctrl-C, is not for the dispatcher: it ends with its input.
    const child = (this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], detached: process.platform !== "win32", windowsHide: true }));
    let begun = "";
    child.stdin.on("error", () => {}); // it is dying: what was lost is said again after `hello`
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      const lines = text.split("\n");
      lines[0] = begun + lines[0];
      begun = lines.pop();
      for (const line of lines) onLine(line);
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text) => { this.#stderr = (this.#stderr + text).slice(-STDERR_MAX); });
    this.ended = new Promise((resolve) => {
      const end = (why) => { resolve(); onEnd(this, why); };
      child.once("error", (error) => { if (child.pid === undefined) end(`the dispatcher cannot be started: ${missing(command, error)}`); });
      child.once("close", () => end()); // everything that it wrote was read
    });
  }

  get pid() { return this.#child.pid; }
  get stderr() { return this.#stderr.trim(); }

  /** It says what is no line of the protocol: it has ended for us. */
  refuse(line) {
    this.#stderr = `it says \`${line.slice(0, 200)}\`, which is no line of the protocol`;
    this.#child.stdout.removeAllListeners("data").resume();
    this.#child.kill("SIGKILL");
  }

  /** Lines of one turn are written together. */
  say(line) {
    if (this.#said.length === 0) setImmediate(() => this.#flush());
    this.#said.push(line);
  }

  #flush() {
    const lines = this.#said;
    this.#said = [];
    if (lines.length > 0 && this.#child.stdin.writable) this.#child.stdin.write(lines.join(""));
  }

  /** Whether it keeps the program alive. */
  hold(isHeld) {
    if (this.#isHeld === isHeld) return;
    this.#isHeld = isHeld;
    const word = isHeld ? "ref" : "unref";
    for (const one of [this.#child, this.#child.stdin, this.#child.stdout, this.#child.stderr]) one[word]?.();
  }

  async close() {
    this.hold(true);
    this.#flush();
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), ENDS_WITHIN_MS);
    await this.ended;
    clearTimeout(timer);
  }
}

module.exports = { Process };
