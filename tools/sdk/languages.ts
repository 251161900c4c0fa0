/** The languages that there is an SDK for. */
import { dotnet } from "./dotnet";
import type { ExampleLanguage } from "./examples";
import { go } from "./go";
import { java } from "./java";
import { nodejs } from "./nodejs";
import { python } from "./python";

export interface SdkLanguage {
  /** For messages: "Node.js". */
  title: string;
  /** Which of the two generator programs knows the language. */
  generator: "sdkgen" | "sdkgen-more";
  example: ExampleLanguage;
  /** A fenced block: what adds the package to a project. */
  install: string;
  /** Where the package is below what the generator wrote, if not there itself. */
  root?: string;
  /** Adds to the generated package what its ecosystem wants to know. */
  complete(directory: string): void | Promise<void>;
}

export const sdkLanguages = { nodejs, python, go, dotnet, java } satisfies Record<
  string,
  SdkLanguage
>;

export type Language = keyof typeof sdkLanguages;
export const sdkNames = Object.keys(sdkLanguages) as Language[];
