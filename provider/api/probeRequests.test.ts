/** Tests the requests that the service's document does not show, and that `probe` sends. */
import { expect, test } from "@jest/globals";
import type { DestroyPath } from "./client";
import { answer } from "./testing/scriptedServer";
import { never, testClient, withServer } from "./testing/testClient";

test("a listing with any query shows what stands where the addresses belong, also if that is none", async () => {
  const data = [
    { id: "a", ipv4_public: "0.0.0.0" },
    { id: "b", ipv4_public: null },
    { id: "c" },
    { id: "d", ipv4_public: "203.0.113.1" },
    { name: "no id" },
  ];
  const react = answer(200, JSON.stringify({ data, has_more: false }));
  await withServer(
    [{ expect: "GET /v2/instances?limit=2&page_token=a%26limit%3D9", react }],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl);
      const page = await client.listBy({ limit: "2", page_token: "a&limit=9" }, never);
      expect(page.items.map(({ ipv4_public: address }) => address)).toEqual([
        ...[undefined, undefined, undefined, "203.0.113.1"],
      ]);
      expect(Object.fromEntries(page.addresses)).toEqual({
        a: "0.0.0.0",
        b: null,
        c: undefined,
        d: "203.0.113.1",
      });
      await client.close();
    },
  );
});

test("a DELETE names one instance of the sandbox, and its answer's status is the result", async () => {
  await withServer(
    [{ expect: "DELETE /v2/servers/i%2F1", react: answer(202, "{}") }],
    async ({ baseUrl }) => {
      const client = testClient(baseUrl);
      expect(await client.destroyAt("/v2/servers/{id}", "i/1", never)).toBe(202);
      const collection = "/v2/instances" as DestroyPath;
      await expect(client.destroyAt(collection, "i-1", never)).rejects.toThrow(/only one instance/);
      for (const id of ["", ".", ".."])
        await expect(client.destroyAt("/v2/servers/{id}", id, never)).rejects.toThrow(
          /id can't be/,
        );
      const live = testClient(baseUrl, { token: "sk_live_1" });
      await expect(live.destroyAt("/v2/servers/{id}", "i-1", never)).rejects.toThrow(/sandbox/);
      await Promise.all([client.close(), live.close()]);
    },
  );
});
