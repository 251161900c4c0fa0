/**
 * Writes provider/api/testing/certificates.ts with new certificates, made by the openssl on PATH. Run it when a test of
 * TLS needs another kind of bad certificate: `node --import tsx tools/testCertificates.ts`
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWhole } from "./support/files";
import { runTool } from "./support/main";
import { root } from "./support/paths";

const century = ["20260101000000Z", "21260101000000Z"] as const;
const past = ["20200101000000Z", "20210101000000Z"] as const;

/** For `openssl ca`, the only command that accepts the start and the end of a validity. */
const configuration = `
[ca]
database = index
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[server]
subjectAltName = $ENV::NAMES
extendedKeyUsage = serverAuth
[request]
distinguished_name = any
`;

const header = `/**
 * A certificate authority of no worth, and servers of the tests by it. The private keys here guard
 * nothing: no machine trusts this authority, whose own key was not kept. Made by
 * tools/testCertificates.ts, valid for a hundred years.
 */

export interface TestCertificate {
  cert: string;
  key: string;
}
`;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "compute-certificates-"));
  try {
    writeWhole(join(root, "provider/api/testing/certificates.ts"), make(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function make(folder: string): string {
  const openssl = (args: string, names = "DNS:none") =>
    execFileSync("openssl", args.split(" "), {
      cwd: folder,
      env: { ...process.env, NAMES: names },
      stdio: ["ignore", "ignore", "pipe"],
    });
  const pem = (name: string) => readFileSync(join(folder, name), "utf8").trim();
  const ask = (what: string, subject: string) => {
    openssl(
      `req -config c -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${what}.key -out ${what}.csr -subj /CN=${subject}`,
    );
  };
  const sign = (what: string, by: string, as: string, [from, to]: Validity, names?: string) => {
    openssl(
      `ca -config c -name ca -batch -notext -in ${what}.csr -out ${what}.pem ${by} -extensions ${as} -startdate ${from} -enddate ${to}`,
      names,
    );
  };
  const itself = (what: string) => `-selfsign -keyfile ${what}.key`;
  writeFileSync(join(folder, "c"), configuration);
  writeFileSync(join(folder, "index"), "");
  writeFileSync(join(folder, "serial"), "1000");

  ask("authority", "compute-test-authority");
  sign("authority", itself("authority"), "authority", century);
  const server = (what: string, says: string, names: string, validity: Validity, self = false) => {
    ask(what, "compute-test-server");
    const by = self ? itself(what) : "-cert authority.pem -keyfile authority.key";
    sign(what, by, "server", validity, names);
    return `
/** ${says} */
export const ${what}: TestCertificate = {
  cert: \`${pem(`${what}.pem`)}\`,
  key: \`${pem(`${what}.key`)}\`,
};
`;
  };
  const ours = "DNS:localhost,DNS:compute.test";
  return [
    header,
    `\nexport const testAuthority = \`${pem("authority.pem")}\`;\n`,
    server("testServer", "For `localhost` and `compute.test`, by the authority.", ours, century),
    server("expired", "The same, valid until the end of 2020.", ours, past),
    server("forAnotherName", "By the authority, for `other.test`.", "DNS:other.test", century),
    server("selfSigned", "The same, by nobody but itself.", ours, century, true),
  ].join("");
}

type Validity = readonly [from: string, to: string];

runTool({}, main);
