/** A kind of state backend that the tests log into; each has a file here. */

/** One that nothing else uses: an empty folder, table or bucket. */
export interface Backend {
  /** As a person gives it to `pulumi login`. */
  url: string;
  /** What the engine needs to use it, address and credentials. */
  env: NodeJS.ProcessEnv;
}

/** What holds the backends of a test file: a server that the tests have started. */
export interface BackendServer extends AsyncDisposable {
  /** Another empty one. */
  empty(): Backend;
}

export interface BackendKind {
  title: string;
  /** Why it can't be had on this machine; undefined where it can. */
  hindrance?(): string | undefined;
  start(): Promise<BackendServer>;
}
