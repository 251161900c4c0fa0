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
  return {
    settings,
    store: new Store(openDatabase(settings.database), clock, random),
    tokens: new TokenBook(settings.tokens, settings.strictTokens, clock),
    limiter: new RateLimiter(settings.requestsPerMinute, settings.rateWindow, clock),
    account: settings.account,
  };
}
