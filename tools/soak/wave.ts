/** One wave: instances are created, refreshed, diffed and destroyed, all at once, as the engine would. */
import { randomBytes } from "node:crypto";
import { propertyMap, type PropertyMap } from "../../provider/property/value";
import type { TestClient } from "../../provider/rpc/testing/client";
import { instanceToken } from "../../provider/tokens";

interface Made {
  urn: string;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
}

const news = propertyMap({ flavorId: "kvm-1", imageId: "debian-13", vpcId: "vpc-1" });

/** Resolves to the ids that were made. */
export async function wave(client: TestClient, instances: number): Promise<string[]> {
  const urns = Array.from(
    { length: instances },
    (_, n) => `urn:pulumi:dev::soak::${instanceToken}::web-${n}`,
  );
  const made = await Promise.all(urns.map((urn) => create(client, urn)));
  const ids = made.map(({ id }) => id);
  if (new Set(ids).size !== instances) throw new Error("two resources have the same instance");
  await Promise.all(made.map((it) => refresh(client, it)));
  await Promise.all(made.map((it) => destroy(client, it)));
  return ids;
}

async function create(client: TestClient, urn: string): Promise<Made> {
  const { inputs, failures } = await client.check({ urn, news, randomSeed: randomBytes(32) });
  if (failures.length > 0) throw new Error(JSON.stringify(failures));
  return { urn, inputs, ...(await client.create({ urn, inputs })) };
}

async function refresh(client: TestClient, { urn, id, inputs, outputs }: Made): Promise<void> {
  const read = await client.read({ urn, id, inputs, outputs });
  if (read?.id !== id) throw new Error(`${id} was not read`);
  const diff = await client.diff({ urn, id, oldInputs: inputs, oldOutputs: outputs, news: inputs });
  if (diff.diffsList.length > 0) throw new Error(`${id} differs: ${diff.diffsList.join(", ")}`);
}

async function destroy(client: TestClient, { urn, id, inputs, outputs }: Made): Promise<void> {
  await client.delete({ urn, id, oldInputs: inputs, oldOutputs: outputs });
}
