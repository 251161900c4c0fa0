/** Plays random histories as `npm run explore` does, outside of Jest, where they are slower. */
import { expect } from "@jest/globals";
import { runToolProcess } from "../support/tool";

/** Plays so many histories, from the first seed on, and expects that each keeps the promises. */
export async function expectKeepPromises(histories: number): Promise<void> {
  const limits = ["--histories", `${histories}`, "--from", "1"];
  const { code, printed } = await runToolProcess("explore", limits);
  if (code !== 0) throw new Error(printed);
  expect(printed).toMatch(new RegExp(`^${histories} histories of `, "m"));
  expect(printed).toContain("lost 0, created twice 0, wrongly forgotten 0");
}
