/** The languages that there is an SDK for. */
import { dotnet } from "./dotnet";
import { go } from "./go";
import { java } from "./java";
import type { SdkLanguage } from "./language";
import { nodejs } from "./nodejs";
import { python } from "./python";

export const sdkLanguages = { nodejs, python, go, dotnet, java } satisfies Record<
  string,
  SdkLanguage
>;

export type Language = keyof typeof sdkLanguages;
export const sdkNames = Object.keys(sdkLanguages) as Language[];
