/** The token is known for a secret before anything else is done with the settings it comes in (G8). */
import { secretTexts, type PropertyMap } from "../property/value";
import type { Cleaner } from "../text";

interface Eyes {
  cleaner: Cleaner;
  env: NodeJS.ProcessEnv;
}

export function hideToken({ cleaner, env }: Eyes, settings: PropertyMap): void {
  for (const token of [...secretTexts(settings["apiToken"], true), env["COMPUTE_API_TOKEN"]]) {
    if (!token) continue;
    cleaner.hide(token);
    // What stands before tells the kind, which is no secret.
    cleaner.hideParts(token.trim().replace(/^sk_[a-z]+_/, ""));
  }
}
