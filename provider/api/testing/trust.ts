import * as tls from "node:tls";
import { afterAll, beforeAll } from "@jest/globals";
import { testAuthority } from "./certificates";

/** Trusts the test authority during a file or a `describe`, as NODE_EXTRA_CA_CERTS does for a whole process. */
export function trustTestAuthority(): void {
  const originalCertificates = tls.getCACertificates("default");
  beforeAll(() => tls.setDefaultCACertificates([...originalCertificates, testAuthority]));
  afterAll(() => tls.setDefaultCACertificates(originalCertificates));
}
