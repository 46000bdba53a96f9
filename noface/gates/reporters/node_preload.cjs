"use strict";
// Loaded by every Node process of a gate. Where its main script is a test runner's, the tests get reported; any other
// process goes on at once. What a runner prints stays as it is, and nothing raised here reaches it.
const { argv, env, execArgv } = process;
const { apply } = Reflect;

function quietly(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}

const MAIN_SCRIPTS = [
  [/\/mocha\/(?:bin\/_?mocha(?:\.[cm]?js)?|lib\/cli\/cli\.[cm]?js)$/, watchMocha],
  [/\/vitest\/(?:vitest\.mjs|dist\/cli\.js)$/, watchVitest],
  [/\/(?:jest|jest-cli|react-scripts|react-app-rewired|@craco\/craco|@wordpress\/scripts|kcd-scripts|nx)\//, watchJest],
];

function main() {
  if (env.NODE_TEST_CONTEXT) return onMainThread(() => require("./node_report.cjs").leaveAlone());
  if (execArgv.includes("--test")) return onMainThread(watchNodeTest);
  if (!argv[1]) return undefined;
  const fs = require("fs");
  const script = quietly(() => fs.realpathSync(argv[1]));
  if (!script) return undefined;
  for (const [pattern, watch] of MAIN_SCRIPTS) {
    if (pattern.test(script)) return onMainThread(() => watch(script));
  }
  if (script.includes("/node_modules/")) return undefined;
  if (fs.statSync(script).size < 1e6 && /node:test\b/.test(fs.readFileSync(script, "utf8"))) {
    return onMainThread(watchNodeTest);
  }
  return undefined;
}

function onMainThread(watch) {
  return require("worker_threads").isMainThread ? watch() : undefined;
}

// node:test tells its stream of each test; the stream's class is inside Node, but inherits its `emit`.
function watchNodeTest() {
  const { Run, leaveAlone } = require("./node_report.cjs");
  const starts = execArgv.includes("--test") && !execArgv.some((each) => /-isolation=none$/.test(each));
  if (!starts) leaveAlone();
  const { Readable } = require("stream");
  const { emit } = Readable.prototype;
  const names = [];
  let run;
  function note(type, data) {
    if (type === "test:start") names[data.nesting] = data.name;
    else if (type === "test:diagnostic" && data.nesting === 0 && /^tests \d+$/.test(data.message)) {
      if (run) run.end(true);
      run = undefined;
    } else if (type === "test:pass" || type === "test:fail") {
      run = run || new Run("node:test", !starts);
      const outcome = data.skip !== undefined || data.todo !== undefined ? "SKIPPED" : type === "test:pass" ? "PASSED" : "FAILED";
      const suite = data.details && data.details.type === "suite";
      if (!suite || outcome === "FAILED") run.test(data.file, [...names.slice(0, data.nesting), data.name], outcome);
    }
  }
  Readable.prototype.emit = function emitted(type, data) {
    if (typeof type === "string" && type[4] === ":") quietly(() => note(type, data));
    return apply(emit, this, arguments);
  };
}

function watchMocha(script) {
  const fs = require("fs");
  const folder = script.slice(0, script.lastIndexOf("/mocha/") + "/mocha".length);
  const Mocha = require(["lib/mocha.cjs", "lib/mocha.js"].map((name) => `${folder}/${name}`).find(fs.existsSync));
  require("./node_report.cjs");
  const { run } = Mocha.prototype;
  Mocha.prototype.run = function reported(...args) {
    const Reporter = this._reporter;
    quietly(() => {
      const reporter = function (runner, options) {
        quietly(() => listen(runner));
        return new Reporter(runner, options);
      };
      this._reporter = Object.assign(reporter, Reporter);
    });
    return run.apply(this, args);
  };
}

function listen(runner) {
  const { Run } = require("./node_report.cjs");
  const run = new Run("mocha");
  const note = (outcome) => (test) =>
    quietly(() => run.test(test.file, test.titlePath(), outcome));
  runner.on("pass", note("PASSED"));
  runner.on("fail", note("FAILED"));
  runner.on("pending", note("SKIPPED"));
  // With --bail the tests after the first failure do not run.
  runner.on("end", () => {
    run.end(!(runner.failures && quietly(() => runner.suite.bail())));
  });
}

// Jest reads its configuration by `jest-config`: a reporter stands there beside those that the project has.
function watchJest() {
  const Module = require("module");
  const load = Module._load;
  Module._load = function loaded(request, ...rest) {
    const found = load.call(this, request, ...rest);
    if (request !== "jest-config") return found;
    Module._load = load;
    const config = new Proxy(found, {
      get(target, name) {
        const value = target[name];
        return name === "readConfigs" ? async (...args) => withReporter(await value.apply(target, args)) : value;
      },
    });
    for (const module of Object.values(Module._cache)) {
      if (module && module.exports === found) module.exports = config; // for those that ask later
    }
    return config;
  };
}

function withReporter(configs) {
  const reporter = require.resolve("./jest_reporter.cjs");
  const { globalConfig } = configs;
  const reporters = [...(globalConfig.reporters || [["default", {}]]), [reporter, {}]];
  return { ...configs, globalConfig: Object.freeze({ ...globalConfig, reporters }) };
}

// Vitest is made of ECMAScript modules: a hook on their source hands its own list of reporters one more.
function watchVitest() {
  const Module = require("module");
  require("./node_report.cjs").leaveAlone();
  globalThis[Symbol.for("noface.vitest")] = (reporters) => [...reporters, new VitestReporter()];
  if (Module.registerHooks) {
    const { reported } = require("./vitest_source.cjs");
    Module.registerHooks({ load: (url, context, next) => reported(url, next(url, context)) });
  } else if (Module.register) {
    Module.register(require("url").pathToFileURL(require.resolve("./vitest_hooks.mjs")).href);
  }
}

const OUTCOMES = { pass: "PASSED", fail: "FAILED", skip: "SKIPPED", todo: "SKIPPED" };

class VitestReporter {
  onFinished(files, errors) {
    this.write(files || [], !errors || errors.length === 0); // before version 4
  }

  onTestRunEnd(modules, errors, reason) {
    this.write(modules.map((module) => module.task), reason !== "interrupted" && errors.length === 0);
  }

  write(files, whole) {
    if (this.written) return;
    this.written = true;
    quietly(() => {
      const { Run } = require("./node_report.cjs");
      const run = new Run("vitest");
      this.whole = whole;
      for (const file of files) this.writeTasks(run, file.filepath, [], file.tasks, file);
      run.end(this.whole);
    });
  }

  writeTasks(run, file, names, tasks, parent) {
    const state = parent.result && parent.result.state;
    if (tasks.length === 0 && state === "fail") run.test(file, [...names, "(file)"], "FAILED");
    for (const task of tasks) {
      if (task.tasks) this.writeTasks(run, file, [...names, task.name], task.tasks, task);
      else {
        const outcome = OUTCOMES[(task.result && task.result.state) || task.mode];
        if (outcome) run.test(file, [...names, task.name], outcome);
        else this.whole = false; // its worker is gone
      }
    }
  }
}

quietly(main);
