/**
 * A runner of GitHub's workflows, as far as ours need one: it reads them from the checkout, and runs each
 * `run:` as it stands there. Actions can't be had here: each has a stand-in below, which says what it does.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { gone, startedBy } from "../processes";
import type { Outcome, Running } from "../running";
import { filled, holds, type Contexts, type Status } from "./expressions";
import type { EnvironmentName, Forge } from "./forge";
import type { Machine } from "./machine";
import type { Job, Step, Texts, Workflow } from "./workflow";

/** What starts a run. */
export interface Trigger {
  workflow: string;
  job: string;
  /** The commit that is checked out unless the workflow asks for another. */
  commit: string;
  event?: Record<string, unknown>;
  inputs?: Texts;
  matrix?: Texts;
}

/** What a pull request's event tells. */
export function pullRequest(action: string, number: number, sha: string, from = "team/app") {
  return { action, pull_request: { number, head: { sha, repo: { full_name: from } } } };
}

let runs = 0;

export class JobRun {
  output = "";
  /** What the run wrote for people: comments on the pull request, and the summary. */
  readonly comments: string[] = [];
  /** Undefined when the job's `if` does not hold. */
  readonly ended: Promise<Outcome | undefined>;
  #status: Status = "success";
  #isDead = false;
  #current: Running | undefined;
  readonly #run = ++runs;

  private constructor(
    private readonly forge: Forge,
    private readonly machine: Machine,
    trigger: Trigger,
  ) {
    this.ended = this.#work(trigger);
    this.ended.catch(() => undefined);
  }

  static async start(forge: Forge, trigger: Trigger): Promise<JobRun> {
    return new JobRun(forge, forge.machine({ GITHUB_ACTIONS: "true" }), trigger);
  }

  /** Resolves with `event`; rejects if the job ends without. */
  async reached(event: Promise<void>): Promise<void> {
    const ended = this.ended.then(() => {
      throw new Error(`the job ended too early:\n${this.output}`);
    });
    await Promise.race([event, ended]);
  }

  /** Somebody cancels the job: Ctrl-C to the one process that the runner has started. */
  async cancel(): Promise<void> {
    this.#status = "cancelled";
    const running = this.#current;
    running?.interrupt();
    await running?.printed("^C received");
  }

  /** The same, and ten seconds later what has not ended by then is killed; here at once. */
  async cancelHard(): Promise<void> {
    await this.cancel();
    await this.#killAll();
  }

  /** The machine goes away, and all that runs on it. */
  async die(): Promise<void> {
    this.#isDead = true;
    await this.#killAll();
  }

