"use strict";
// Writes down how each test of a runner for Node ended: a line {"run", "root"}, a line {"id", "outcome"} for each
// test, and {"end": whether all of them ran}.
// Each line is written at once: an early process.exit cuts the end off. What is needed is kept from before the project's
// first module: tests, and the code under test, put others in its place.
const fs = require("fs");
const path = require("path");
const crypto = require("crypto");
const { fileURLToPath } = require("url");

const { openSync, writeSync, closeSync } = fs;
const { stringify } = JSON;
const reports = path.join(path.dirname(__dirname), "reports");
const preload = path.join(__dirname, "node_preload.cjs");

// What this process starts, such as a runner's workers or a program under test, reports nothing. The files of a
// `node --test` do the same for what they start.
function leaveAlone() {
  const cleaned = {
    NODE_OPTIONS: (value) => value.replace(`--require "${preload}"`, "").trim(),
    PYTHONPATH: (value) => value.split(path.delimiter).filter((part) => part !== __dirname).join(path.delimiter),
  };
  for (const [name, clean] of Object.entries(cleaned)) {
    if (!process.env[name]) continue;
    const value = clean(process.env[name]);
    if (value) process.env[name] = value;
    else delete process.env[name];
  }
}

class Run {
  constructor(runner, alone = true) {
    this.path = path.join(reports, `${process.pid}-${crypto.randomBytes(8).toString("hex")}.jsonl`);
    if (alone) leaveAlone();
    this.write({ run: runner, root: process.cwd() });
  }

  write(record) {
    try {
      const file = openSync(this.path, "a", 0o600);
      try {
        writeSync(file, `${stringify(record)}\n`);
      } finally {
        closeSync(file);
      }
    } catch {
      // The tests go on unreported.
    }
  }

  test(file, names, outcome) {
    let name = "";
    for (let at = 0; at < names.length; at += 1) name += name && names[at] ? ` > ${names[at]}` : names[at];
    const place = file && file.startsWith("file:") ? fileURLToPath(file) : file;
    this.write({ id: place ? `${place}::${name}` : name, outcome });
  }

  end(whole) {
    this.write({ end: whole });
  }
}

module.exports = { Run, leaveAlone };
