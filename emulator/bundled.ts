/**
 * What the file `emulator.js` of the plugin and of the npm package exports: the command `emulator`, and the emulator
 * for tests. tools/build.ts and tools/dist/parts.ts bundle it apart from the provider, which never needs it.
 */
export { main } from "./cli";
export { startEmulator } from "./testing";
