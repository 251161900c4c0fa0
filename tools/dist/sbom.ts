/** Makes the software bill of materials (CycloneDX) of a release, from the entries of package-lock.json. */
import metadata from "../../metadata.json";
import { executable } from "../../provider/executable";
import { lockedPackage } from "./runtime";
import { packageName, packagesOf } from "./notices";
import { platforms, type Platform } from "./platforms";

/**
 * Makes the bill of materials for the executables of these platforms, which are made from these files. The bill has no
 * date, so the same inputs always make the same bill.
 */
export function sbom(built: readonly Platform[], inputs: readonly string[]) {
  const runtimes = built.map((platform) => {
    const component = componentOf(`node_modules/${platforms[platform]}`);
    return {
      ...component,
      description: `The Node.js runtime in the executable for ${platform}`,
      // Security advisories name Node itself, not the npm package.
      cpe: `cpe:2.3:a:nodejs:node.js:${component.version}:*:*:*:*:*:*:*`,
    };
  });
  const components = [...packagesOf(inputs).map(componentOf), ...runtimes];
  const self = `${metadata.name}@${metadata.version}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name: executable,
        version: metadata.version,
        description: metadata.description,
        licenses: licenses(metadata.license),
        externalReferences: [{ type: "vcs", url: metadata.repository }],
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((it) => it["bom-ref"]) }],
  };
}

function componentOf(path: string) {
  const { version, integrity, license } = lockedPackage(path);
  const name = packageName(path);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [algorithm = "", digest = ""] = integrity.split("-");
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    // This is the hash of the package in the registry.
    hashes: [
      {
        alg: algorithm.toUpperCase().replace("SHA", "SHA-"),
        content: Buffer.from(digest, "base64").toString("hex"),
      },
    ],
    ...(license === undefined ? {} : { licenses: licenses(license) }),
  };
}

/** Writes a licence as CycloneDX does: a single licence has an id, and several licences form an expression. */
function licenses(text: string) {
  return [/^[\w.+-]+$/.test(text) ? { license: { id: text } } : { expression: text }];
}
