/** Tests a private certificate authority, which a person sets with NODE_EXTRA_CA_CERTS for the plugin's process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { testAuthority, testServer } from "../../provider/api/testing/certificates";
import { TlsFront } from "../support/tlsFront";
import { Fixture } from "./support/fixture";

test("a certificate of an unknown authority is refused, and with NODE_EXTRA_CA_CERTS up, refresh and destroy work over https", async () => {
  await using fixture = await Fixture.create();
  await using front = await TlsFront.start(fixture.service.port, testServer);
  const { stack } = fixture;
  await stack.configure({ baseUrl: front.url });
  // A person may have set it for another program.
  stack.setEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");

  expect(await stack.fail("up")).toMatch(
    /certificate of localhost:\d+ is not trusted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\).*NODE_EXTRA_CA_CERTS/,
  );
  expect(fixture.control.counts()).toEqual({});

  const authority = join(stack.folder, "authority.pem");
  writeFileSync(authority, testAuthority);
  stack.setEnv("NODE_EXTRA_CA_CERTS", authority);
  await stack.up();
  expect(await stack.ids()).toEqual(fixture.ids());
  await stack.refresh();
  await stack.destroy();
  expect(fixture.posts()).toBe(1);
  expect(front.handshakes).toBeGreaterThan(0);
});
