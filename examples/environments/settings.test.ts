/** The settings: what is refused, and that those of every stack here are good. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { load } from "js-yaml";
import { checked } from "./settings";

const project = "environments-example";
const good = {
  network: "dev",
  imageId: "debian-12",
  groups: { web: { count: 1, flavorId: "s" }, worker: { count: 0, flavorId: "s" } },
};

type Config = Record<string, unknown>;

/** Those of this project, without its name. */
function ours(config: Config): Config {
  const own = Object.entries(config).filter(([key]) => key.startsWith(`${project}:`));
  return Object.fromEntries(own.map(([key, value]) => [key.slice(project.length + 1), value]));
}

const read = (file: string): unknown => load(readFileSync(join(__dirname, file), "utf8"));

const configs: Record<string, Config> = Object.fromEntries(
  readdirSync(__dirname)
    .filter((file) => /^Pulumi\..+\.yaml$/.test(file))
    .map((file) => [file, (read(file) as { config: Config }).config]),
);
const esc = read("esc/review.yaml") as { values: { pulumiConfig: Config } };
configs["esc/review.yaml"] = esc.values.pulumiConfig;

test.each(Object.entries(configs))("the settings of %s can be used", (file, config) => {
  expect(() => checked(ours(config), project, file)).not.toThrow();
});

test("only staging and prod take a live token, and only prod is protected", () => {
  const having = (key: string, value: unknown) =>
    Object.keys(configs).filter((file) => configs[file]?.[key] === value);
  expect(having("compute:requireTokenKind", "live")).toEqual([
    ...["Pulumi.prod.yaml", "Pulumi.staging.yaml"],
  ]);
  expect(having("compute:requireTokenKind", undefined)).toEqual([]);
  expect(having(`${project}:protect`, true)).toEqual(["Pulumi.prod.yaml"]);
});

describe("refused, by the name that a person has to mend:", () => {
  const web = { count: 1, flavorId: "s" };
  test.each<[string, Config, string]>([
    ["no image", { imageId: undefined }, `${project}:imageId: `],
    ["no groups", { groups: undefined }, `${project}:groups: `],
    ["too many", { groups: { ...good.groups, web: { ...web, count: 51 } } }, "groups.web.count: "],
    ["a text", { groups: { ...good.groups, web: { ...web, count: "2" } } }, "groups.web.count: "],
    ["another group", { groups: { ...good.groups, db: web } }, '"db"'],
    ["a misspelt key", { groups: { ...good.groups, web: { ...web, flavor: "s" } } }, '"flavor"'],
  ])("%s", (_, change, said) => {
    const check = () => checked({ ...good, ...change }, project, "dev");
    expect(check).toThrow(said);
    expect(check).toThrow("Mend Pulumi.dev.yaml");
  });

  test("all of it at once", () => {
    const check = () => checked({ ...good, network: "", imageId: "" }, project, "dev");
    expect(check).toThrow(/:network: .*\n.*:imageId: /);
  });
});
