/** Tests a private certificate authority, which a person sets with NODE_EXTRA_CA_CERTS for the plugin's process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { selfSigned, testAuthority, testServer } from "../../provider/api/testing/certificates";
import { TlsFront } from "../support/tlsFront";
import { oneInstance } from "./support/programs";
import { Fixture } from "./support/fixture";

test("a certificate of an unknown authority is refused, and with NODE_EXTRA_CA_CERTS up, refresh and destroy work over https", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  await using front = await TlsFront.start(fixture.service.port, testServer);
  const { stack } = fixture;
  await stack.configure({ baseUrl: front.url });

  const refused = await stack.up();

  expect(refused.output).toMatch(
    /certificate of localhost:\d+ is not trusted \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\).*NODE_EXTRA_CA_CERTS/,
  );
  expect(refused.code).not.toBe(0);
  expect(fixture.service.counts()).toEqual({});
  expect(await stack.instances()).toEqual([]);

  const authority = join(stack.folder, "authority.pem");
  writeFileSync(authority, testAuthority);
  stack.setEnv("NODE_EXTRA_CA_CERTS", authority);
  expect((await stack.up()).code).toBe(0);
  expect((await stack.instance()).id).toBe(fixture.ids()[0]);
  expect((await stack.refresh()).code).toBe(0);

  // A certificate that this authority has not signed is still refused.
  front.present(selfSigned);
  const intercepted = await stack.refresh();
  expect(intercepted.output).toMatch(/not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)/);
  expect(intercepted.code).not.toBe(0);
  expect((await stack.instance()).id).toBe(fixture.ids()[0]);

  front.present(testServer);
  expect((await stack.destroy()).code).toBe(0);
  expect(fixture.posts()).toBe(1);
  expect(front.handshakes).toBeGreaterThan(0);
});
