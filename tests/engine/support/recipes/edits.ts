/**
 * What somebody types who follows CONTRIBUTING.md: an input `placementGroup`, an input `tags` that a listing shows, an output
 * `region` of the listing and an output `rack` of the answer to the POST, a setting `compute:pageSize`, and a command `statuses`.
 */

/** A change to one file, or a command, in one step of a recipe. */
export interface Edit {
  step: number;
  /** From the root, or the command. */
  where: string;
  /** What takes the place of these texts, each of which the file has once. */
  replace?: Readonly<Record<string, string>>;
  /** The text of a new file. */
  create?: string;
}

/** The edits of each recipe, by its heading. */
export const recipes = {
  "To add an input to Instance": [
    edit(1, "provider/instance/definition.ts", {
      "  vpcId: identifier,\n": "$&  placementGroup: identifier.optional(),\n",
      "const requestFields = {\n": '$&  placementGroup: "placement_group",\n',
      "export const inputDescriptions: Readonly<Record<InputName, string>> = {\n":
        '$&  placementGroup: "The group whose servers run on different machines.",\n',
    }),
    edit(2, "provider/api/contract.ts", {
      "export const createBody = z.object({\n": "$&  placement_group: z.string().optional(),\n",
    }),
    edit(2, "emulator/testing.ts", {
      "    flavor_id?: string;\n": "$&    placement_group?: string | undefined;\n",
    }),
    edit(3, "tests/contract/contract.test.ts", {
      "    { ssh_keys: [1] },\n": "$&    { placement_group: 1 },\n",
    }),
    edit(3, "provider/instance/check.test.ts", {
      "\ntest.each([0, 65536,": `
test("an empty placement group is refused", () => {
  expect(failures({ placementGroup: "" })).toEqual(["placementGroup must not be empty"]);
});
$&`,
    }),
    edit(3, "tests/lifecycle/fixtures/states.ts", {
      "const everyInput = inputs({\n": '$&  placementGroup: "group-1",\n',
    }),
    edit(4, "npm run generate"),
    changelog(4, "`placementGroup`: servers of one group run on different machines."),
  ],

  "To add an input that the service lists back": [
    edit(1, "provider/instance/definition.ts", {
      "  userDataBase64: script(base64),\n": `$&  tags: z.record(z.string(), anyText, { error: "must be a map of texts" }).optional(),\n`,
      '  flavorId: "flavor_id",\n': '$&  tags: "tags",\n',
      '  flavorId: "Identifier of the flavor': '  tags: "Texts by name.",\n$&',
    }),
    edit(2, "provider/api/contract.ts", {
      "  flavor_id: z.string(),\n": "$&  tags: z.record(z.string(), z.string()).optional(),\n",
      "const listItem = z.object({": "$& tags: lenient(z.record(z.string(), printableText)),",
    }),
    edit(3, "provider/instance/instance.ts", {
      "const listedFields = {\n": '$&  tags: "tags",\n',
    }),
    edit(4, "emulator/http/response.ts", {
      "const itemSchema = z.strictObject({\n": "$&  tags: z.record(z.string(), z.string()),\n",
    }),
    edit(4, "emulator/instances/store.ts", {
      "const listedColumns = `":
        "$&json_set(coalesce(json_extract(request, '$.tags'), '{}'), '$.host', name) AS tags, ",
      "    return this.#prepare(sql).all({ now: this.#now(), ...values });\n": `    return this.#prepare(sql)
      .all({ now: this.#now(), ...values })
      .map((row) => ("tags" in row ? { ...row, tags: JSON.parse(String(row["tags"])) } : row));\n`,
    }),
    edit(4, "emulator/testing.ts", {
      "export interface EmulatedInstance {\n": "$&  tags: Record<string, string>;\n",
      "    image_id?: string;\n": "$&    tags?: Record<string, string> | undefined;\n",
    }),
    edit(5, "tests/contract/contract.test.ts", {
      "    { ssh_keys: [1] },\n": "$&    { tags: 1 },\n",
      "const anItem = {\n": "$&  tags: expect.any(Object),\n",
    }),
    edit(5, "provider/instance/check.test.ts", {
      "\ntest.each([0, 65536,": `
test("the known parts of tags are checked", () => {
  const tags = (value: PropertyValue) => propertyMap({ role: Unknown.value, tier: value });
  expect(failures({ tags: tags("a") })).toEqual([]);
  expect(failures({ tags: tags(1) })).toEqual([expect.stringContaining("is a number")]);
});
$&`,
    }),
    edit(5, "tests/lifecycle/fixtures/states.ts", {
      "const everyInput = inputs({\n": '$&  tags: propertyMap({ tier: "web" }),\n',
    }),
    edit(5, "provider/instance/instance.test.ts", {
      '\ntest("a network has an address': `
test("the outputs have the tags of a listing", () => {
  const tags = { tier: "db" };
  expect(held(madeOf()).seenAs({ id: "i-1", tags }, origin).outputs["tags"]).toEqual(tags);
});
$&`,
    }),
    edit(6, "npm run generate"),
    changelog(6, "`tags`: texts by name."),
  ],

  "To add an output to Instance": [
    edit(1, "provider/instance/definition.ts", {
      "export const outputs: Readonly<Record<string, Output>> = {\n": `$&  region: { description: "Where the server runs." },
  rack: { description: "The rack. Only the response to the create shows it." },\n`,
    }),
    edit(2, "provider/api/contract.ts", {
      "const listItem = z.object({": "$& region: text,",
      "const accepted = z.object({": "$& rack: text,",
    }),
    edit(3, "provider/instance/instance.ts", {
      "const listedFields = {\n": '$&  region: "region",\n',
      "      privateIpv4: accepted.": "      rack: accepted.rack,\n$&",
    }),
    edit(3, "provider/ledger/record.ts", {
      "const postOnlySchema = z.object({\n": "$&  rack: z.string().optional(),\n",
    }),
    edit(4, "emulator/http/response.ts", {
      "const itemSchema = z.strictObject({\n": "$&  region: z.string(),\n",
      "export const acceptedSchema = z.strictObject({\n": "$&  rack: z.string(),\n",
    }),
    edit(4, "emulator/instances/store.ts", {
      "const listedColumns = `": "$&'eu-1' AS region, ",
      "const columns = `": "$&'r-7' AS rack, ",
      "export interface InstanceRecord extends ListedInstance {\n": "$&  rack: string;\n",
      "interface Row extends ListedInstance {\n": "$&  rack: string;\n",
    }),
    edit(4, "emulator/endpoints.ts", {
      "{ id, name, created_at, networks }: InstanceRecord":
        "{ id, name, rack, created_at, networks }: InstanceRecord",
      "const json: AcceptedBody = {\n": "$&    rack,\n",
    }),
    edit(4, "emulator/testing.ts", {
      "export interface EmulatedInstance {\n": "$&  region: string;\n  rack: string;\n",
    }),
    edit(5, "tests/contract/contract.test.ts", {
      "const anItem = {\n": "$&  region: expect.any(String),\n",
      "const acceptedBody = {\n": "$&  rack: expect.any(String),\n",
    }),
    edit(5, "provider/instance/instance.test.ts", {
      '\ntest("a network has an address': `
test("the outputs have the rack of the 202 and the region of a listing", () => {
  const made = madeOf(inputsOf(), { ...accepted, rack: "r-1" });
  const { outputs } = held(made).seenAs({ id: "i-1", region: "eu-1" }, origin);
  expect(outputs).toMatchObject({ rack: "r-1", region: "eu-1" });
});
$&`,
    }),
    edit(6, "npm run generate"),
    changelog(6, "The outputs `region` and `rack`."),
  ],

  "To add a setting": [
    edit(1, "provider/config/settings.ts", {
      "export const settingTypes = {\n": "$&  pageSize: wholeNumber,\n",
      "const defaults = {\n": "$&  pageSize: 100,\n",
      "export const settingDescriptions: Record<SettingName, string> = {\n":
        "$&  pageSize: `How many instances a page of a listing has. Default ${defaults.pageSize}.`,\n",
      "export interface Settings {\n": "$&  pageSize: number;\n",
    }),
    edit(2, "provider/session/session.ts", {
      "collect(api, cursorAfter, signal)":
        "collect(api, cursorAfter, signal, this.settings.pageSize)",
    }),
    edit(2, "provider/evidence/collect.ts", {
      "  signal: AbortSignal,\n): Promise<FetchedListing> {":
        "  signal: AbortSignal,\n  limit: number = pageLimit.max,\n): Promise<FetchedListing> {",
      "new Collection(api, signal)": "new Collection(api, signal, limit)",
      "  readonly #signal: AbortSignal;\n": "$&  readonly #limit: number;\n",
      "  constructor(api: ComputeApi, signal: AbortSignal) {\n":
        "  constructor(api: ComputeApi, signal: AbortSignal, limit: number) {\n    this.#limit = limit;\n",
      "{ limit: pageLimit.max, ...query }": "{ limit: this.#limit, ...query }",
    }),
    edit(3, "cli/settings.ts", { "const optionNames = [\n": '$&  "pageSize",\n' }),
    edit(3, "cli/commandLine.test.ts", { '["audit", 24]': '["audit", 25]' }),
    edit(4, "provider/config/configuration.test.ts", {
      "    requestsPerMinute: 1000,\n": "$&    pageSize: 100,\n",
      '  ["requestsPerMinute", 120,': '  ["pageSize", 7, { pageSize: 7 }],\n$&',
      '  ["requestsPerMinute", [0,': '  ["pageSize", [0, "nine"], "must be a whole number"],\n$&',
    }),
    edit(5, "npm run generate"),
    changelog(5, "`compute:pageSize`: how many instances a page of a listing has."),
  ],

  "To add a command of the plugin": [
    {
      step: 1,
      where: "cli/statuses.ts",
      create: `/** \`statuses\`: prints the statuses that the service documents. */
import type { Command } from "commander";
import { instanceStatuses } from "../provider/api/serviceConstants";
import type { Terminal } from "./terminal";

/** Adds the command \`statuses\`. */
export function addStatuses(program: Command, io: Terminal): void {
  program
    .command("statuses")
    .description("print the statuses that the service documents")
    .action(() => instanceStatuses.forEach((status) => io.print(status)));
}
`,
    },
    edit(2, "cli/commandLine.ts", {
      'import { addSettle } from "./settle/settle";\n':
        '$&import { addStatuses } from "./statuses";\n',
      "addProbe, addEmulator]": "addProbe, addStatuses, addEmulator]",
    }),
    edit(3, "cli/commandLine.test.ts", {
      '"probe", "emulator", "help"]': '"probe", "statuses", "emulator", "help"]',
    }),
    edit(4, "docs/install.md", {
      "`audit`, [`probe`]": "`audit`, `statuses`, [`probe`]",
    }),
    changelog(5, "The command `statuses`."),
  ],
} satisfies Record<string, readonly Edit[]>;

/** `$&` stands for the text that is replaced. */
function edit(step: number, where: string, replace?: Edit["replace"]): Edit {
  return { step, where, ...(replace && { replace }) };
}

function changelog(step: number, line: string): Edit {
  return edit(step, "CHANGELOG.md", { "### Added\n\n": `$&- ${line}\n` });
}
