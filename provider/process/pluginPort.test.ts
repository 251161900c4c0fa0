/** Tests that no connection is lost that comes before the code that answers is loaded. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { openPluginPort } from "./pluginPort";

async function dial(port: number, text: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(text);
  return socket;
}

test("connections from before and after the code is loaded are passed on once, with what they have sent, and the port closes with the last of them", async () => {
  const port = await openPluginPort();
  const dialled = [await dial(port.number, "early")];
  for (let turns = 0; turns < 10; turns++) await setImmediate();

  const received: string[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  port.onConnection((socket) => {
    socket.on("data", (data) => {
      received.push(data.toString());
      if (received.length === 2) resolve();
    });
  });
  dialled.push(await dial(port.number, "late"));
  await both;
  expect(received.sort()).toEqual(["early", "late"]);

  let isClosed = false;
  const closed = port.close().then(() => (isClosed = true));
  dialled[0]?.end();
  for (let turns = 0; turns < 10; turns++) await setImmediate();
  expect(isClosed).toBe(false);
  dialled[1]?.end();
  await closed;
});

test("a connection that is reset before the code is loaded ends nothing, and the next one is passed on", async () => {
  const port = await openPluginPort();
  (await dial(port.number, "reset")).resetAndDestroy();
  for (let turns = 0; turns < 10; turns++) await setImmediate();

  const { promise: heard, resolve } = Promise.withResolvers<string>();
  port.onConnection((socket) => {
    socket.on("data", (data) => {
      socket.end();
      resolve(data.toString());
    });
  });
  const next = await dial(port.number, "next");
  expect(await heard).toBe("next");
  next.end();
  await port.close();
});
