/** Tests a private certificate authority, which a person sets for the plugin's process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { testAuthority, testServer } from "../../provider/api/testing/certificates";
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
