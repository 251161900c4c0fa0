/** Checks the blocks that are not programs, and those that can't be run here: JSON, XML, PowerShell and plain text. */
import metadata from "../../../../metadata.json";
import { executable } from "../../../../provider/process/executable";
import { platformNames } from "../../../../tools/dist/platforms";
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

/** PowerShell may be missing on this machine: a block has to name an archive of a release, and close its brackets. */
export const powershell: Check = {
  leftOut:
    "they are not run, because that needs PowerShell: only the archives and the brackets are checked",

  run(samples, report) {
    const archives = platformNames.map(
      (platform) => `${executable}-v${metadata.version}-${platform}.tar.gz`,
    );
    for (const sample of samples) {
      const named = sample.text.match(/[\w.-]+\.tar\.gz/g) ?? [];
      for (const name of named.filter((archive) => !archives.includes(archive)))
        report(sample, `${lineOf(sample, 0)}: a release has no ${name}`);
      for (const [open = "", close = ""] of ["()", "[]"]) {
        const [opened, closed] = [open, close].map((sign) => sample.text.split(sign).length);
        if (opened !== closed)
          report(sample, `${lineOf(sample, 0)}: ${open} and ${close} don't match`);
      }
    }
  },
};

/** Printed output and drawings, which need no check. */
export const text: Check = { run: () => undefined };