  async #killAll(): Promise<void> {
    const pid = this.#current?.child.pid;
    if (pid === undefined) throw new Error("nothing runs");
    const pids = [pid, ...startedBy(pid).map((it) => it.pid)];
    for (const it of pids) {
      try {
        process.kill(it, "SIGKILL");
      } catch {
        // It has ended with the one before it.
      }
    }
    await gone(pids);
    await this.ended;
  }

  async #work(trigger: Trigger): Promise<Outcome | undefined> {
    await this.machine.checkOut(this.forge.repository, trigger.commit);
    const workflow = this.#read<Workflow>(join("workflows", trigger.workflow));
    const job = workflow.jobs[trigger.job];
    if (!job) throw new Error(`${trigger.workflow} has no job ${trigger.job}`);
    const { event = {}, inputs = {}, matrix = {}, commit } = trigger;
    const repository = "team/app";
    const github = { event, repository, sha: commit, run_id: this.#run, run_attempt: 1 };
    const contexts: Contexts = { github, inputs, matrix, runner: { os: "Linux" } };
    if (!holds(job.if, contexts, "success")) return undefined;
    const code = await this.#runJob(workflow, job, contexts);
    return { code, output: this.output };
  }

  async #runJob(workflow: Workflow, job: Job, outer: Contexts): Promise<number> {
    if (job.uses !== undefined) {
      const called = this.#read<Workflow>(job.uses.replace("./.github/", ""));
      const [only, ...others] = Object.values(called.jobs);
      if (!only || others.length > 0) throw new Error(`${job.uses} has not exactly one job`);
      return this.#runJob(called, only, { ...outer, inputs: job.with ?? {} });
    }
    const environment = filled(job.environment ?? "", outer) as EnvironmentName;
    let contexts: Contexts = { ...outer, ...this.forge.environments[environment] };
    for (const env of [workflow.env, job.env]) {
      const before = contexts["env"] as Texts | undefined;
      contexts = { ...contexts, env: { ...before, ...filledAll(env, contexts) } };
    }
    await this.#runSteps(job.steps ?? [], contexts);
    return this.#status === "success" ? 0 : 1;
  }

  async #runSteps(steps: readonly Step[], contexts: Contexts): Promise<void> {
    for (const step of steps) {
      if (this.#isDead) break;
      if (!holds(step.if, contexts, this.#status)) continue;
      const isGood = await this.#runStep(step, contexts);
      if (!isGood && this.#status === "success") this.#status = "failure";
    }
  }

  async #runStep(step: Step, contexts: Contexts): Promise<boolean> {
    const env = {
      ...filledAll(contexts["env"] as Texts, contexts),
      ...filledAll(step.env, contexts),
    };
    if (step.run !== undefined) {
      const script = filled(step.run, contexts);
      return this.machine.standsIn(script) || this.#follow(this.machine.run(script, env));
    }
    const [action = ""] = step.uses?.split("@") ?? [];
    const given = filledAll(step.with, contexts);
    if (action.startsWith("./.github/")) {
      const own = this.#read<{ inputs: Record<string, { default?: string }>; runs: Job }>(
        join(action.replace("./.github/", ""), "action.yml"),
      );
      const defaults = Object.entries(own.inputs).map(([name, it]) => [name, it.default ?? ""]);
      const inputs = { ...Object.fromEntries(defaults), ...given } as Texts;
      // No vars and no secrets, as GitHub has it.
      const { github, runner, env: jobEnv } = contexts;
      await this.#runSteps(own.runs.steps ?? [], { github, runner, env: jobEnv, inputs });
      return true;
    }
    return this.#standIn(action, given, env);
  }

  async #standIn(action: string, given: Texts, env: NodeJS.ProcessEnv): Promise<boolean> {
    const { path = "", key = "", ref } = given;
    const kept = String(path).replace("~", this.machine.home);
    switch (action) {
      case "actions/checkout":
        if (ref !== undefined) await this.machine.checkOut(this.forge.repository, String(ref));
        return true;
      // Node is here already; plugins are never cached.
      case "actions/setup-node":
      case "actions/cache":
        return true;
      case "actions/cache/save":
        if (existsSync(kept)) cpSync(kept, this.#cache(String(key)), { recursive: true });
        return true;
      case "actions/cache/restore": {
        const [found] = this.#cached(String(given["restore-keys"]));
        if (found !== undefined) cpSync(this.#cache(found), kept, { recursive: true });
        return true;
      }
      case "pulumi/actions":
        return this.#pulumiAction(given, env);
      default:
        throw new Error(`github.ts has no stand-in for ${action}`);
    }
  }

  /** The commands that pulumi/actions runs, through Pulumi's Automation API, of the same CLI. */
  async #pulumiAction(given: Texts, env: NodeJS.ProcessEnv): Promise<boolean> {
    const { command, "stack-name": stack, "work-dir": directory = ".", ...rest } = given;
    // Then it only installs the CLI, which is here already.
    if (command === undefined) return true;
    const isSaid = ["comment-on-pr", "comment-on-summary"].filter((name) => name in rest);
    const strange = Object.keys(rest).filter((name) => !isSaid.includes(name));
    if (command !== "preview" || strange.length > 0) {
      throw new Error(`github.ts does not know pulumi/actions with ${JSON.stringify(given)}`);
    }
    const lines = ["login", `-C ${directory} preview --stack ${stack}`];
    for (const line of lines) {
      const running = this.machine.run(`exec pulumi --non-interactive ${line}`, env);
      const isGood = await this.#follow(running);
      if (!isGood) return false;
      if (line !== "login" && isSaid.length > 0) this.comments.push(running.output);
    }
    return true;
  }

  async #follow(running: Running): Promise<boolean> {
    this.#current = running;
    const { code, output } = await running.ended;
    this.#current = undefined;
    this.output += output;
    return code === 0;
  }

  #read<T>(file: string): T {
    return parse(readFileSync(join(this.machine.workspace, ".github", file), "utf8")) as T;
  }

  #cache(key: string): string {
    return join(this.forge.caches, key);
  }

  /** Newest first. */
  #cached(prefix: string): string[] {
    mkdirSync(this.forge.caches, { recursive: true });
    const runOf = (key: string) => Number(/-(\d+)-1$/.exec(key)?.[1]);
    return globSync(`${prefix}*`, { cwd: this.forge.caches }).sort((a, b) => runOf(b) - runOf(a));
  }
}

function filledAll(texts: Texts | undefined, contexts: Contexts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts ?? {}).map(([name, text]) => [name, filled(String(text), contexts)]),
  );
}
