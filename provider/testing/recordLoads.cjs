/**
 * Loaded by `node --require` before the plugin. When the plugin prints its port, and at each SIGUSR2, this prints to stderr what
 * has run by then: the parts of the bundle, their lazily loaded modules, and the modules of Node.
 */
"use strict";
const { basename } = require("node:path");
const vm = require("node:vm");

const parts = [];
const modules = [];
globalThis.recordLoad = (wrapped) => {
  const [name] = Object.getOwnPropertyNames(wrapped);
  modules.push(name);
  return wrapped[name];
};

vm.Script = class extends vm.Script {
  constructor(source, { filename }) {
    // This is how the helpers of esbuild get the name of a module, just before the module runs.
    const helpers = /\b(fn|cb)\[__getOwnPropNames\d*\(\1\)\[0\]\]/g;
    super(source.replace(helpers, "recordLoad($1)"), { filename });
    parts.push(`./${basename(filename)}`);
  }
};

const report = () =>
  process.stderr.write(`${JSON.stringify({ parts, modules, node: process.moduleLoadList })}\n`);
process.on("SIGUSR2", report);

const { write } = process.stdout;
process.stdout.write = function (...args) {
  process.stdout.write = write;
  report();
  return write.apply(this, args);
};
