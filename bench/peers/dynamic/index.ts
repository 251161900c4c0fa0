/**
 * Two peers for the benchmarks. The first is a dynamic provider as a user would write it in an afternoon. For each instance it
 * sends the POST, and then lists every two seconds until the instance is ready. A refresh lists once for each instance. The
 * second, with `LISTS=for all`, shares each listing among all that wait for one.
 */
import * as pulumi from "@pulumi/pulumi";

interface Inputs {
  name: string;
  flavorId: string;
  imageId: string;
  vpcId: string;
}
interface Item {
  id: string;
  name: string;
  status: string;
  ipv4_public: string;
}

async function request(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${process.env["COMPUTE_BASE_URL"]}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${process.env["COMPUTE_API_TOKEN"]}`,
      "content-type": "application/json",
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}

/** Lists page by page, until a page has the instance of this id. */
async function list(id?: string): Promise<Item[]> {
  for (let items: Item[] = [], after = ""; ;) {
    const page = (await request("GET", `/instances?limit=100${after}`)) as {
      data: Item[];
      has_more: boolean;
    };
    items = [...items, ...page.data];
    if (!page.has_more || page.data.some((item) => item.id === id)) return items;
    after = `&starting_after=${page.data[page.data.length - 1]?.id}`;
  }
}

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Lists after a pause, once for all that ask meanwhile. Dynamic providers have one process, but no common module. */
function listForAll(milliseconds: number): Promise<Item[]> {
  const common = globalThis as { nextListing?: Promise<Item[]> | undefined };
  common.nextListing ??= sleep(milliseconds).then(() => {
    common.nextListing = undefined;
    return list();
  });
  return common.nextListing;
}

/** Searches the list after a pause, because the service has no call for one instance. */
async function find(id: string, milliseconds: number): Promise<Item | undefined> {
  if (process.env["LISTS"] === "for all")
    return (await listForAll(milliseconds)).find((item) => item.id === id);
  await sleep(milliseconds);
  return (await list(id)).find((item) => item.id === id);
}

const provider: pulumi.dynamic.ResourceProvider<Inputs, Inputs & Partial<Item>> = {
  async create({ name, flavorId, imageId, vpcId }) {
    const body = { name, flavor_id: flavorId, image_id: imageId, vpc_id: vpcId };
    const created = (await request("POST", "/instances", body)) as Item;
    for (;;) {
      const item = await find(created.id, 2000);
      if (item && item.status !== "PROVISIONING") {
        return { id: created.id, outs: { ...item, name, flavorId, imageId, vpcId } };
      }
    }
  },
  async read(id, props) {
    const item = await find(id, 0);
    return item ? { id, props: { ...(props as Inputs), ...item } } : {};
  },
};

class Instance extends pulumi.dynamic.Resource {
  constructor(name: string, inputs: Inputs) {
    super(provider, name, inputs);
  }
}

for (let n = 0; n < Number(process.env["COUNT"]); n++) {
  const name = `web-${n}`;
  new Instance(name, { name, flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" });
}
