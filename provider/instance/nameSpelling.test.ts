/** Tests with a service that writes names in lower case: everywhere, the case of a name does not count. */
import { expect, test } from "@jest/globals";
import { Secret, type PropertyValue } from "../propertyValue";
import { failed, type Post } from "../testing/fakeService";
import { errorOf, inputsOf, scene, urnOf } from "../testing/scene";
import { createInstance } from "./create";
import { changedInputs } from "./diff";
import { Instance } from "./instance";
import { readInstance } from "./read";

const urn = urnOf("web");

/** The service makes the instance, but its answer is lost. */
const lowerCased: Post = (body, _signals, service) => {
  const { id } = service.accept({ ...body, name: body.name.toLowerCase() });
  service.set(id, { status: "ACTIVE" });
  throw failed("unanswered", "the connection broke", "POST");
};

test.each<[string, PropertyValue]>([
  ["name", "Web-1"],
  ["secret name", new Secret("Web-1")],
])(
  "after the printed import, the record of a lost answer has the id, and the program's %s replaces nothing (G2)",
  async (_, name) => {
    const world = scene();
    world.service.posts.push(lowerCased);
    const news = inputsOf({ name });
    const request = { urn, inputs: news, timeoutSeconds: 0, preview: false };
    expect((await errorOf(createInstance(world.session, request))).message).toContain("import");

    const next = world.nextRun();
    const imported = { urn, id: "i-1", inputs: undefined, outputs: undefined, timeoutSeconds: 0 };
    const read = await readInstance(next.session, imported);
    if (!read) throw new Error("the import finds nothing");
    expect(read.outputs).toMatchObject({ name: "web-1" });
    const [entry] = next.session.ledger.read();
    expect(entry?.record).toMatchObject({ id: "i-1", stage: "replied" });
    const { inputs, outputs } = read;
    const changed = changedInputs(new Instance({ urn, id: "i-1", inputs, outputs }), news);
    expect(changed.replaced).toEqual([]);
    expect(changed.detailed).not.toHaveProperty("name");
  },
);
