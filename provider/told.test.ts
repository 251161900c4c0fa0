/** Tests of what a run says of several instances: what they share is said once, and each further one has a line that says where. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { RequestError } from "./api/requestError";
import type { ClientOptions } from "./api/options";
import { InstanceUnfinished } from "./errors";
import { ledgerFolder } from "./ledger/folder";
import { createProvider } from "./provider";
import type { ConfigureRequest, CreateRequest, Provider } from "./pulumi/calls";
import { propertyMap, Secret, type PropertyValue } from "./pulumi/propertyValue";
import { fail, failed, ready, type Post } from "./testing/fakeService";
import { leaveInDoubt } from "./testing/ledgerRecord";
import { temporaryFolder } from "./testing/temporaryFolder";
import {
  errorOf as failureOf,
  inputsOf,
  linesAt100,
  liveToken,
  scene,
  scopeId,
  urnOf,
  type Scene,
} from "./testing/scene";

interface World extends Scene {
  provider: Provider;
  /** The options of the client that the session has made. */
  client: Partial<ClientOptions>;
}

const configuration: ConfigureRequest = {
  scope: scopeId,
  args: propertyMap({ baseUrl: "https://api.example.com/v2", apiToken: new Secret(liveToken) }),
};

async function configured(of: Scene = scene(), request = configuration): Promise<World> {
  const world = { ...of, provider: createProvider(of.ctx), client: {} };
  of.ctx.createApi = (options) => {
    Object.assign(world.client, options);
    return of.service;
  };
  await world.provider.checkConfig({ urn: "", news: request.args });
  await world.provider.configure(request);
  return world;
}

type Inputs = Record<string, PropertyValue>;

const nameOf = (n: number) => `web-${n + 1}`;

/** Does something for each instance, and returns the errors. */
async function failures(count: number, call: (n: number) => Promise<unknown>): Promise<Error[]> {
  const errors = Array.from({ length: count }, async (_, n) =>
    call(n).then(
      () => [],
      (error: Error) => [error],
    ),
  );
  return (await Promise.all(errors)).flat();
}

/** Calls Create for each instance. `inputs`: those of an instance of this name. */
const failedCreates = (
  { provider }: World,
  count: number,
  inputs: (name: string) => Inputs = () => ({}),
  more: Partial<CreateRequest> = {},
) =>
  failures(count, (n) => {
    const name = nameOf(n);
    const asked = { urn: urnOf(name), inputs: inputsOf({ name, ...inputs(name) }) };
    return provider.create({ ...asked, timeoutSeconds: 900, preview: false, ...more });
  });

const messagesOf = (errors: readonly Error[]) => errors.map(({ message }) => message);

/** Calls Create for each instance, and returns the messages of the errors. */
const create = async (
  world: World,
  count: number,
  inputs: Inputs = {},
  more: Partial<CreateRequest> = {},
) => messagesOf(await failedCreates(world, count, () => inputs, more));

/** Calls Read for each instance that is not ready, as the next preview does. */
async function readAgain(world: World, errors: readonly Error[]): Promise<string[]> {
  const unfinished = errors.filter((error) => error instanceof InstanceUnfinished);
  await nextRun(world);
  const reads = await failures(unfinished.length, async (n) => {
    const empty = { inputs: propertyMap({}), outputs: propertyMap({}) };
    const { id = "", state: { inputs, outputs } = empty } = unfinished[n] ?? {};
    await world.provider.read({ urn: urnOf(nameOf(n)), id, inputs, outputs, timeoutSeconds: 300 });
  });
  return messagesOf(reads);
}

/** As long as those of the service. */
const requestIdOf = (number: number) => `req_${`${number}`.padStart(24, "0")}`;

let requestCount = 0;
beforeEach(() => {
  requestCount = 0;
});
/** The error of an answer, which has a request_id of its own. */
const answer = (status: number, method = "POST", path = "/v2/instances") =>
  new RequestError({
    kind: "answered",
    method,
    path,
    status,
    cause: "Words of the service.",
    service: {
      code: "some_code",
      message: "Words of the service.",
      requestId: requestIdOf(++requestCount),
    },
  });

const refusals = ({ service }: World, count: number) =>
  service.posts.push(...Array.from({ length: count }, () => fail(answer(422)) as never));

/** Lets the plugin be killed when the service has accepted all instances. */
async function killAfterPosts({ service, provider }: World, count: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let posts = 0;
  for (let n = 0; n < count; n++)
    service.posts.push(async (body) => {
      if (++posts === count) {
        provider.cancel("engineGone");
        all.resolve();
      }
      await all.promise;
      return service.accept(body);
    });
}

