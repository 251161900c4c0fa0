/** A provider plugin as the engine has it: a process, its port, calls over gRPC. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  propertyMap,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../provider/propertyValue";
import { connect, type TestClient } from "../provider/rpc/testing/client";
import { TestEngine } from "../provider/rpc/testing/engine";
import { firstLine } from "../tools/support/firstLine";
import { instanceToken } from "../provider/pulumiNames";
import { cursorParameter, noLimit, token, type Service } from "./service";

export const urnOf = (name: string) => `urn:pulumi:bench::bench::${instanceToken}::${name}`;

/** The inputs of a resource, as Check leaves them. */
export function inputsOf(name: string): PropertyMap {
  return propertyMap({ name, flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main" });
}

export class Plugin implements AsyncDisposable {
  private constructor(
    private readonly child: ChildProcess,
    private readonly engine: TestEngine,
    private readonly home: string,
    readonly client: TestClient,
    /** Milliseconds from the spawn to the line with the port. */
    readonly portMs: number,
    /** Milliseconds from the spawn to the answer to GetPluginInfo. */
    readonly answerMs: number,
  ) {}

  static async start(executable: string): Promise<Plugin> {
    const engine = await TestEngine.start();
    const home = mkdtempSync(join(tmpdir(), "compute-bench-home-"));
    const spawned = performance.now();
    const child = spawn(executable, [engine.address], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, PULUMI_HOME: home },
    });
    const port = await firstLine(child.stdout);
    const portMs = performance.now() - spawned;
    const client = connect(Number(port));
    await client.version();
    const answerMs = performance.now() - spawned;
    return new Plugin(child, engine, home, client, portMs, answerMs);
  }

  /** Makes ours ready for calls. Further settings, beside those that each benchmark needs. */
  async configure(service: Service, settings: Record<string, PropertyValue> = {}): Promise<void> {
    await this.client.handshake(this.engine.address);
    await this.client.configure(
      propertyMap({
        baseUrl: service.url,
        apiToken: new Secret(token),
        requestsPerMinute: noLimit,
        cursorParameter,
        ...settings,
      }),
    );
  }

  get pid(): string {
    return String(this.child.pid);
  }

  /** Resident memory, in MB. */
  get memoryMB(): number {
    const rss = execFileSync("ps", ["-o", "rss=", "-p", this.pid]);
    return Number(rss.toString()) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    const ended = once(this.child, "exit");
    this.child.kill("SIGINT");
    await ended;
    this.engine.stop();
    rmSync(this.home, { recursive: true, force: true });
  }
}
