// Finds the program in the optional package of this platform.
"use strict";

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

/** Why a program could not be started. */
function missing(command, error) {
  if (error.code !== "ENOENT") return `${command} cannot be started: ${error.message}`;
  if (command !== "playproof") return `there is no program ${command}`;
  return "the program `playproof` is neither in a package of this platform nor on the path: " +
    "`npm install playproof --include=optional` installs it; else say where it is with `program`";
}

module.exports = { find, explain, missing };
