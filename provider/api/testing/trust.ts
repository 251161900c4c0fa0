import * as tls from "node:tls";
import { afterAll, beforeAll } from "@jest/globals";
import { notYetValid, testAuthority } from "./certificates";

/** Trusts the test authority, and the certificate that is not valid yet, during a file or a `describe`, as NODE_EXTRA_CA_CERTS does for a whole process. */
export function trustTestAuthority(): void {
  const originalCertificates = tls.getCACertificates("default");
  const trusted = [...originalCertificates, testAuthority, notYetValid.cert];
  beforeAll(() => tls.setDefaultCACertificates(trusted));
  afterAll(() => tls.setDefaultCACertificates(originalCertificates));
}
