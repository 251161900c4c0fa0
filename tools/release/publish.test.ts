/** Runs what the publishing jobs of release.yml run, with a GitHub and a Maven Central of the test. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "@jest/globals";
import { load } from "js-yaml";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { serve } from "../../tests/support/serve";
import { signingKey } from "../../tests/support/signingKey";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { describeUnless, missingCommand } from "../support/unless";

interface Step {
  id?: string;
  run?: string;
  env?: Record<string, string>;
  "working-directory"?: string;
}
const text = readFileSync(join(root, ".github", "workflows", "release.yml"), "utf8");
const { jobs } = load(text) as { jobs: Record<string, { steps: Step[] }> };

let folder: string;
const at = (...path: string[]) => join(folder, ...path);
const read = (...path: string[]) => readFileSync(at(...path), "utf8");

beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(at("bin"));
  for (const name of ["plugins/plugin.tar.gz", "plugins/SHA256SUMS", "notes.md"]) {
    mkdirSync(join(at("release", name), ".."), { recursive: true });
    writeFileSync(at("release", name), `content of ${name}`);
  }
});

/** Runs the step of a job as GitHub does. */
async function run(
  step: Step | undefined,
  env: NodeJS.ProcessEnv,
  cwd = step?.["working-directory"] ?? ".",
) {
  const options = {
    cwd: at(cwd),
    env: {
      PATH: `${at("bin")}:${process.env["PATH"]}`,
      HOME: folder,
      RUNNER_TEMP: folder,
      TAG: "v1.2.3",
      ...env,
    },
  };
  return promisify(execFile)("bash", ["-eo", "pipefail", "-c", step?.run ?? "exit 99"], options);
}

const publish = (job: string, env: NodeJS.ProcessEnv = {}) => run(jobs[job]?.steps.at(-1), env);

/** What `gh` of the test does; each command is in `asked`. */
function fakeGh(script: string): void {
  writeFileSync(at("bin", "gh"), `#!/bin/bash\necho "$*" >>"${at("asked")}"\n${script}\n`, {
    mode: 0o755,
  });
}

