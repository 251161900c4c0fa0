/** Makes the software bill of materials (CycloneDX) of a release, from the one that npm makes of package-lock.json. */
import metadata from "../../metadata.json";
import { executable } from "../../provider/process/executable";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { packageName, packagesOf } from "./notices";
import { lockedPackage, platforms, type Platform } from "./platforms";

/** The fields that we use of a component. */
interface Component {
  "bom-ref": string;
  version: string;
}

/**
 * Returns the bill for the executables of these platforms, which are made from the files `inputs`. It has no date, so the
 * same inputs always make the same bill.
 */
export async function sbom(built: readonly Platform[], inputs: readonly string[]) {
  const npm = ["sbom", "--package-lock-only", "--sbom-format=cyclonedx"];
  const all = JSON.parse(await captured("npm", npm, { cwd: root })) as { components: Component[] };
  const at = (path: string) => {
    const name = `${packageName(path)}@${lockedPackage(path).version}`;
    const found = all.components.find((component) => component["bom-ref"] === name);
    if (found === undefined) throw new Error(`npm's bill of materials lacks ${name}`);
    // npm says of an optional package that it need not be there. In the executable it is.
    return { ...found, scope: "required" };
  };
  const runtimes = built.map((platform) => {
    const component = at(`node_modules/${platforms[platform]}`);
    return {
      ...component,
      description: `The Node.js runtime in the executable for ${platform}`,
      // Security advisories name Node itself, not the npm package.
      cpe: `cpe:2.3:a:nodejs:node.js:${component.version}:*:*:*:*:*:*:*`,
    };
  });
  const components = [...packagesOf(inputs).map(at), ...runtimes];
  const self = `${metadata.name}@${metadata.version}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": self,
        name: executable,
        version: metadata.version,
        description: metadata.description,
        licenses: [{ license: { id: metadata.license } }],
        externalReferences: [{ type: "vcs", url: metadata.repository }],
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((component) => component["bom-ref"]) }],
  };
}
