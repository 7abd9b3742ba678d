#!/usr/bin/env node
// Runs the program of this platform, with the same arguments and exit code.
"use strict";

const { spawnSync } = require("node:child_process");
const os = require("node:os");
const { find, explain } = require("../lib/program.cjs");

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
