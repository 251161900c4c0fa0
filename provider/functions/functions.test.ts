/** Tests of the functions and of the List call. */
import { expect, test } from "@jest/globals";
import { packageSchema } from "../../tools/sdk/schema";
import { NotFound } from "../errors";
import { propertyMap, Secret, Unknown, type PropertyValue } from "../pulumi/propertyValue";
import { answered } from "../testing/fakeService";
import { errorOf, scene, type Scene } from "../testing/scene";
import { invoke, listInstances } from "./functions";

type Name = "getInstance" | "getInstances" | "getAccount";
const call = ({ session }: Scene, name: Name, args: Record<string, PropertyValue> = {}) =>
  invoke(session, { token: `compute:index:${name}`, args: propertyMap(args) });

/** A scene with three instances, two of which have the same name. */
function populated(): Scene {
  const world = scene();
  world.service.has("i-1", { name: "web" });
  world.service.has("i-2", { name: "twin", status: "OFFLINE" });
  world.service.has("i-3", { name: "twin", status: "PROVISIONING", ipv4_public: undefined });
  return world;
}

test("getInstance finds by id and by exact name", async () => {
  const web = { id: "i-1", name: "web", status: "ACTIVE", ipv4: "203.0.113.9" };
  expect((await call(populated(), "getInstance", { id: "i-1" })).outputs).toEqual(web);
  expect((await call(populated(), "getInstance", { name: "web", id: null })).outputs).toEqual(web);
});

test("getInstance takes a whole number as an id, as a program in YAML gives it", async () => {
  const world = populated();
  world.service.has("4711", { name: "numbered" });
  const { outputs } = await call(world, "getInstance", { id: 4711 });
  expect(outputs).toMatchObject({ id: "4711", name: "numbered" });
});

test.each(["getInstance", "getInstances", "getAccount"] as const)(
  "%s returns what the schema says",
  async (name) => {
    const args = name === "getInstance" ? { id: "i-1" } : {};
    const { outputs } = await call(populated(), name, args);
    const described = packageSchema().functions[`compute:index:${name}`]?.outputs;
    expect(Object.keys(outputs).sort()).toEqual(Object.keys(described?.properties ?? {}).sort());
  },
);

test("what the service did not show of an instance is empty", async () => {
  const world = populated();
  world.service.has("i-4", { name: undefined, status: undefined, ipv4_public: undefined });
  expect((await call(world, "getInstance", { id: "i-3" })).outputs["ipv4"]).toBe("");
  const { instances } = (await call(world, "getInstances", {})).outputs;
  expect(instances).toContainEqual({ id: "i-4", name: "", status: "", ipv4: "" });
});

test("getInstance: no instance is an error, which says so if an unlisted one may exist", async () => {
  const world = populated();
  const errorFor = (args: Record<string, string>) => errorOf(call(world, "getInstance", args));
  expect((await errorFor({ name: "we" })).message).toBe(
    'there is no instance named "we". If this program creates it, use its outputs instead',
  );
  world.service.unreadable = 1;
  await world.clock.sleep(3000);
  const error = await errorFor({ id: "i-9" });
  expect(error).toBeInstanceOf(NotFound);
  expect(error.message).toContain("but it may exist anyway");
});

test("getInstance: a name is found without the domain that the service adds, and in another case, but the exact one first", async () => {
  const world = populated();
  world.service.has("i-domain", { name: "Db.example.com" });
  const idFor = async (name: string) => (await call(world, "getInstance", { name })).outputs["id"];
  expect(await idFor("db")).toBe("i-domain");
  expect(await idFor("Db.example.com")).toBe("i-domain");
  world.service.has("i-exact", { name: "db" });
  await world.clock.sleep(3000);
  expect(await idFor("db")).toBe("i-exact");
});

test("getInstance: several instances of one name are an error that names their ids", async () => {
  const error = await errorOf(call(populated(), "getInstance", { name: "twin" }));
  expect(error.message).toContain('2 instances named "twin". Give the id of one of them: i-2, i-3');
});

test.each([
  [{}, "give either id or name, and not both"],
  [{ id: "a", name: "b" }, "give either id or name, and not both"],
  [{ id: "" }, "id must not be empty"],
  [{ nam: "x", id: "i-1" }, 'there is no argument "nam"; did you mean name?'],
  [
    { nam: "web" },
    'there is no argument "nam"; did you mean name?; give either id or name, and not both',
  ],
  [{ constructor: "x", id: "i-1" }, 'there is no argument "constructor"'],
  [{ id: new Secret(5), name: "x" }, "give either id or name, and not both"],
  [{ id: new Secret(true) }, "id must be text, not true or false"],
  [{ name: 5 }, "name is a number, and has to be text: put it in quotes"],
  [{ name: "Calling __str__ on an Output[T] is not supported." }, "name has the text of an Output"],
])("getInstance with %j is refused, with all that is wrong", async (args, reason) => {
  const world = scene();
  const { message } = await errorOf(call(world, "getInstance", args));
  expect(message.startsWith(reason)).toBe(true);
  expect(world.service.calls).toEqual([]);
});

