/** What can go wrong with one request, and what the service may have done by then. */
import type { FaultScript } from "../../../emulator";
import type { Plugin } from "../support/plugin";
import type { World } from "../support/world";
import { pause } from "../support/until";

/** Arms a fault at the requests that `where` matches. */
type Arm = (world: World, where: Where, plugin: Plugin) => Armed;

interface Armed {
  /** Resolves when it strikes for the first time. */
  struck: Promise<void>;
  /** Resolves once it has ended by itself, where it does. */
  over?: Promise<void>;
}

export type Where = Pick<FaultScript, "method" | "path" | "after" | "times">;

interface Fault {
  arm: Arm;
  /** How many POSTs G2 allows one create when this meets its POST; 1 if left out. */
  posts?: (times: number) => number;
  /** Where it lasts, it is what the document calls gone: a whole list without the instance. */
  provesGone?: true;
}

const scripted =
  (fault: FaultScript): Arm =>
  ({ service }, where) => ({ struck: service.control.fault({ ...fault, ...where }).firstHit });

const withAndWithout = (name: string, make: (acted: boolean) => FaultScript) => ({
  [`${name} before acting`]: { arm: scripted(make(false)) },
  [`${name} after acting`]: { arm: scripted(make(true)) },
});

const answered = (status: number, posts?: Fault["posts"]): Record<string, Fault> =>
  Object.fromEntries(
    Object.entries(withAndWithout(`${status}`, (acted) => ({ kind: "status", status, acted }))).map(
      ([name, fault]) => [name, posts ? { ...fault, posts } : fault],
    ),
  );

/** One more after an answered 500, 502, 503 (G2). */
const once = () => 2;
/** The service surely did not act. */
const each = (times: number) => 1 + times;

const bytes = (text: string): FaultScript => ({ kind: "body", text });

export const faults: Readonly<Record<string, Fault>> = {
  "refused connections": { arm: refused, posts: () => Infinity },
  ...withAndWithout("a reset", (acted) => ({ kind: "reset", acted })),
  ...withAndWithout("an orderly end", (acted) => ({ kind: "reset", acted, orderly: true })),
  ...withAndWithout("a time-out", (acted) => ({ kind: "hang", acted })),
  "429": { arm: scripted({ kind: "status", status: 429 }), posts: each },
  "429 with Retry-After": {
    arm: scripted({ kind: "status", status: 429, retryAfter: "0.05" }),
    posts: each,
  },
  "429 with a Retry-After that is no number": {
    arm: scripted({ kind: "status", status: 429, retryAfter: "soon" }),
    posts: each,
  },
  // With the document's envelope these are refusals, taken at their word: nothing was made.
  "400": { arm: scripted({ kind: "status", status: 400 }) },
  "401": { arm: scripted({ kind: "status", status: 401 }) },
  "403": { arm: scripted({ kind: "status", status: 403 }) },
  "404": { arm: scripted({ kind: "status", status: 404 }) },
  ...answered(408),
  ...answered(409),
  ...answered(500, once),
  ...answered(502, once),
  ...answered(503, once),
  ...answered(504),
  ...withAndWithout("a page of HTML with 200", (acted) => ({ kind: "html", acted })),
  // Without the envelope, any proxy's answer.
  ...withAndWithout("a page of HTML with 404", (acted) => ({ kind: "html", status: 404, acted })),
  "a page of HTML with 502 after acting": {
    arm: scripted({ kind: "html", status: 502, acted: true }),
    posts: once,
  },
  ...withAndWithout("a redirect elsewhere", (acted) => ({
    kind: "redirect",
    location: "http://127.0.0.1:9/v2/instances",
    acted,
  })),
  "a cut body": { arm: scripted({ kind: "cutBody" }) },
  "an empty body": { arm: scripted({ kind: "emptyBody" }) },
  "wrong JSON types": { arm: scripted({ kind: "wrongTypes" }) },
  "an empty list": {
    arm: scripted(bytes('{"object":"list","data":[],"has_more":false}')),
    provesGone: true,
  },
  "a list of nothing much": {
    arm: scripted(bytes('{"object":"list","data":[{}],"has_more":false}')),
  },
  "half a document": { arm: scripted(bytes('{"object":"list","data":[{"id":"i-')) },
  "a body of 9 MB": { arm: scripted({ kind: "hugeBody", bytes: 9_000_000 }) },
  "a body by drops": { arm: scripted({ kind: "slowDrip", millisecondsPerByte: 40 }) },
  "a list without the instance": { arm: scripted({ kind: "omitItem" }), provesGone: true },
  "ids twice": { arm: scripted({ kind: "duplicateIds" }) },
  "ids that change": { arm: scripted({ kind: "changeIds" }) },
  "an unknown status": { arm: scripted({ kind: "showStatus", status: "WEIRD" }) },
  "has_more for ever": { arm: scripted({ kind: "hasMoreForever" }) },
  "an instance that ends OFFLINE": { arm: scripted({ kind: "endsAs", status: "OFFLINE" }) },
  "an instance that ends as nobody knows": { arm: scripted({ kind: "endsAs", status: "WEIRD" }) },
  "an instance listed late": { arm: scripted({ kind: "appearsAfter", seconds: 0.3 }) },
  "a clock set an hour ahead": { arm: clockJump(3_600_000) },
  "a clock set an hour back": { arm: clockJump(-3_600_000) },
};

/** The service is away for a moment; a POST, which has a connection of its own, meets just that. */
function refused({ service }: World, where: Where): Armed {
  const away = 250;
  const beforePost = where.method === "POST";
  // Its baseline is under way, and is answered on the connection that it has.
  const at = beforePost ? { method: "GET", path: "/v2/instances", times: 1 } : where;
  const slow = service.control.fault({ ...at, kind: "delay", milliseconds: 40 });
  const struck = slow.firstHit.then(async () => {
    if (beforePost) service.refuseNewConnections();
    else await service.refuseConnections();
  });
  const over = struck.then(() => pause(away)).then(() => service.acceptConnections());
  return { struck, over };
}

function clockJump(milliseconds: number): Arm {
  return ({ service }, where, plugin) => {
    const here = service.control.fault({ ...where, kind: "delay", milliseconds: 1, acted: true });
    return { struck: here.firstHit.then(() => plugin.setClockAhead(milliseconds)) };
  };
}
