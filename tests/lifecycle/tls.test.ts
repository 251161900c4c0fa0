/** Tests that nothing is sent to a service with a bad certificate (G8), and that the message helps (G9). */
import { once } from "node:events";
import * as net from "node:net";
import { expect, test } from "@jest/globals";
import {
  expired,
  forAnotherName,
  notYetValid,
  selfSigned,
  testServer,
  type TestCertificate,
} from "../../provider/api/testing/certificates";
import { selfMovingClock } from "../../provider/api/testing/testClient";
import { trustTestAuthority } from "../../provider/api/testing/trust";
import { TlsFront } from "../support/tlsFront";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";

// tests/engine/tls.test.ts tests NODE_EXTRA_CA_CERTS, and a certificate of an unknown authority.
trustTestAuthority();

const web = { web: inputs() };
/** A clock that moves by itself does not jump so far, so that it ends no request while a real socket works. */
const patient = { requestTimeoutSeconds: 3600 };

const settings = "Check compute:baseUrl, the network and the proxy settings, and run again.";
const clock =
  "Check this machine's clock. If it is right, only the operator of that host can renew the certificate.";
const refused: [string, TestCertificate, RegExp, string][] = [
  [
    "self-signed",
    selfSigned,
    /bad certificate of localhost:\d+ \(DEPTH_ZERO_SELF_SIGNED_CERT\).*not trusted.*NODE_EXTRA_CA_CERTS/,
    settings,
  ],
  [
    "for another name",
    forAnotherName,
    /bad certificate of localhost:\d+ \(ERR_TLS_CERT_ALTNAME_INVALID\).*another host/,
    settings,
  ],
  ["expired", expired, /expired certificate \(localhost:\d+, CERT_HAS_EXPIRED\)/, clock],
  [
    "not yet valid",
    notYetValid,
    /certificate not yet valid \(localhost:\d+, CERT_NOT_YET_VALID\)/,
    clock,
  ],
];

test.concurrent.each(refused)(
  "a certificate that is %s is refused before a request is sent",
  async (_, certificate, says, advice) => {
    await withWorld({}, async (world) => {
      await using front = await TlsFront.start(world.service.port, certificate);
      const plugin = await world.plugin({ baseUrl: front.url });
      const { failure } = await world.stack.up(plugin, web);
      expect(failure.message).toMatch(says);
      expect(failure.message).toContain(`\nNothing was sent. ${advice}`);
      expect(world.service.control.counts()).toEqual({});
      // By Node's own authorities, and by those of the system, too. Another try would fail in the same way.
      expect(front.refusals).toBe(2);
    });
  },
);

test.concurrent(
  "with an expired certificate from the POST on, the create fails with nothing in doubt, and without another listing (G2)",
  async () => {
    await withWorld({}, async (world) => {
      await using front = await TlsFront.start(world.service.port, testServer);
      const plugin = await world.plugin({ baseUrl: front.url });
      const baseline = { kind: "delay", milliseconds: 0, path: "/v2/instances" } as const;
      const turned = world.service.control.fault(baseline).firstHit.then(() => {
        front.present(expired);
      });
      const { failure } = await world.stack.up(plugin, web);
      await turned;
      expect(failure.message).toMatch(
        /^nothing was created: POST \/v2\/instances: expired certificate/,
      );
      expect(failure.unfinished).toBeUndefined();
      expect(world.posts).toBe(0);
      expect(world.listings).toBe(1);
      expect(world.inDoubt).toEqual([]);
    });
  },
);

const refusal = Buffer.from([21, 3, 3, 0, 2, 2, 40]);

test.concurrent.each<[string, (socket: net.Socket) => void, RegExp]>([
  ["closed", (socket) => socket.end(), /broke while it was being made/],
  [
    "refused by an alert",
    (socket) => socket.end(refusal),
    /no TLS connection with.*HANDSHAKE_FAILURE\)/,
  ],
])(
  "after a TLS handshake that is %s, the second line of the message says that nothing was sent",
  async (_, react, says) => {
    await withWorld({}, async (world) => {
      await using server = net.createServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => react(socket));
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      const baseUrl = `https://localhost:${(server.address() as net.AddressInfo).port}/v2`;
      const plugin = await world.plugin({ ...patient, baseUrl }, { clock: selfMovingClock() });
      const { failure } = await world.stack.up(plugin, web);
      expect(failure.message).toMatch(says);
      expect(failure.message).toMatch(
        /^nothing was created: GET \/v2\/account: .*localhost:\d+.*\nNothing was sent.*$/,
      );
      expect(failure.message).not.toMatch(/SSL routines|deps\/openssl/);
    });
  },
);
