/** Tests a private certificate authority and NO_PROXY, which a person sets for the plugin's process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { selfSigned, testAuthority, testServer } from "../../provider/api/testing/certificates";
import { startConnectProxy } from "../../provider/api/testing/connectProxy";
import { TlsFront } from "../support/tlsFront";
import { Fixture } from "./support/fixture";

test("a certificate of an unknown authority is refused, and with SSL_CERT_FILE or NODE_EXTRA_CA_CERTS the runs work over https", async () => {
  await using fixture = await Fixture.create();
  await using front = await TlsFront.start(fixture.service.port, testServer);
  const { stack } = fixture;
  await stack.configure({ baseUrl: front.url });
  // A person may have set it for another program.
  stack.setEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");

  expect(await stack.fail("up")).toMatch(
    /bad certificate of localhost:\d+ \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\).*not trusted.*NODE_EXTRA_CA_CERTS/,
  );
  expect(fixture.control.counts()).toEqual({});

  const authority = join(stack.folder, "authority.pem");
  writeFileSync(authority, testAuthority);
  stack.setEnv("SSL_CERT_FILE", authority);
  await stack.up();
  expect(await stack.ids()).toEqual(fixture.ids());
  stack.setEnv("SSL_CERT_FILE", undefined);
  stack.setEnv("NODE_EXTRA_CA_CERTS", authority);
  await stack.refresh();
  await stack.destroy();
  expect(fixture.posts()).toBe(1);
  expect(front.handshakes).toBeGreaterThan(0);
});

test("an address in a range of NO_PROXY is reached without the proxy, and with the proxy if no range has it", async () => {
  await using fixture = await Fixture.create();
  await using front = await TlsFront.start(fixture.service.port, selfSigned);
  await using proxy = await startConnectProxy(front.port);
  const { stack } = fixture;
  // It leads to this machine, and is no loopback address, which would never go through a proxy.
  await stack.configure({ baseUrl: front.url.replace("localhost", "0.0.0.0") });
  const authority = join(stack.folder, "authority.pem");
  writeFileSync(authority, selfSigned.cert);
  stack.setEnv("NODE_EXTRA_CA_CERTS", authority);
  stack.setEnv("HTTPS_PROXY", proxy.url);
  stack.setEnv("NO_PROXY", "10.0.0.0/8,0.0.0.0/8");
  await stack.up();
  expect(proxy.seen).toEqual([]);

  stack.setEnv("NO_PROXY", "10.0.0.0/8");
  await stack.refresh();
  expect(proxy.seen.join()).toContain(`CONNECT 0.0.0.0:${front.port} `);
});
