/** Prepares the tests of the project `core`. It is a file of its own, because Jest runs each setup file only once. */
import { prepareEngine } from "../globalSetup";

export default async function globalSetup(): Promise<void> {
  await prepareEngine({ languages: ["yaml", "nodejs"] });
}
