/** A workflow of GitHub's, as far as ours use one. */

export type Texts = Readonly<Record<string, string | number | boolean>>;

interface Concurrency {
  group: string;
  "cancel-in-progress": boolean;
}

export interface Step {
  name?: string;
  if?: string;
  run?: string;
  uses?: string;
  with?: Texts;
  env?: Texts;
}

export interface Job {
  if?: string;
  uses?: string;
  with?: Texts;
  environment?: string;
  permissions?: Readonly<Record<string, string>>;
  "timeout-minutes"?: number;
  concurrency?: Concurrency;
  env?: Texts;
  steps?: readonly Step[];
}

export interface Workflow {
  on: unknown;
  permissions: unknown;
  concurrency?: Concurrency;
  env?: Texts;
  jobs: Readonly<Record<string, Job>>;
}
