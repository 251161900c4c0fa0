/** A small HTTP client for the tests of the emulator. */
import type { Emulator } from "./index";

interface Item {
  id: string;
  name: string;
  status: string;
  ipv4_public?: string;
}

/**
 * Returns functions that call the service at `url` with a token. The `body` of a response is undefined if it is not
 * JSON.
 */
export function caller({ url }: Pick<Emulator, "url">, token = "sk_test_acme_1") {
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: "manual",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parseJson(text) };
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
