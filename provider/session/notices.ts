/** What a run says once, although it concerns several instances. */
import { logicalName } from "../pulumi/urn";
import type { ProviderContext } from "../context";
import { wholeOf, type Report } from "../errors";
import { Once } from "../once";

/** Says what concerns more than one call of a run, or of a command. */
export class Notices extends Once {
  readonly #ctx: ProviderContext;
  /** By the shared part of reports: the first instance, which was told the whole, and the request_id that it was told. */
  readonly #told = new Map<string, { urn: string; requestId: string | undefined }>();
  /** By the whole text of a finding: the own clause, and the URNs of the instances that have it. */
  readonly #findings = new Map<string, { own: string; urns: Set<string> }>();

  constructor(ctx: ProviderContext) {
    super();
    this.#ctx = ctx;
  }

  /**
   * Returns what is said of the instance of `urn`: the whole, or one line if another instance was told the shared part. `reader`: who has
   * read what is said with it.
   */
  linesOf(
    report: Report,
    urn: string,
    reader: "everybody" | "preview" = "everybody",
  ): readonly string[] {
    const { own, requests: [request] = [] } = report;
    const subject = `${reader} ${sharedSubject(report)}`;
    const requestId = request?.service.requestId;
    const first = this.#told.get(subject);
    // An error hook makes the engine repeat the call, and only the last answer is shown: this one, but perhaps not that of `first`.
    const isFirstTry = this.markSaid(`${urn} ${subject}`);
    if (!first || !isFirstTry) {
      this.#told.set(subject, { urn, requestId });
      return wholeOf(report);
    }
    // An error hook may look for the code of a refusal.
    const details = [
      request?.isRefusal && request.service.code && `code ${request.service.code}`,
      requestId !== first.requestId && requestId,
    ].filter(Boolean);
    const inBrackets = details.length > 0 ? ` (${details.join(", ")})` : "";
    return [`${own}${inBrackets}, as for ${logicalName(first.urn)}.`];
  }

  /** Prints a message about the instance of `urn`, as `linesOf` returns it. */
  tell(severity: "info" | "warning", report: Report, urn: string): void {
    this.#ctx.messages[severity](this.linesOf(report, urn), urn);
  }

  /** Warns of what is true of several instances, at the first of them. `reportFindings` counts the others. */
  warnOfFinding(finding: Report, urn: string): void {
    const lines = wholeOf(finding);
    const text = lines.join("\n");
    const { urns } = this.#findings.get(text) ?? { urns: new Set<string>() };
    this.#findings.set(text, { own: finding.own, urns: urns.add(urn) });
    if (urns.size === 1 && this.markSaid(`finding ${text}`)) this.#ctx.messages.warning(lines, urn);
  }

  /** Says at the end of a run how many instances have each finding besides the first one, which was named. */
  reportFindings(): void {
    for (const { own, urns } of this.#findings.values()) {
      const [first = "", ...others] = urns;
      if (others.length === 0) continue;
      const instances = others.length === 1 ? "1 more instance" : `${others.length} more instances`;
      this.#ctx.messages.warning(`${instances}, as for ${logicalName(first)}: ${own}`);
    }
    this.#findings.clear();
  }
}

/** Returns the shared part of a report without the ids of requests, which differ from instance to instance. */
function sharedSubject({ shared, requests = [] }: Report): string {
  return requests.reduce(
    (text, { message, commonMessage }) => text.replaceAll(message, () => commonMessage),
    shared.join("\n"),
  );
}
