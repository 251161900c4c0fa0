/** Tests what a test shows if it fails and its cleanup fails, too. */
import { expect, test } from "@jest/globals";

/** Its disposal fails. */
const failing = (message: string): AsyncDisposable => ({
  [Symbol.asyncDispose]: () => Promise.reject(new Error(message)),
});

test("if a test and its cleanup fail, Jest gets the errors of both, the test's own first", async () => {
  const body = async () => {
    await using cleanup = new AsyncDisposableStack();
    cleanup.use(failing("third"));
    cleanup.use(failing("second"));
    await using _ = failing("first");
    throw new Error("own");
  };
  const error = await body().catch((thrown: unknown) => thrown);
  // Jest prints the errors of an AggregateError.
  expect(error).toBeInstanceOf(AggregateError);
  const { errors } = error as AggregateError;
  expect(errors).toEqual(["own", "first", "second", "third"].map((text) => new Error(text)));
});
