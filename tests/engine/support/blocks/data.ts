/** Blocks that no program runs: data, and what is only shown. */
import metadata from "../../../../metadata.json";
import { lineOf, type Check } from "./samples";

export const json: Check = {
  run(samples, report) {
    for (const sample of samples) {
      try {
        JSON.parse(sample.text);
      } catch (error) {
        report(sample, `${lineOf(sample, 0)}: ${String(error)}`);
      }
    }
  },
};

/** What a person puts into a pom.xml: its tags are closed, and it names our package. */
export const xml: Check = {
  run(samples, report) {
    const { groupId, artifactId } = metadata.sdk.java;
    const facts = { groupId, artifactId, version: metadata.version };
    for (const sample of samples) {
      const open: string[] = [];
      for (const [, close, tag = ""] of sample.text.matchAll(/<(\/?)([\w.]+)>/g)) {
        if (close === "") open.push(tag);
        else if (open.pop() !== tag)
          report(sample, `${lineOf(sample, 0)}: </${tag}> closes nothing`);
      }
      if (open.length > 0) report(sample, `${lineOf(sample, 0)}: not closed: ${open.join(", ")}`);
      for (const [tag, value] of Object.entries(facts)) {
        const written = `<${tag}>${value}</${tag}>`;
        if (!sample.text.includes(written))
          report(sample, `${lineOf(sample, 0)}: lacks ${written}`);
      }
    }
  },
};

/** What a program prints, or a drawing. */
export const text: Check = { run: () => undefined };