async function nextRun({ provider }: World): Promise<void> {
  provider.renew();
  await provider.checkConfig({ urn: "", news: configuration.args });
  await provider.configure(configuration);
}

type Cause = (world: World, count: number) => Promise<string[]>;

/** Waits for a port in vain. */
function failedAtPort(world: World, count: number): Promise<Error[]> {
  world.dialer.outcome = () => "ECONNREFUSED";
  world.service.posts.push(...Array.from({ length: count }, () => ready));
  return failedCreates(world, count, () => ({ waitForPort: 22 }), { timeoutSeconds: 60 });
}

/** Ends the wait for the instances with Ctrl-C. */
async function interrupted(world: World, count: number): Promise<Error[]> {
  const ended = failedCreates(world, count);
  await world.clock.sleep(5000);
  world.provider.cancel("interrupted");
  return await ended;
}

/** The first request, which all creates share, fails with this error. */
const atTheStart =
  (errorOf: () => RequestError): Cause =>
  (world, count) => {
    const error = errorOf();
    world.service.accountAnswer = () => Promise.reject(error);
    return create(world, count);
  };

/** For each cause: what happens to the creates. Returns the errors. */
const causes: Readonly<Record<string, Cause>> = {
  "a 401 in the wait": (world, count) => {
    world.service.listFaults.push(undefined, fail(answer(401, "GET")));
    return create(world, count);
  },
  "a 401 at the start": atTheStart(() => answer(401, "GET", "/v2/account")),
  "a 429 with Retry-After": (world, count) => {
    const { service, client } = world;
    const retry = { method: "POST", path: "/v2/instances", error: answer(429), isAsked: true };
    for (let n = 0; n < count; n++)
      service.permitHolds.push(() => client.onRetry?.({ ...retry, inMs: 86_400_000 }));
    return create(world, count);
  },
  "a 503": atTheStart(() => answer(503, "GET", "/v2/account")),
  "a refused connection": atTheStart(() =>
    failed("unreachable", "connect ECONNREFUSED 127.0.0.1:443", "GET"),
  ),
  "a port that does not answer": async (world, count) =>
    messagesOf(await failedAtPort(world, count)),
  "a preview after that": async (world, count) =>
    readAgain(world, await failedAtPort(world, count)),
  "a refused create": (world, count) => {
    refusals(world, count);
    return create(world, count);
  },
  "all flavors refused": (world, count) => {
    refusals(world, 3 * count);
    return create(world, count, { flavorId: "a", fallbackFlavorIds: ["b", "c"] });
  },
  "a 503 to the create": (world, count) => {
    world.service.posts.push(
      ...Array.from({ length: 2 * count }, () => fail(answer(503)) as never),
    );
    return create(world, count);
  },
  "a lost answer": async (world, count) => {
    const lost: Post = (body, _signals, service) => {
      service.set(service.accept(body).id, { status: "ACTIVE" });
      throw failed("unanswered");
    };
    world.service.posts.push(...Array.from({ length: count }, () => lost));
    return messagesOf(await failedCreates(world, count, (name) => ({ __generated: name })));
  },
  "a create in doubt": async (world, count) => {
    await create(world, count, {}, { timeoutSeconds: 5 });
    await nextRun(world);
    return await create(world, count);
  },
  "Ctrl-C in the wait": async (world, count) => messagesOf(await interrupted(world, count)),
  "a preview after Ctrl-C": async (world, count) =>
    readAgain(world, await interrupted(world, count)),
  "another run that creates": async (world, count) => {
    const other = await configured(world.beside());
    for (let n = 0; n < count; n++)
      other.service.permitHolds.push(() => new Promise<void>(() => undefined));
    void create(other, count);
    await world.clock.sleep(5000);
    return await create(world, count, {}, { preview: true });
  },
  "recorded settings that can't work": async (world, count) => {
    world.provider.renew();
    await world.provider.configure({ ...configuration, args: propertyMap({}) });
    return await create(world, count);
  },
  "a create that goes on": async (world, count) => {
    void killAfterPosts(world, count);
    await create(world, count);
    await nextRun(world);
    for (const id of world.service.instances.keys()) world.service.set(id, { status: "ACTIVE" });
    return await create(world, count);
  },
};

/** Returns what a run of so many creates prints about them. */
async function textsOf(cause: string, count: number): Promise<string[]> {
  const world = await configured();
  const errors = (await causes[cause]?.(world, count)) ?? [];
  return [...errors, ...world.messages.warnings.map((text) => text.slice("warning ".length))];
}

