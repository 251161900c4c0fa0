/** Tests command lines that are wrong, and the help. */
import { expect, test } from "@jest/globals";
import metadata from "../metadata.json";
import { typed } from "./testing/typed";

const token = "sk_test_Canary1234567890";
const run = (...args: string[]) => typed(args, { PATH: "" });

test.each([
  [[token], /^Unknown command\.\nSee \S+ --help$/],
  [["docter"], /^Unknown command docter; did you mean doctor\?/],
  [["doctor", token], /^There are more arguments than .*\nSee \S+ doctor --help$/],
  [["settle", "urn:1", token], /^There are more arguments/],
  [["doctor", `--token=${token}`], /^The token is never an option.* COMPUTE_API_TOKEN instead\./],
  [["doctor", "--api-token", token], /^The token is never an option/],
  [["doctor", `--${token}`], /^Unknown option\./],
  [["doctor", `-${token}`], /^Unknown option\./],
  [["doctor", `--bas-url=${token}`], /^Unknown option --bas-url; did you mean --base-url\?/],
  [["doctor", `--json=${token}`], /^The option --json takes no value\./],
  [["doctor", `--(Did you mean ${token}?)`], /^Unknown option\./],
  [["doctor", "--base-url"], /^The option --base-url <value> needs a value\./],
  [["doctor", "--stack", "--json"], /^The option --stack <name> needs a value\./],
  [["settle", "--take", token], /^Give --take as NAME=ID/],
  [["audit", "--stack", "dev", "--stack", ""], /^The option --stack <name> needs a value\./],
  [["probe", "--flavor", token], /^Give --flavor, --image and --vpc together\./],
  [["audit", "--out", token], /^Unknown option --out\./],
  [["audit", "--name", token], /^--name and --input need --plan\.\nSee \S+ audit --help$/],
  [["audit", "--input", `flavorId=${token}`], /^--name and --input need --plan\./],
  [["audit", "--plan", token, "--stack", "a", "--stack", "b"], /^With --plan, give --stack once/],
])(
  "the wrong command line %j ends with exit code 2, and the message repeats no value (G8)",
  async (args, message) => {
    const { code, lines, warnings } = await run(...args);
    expect(warnings.join("\n")).toMatch(message);
    expect(warnings.join("\n")).not.toContain("Canary");
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
  },
);

test("--help and help list the commands, --version prints only the version", async () => {
  for (const help of ["--help", "-h", "help"]) {
    const { code, lines } = await run(help);
    const found = lines.flatMap((line) => /^ {2}([a-z]\S*) /.exec(line)?.[1] ?? []);
    expect(found).toEqual(["doctor", "settle", "audit", "probe", "emulator", "help"]);
    expect(code).toBe(0);
  }
  expect(await run("--version")).toEqual({ code: 0, lines: [metadata.version], warnings: [] });
});

test.each([
  ["settle", ["--yes", "--json", "--take", "--forget", "--drop-others", "--base-url", "--help"]],
  ["doctor", ["--json", "--stack", "--base-url", "--help"]],
  ["probe", ["--yes", "--json", "--stack", "--flavor", "--image", "--vpc", "--base-url"]],
  ["audit", ["--json", "--stack", "--plan", "--name", "--input", "--base-url", "--help"]],
])(
  "the help of %s lists the options of the command, but no option for the token",
  async (command, options) => {
    const { code, lines } = await run(command, "--help");
    const found = lines.flatMap((line) => line.match(/(?<=^ {2}.*)--[a-z-]+/g) ?? []);
    expect(found).toEqual(expect.arrayContaining(options));
    // A command that neither creates nor deletes has no options for the settings of creates and deletes.
    expect(found.join()).not.toMatch(/--((api-)?token|delete-policy)/);
    expect(code).toBe(0);
  },
);

test.each([
  ["doctor", 24],
  ["audit", 24],
  ["settle", 40],
  ["probe", 38],
])("the help of %s has at most %d lines", async (command, most) => {
  const { lines } = await run(command, "--help");
  expect(lines.slice(most)).toEqual([]);
});

test.each(["audit", "settle"])("the help of %s says what each exit code means", async (command) => {
  const { lines } = await run(command, "--help");
  expect(lines.join("\n")).toMatch(
    /Exit codes:\n {2}0 {2}.*\n {2}1 {2}(?:.*\n)+ {2}2 {2}.*\n {2}3 {2}/,
  );
});
