/** What the handlers of one emulator share. There is no state outside of it. */
import type { AccountBody, Settings } from "./options";
import { RateLimiter } from "./rateLimit";
import { openDatabase } from "./instances/schema";
import { Store } from "./instances/store";
import { TokenBook } from "./tokens";

export interface Service {
  settings: Settings;
  store: Store;
  tokens: TokenBook;
  limiter: RateLimiter;
  /** Can be changed while it runs. */
  account: AccountBody | undefined;
}

export function makeService(settings: Settings): Service {
  const { clock, random } = settings;
  const store = new Store(openDatabase(settings.database), clock, random);
  return { settings, store, ...fresh(settings) };
}

/** As it was when made. */
export function clear(service: Service): void {
  service.store.clear();
  Object.assign(service, fresh(service.settings));
}

function fresh(settings: Settings): Omit<Service, "settings" | "store"> {
  const { clock } = settings;
  return {
    tokens: new TokenBook(settings.tokens, settings.strictTokens, clock),
    limiter: new RateLimiter(settings.requestsPerMinute, settings.rateWindow, clock),
    account: settings.account,
  };
}
