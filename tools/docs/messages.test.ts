/** Checks that the messages which pages show are those of the plugin, apart from line breaks. */
import { expect, test } from "@jest/globals";
import { RequestError } from "../../provider/api/requestError";
import { wholeOf } from "../../provider/errors";
import { createInstance } from "../../provider/testing/calls";
import { userDataWarning } from "../../provider/instance/userData";
import { propertyMap } from "../../provider/pulumi/propertyValue";
import { post } from "../../provider/testing/fakeService";
import { errorOf, inputsOf, scene, urnOf } from "../../provider/testing/scene";
import { blocksOf } from "./markdown";
import { pages } from "./pages";

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

/** By page: the messages of the plugin in a block of their own, each on one line. */
const shown = pages.flatMap((page) =>
  blocksOf(page)
    .filter(({ language, text }) => language === "text" && /^(error|warning): /.test(text))
    .map(({ text }) => ({ page: page.name, message: oneLine(text) })),
);

async function soldOutError(): Promise<string> {
  const { session, service } = scene();
  const refusal = new RequestError({
    kind: "answered",
    method: "POST",
    path: "/v2/instances",
    cause: "No instance of this flavor can be created at the moment.",
    status: 422,
    service: { code: "flavor_sold_out", requestId: "req_…" },
  });
  service.posts.push(post(refusal, { acts: false }));
  const request = { urn: urnOf("web"), inputs: inputsOf(), timeoutSeconds: 0, preview: false };
  return (await errorOf(createInstance(session, request))).message;
}

async function scriptWarning(): Promise<string | undefined> {
  const inputs = propertyMap({ userData: "\n#!/bin/sh\napt-get update\n" });
  const warning = await userDataWarning(inputs, propertyMap({}));
  return warning && wholeOf(warning).join("\n");
}

test("each message that a page shows is what the plugin prints", async () => {
  const ours = [
    { page: "docs/instance.md", message: oneLine(`error: ${await soldOutError()}`) },
    { page: "docs/instance.md", message: oneLine(`warning: ${await scriptWarning()}`) },
  ];
  // That page shows a message of Pulumi's own.
  expect(shown.filter(({ page }) => page !== "docs/backends.md")).toEqual(ours);
});
