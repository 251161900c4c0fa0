/** What `emulator.js` of the plugin and of the npm package exports. It is apart from the provider, which never needs it. */
export { main } from "./cli";
export { startEmulator } from "./testing";
