/**
 * For `node --require`, before the bundle: tells, on stderr and once the port is printed, what has
 * been loaded by then: the modules of the bundle that run when they are first asked for, and Node's.
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
  // What esbuild's helpers call a module by.
  const helpers = /\b(fn|cb)\[__getOwnPropNames\(\1\)\[0\]\]/g;
  return compile.call(this, source.replace(helpers, "recordLoad($1)"), ...rest);
};

const { write } = process.stdout;
process.stdout.write = function (...port) {
  process.stdout.write = write;
  process.stderr.write(`${JSON.stringify({ ran, node: process.moduleLoadList })}\n`);
  return write.apply(this, port);
};
