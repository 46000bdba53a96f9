"use strict";
// Writes down how each test of a runner for Node ended: a line {"run", "root"}, a line {"id", "outcome"} for each
// test, and {"end": whether all of them ran}. Each line is written at once: an early process.exit cuts the end off.
const fs = require("fs");
const path = require("path");
const crypto = require("crypto");
const { fileURLToPath } = require("url");

const { appendFileSync } = fs; // tests put others in their place
const reports = path.join(path.dirname(__dirname), "reports");
const preload = path.join(__dirname, "node_preload.cjs");

// What this process starts, such as a runner's workers or a program under test, reports nothing.
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
  constructor(runner) {
    this.path = path.join(reports, `${process.pid}-${crypto.randomBytes(8).toString("hex")}.jsonl`);
    leaveAlone();
    this.write({ run: runner, root: process.cwd() });
  }

  write(record) {
    try {
      appendFileSync(this.path, `${JSON.stringify(record)}\n`);
    } catch {
      // The tests go on unreported.
    }
  }

  test(file, names, outcome) {
    const name = names.filter((part) => part !== "").join(" > ");
    const place = file && file.startsWith("file:") ? fileURLToPath(file) : file;
    this.write({ id: place ? `${place}::${name}` : name, outcome });
  }

  end(whole) {
    this.write({ end: whole });
  }
}

module.exports = { Run, leaveAlone };
