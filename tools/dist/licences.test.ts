/** Checks the licences of the packages in the plugin, and of the modules that the Go SDK needs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { missingGo, testUnless } from "../support/unless";
import { licenceFiles, packagesOf } from "./notices";
import { makeParts } from "./parts";
import { lockedPackage, platforms } from "./platforms";

/** For a copy without changes, they require at most that their text and notices are shipped with it. */
const allowed = "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause ISC MIT".split(" ");

test("every package in the plugin has an accepted licence, and the text of the licence", async () => {
  const { inputs } = await makeParts();
  const packages = packagesOf(inputs);
  const runtimes = Object.values(platforms).map((node) => `node_modules/${node}`);
  const notAccepted = [...packages, ...runtimes].filter((path) => {
    const ids = (lockedPackage(path).license ?? "none").split(/ AND |[()]/).filter(Boolean);
    return !ids.every((id) => allowed.includes(id));
  });
  expect(notAccepted).toEqual([]);
  expect(packages.length).toBeGreaterThan(3);
  expect(packages.filter((path) => licenceFiles(join(root, path)).length === 0)).toEqual([]);
});

/** Go modules have only the text of their licence, not its name. */
const phrases = {
  "Apache-2.0": "Apache License",
  "BSD-3-Clause": "Redistribution and use in source and binary forms",
  MIT: "Permission is hereby granted, free of charge",
};
/** The licence of these modules requires that changes to their files are published. The SDK makes none. */
const mplModules = { pathPrefix: "github.com/hashicorp/", phrase: "Mozilla Public License" };

testUnless(missingGo(), "every module that the Go SDK needs has an accepted licence", async () => {
  const format = "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}";
  const cwd = join(root, "sdk/go");
  const lines = await captured("go", ["list", "-deps", "-f", format, "./..."], { cwd });
  const modules = new Map(
    [...new Set(lines.split("\n"))]
      .filter(Boolean)
      .map((line) => line.split("\t") as [string, string]),
  );
  const notAccepted = [...modules].filter(([path, folder]) => {
    const text = existsSync(folder) ? licenceFiles(folder).join("\n").replace(/\s+/g, " ") : "";
    const known = [
      ...Object.values(phrases),
      ...(path.startsWith(mplModules.pathPrefix) ? [mplModules.phrase] : []),
    ];
    return !known.some((phrase) => text.includes(phrase));
  });
  expect(notAccepted).toEqual([]);
  expect(modules.size).toBeGreaterThan(10);
});
