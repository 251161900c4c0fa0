/** For the emulator's own tests: a caller that keeps things short. */
import type { Emulator } from "./index";

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined where it isn't any. */
  body: unknown;
}

interface Item {
  id: string;
  name: string;
  status: string;
  ipv4_public?: string;
}

export function caller({ url }: Pick<Emulator, "url">, token = "sk_test_acme_1") {
  const ask = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: "manual",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: json(text) };
  };
  const create = (name: string, more: object = {}) =>
    ask("POST", "/instances", { name, flavor_id: "f", image_id: "i", vpc_id: "v", ...more });
  const list = async (query = "") => {
    const { body } = await ask("GET", `/instances${query}`);
    return body as { object: string; data: Item[]; has_more: boolean };
  };
  const names = async (query = "") => (await list(query)).data.map(({ name }) => name);
  const statuses = async () => (await list()).data.map(({ status }) => status);
  return { ask, create, list, names, statuses };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
