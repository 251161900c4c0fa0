/** An HTTP/2 server on Node with nothing in it: no plugin on Node that serves gRPC can be much quicker. */
"use strict";
const { createServer } = require("node:http2");

const server = createServer();
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
