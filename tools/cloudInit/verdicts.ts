/**
 * `npx tsx tools/cloudInit/verdicts.ts FOLDER`: writes cloud-init's own verdicts on tests/userData/corpus.ts. FOLDER is what
 * `dpkg -x` has unpacked from Debian's package `cloud-init` (`apt-get download cloud-init`). It needs Linux and Python 3 with
 * PyYAML, jsonschema, jsonpatch, jinja2 and configobj. Run it after each change of the corpus, and read the difference.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { corpus } from "../../tests/userData/corpus";
import { root } from "../support/paths";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("give the folder of the unpacked package");
const cases = Object.entries(corpus).map(([name, text]) => [
  name,
  Buffer.from(text as string).toString("base64"),
]);
const { status, stdout } = spawnSync("python3", [join(__dirname, "judge.py"), folder], {
  input: JSON.stringify(Object.fromEntries(cases)),
  stdio: ["pipe", "pipe", "inherit"],
  maxBuffer: 1 << 26,
});
if (status !== 0) throw new Error("cloud-init gave no verdicts");
writeFileSync(join(root, "tests", "userData", "verdicts.json"), `${String(stdout)}\n`);
