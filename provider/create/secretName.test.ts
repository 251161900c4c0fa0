/** Tests of a secret name. No message shows it, even if it is short or the service spells it differently (G8). */
import { expect, test } from "@jest/globals";
import { Secret } from "../pulumi/propertyValue";
import { failed, post, ready, type Post } from "../testing/fakeService";
import { createOf, errorOf, scene, type Scene } from "../testing/scene";
import { createInstance } from "../testing/calls";

const name = "db1";

const create = ({ session }: Scene) =>
  createInstance(session, createOf({ name: new Secret(name) }));

/** Accepts a POST and lists its instance under the name in capitals, as some services may. */
const accept: Post = (body, signals, service) =>
  ready({ ...body, name: name.toUpperCase() }, signals, service);

/** Checks that each message is about the create (it has `words`), and that none shows the name. */
function expectHidden(messages: readonly string[], words: string): void {
  expect(messages).toEqual([expect.stringContaining(words)]);
  expect(messages.join()).toContain('"[secret]"');
  expect(messages.join()).not.toMatch(/db1/i);
}

test("a secret name is hidden if an earlier run's instance exists", async () => {
  const world = scene();
  world.service.posts.push(accept);
  await create(world);
  expectHidden([(await errorOf(create(world.nextRun()))).message], "Pulumi was told the id");
});

test("a secret name is hidden if an instance turns up after a POST without an answer", async () => {
  const world = scene();
  world.service.posts.push(async (body, signals, service) => {
    await accept(body, signals, service);
    throw failed("unanswered");
  });
  expectHidden([(await errorOf(create(world))).message], "perhaps i-1");
});

test("a secret name is hidden if leftovers have the name", async () => {
  const world = scene();
  world.service.has("old", { name: name.toUpperCase() });
  world.service.posts.push(accept);
  await create(world);
  expect(world.messages.warnings).toEqual([expect.stringContaining("old")]);
  expect(world.messages.warnings.join()).not.toMatch(/db1/i);
});

test("a secret name is hidden if no instance turns up", async () => {
  const world = scene();
  world.service.posts.push(post(failed("unanswered"), { acts: false }));
  expectHidden([(await errorOf(create(world))).message], "no listing shows its instance");
});