test.each([
  ["a 401 in the wait", 5, 9, 24],
  ["a 401 at the start", 4, 8, 23],
  ["a 429 with Retry-After", 4, 8, 23],
  ["a 503", 3, 7, 22],
  ["a refused connection", 2, 6, 21],
  ["a port that does not answer", 5, 9, 24],
  ["a preview after that", 2, 6, 21],
  ["a refused create", 3, 7, 22],
  ["all flavors refused", 3, 7, 22],
  ["a create in doubt", 3, 7, 22],
  ["Ctrl-C in the wait", 2, 6, 21],
  ["a preview after Ctrl-C", 2, 6, 21],
  ["a 503 to the create", 5, 9, 24],
  ["a lost answer", 3, 7, 22],
  ["another run that creates", 2, 6, 21],
  ["a create that goes on", 3, 7, 22],
  ["recorded settings that can't work", 6, 10, 25],
])("%s: 1, 5 and 20 instances have %i, %i and %i lines", async (cause, ...expected) => {
  const found = [];
  for (const count of [1, 5, 20]) {
    const texts = await textsOf(cause, count);
    expect(texts).toHaveLength(count);
    // The engine sorts the messages by resource.
    expect(texts.filter((text) => /, as for web-\d+\.$/.test(text))).toHaveLength(count - 1);
    found.push(texts.reduce((sum, text) => sum + linesAt100(text), 0));
  }
  expect(found).toEqual(expected);
});

test("another answer of the service is in the line of its instance, and one answer is not repeated (G9)", async () => {
  expect((await textsOf("a refused create", 12)).slice(1, 3)).toEqual([
    `nothing was created (code some_code, ${requestIdOf(2)}), as for web-1.`,
    `nothing was created (code some_code, ${requestIdOf(3)}), as for web-1.`,
  ]);
  expect((await textsOf("all flavors refused", 2))[1]).toBe(
    `refused with each flavor (code some_code, ${requestIdOf(18)}), as for web-1.`,
  );
  expect((await textsOf("a 401 in the wait", 2))[1]).toBe(
    "the wait for instance i-2 ended, as for web-1.",
  );
});

test("a first line of more than 160 characters says in few words why, and the next line has the service's own words", async () => {
  const world = await configured();
  const cause = "Words of the service. ".repeat(7).trim();
  const refusal = { kind: "answered", method: "POST", path: "/v2/instances", status: 422 } as const;
  const service = { code: "some_code" };
  world.service.posts.push(fail(new RequestError({ ...refusal, cause, service })) as never);
  expect((await create(world, 1))[0]?.split("\n").slice(0, 2)).toEqual([
    "nothing was created (422):",
    `POST /v2/instances: ${cause} (HTTP 422, code some_code).`,
  ]);
});

test("if an error hook asks again, each instance is told the whole, since the error of the first may not be shown", async () => {
  const world = await configured();
  refusals(world, 4);
  const [whole] = await create(world, 2);
  const again = await create(world, 2);
  expect(again).toEqual([3, 4].map((n) => whole?.replace(requestIdOf(1), requestIdOf(n))));
});

// ── What Check finds ──────────────────────────────────────────────────────────────────────────────

/** A preview in which a setting is not known yet: the engine sends no Configure. */
function notConfigured(): Pick<World, "provider" | "messages"> {
  const { ctx, messages } = scene();
  return { provider: createProvider(ctx), messages };
}

test.each<[string, typeof notConfigured | typeof configured, Inputs, ...number[]]>([
  ["user data that cloud-init ignores", configured, { userData: "echo hello\n" }, 3, 4, 4],
  ["the same before Configure", notConfigured, { userData: "echo hello\n" }, 3, 4, 4],
  ["a name that another resource has, too", configured, { name: "web" }, 0, 3, 3],
])(
  "%s: 1, 5 and 20 instances have lines, which count further instances",
  async (_, begin, inputs, ...expected) => {
    const found = [];
    for (const count of [1, 5, 20]) {
      const { provider, messages } = await begin();
      for (let n = 0; n < count; n++) {
        const news = inputsOf({ name: nameOf(n), ...inputs });
        const asked = { urn: urnOf(nameOf(n)), olds: propertyMap({}), news };
        await provider.check({ ...asked, randomSeed: new Uint8Array([1]) });
      }
      provider.cancel("finished");
      const texts = messages.warnings.map((text) => text.slice("warning ".length));
      found.push(texts.reduce((sum, text) => sum + linesAt100(text), 0));
    }
    expect(found).toEqual(expected);
  },
);

// ── A preview after creates that are in doubt ────────────────────────────────────────────────────

