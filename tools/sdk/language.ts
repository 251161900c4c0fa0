/** What is known of a language that there is an SDK for: one file beside this one each. */
import type { ExampleLanguage } from "./examples";

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
