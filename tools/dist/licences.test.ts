/** The licences of the packages in the plugin, and of the modules that the Go SDK needs, allow us to ship them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { captured } from "../support/command";
import { root } from "../support/paths";
import { lackOfGo, testUnless } from "../support/unless";
import { lockedPackage } from "./runtime";
import { licenceFiles, packagesOf } from "./notices";
import { makeParts } from "./parts";
import { platforms } from "./platforms";

/** They require that their text goes with the plugin. */
const allowed = "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause ISC MIT".split(" ");

test("all that is in the plugin has a licence that is allowed, and its text", async () => {
  const { inputs } = await makeParts();
  const packages = packagesOf(inputs);
  const runtimes = Object.values(platforms).map((node) => `node_modules/${node}`);
  const strange = [...packages, ...runtimes].filter((path) => {
    const ids = (lockedPackage(path).license ?? "none").split(/ AND |[()]/).filter(Boolean);
    return !ids.every((id) => allowed.includes(id));
  });
  expect(strange).toEqual([]);
  expect(packages.length).toBeGreaterThan(3);
  expect(packages.filter((path) => licenceFiles(join(root, path)).length === 0)).toEqual([]);
});

/** Go modules do not name their licence, so the test looks for a phrase of it. */
const words = {
  "Apache-2.0": "Apache License",
  "BSD-3-Clause": "Redistribution and use in source and binary forms",
  MIT: "Permission is hereby granted, free of charge",
};
/** This licence requires that changes of its own files are published; we change none. */
const hashicorp = { of: "github.com/hashicorp/", words: "Mozilla Public License" };

testUnless(lackOfGo(), "so has all that the Go SDK brings along", async () => {
  const format = "{{with .Module}}{{.Path}} {{.Dir}}{{end}}";
  const cwd = join(root, "sdk/go/compute");
  const lines = await captured("go", ["list", "-deps", "-f", format, "./..."], { cwd });
  const modules = new Map(
    [...new Set(lines.split("\n"))]
      .filter(Boolean)
      .map((line) => line.split(" ") as [string, string]),
  );
  const strange = [...modules].filter(([path, folder]) => {
    const text = existsSync(folder) ? licenceFiles(folder).join("\n").replace(/\s+/g, " ") : "";
    const known = [
      ...Object.values(words),
      ...(path.startsWith(hashicorp.of) ? [hashicorp.words] : []),
    ];
    return !known.some((it) => text.includes(it));
  });
  expect(strange).toEqual([]);
  expect(modules.size).toBeGreaterThan(10);
});