test("a preview says in one message which creates are in doubt, and what `pulumi up` does about them", async () => {
  const world = await configured();
  world.service.posts.push(...Array.from({ length: 8 }, () => fail(answer(503)) as never));
  const errors = await create(world, 4);
  expect(errors.filter((text) => text.includes("is in doubt"))).toHaveLength(4);
  await nextRun(world);
  expect(await create(world, 4, {}, { preview: true })).toEqual([]);
  expect(world.messages.warnings).toEqual([]);
  world.provider.cancel("finished");
  expect(world.messages.warnings).toEqual([
    expect.stringMatching(
      /4 earlier creates are in doubt: ("web-\d", ){2}"web-\d" and 1 more\.\n`pulumi up` first looks/,
    ),
  ]);
});

test("the error of a step that is skipped in an up is no first one to which others refer, since it reaches nobody", async () => {
  const world = await configured();
  const folder = ledgerFolder(world.ctx.env);
  for (const name of [nameOf(0), nameOf(1)])
    await leaveInDoubt(folder, name, { baseUrl: "https://other.example/v2", scope: scopeId });
  const [skipped = ""] = await create(world, 1, {}, { preview: true });
  const [name, inputs] = [nameOf(1), inputsOf({ name: nameOf(1) })];
  const creation = { urn: urnOf(name), inputs, timeoutSeconds: 900, preview: false };
  const { message } = await failureOf(world.provider.create(creation));
  expect(message.split("\n").slice(1)).toEqual(skipped.split("\n").slice(1));
});

// ── A preview whose own request fails ────────────────────────────────────────────────────────────

const refusedConnection = failed("unreachable", "connect ECONNREFUSED 127.0.0.1:443", "GET");

test.each<[string, (world: World) => unknown, RegExp | undefined]>([
  ["a 401", () => Promise.reject(answer(401, "GET")), /: GET .*HTTP 401.*\nThe token is invalid/],
  ["a refused connection", () => Promise.reject(refusedConnection), /ECONNREFUSED.*\nNothing was/],
  [
    "connections that are refused again and again",
    ({ client }) => {
      const retry = { method: "GET", path: "/v2/account", inMs: 1000, isAsked: false };
      client.onRetry?.({ ...retry, error: refusedConnection });
      return new Promise(() => undefined);
    },
    /ECONNREFUSED.*\nNothing was sent/,
  ],
  ["a 503", () => Promise.reject(answer(503, "GET")), undefined],
  ["a lost answer", () => Promise.reject(failed("unanswered", "it broke", "GET")), undefined],
  ["a slow answer", () => new Promise(() => undefined), undefined],
])("after %s, a preview of three creates has one warning or none", async (_, account, words) => {
  const world = await configured();
  world.service.accountAnswer = () => account(world);
  expect(await create(world, 3, {}, { preview: true })).toEqual([]);
  expect(world.messages.warnings).toEqual(words ? [expect.stringMatching(words)] : []);
  const isTold = world.messages.warnings.join().includes("`pulumi up` will fail unless");
  expect(isTold).toBe(words !== undefined);
});

test("after a 401, an up has the errors of its creates, and no warning", async () => {
  const world = await configured();
  world.service.accountAnswer = () => Promise.reject(answer(401, "GET"));
  expect(await create(world, 3)).toHaveLength(3);
  expect(world.messages.warnings).toEqual([]);
});

// ── Where the token came from ────────────────────────────────────────────────────────────────────

test.each<[string, NodeJS.ProcessEnv, string, string]>([
  [
    "the configuration",
    {},
    "default",
    "set a valid one with `pulumi config set --secret compute:apiToken`",
  ],
  ["an explicit provider", {}, "own", 'give the provider "own" a valid one as apiToken'],
  [
    "a variable",
    { COMPUTE_API_TOKEN: liveToken },
    "default",
    "put a valid one in COMPUTE_API_TOKEN",
  ],
  ["a file", { COMPUTE_API_TOKEN_FILE: "token" }, "default", "put a valid one in /"],
])("a refused token from %s is replaced where it was taken from", async (_, env, name, advice) => {
  const world = scene();
  const file = join(temporaryFolder(), "token");
  writeFileSync(file, liveToken);
  Object.assign(
    world.ctx.env,
    "COMPUTE_API_TOKEN_FILE" in env ? { COMPUTE_API_TOKEN_FILE: file } : env,
  );
  const urn = `urn:pulumi:dev::proj::pulumi:providers:compute::${name}`;
  const { apiToken, ...others } = configuration.args;
  const args = propertyMap(Object.keys(env).length > 0 ? others : { ...others, apiToken });
  const { client, provider } = await configured(world, { ...configuration, args, urn });
  await provider.invoke({ token: "compute:index:getAccount", args: propertyMap({}) });
  expect(client.words?.wayToValidToken()).toContain(advice);
});
