/**
 * Prepares the tests of the project `core`, whose programs are in two languages. The file is not the one of the project
 * `all`, because Jest runs a setup once for each file, with whichever project it meets first.
 */
import { prepareEngine } from "../globalSetup";

export default async function globalSetup(): Promise<void> {
  await prepareEngine({ languages: ["yaml", "nodejs"] });
}