test("lookups that come together share one listing (G7)", async () => {
  const world = populated();
  const ids = Array.from({ length: 20 }, () => "i-1");
  await Promise.all(ids.map((id) => call(world, "getInstance", { id })));
  expect(world.service.count("list")).toBe(1);
});

test("getInstances filters by status, and says whether it is complete", async () => {
  const all = await call(populated(), "getInstances");
  expect(all.outputs).toMatchObject({
    complete: true,
    instances: [{ id: "i-1" }, { id: "i-2" }, { id: "i-3" }],
  });
  const some = await call(populated(), "getInstances", { status: "OFFLINE" });
  expect(some.outputs["instances"]).toMatchObject([{ id: "i-2" }]);
  const { message } = await errorOf(call(scene(), "getInstances", { status: "GONE" }));
  expect(message).toContain("status must be one of ACTIVE");
});

test("getInstances and list filter by a pattern of the name, in which case does not count", async () => {
  const idsFor = async (namePattern: string) => {
    const { instances } = (await call(populated(), "getInstances", { namePattern })).outputs;
    const listed = await callList(populated(), { namePattern });
    const ids = (instances as { id: string }[]).map(({ id }) => id);
    expect(listed).toMatchObject(ids.map((id) => ({ id })));
    return ids;
  };
  expect(await idsFor("T*")).toEqual(["i-2", "i-3"]);
  expect(await idsFor("?eb")).toEqual(["i-1"]);
  expect(await idsFor("we")).toEqual([]);
  const both = await call(populated(), "getInstances", { namePattern: "t*", status: "OFFLINE" });
  expect(both.outputs).toMatchObject({ complete: true, instances: [{ id: "i-2" }] });
  const { message } = await errorOf(call(scene(), "getInstances", { namePattern: "" }));
  expect(message).toBe("namePattern must not be empty");
});

test("if there are more instances than a listing shows, only a single status may be complete", async () => {
  const world = populated();
  for (let n = 10; n < 150; n++) world.service.has(`i-${n}`);
  const complete = async (args = {}) =>
    (await call(world, "getInstances", args)).outputs["complete"];
  expect(await complete()).toBe(false);
  expect(await complete({ status: "OFFLINE" })).toBe(true);
  expect(await complete({ status: "ACTIVE" })).toBe(false);
});

test("getAccount returns any response of the service as a secret", async () => {
  for (const answer of [{ plan: "x" }, undefined, "text"]) {
    const world = scene();
    world.service.accountAnswer = () => answer;
    const { outputs } = await call(world, "getAccount");
    expect(outputs).toMatchObject({ tokenKind: "live", baseUrl: "https://api.example.com/v2" });
    expect(outputs["details"]).toEqual(new Secret(JSON.stringify(answer ?? null)));
  }
});

test("getAccount with a refused token fails with the error of the service", async () => {
  const world = scene();
  world.service.accountAnswer = () => {
    throw answered(401, "GET");
  };
  expect(await errorOf(call(world, "getAccount"))).toMatchObject({ status: 401 });
});

const callList = ({ session }: Scene, query: Record<string, PropertyValue> = {}, limit = 0) =>
  listInstances(session, { query: propertyMap(query), limit });

test("list returns ids and names in the order of the ids, up to the limit", async () => {
  const world = populated();
  world.service.has("i-0", { name: undefined });
  expect(await callList(world, {}, 3)).toEqual([
    { id: "i-0", name: "i-0" },
    { id: "i-1", name: "web" },
    { id: "i-2", name: "twin" },
  ]);
  expect(await callList(world)).toHaveLength(4);
  expect(await callList(world, { status: "OFFLINE" })).toEqual([{ id: "i-2", name: "twin" }]);
  expect((await errorOf(callList(world, { status: "x" }))).message).toContain("must be one of");
  expect(world.messages.warnings).toEqual([]);
});

test.each([
  { status: Unknown.value },
  { namePattern: new Secret(Unknown.value) },
  { status: "ACTIVE", namePattern: Unknown.value },
])(
  "a list is not known yet, and sends nothing, as long as a part of its query is not: %j",
  async (query) => {
    const world = populated();
    expect(await callList(world, query)).toBe(Unknown.value);
    expect(world.service.calls).toEqual([]);
  },
);

test("a wrong value in a query is an error, even if another value is not known yet", async () => {
  const query = { status: "GONE", namePattern: Unknown.value };
  expect((await errorOf(callList(populated(), query))).message).toContain("must be one of ACTIVE");
});

test("a list that may lack instances says why", async () => {
  const world = populated();
  world.service.unreadable = 1;
  expect(await callList(world)).toHaveLength(3);
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(/^warning there may be more instances than are shown: .*not complete/),
  ]);
});
