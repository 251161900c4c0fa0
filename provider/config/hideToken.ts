/** The token is known for a secret before anything else is done with the settings it comes in (G8). */
import { secretTexts, type PropertyMap } from "../propertyValue";
import type { Redactor } from "../redaction";

interface Eyes {
  redactor: Redactor;
  env: NodeJS.ProcessEnv;
}

export function hideToken({ redactor, env }: Eyes, settings: PropertyMap): void {
  for (const token of [...secretTexts(settings["apiToken"], true), env["COMPUTE_API_TOKEN"]]) {
    if (!token) continue;
    redactor.hide(token);
    // What stands before tells the kind, which is no secret.
    redactor.hideParts(token.trim().replace(/^sk_[a-z]+_/, ""));
  }
}
