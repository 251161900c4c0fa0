/** Runs Windows programs on Linux: in Wine, in a Debian of its own, because older versions of Wine can't run the packaged Node. */
import { spawn, type ChildProcess } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { captured } from "../support/command";
import { say, ToolError } from "../support/main";
import { toolsDir } from "../support/paths";
import { ensureProduct } from "../support/products";

/** The Debian with Wine 10. */
const suite = "trixie";
/** Windows sees this folder as Z:\. */
export const drive = join(toolsDir, "windows", suite);

/** Makes the Debian, from the mirror that apt uses on this machine, unless it is there. */
export async function ensureWine(): Promise<void> {
  await ensureProduct({
    name: "the Debian with Wine",
    outputs: [".tools/windows/trixie/prefix/system.reg"],
    stamp: ".tools/stamps/wine",
    async make() {
      const { platform, arch, getuid } = process;
      if (platform !== "linux" || arch !== "x64" || getuid?.() !== 0)
        throw new ToolError("Wine is set up only on Debian x64, and only by root.");
      say("Making a Debian with Wine (1.4 GB, about 5 minutes, once) …");
      // A set-up that was broken off leaves it mounted, and then nothing can be removed.
      await captured("umount", [join(drive, "proc")]).catch(() => undefined);
      rmSync(drive, { recursive: true, force: true });
      mkdirSync(drive, { recursive: true });
      await makeRoot(join(toolsDir, "windows"));
      await captured("chroot", [
        drive,
        "apt-get",
        "install",
        "-y",
        "--no-install-recommends",
        "wine",
      ]);
      await captured("chroot", [drive, "apt-get", "clean"]);
      await new Command(["wineboot", "--init"]).succeeded();
      return [];
    },
  });
}

/** Debian's own script makes it, which this machine need not have installed. */
async function makeRoot(cwd: string): Promise<void> {
  const format = ["--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"];
  const mirrors = await captured("apt-get", ["indextargets", ...format]);
  const [, mirror] = /^(\S+) [a-z]+$/m.exec(mirrors) ?? [];
  if (mirror === undefined) throw new ToolError("apt knows no mirror of Debian on this machine.");
  await captured("apt-get", ["download", "debootstrap"], { cwd });
  const [archive = ""] = readdirSync(cwd).filter((name) => /^debootstrap_.*\.deb$/.test(name));
  await captured("dpkg", ["-x", archive, "debootstrap"], { cwd });
  const env = {
    ...process.env,
    DEBOOTSTRAP_DIR: join(cwd, "debootstrap", "usr", "share", "debootstrap"),
  };
  const script = join(cwd, "debootstrap", "usr", "sbin", "debootstrap");
  await captured("sh", [script, "--variant=minbase", suite, drive, mirror], { cwd, env });
}

interface CommandOptions {
  /** From the drive's root. */
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** Runs it at a console, where a person can type. */
  console?: boolean;
}

/** A command that runs in Wine. No command takes nearly as long as it is given. */
export class Command {
  readonly #child: ChildProcess;
  /** Node in Wine can't write to a pipe of Linux, so the output goes into a file. */
  readonly #file = join(toolsDir, "windows", `output-${++commandCount}`);
  readonly #ended: Promise<number | null>;

  constructor(
    readonly words: readonly string[],
    { cwd = "/", env = {}, console = false }: CommandOptions = {},
  ) {
    // Wine finds itself through /proc. The mounts end with the command.
    const inRoot = `mount --rbind /proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"`;
    const variables = { ...fixed, ...env };
    const command = [
      ...["unshare", "--mount", "sh", "-c", inRoot, drive, "env", "-i"],
      ...[`--chdir=${cwd}`, ...Object.entries(variables).map((pair) => pair.join("="))],
      ...words,
    ];
    const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const [file = "", ...args] = console
      ? ["script", "--quiet", "--return", "--command", quoted, "/dev/null"]
      : command;
    const output = openSync(this.#file, "w");
    const stdio = [console ? "pipe" : "ignore", output, output] as const;
    this.#child = spawn(file, args, { stdio: [...stdio], timeout: maxMs, killSignal: "SIGKILL" });
    closeSync(output);
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject).on("close", resolve);
    });
    this.#ended.catch(() => undefined);
  }

  /** stdout and stderr. */
  get output(): string {
    return readFileSync(this.#file, "utf8");
  }

  /** Resolves with the output. Rejects if the command fails. */
  async succeeded(): Promise<string> {
    const code = await this.#ended;
    if (code !== 0) throw this.#error(`ended with ${code}`);
    return this.output;
  }

  /** Resolves once the output has this text. Rejects if the command ends before. */
  async printed(text: string): Promise<void> {
    let hasEnded = false;
    void this.#ended.finally(() => (hasEnded = true));
    while (!this.output.includes(text)) {
      if (hasEnded) throw this.#error(`ended without "${text}"`);
      await sleep(50);
    }
  }

  type(line: string): void {
    this.#child.stdin?.write(`${line}\r`);
  }

  #error(what: string): Error {
    return new Error(`${this.words.join(" ")} ${what}:\n${this.output}`);
  }
}

const maxMs = 600_000;
let commandCount = 0;

const fixed = {
  PATH: "/usr/bin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
  WINEPREFIX: "/prefix",
  WINEDEBUG: "-all",
  XDG_RUNTIME_DIR: "/tmp",
};

/** Kills the programs of this name. Resolves when they have ended. */
export async function kill(program: string): Promise<void> {
  for (const pid of running(program)) process.kill(pid, "SIGKILL");
  await gone(program);
}

/** Resolves when no program of this name runs any more. @throws if it still runs after a minute */
export async function gone(program: string): Promise<void> {
  const end = performance.now() + 60_000;
  while (running(program).length > 0) {
    if (performance.now() > end) throw new Error(`${program} runs on`);
    await sleep(100);
  }
}

/** Returns the ids of the processes in Wine whose command line begins with a program of this name. */
function running(program: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const [first = ""] = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      const isOurs = readlinkSync(`/proc/${name}/root`) === drive;
      return isOurs && first.endsWith(program) ? [Number(name)] : [];
    } catch {
      // It is no process, or has ended.
      return [];
    }
  });
}