const needed = ["bash", "curl", "gpg", "jq", "md5sum", "sha256sum", "unzip", "zip"];
describeUnless(missingCommand(...needed), "the jobs of release.yml", () => {
  test("what was built passes the comparison, and what is changed, missing or added does not", async () => {
    const build = jobs["build"]?.steps.find(({ id }) => id === "digest");
    await run(build, { GITHUB_OUTPUT: at("output") }, "release");
    const [, digest = ""] = /^digest=(.+)\n$/.exec(read("output")) ?? [];
    const compare = () => run(jobs["npm"]?.steps[1], { DIGEST: digest });
    await compare();
    const good = at("good");
    cpSync(at("release"), good, { recursive: true });
    for (const spoil of [
      () => writeFileSync(at("release", "plugins", "plugin.tar.gz"), "other"),
      () => rmSync(at("release", "notes.md")),
      () => writeFileSync(at("release", "plugins", "more"), "more"),
    ]) {
      spoil();
      await expect(compare()).rejects.toMatchObject({ code: 1 });
      rmSync(at("release"), { recursive: true });
      cpSync(good, at("release"), { recursive: true });
    }
    await compare();
  });

  test("a release page is a draft until it has all files, and a published one is only compared", async () => {
    fakeGh(`cd "${folder}"
case "$*" in
  "release view v1.2.3") test -e draft ;;
  "release create"*) echo true >draft ;;
  "release view"*) cat draft ;;
  "release edit"*) echo false >draft ;;
  "release upload"*) cp -r release/plugins published ;;
  "release download"*) cat published/SHA256SUMS ;;
esac`);
    await publish("github");
    expect(
      read("asked")
        .split("\n")
        .map((line) => line.split(" ").slice(0, 2).join(" ")),
    ).toEqual(
      ["view", "create", "view", "upload", "edit"].map((word) => `release ${word}`).concat(""),
    );
    expect(read("asked")).toMatch(
      /upload v1.2.3 --clobber release\/plugins\/SHA256SUMS release\/plugins\/plugin.tar.gz\n/,
    );
    await publish("github");
    writeFileSync(at("release", "plugins", "SHA256SUMS"), "other");
    await expect(publish("github")).rejects.toMatchObject({
      stdout: expect.stringContaining("differ"),
    });
    expect(read("asked").match(/upload/g)).toHaveLength(1);
  });

  test("the Go module's tag is made once, and a tag on another commit stays", async () => {
    const env = { GITHUB_REPOSITORY: "o/r", GITHUB_SHA: "abc" };
    fakeGh(`cd "${folder}"
case "$2" in
  repos/o/r/git/ref/tags/sdk/go/v1.2.3) cat tag 2>/dev/null || { echo '{"message":"Not Found"}'; exit 1; } ;;
  repos/o/r/git/refs) test "$4" = ref=refs/tags/sdk/go/v1.2.3; echo "\${6#sha=}" >tag ;;
esac`);
    await publish("go", env);
    expect(read("tag")).toBe("abc\n");
    await publish("go", env);
    await expect(publish("go", { ...env, GITHUB_SHA: "def" })).rejects.toMatchObject({
      stdout: expect.stringMatching(/is on commit abc, and this release is def/),
    });
    expect(read("tag")).toBe("abc\n");
  });

  test("Maven Central gets each file with a signature and checksums, once, and its refusal is an error", async () => {
    const gpg = await signingKey(at("keys"), "maintainer", "secret words");
    const key = await gpg("--armor", "--export-secret-keys", "maintainer");
    const names = ["x-1.2.3.pom", "x-1.2.3.jar"];
    const artifacts = at("release", "java", "org", "x", "1.2.3");
    mkdirSync(artifacts, { recursive: true });
    for (const name of names) writeFileSync(join(artifacts, name), name);

    let state = "FAILED";
    const bodies: Buffer[] = [];
    const authorizations = new Set<string | undefined>();
    await using server = await serve((request, response) => {
      const { method = "", url = "" } = request;
      if (method === "HEAD") return void response.writeHead(state === "served" ? 200 : 404).end();
      authorizations.add(request.headers.authorization);
      const chunks: Buffer[] = [];
      request
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => {
          if (url.includes("/upload")) bodies.push(Buffer.concat(chunks));
          response.end(url.includes("/upload") ? "id-1" : `{"deploymentState":"${state}"}`);
        });
    });
    const central = (): Promise<unknown> => {
      rmSync(at("gnupg"), { recursive: true, force: true });
      rmSync(at("bundle.zip"), { force: true });
      return publish("maven", {
        SERVED: server.url,
        PORTAL: `${server.url}/publisher`,
        MAVEN_USERNAME: "me",
        MAVEN_PASSWORD: "pass",
        MAVEN_GPG_KEY: key,
        MAVEN_GPG_PASSPHRASE: "secret words",
      });
    };
    await expect(central()).rejects.toMatchObject({ stdout: expect.stringContaining("FAILED") });
    for (const name of names)
      for (const more of ["asc", "md5", "sha1"]) rmSync(join(artifacts, `${name}.${more}`));
    state = "PUBLISHED";
    await central();
    expect([...authorizations]).toEqual([`Bearer ${Buffer.from("me:pass").toString("base64")}`]);
    const oneTry = [
      "/org/x/1.2.3/x-1.2.3.pom",
      "/publisher/upload?name=v1.2.3&publishingType=AUTOMATIC",
      "/publisher/status?id=id-1",
    ];
    expect(server.paths).toEqual([...oneTry, ...oneTry]);
    const bundle = await captured("unzip", ["-Z1", at("bundle.zip")]);
    expect(bundle.trim().split("\n").sort()).toEqual(
      names
        .flatMap((name) => ["", ".asc", ".md5", ".sha1"].map((end) => `org/x/1.2.3/${name}${end}`))
        .sort(),
    );
    expect(bodies[1]?.includes(readFileSync(at("bundle.zip")))).toBe(true);
    for (const name of names)
      await gpg("--verify", join(artifacts, `${name}.asc`), join(artifacts, name));

    state = "served";
    await central();
    expect(bodies).toHaveLength(2);
  });
});
