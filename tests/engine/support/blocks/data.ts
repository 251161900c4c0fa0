/** Checks the blocks that are not programs: JSON, XML and plain text. */
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

/** The XML blocks are parts of a pom.xml. Their tags must be closed, and they must name the Java SDK. */
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

/** Printed output and drawings, which need no check. */
export const text: Check = { run: () => undefined };
