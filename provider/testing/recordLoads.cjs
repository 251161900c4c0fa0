/**
 * Loaded by `node --require` before the bundle of the plugin. When the plugin prints its port, and at each SIGUSR2, this
 * prints to stderr which modules have run by then: the lazily loaded modules of the bundle, and those of Node.
 */
"use strict";
const Module = require("node:module");

const ran = [];
globalThis.recordLoad = (wrapped) => {
  const [name] = Object.getOwnPropertyNames(wrapped);
  ran.push(name);
  return wrapped[name];
};

const compile = Module.prototype._compile;
Module.prototype._compile = function (source, ...rest) {
  // This is how the helpers of esbuild get the name of a module, just before the module runs.
  const helpers = /\b(fn|cb)\[__getOwnPropNames\(\1\)\[0\]\]/g;
  return compile.call(this, source.replace(helpers, "recordLoad($1)"), ...rest);
};

const report = () =>
  process.stderr.write(`${JSON.stringify({ ran, node: process.moduleLoadList })}\n`);
process.on("SIGUSR2", report);

const { write } = process.stdout;
process.stdout.write = function (...args) {
  process.stdout.write = write;
  report();
  return write.apply(this, args);
};
