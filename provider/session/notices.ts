/** What a session says once, although it concerns several instances. */
import { logicalName } from "../pulumi/urn";
import type { Settings } from "../config/settings";
import type { ProviderContext, Text } from "../context";
import { wholeOf, type Report } from "../errors";
import { Once } from "../once";

/** Says what concerns more than one operation of a session. */
export class Notices {
  readonly #ctx: ProviderContext;
  readonly #settings: Settings;
  readonly #said = new Once();
  /** By the shared part of reports: the first instance, which was told the whole. */
  readonly #told = new Map<string, { urn: string; requests: string }>();
  /** By the lines of a finding: the URNs of the instances that have it. */
  readonly #findings = new Map<string, Set<string>>();
  /** The descriptions of the leftovers for the next notice. */
  readonly #leftovers: string[] = [];

  constructor(ctx: ProviderContext, settings: Settings) {
    this.#ctx = ctx;
    this.#settings = settings;
  }

  /** Returns what is said of the instance of `urn`: the whole, or one line if another instance was told the shared part. */
  linesOf(report: Report, urn: string): readonly string[] {
    const { own, requests = [] } = report;
    const subject = sharedSubject(report);
    const briefs = requests.map(({ brief }) => brief).join(", ");
    const first = this.#told.get(subject) ?? { urn, requests: briefs };
    this.#told.set(subject, first);
    // An error hook makes the engine repeat the call, and only the last answer is shown.
    if (first.urn === urn) return wholeOf(report);
    const answers = first.requests === briefs ? "" : `: ${briefs}`;
    return [`${own}${answers}, as for ${logicalName(first.urn)}.`];
  }

  /** Prints a message about the instance of `urn`, as `linesOf` returns it. */
  tell(severity: "info" | "warning", report: Report, urn: string): void {
    this.#ctx.messages[severity](this.linesOf(report, urn), urn);
  }

  /** Marks the subject as said. Returns whether it was not before, so that its message is due. */
  markSaid(subject: string): boolean {
    return this.#said.add(subject);
  }

  /** Prints a warning, once for each subject. */
  warnOnce(subject: string, text: string, urn: string): void {
    if (!this.markSaid(subject)) return;
    const notice = `${text}. The same may be true of other instances of this run`;
    this.#ctx.messages.warning(notice, urn);
  }

  /** Warns of what is true of several instances, at the first of them. `reportFindings` counts the others. */
  warnOfFinding(text: Text, urn: string): void {
    const finding = [text].flat().join("\n");
    const urns = this.#findings.get(finding) ?? new Set();
    this.#findings.set(finding, urns.add(urn));
    if (urns.size === 1 && this.markSaid(`finding ${finding}`)) {
      this.#ctx.messages.warning(text, urn);
    }
  }

  /** Says at the end of a run how many instances have each finding, if it is more than the one that was named. */
  reportFindings(): void {
    for (const [finding, [first = "", ...others]] of this.#findings) {
      if (others.length === 0) continue;
      const [line = ""] = finding.split("\n");
      const instances = others.length === 1 ? "instance" : "instances";
      this.#ctx.messages.warning(
        `${logicalName(first)} and ${others.length} more ${instances}: ${line}`,
      );
    }
    this.#findings.clear();
  }

  /**
   * Names leftovers, each once and described by its `text`. Creates that waited for the same listing share one notice.
   */
  reportLeftovers(
    leftovers: readonly { id: string; text: string }[],
    noticeOf: (descriptions: readonly string[]) => readonly string[],
  ): void {
    const { clock, messages } = this.#ctx;
    const unreported = leftovers.filter(({ id }) => this.markSaid(`leftover ${id}`));
    if (unreported.length === 0) return;
    const isNoticeDue = this.#leftovers.length > 0;
    this.#leftovers.push(...unreported.map(({ text }) => text));
    if (isNoticeDue) return;
    void clock.sleep(0).then(() => {
      const text = noticeOf(this.#leftovers.splice(0));
      // The instances of a test token cost nothing.
      messages[this.#settings.tokenKind === "live" ? "warning" : "info"](text);
    });
  }
}

/** Returns the shared part of a report without the ids of requests, which differ from instance to instance. */
function sharedSubject({ shared, requests = [] }: Report): string {
  return requests.reduce(
    (text, { message, service }) =>
      text.replaceAll(message, () => message.replace(service.requestId ?? "", "")),
    shared.join("\n"),
  );
}
