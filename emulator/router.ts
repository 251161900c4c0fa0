/** From method and path to a handler: the endpoints of the document, each with the scope it needs. */
import { paths } from "../provider/api/contract";
import { methodNotAllowed, notFound, rateLimited, type Answer } from "./http/answers";
import type { InstanceEffects } from "./instances/lifecycle";
import { decoded, type ServiceRequest } from "./http/request";
import { account } from "./routes/account";
import { createInstance } from "./routes/createInstance";
import { destroyInstance } from "./routes/destroyInstance";
import { listInstances } from "./routes/listInstances";
import type { Service } from "./service";
import { requireScope, type Caller, type Scope } from "./tokens";

interface Route {
  method: string;
  path: string;
  scope: Scope;
  handle: (call: Call) => Answer;
}

interface Call {
  caller: Caller;
  request: ServiceRequest;
  effects: InstanceEffects;
  /** What stands for `{id}` in the path. */
  id: string;
}

export class Router {
  private readonly routes: readonly Route[];

  constructor(private readonly service: Service) {
    const { destroyPath } = service.settings;
    this.routes = [
      {
        ...{ method: "GET", path: paths.account, scope: "account" },
        handle: ({ caller }) => account(service, caller),
      },
      {
        ...{ method: "GET", path: paths.instances, scope: "list" },
        handle: ({ caller, request }) => listInstances(service, caller, request),
      },
      {
        ...{ method: "POST", path: paths.instances, scope: "create" },
        handle: ({ caller, request, effects }) => createInstance(service, caller, request, effects),
      },
      ...(destroyPath === undefined
        ? []
        : [
            {
              ...{ method: "DELETE", path: destroyPath, scope: "destroy" as const },
              handle: ({ caller, id }: Call) => destroyInstance(service, caller, id),
            },
          ]),
    ];
  }

  /** In the order of the checks: who (401), how often (429), what (404, 405), allowed (403), valid (400). */
  answer(request: ServiceRequest, effects: InstanceEffects): Answer {
    const caller = this.service.tokens.identify(request.authorization);
    const here = this.routes.flatMap((route) => {
      const match = matchPath(route.path, request.path);
      return match === undefined ? [] : [{ route, id: match.id }];
    });
    const found = here.find(({ route }) => route.method === request.method);
    this.limit(caller, request.method, here[0]?.route.path ?? "unknown");
    if (here.length === 0) throw notFound(`There is nothing at ${request.path}.`);
    if (found === undefined) {
      const methods = here.map(({ route }) => route.method);
      throw methodNotAllowed(request.method, request.path, methods);
    }
    requireScope(caller, found.route.scope);
    return found.route.handle({ caller, request, effects, id: found.id });
  }

  private limit(caller: Caller, method: string, path: string): void {
    const endpoint = this.service.settings.rateScope === "path" ? path : `${method} ${path}`;
    if (!this.service.limiter.admit(endpoint, caller.token)) throw rateLimited();
  }
}

/** Undefined when the path is another one. */
function matchPath(pattern: string, path: string): { id: string } | undefined {
  const [before = "", after] = pattern.split("{id}");
  if (after === undefined) return pattern === path ? { id: "" } : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const raw = path.slice(before.length, path.length - after.length);
  if (raw === "" || raw.includes("/")) return undefined;
  const id = decoded(raw);
  return id === undefined ? undefined : { id };
}
