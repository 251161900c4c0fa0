import * as tls from "node:tls";
import { afterAll, beforeAll } from "@jest/globals";
import { testAuthority } from "./certificates";

/** For the tests of a file or a `describe`: what NODE_EXTRA_CA_CERTS does at the start of a process. */
export function trustTestAuthority(): void {
  const before = tls.getCACertificates("default");
  beforeAll(() => tls.setDefaultCACertificates([...before, testAuthority]));
  afterAll(() => tls.setDefaultCACertificates(before));
}
