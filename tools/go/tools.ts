/** The programs that are built from Go. The folders beside this file pin their modules. */
import { basename } from "node:path";
import { ensureBuilt, isBuilt, requiredVersion, type GoTool } from "../support/go";

const installPulumi =
  "install the Pulumi CLI (https://www.pulumi.com/docs/install/) so that `pulumi` is on PATH";

const engineModule = "github.com/pulumi/pulumi/pkg/v3";
const sdkModule = "github.com/pulumi/pulumi/sdk/v3";

/** By folder: "v3.258.0". */
export const engineVersions = {
  engine: requiredVersion("engine", engineModule),
  "engine-oldest": requiredVersion("engine-oldest", engineModule),
} as const;

function engine(module: keyof typeof engineVersions): GoTool {
  const version = engineVersions[module];
  return {
    ...theirs(`the Pulumi CLI ${version}`, `${engineModule}/cmd/pulumi`, "4 minutes on 2 cores"),
    module,
    ldflags: `-X ${sdkModule}/go/common/version.Version=${version}`,
  };
}

/** The language hosts run programs, and write them for `pulumi import`. */
export const hosts = {
  nodejs: writingHost("nodejs", "nodejs/cmd"),
  python: writingHost("python", "python/cmd", "python/cmd/pulumi-language-python-exec"),
  go: writingHost("go", "go"),
  java: host("java", "sdkgen-more", "github.com/pulumi/pulumi-java/pkg/cmd", "1 minute"),
  yaml: host("yaml", "sdkgen-more", "github.com/pulumi/pulumi-yaml/cmd", "1 minute"),
} satisfies Record<string, GoTool>;

export type Language = keyof typeof hosts;

function host(language: string, module: string, parent: string, expected: string): GoTool {
  const title = `the Pulumi language host for ${language}`;
  return {
    ...theirs(title, `${parent}/pulumi-language-${language}`, expected),
    module,
    alternative: `${installPulumi}, with its language hosts beside it`,
  };
}

/** Writes programs with Pulumi's own generators, and leaves the rest to an older host. */
function writingHost(language: string, parent: string, script?: string): GoTool {
  const older = host(language, "hosts", `${sdkModule}/${parent}`, "20 seconds");
  return {
    ...older,
    module: "engine",
    package: "./host",
    title: `what writes programs in ${language}`,
    expected: "10 seconds",
    needs: {
      ...older,
      name: `compute-host-${language}`,
      ...(script === undefined ? {} : { script: { module: sdkModule, path: script } }),
    },
  };
}

const newestEngine: GoTool = {
  ...engine("engine"),
  // Leaves out a twelfth of the packages, for Google Cloud Storage's direct path.
  tags: "disable_grpc_modules",
  alternative: installPulumi,
};

const tools = {
  engine: newestEngine,
  // For tools/windows/rig.ts.
  "engine-windows": forWindows(newestEngine),
  "yaml-windows": forWindows(hosts.yaml),
  "engine-oldest": { ...engine("engine-oldest"), folder: "oldest" },
  // `sdkgen` also checks schema.json.
  sdkgen: {
    ...ours("sdkgen", "the SDK generator for Node.js, Python and Go", "1 minute"),
    module: "engine",
    package: "./sdkgen",
  },
  "sdkgen-more": ours("sdkgen-more", "the SDK generator for Java and .NET", "1 minute"),
  peer: ours("peer", "a minimal provider on the Go SDK", "1 minute"),
  restapi: {
    ...theirs(
      "Terraform's generic REST provider",
      "github.com/Mastercard/terraform-provider-restapi",
      "40 seconds",
    ),
    module: "restapi",
  },
  // Signs executables for macOS, on any machine: `npm run release -- plugins`.
  quill: theirs(
    "the signer of executables for macOS",
    "github.com/anchore/quill/cmd/quill",
    "1 minute",
  ),
  actionlint: theirs("actionlint", "github.com/rhysd/actionlint/cmd/actionlint", "20 seconds"),
  // Looks for known vulnerabilities: `npm run release -- audit`.
  govulncheck: theirs("govulncheck", "golang.org/x/vuln/cmd/govulncheck", "10 seconds"),
  // For the tests of state backends.
  versitygw: theirs(
    "an S3-compatible server",
    "github.com/versity/versitygw/cmd/versitygw",
    "80 seconds on 2 cores",
  ),
} satisfies Record<string, GoTool>;

function ours(module: string, title: string, expected: string): GoTool {
  return { name: `compute-${module}`, title, module, package: ".", expected };
}

/** Its name is the last part of its package. */
function theirs(title: string, package_: string, expected: string): GoTool {
  const name = basename(package_);
  return { name, title, module: name, package: package_, expected };
}

function forWindows(tool: GoTool): GoTool {
  return { ...tool, title: `${tool.title} for Windows`, folder: "windows", system: "windows" };
}

export async function ensureGoTool(name: keyof typeof tools): Promise<string> {
  return ensureBuilt(tools[name]);
}

export function isGoToolBuilt(name: keyof typeof tools): boolean {
  return isBuilt(tools[name]);
}
