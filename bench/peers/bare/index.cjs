/**
 * An HTTP/2 server on Node that answers each call of gRPC with an empty message: no plugin on Node that serves gRPC can be much
 * quicker.
 */
"use strict";
const { createServer } = require("node:http2");

const emptyMessage = Buffer.alloc(5);
const server = createServer();
server.on("stream", (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(emptyMessage);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
