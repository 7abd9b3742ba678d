#!/usr/bin/env node
// Finds the program in the optional package of this platform and runs it, with the same arguments and exit code.
"use strict";

const { spawnSync } = require("node:child_process");
const os = require("node:os");
const path = require("node:path");

// A program for musl is linked statically, so it runs with either C library: it comes second.
function platforms() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  const glibc = process.report && process.report.getReport().header.glibcVersionRuntime;
  return glibc ? [name, `${name}-musl`] : [`${name}-musl`];
}

function find() {
  const file = process.platform === "win32" ? "playproof.exe" : "playproof";
  for (const platform of platforms()) {
    try {
      const folder = path.dirname(require.resolve(`@playproof/${platform}/package.json`));
      return path.join(folder, "bin", file);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return null;
}

function explain() {
  const wanted = `@playproof/${platforms()[0]}`;
  const known = Object.keys(require("../package.json").optionalDependencies);
  if (!known.includes(wanted)) {
    return `there is no program for this platform (${platforms()[0]}), only ${known.join(", ")}\n` +
      "Build it from the sources: the README of playproof says how.";
  }
  return `the package ${wanted} is not installed, and it has the program\n` +
    "It is an optional dependency, which npm leaves out with `--omit=optional`, and which a node_modules that was copied\n" +
    "from another platform does not have. Install again on this machine, with optional dependencies:\n" +
    "  npm install playproof --include=optional";
}

const program = find();
if (program === null) {
  console.error(`playproof: ${explain()}`);
  process.exit(2);
}
const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
if (done.error) {
  console.error(`playproof: ${program} cannot be run: ${done.error.message}`);
  process.exit(2);
}
// A signal that ended the program ends this one too, so that a shell sees the same.
if (done.signal) {
  process.kill(process.pid, done.signal);
  process.exitCode = 128 + (os.constants.signals[done.signal] || 0);
} else {
  process.exitCode = done.status;
}
