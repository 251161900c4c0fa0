/** A name that the program made a secret: no message has it, however short it is, or as the service spells it (G8). */
import { expect, test } from "@jest/globals";
import { Secret } from "../propertyValue";
import { answered, failed, post, ready, type Post } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf, type Scene } from "../testing/scene";
import { createInstance } from "./create";

const name = "db1";

function create({ session }: Scene) {
  return createInstance(session, {
    urn: urnOf("web"),
    inputs: inputsOf({ name: new Secret(name) }),
    timeoutSeconds: 0,
    preview: false,
  });
}

/** The service has it in capitals. */
const accept: Post = (body, signals, service) =>
  ready({ ...body, name: name.toUpperCase() }, signals, service);

/** Each message is one about the create, so that it can't be the wrong one that lacks the name. */
function expectHidden(messages: readonly string[], told: string): void {
  expect(messages).toEqual([expect.stringContaining(told)]);
  expect(messages.join()).toContain('"[secret]"');
  expect(messages.join()).not.toMatch(/db1/i);
}

test("where an earlier run's instance is there", async () => {
  const world = scene();
  world.service.posts.push(accept);
  await create(world);
  expectHidden([(await errorOf(create(world.nextRun()))).message], "the engine received instance");
});

test("where an instance turns up after a POST that was not answered", async () => {
  const world = scene();
  world.service.posts.push(async (body, signals, service) => {
    await accept(body, signals, service);
    throw failed("unanswered");
  });
  expectHidden([(await errorOf(create(world))).message], "has turned up since");
});

test("where leftovers have that name", async () => {
  const world = scene();
  world.service.has("old", { name: name.toUpperCase() });
  world.service.posts.push(accept);
  await create(world);
  expect(world.messages.warnings).toEqual([expect.stringContaining("old")]);
  expect(world.messages.warnings.join()).not.toMatch(/db1/i);
});

test("where none turns up", async () => {
  const world = scene();
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  expectHidden([(await errorOf(create(world))).message], "no instance named");
});

test("where the last look sees another one", async () => {
  const world = scene();
  world.service.posts.push(post(answered(500), { acts: false }), (body, signals, service) => {
    service.has("late", { name: name.toUpperCase() });
    return accept(body, signals, service);
  });
  await create(world);
  expectHidden(world.messages.warnings, "there is another instance named");
});
