/**
 * Tests of a 202 that carries the id of an instance which this create can't have made. Its outcome is unclear: that
 * instance is never adopted, and the one really made is searched for by its name (G1, G2).
 */
import { expect, test } from "@jest/globals";
import type { Accepted } from "../api/contract";
import { InstanceUnfinished } from "../errors";
import type { Post } from "../testing/fakeService";
import {
  createOf,
  errorOf,
  held,
  inputsOf,
  postsTo,
  scene,
  urnOf,
  type Scene,
} from "../testing/scene";
import { createInstance } from "../testing/calls";

const generatedName = "web-abcdefgh";
const never = new AbortController().signal;

function create({ session }: Scene, name: string) {
  return createInstance(session, createOf({ name, isGenerated: name === generatedName }));
}

const recordOf = ({ session }: Scene, resource: string) => session.ledger.recordOf(urnOf(resource));

/** A scene whose instances become ACTIVE when they are listed. A listing lacks those in `unlisted`. */
function newScene(unlisted: readonly string[] = []): Scene {
  const world = scene();
  const { service } = world;
  service.page = ({ status }) => {
    for (const id of service.instances.keys()) service.set(id, { status: "ACTIVE" });
    const items = [...service.instances.values()].filter(({ id }) => !unlisted.includes(id));
    const isAsked = status === undefined || status === "ACTIVE";
    return { items: isAsked ? items : [], hasMore: false, unreadable: 0 };
  };
  return world;
}

/** Fetches a listing, as another resource of the session may do at any time. */
async function listAgain({ session: { listings } }: Scene): Promise<void> {
  await listings.get({ after: listings.mark() }, never);
}

/** A POST that makes an instance or not, and answers with another one. */
const answersWith =
  (wrong: Pick<Accepted, "id" | "name">, { acts }: { acts: boolean }): Post =>
  (body, _signals, service) => {
    if (acts) service.accept(body);
    return { ...wrong, status: "PROVISIONING", networks: [] };
  };

/** How an instance `i-wrong` can be known before the POST although the baseline does not show it, or does. */
const ways: [string, () => Promise<Scene>][] = [
  [
    "the baseline shows",
    async () => {
      const world = newScene();
      world.service.has("i-wrong", { name: "billing" });
      return world;
    },
  ],
  [
    "the baseline shows, and a later listing lacks",
    async () => {
      const unlisted: string[] = [];
      const world = newScene(unlisted);
      world.service.has("i-wrong", { name: "billing" });
      world.service.permitHolds.push(async () => {
        unlisted.push("i-wrong");
        await listAgain(world);
      });
      return world;
    },
  ],
  [
    "a listing after the baseline shows",
    async () => {
      const world = newScene();
      world.service.permitHolds.push(async () => {
        world.service.has("i-wrong", { name: "billing" });
        await listAgain(world);
      });
      return world;
    },
  ],
  [
    "another create of the session has made",
    async () => {
      const world = newScene(["i-wrong"]);
      world.session.engine.ours.add("i-wrong");
      return world;
    },
  ],
  [
    "the engine has named",
    async () => {
      const world = newScene();
      world.session.noteShown(held(inputsOf(), { id: "i-wrong" }));
      return world;
    },
  ],
];

test.each(ways)(
  "after a 202 with an instance that %s, the one really made is adopted by its generated name",
  async (_, begin) => {
    const world = await begin();
    world.service.posts.push(answersWith({ id: "i-wrong", name: "billing" }, { acts: true }));
    const { id } = await create(world, generatedName);
    expect(world.service.instances.get(id)?.name).toBe(generatedName);
    expect(recordOf(world, "web")).toMatchObject({ id, givenBy: world.session.id });
    expect(postsTo(world)).toBe(1);
  },
);

test.each(ways)(
  "after a 202 with an instance that %s, an instance of an explicit name is reported, and the message says what the answer named",
  async (_, begin) => {
    const world = await begin();
    world.service.posts.push(answersWith({ id: "i-wrong", name: "billing" }, { acts: true }));
    const error = await errorOf(create(world, "web"));
    expect(error).not.toBeInstanceOf(InstanceUnfinished);
    expect(error.message).toContain("the service answered with instance i-wrong");
    expect(error.message).toContain("perhaps i-1");
    expect(recordOf(world, "web")).toMatchObject({ at: expect.any(String) });
    expect(recordOf(world, "web")).not.toHaveProperty("id");
    expect(postsTo(world)).toBe(1);
  },
);

test.each([generatedName, "web"])(
  'after a 202 with an older instance, and nothing made, the create fails and "%s" is not sent again',
  async (name) => {
    const world = newScene();
    world.service.has("i-wrong", { name: "billing" });
    world.service.posts.push(answersWith({ id: "i-wrong", name: "billing" }, { acts: false }));
    const { message } = await errorOf(create(world, name));
    expect(message).toContain("the service answered with instance i-wrong");
    expect(message).toContain("no listing shows its instance");
    expect(postsTo(world)).toBe(1);
  },
);
