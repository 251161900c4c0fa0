/**
 * A peer for the benchmarks: a dynamic provider as a user would write it in an afternoon. For each instance it sends the
 * POST, and then lists every two seconds until the instance is ready. A refresh lists once for each instance.
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

/** Searches the list, page by page, because the service has no call for one instance. */
async function find(id: string): Promise<Item | undefined> {
  for (let after = ""; ;) {
    const page = (await request("GET", `/instances?limit=100${after}`)) as {
      data: Item[];
      has_more: boolean;
    };
    const found = page.data.find((item) => item.id === id);
    if (found || !page.has_more) return found;
    after = `&starting_after=${page.data[page.data.length - 1]?.id}`;
  }
}

const provider: pulumi.dynamic.ResourceProvider<Inputs, Inputs & Partial<Item>> = {
  async create({ name, flavorId, imageId, vpcId }) {
    const body = { name, flavor_id: flavorId, image_id: imageId, vpc_id: vpcId };
    const created = (await request("POST", "/instances", body)) as Item;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const item = await find(created.id);
      if (item && item.status !== "PROVISIONING") {
        return { id: created.id, outs: { ...item, name, flavorId, imageId, vpcId } };
      }
    }
  },
  async read(id, props) {
    const item = await find(id);
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
