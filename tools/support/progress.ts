/** Steps that take long, and show that they go on. */
import { say } from "./main";

export interface Step {
  /** What is being done: "Building the Pulumi CLI". */
  title: string;
  /** How long it takes, and how often: "about 4 minutes on 2 cores, once". */
  expected: string;
  /** How far it is, asked again and again. */
  detail: () => string;
}

/** Between two lines where there is no terminal to tick on, say in CI. */
const quietInterval = 30_000;

/** Does `work` and shows that it is going on. */
export async function withProgress<T>(step: Step, work: () => Promise<T>): Promise<T> {
  say(`${step.title} (${step.expected}) …`);
  const start = performance.now();
  const line = () => {
    const detail = step.detail();
    return `  ${duration(performance.now() - start)}${detail === "" ? "" : `  ${detail}`}`;
  };
  const terminal = process.stderr.isTTY;
  const timer = terminal
    ? setInterval(() => process.stderr.write(`\r\x1b[2K${fit(line())}`), 1000)
    : setInterval(() => say(line()), quietInterval);
  let outcome = "failed after";
  try {
    const result = await work();
    outcome = "done in";
    return result;
  } finally {
    clearInterval(timer);
    if (terminal) process.stderr.write("\r\x1b[2K");
    say(`  ${outcome} ${duration(performance.now() - start)}`);
  }
}

/** A line that wraps could not be wiped again. */
function fit(line: string): string {
  return line.slice(0, (process.stderr.columns || 80) - 1);
}

function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
