/** Makes the tests of TLS trust the certificates of `certificates.ts`. */
import * as tls from "node:tls";
import { afterAll, beforeAll } from "@jest/globals";
import { testAuthority } from "./certificates";

/**
 * Trusts the test authority during the tests of a file or a `describe`, as NODE_EXTRA_CA_CERTS does for a whole
 * process.
 */
export function trustTestAuthority(): void {
  const originalCertificates = tls.getCACertificates("default");
  beforeAll(() => tls.setDefaultCACertificates([...originalCertificates, testAuthority]));
  afterAll(() => tls.setDefaultCACertificates(originalCertificates));
}
