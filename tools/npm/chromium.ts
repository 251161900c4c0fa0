/**
 * Starts a Chromium without a window. It comes from npm with all that it needs (its libraries and a font), so it also runs
 * in a container that has no browser, and as root.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
import { writeWhole } from "../support/files";
import { ensureFetched } from "../support/npm";
import { root } from "../support/paths";

/** What we use of puppeteer-core. Its own types are not there before the first start. */
export interface Browser extends AsyncDisposable {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

export interface Page {
  goto(url: string): Promise<unknown>;
  /** Returns the value of JavaScript in the page, as JSON carries it. */
  evaluate(expression: string): Promise<unknown>;
  /** For each wait, in milliseconds. */
  setDefaultTimeout(timeoutMs: number): void;
  /** Waits until the page has such an element. `::-p-text(…)` selects those with this text. */
  waitForSelector(selector: string): Promise<unknown>;
  /** Clicks in the middle of the element, as a mouse does. */
  click(selector: string): Promise<void>;
  focus(selector: string): Promise<void>;
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  setViewport(size: { width: number; height: number }): Promise<void>;
  emulateMediaFeatures(features: { name: string; value: string }[]): Promise<void>;
  /** Returns what is on the screen, as PNG. */
  screenshot(): Promise<Uint8Array>;
}

interface Puppeteer {
  launch(options: {
    executablePath: string;
    headless: "shell";
    pipe: boolean;
    timeout: number;
    args: string[];
    env: NodeJS.ProcessEnv;
  }): Promise<Browser>;
}

/** Undefined if Chromium runs on this machine. */
export function missingChromium(): string | undefined {
  const { platform, arch } = process;
  if (platform === "linux" && arch === "x64") return undefined;
  return `the Chromium of @sparticuz/chromium is for linux x64, and this is ${platform} ${arch}`;
}

export async function startChromium(): Promise<Browser> {
  const folder = await ensureFetched({
    name: "chromium",
    title: "a Chromium (about 70 MB)",
    outputs: ["chromium", "puppeteer.js"],
    finish,
  });
  const { default: puppeteer } = (await import(join(folder, "puppeteer.js"))) as {
    default: Puppeteer;
  };
  return await puppeteer.launch({
    executablePath: join(folder, "chromium"),
    headless: "shell",
    pipe: true,
    timeout: 120_000,
    args: [
      // Root can't have the sandbox, and some systems forbid it. Only our own pages are shown.
      "--no-sandbox",
      ...["--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
    ],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, "lib"),
      FONTCONFIG_FILE: join(folder, "fonts.conf"),
    },
  });
}

/** Unpacks Chromium, and makes puppeteer-core a file that Jest can load: it has ES modules only. */
async function finish(folder: string): Promise<readonly string[]> {
  const packed = join(folder, "node_modules", "@sparticuz", "chromium", "bin");
  const unpacked = (name: string) =>
    [createReadStream(join(packed, name)), createBrotliDecompress()] as const;
  const { extract } = await import("tar");
  for (const name of ["al2023", "fonts"])
    await pipeline(...unpacked(`${name}.tar.br`), extract({ cwd: folder, preserveOwner: false }));
  const executable = createWriteStream(join(folder, "chromium"), { mode: 0o755 });
  await pipeline(...unpacked("chromium.br"), executable);
  writeWhole(join(folder, "fonts.conf"), fontsIn(folder));
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: folder,
    entryPoints: ["puppeteer-core"],
    outfile: "puppeteer.js",
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "error",
  });
  return [relative(root, __filename)];
}

/** The fonts and settings of this machine, if it has any, and the font that is fetched. */
function fontsIn(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, "fonts")}</dir>
  <cachedir>${join(folder, "font-cache")}</cachedir>
</fontconfig>
`;
}
