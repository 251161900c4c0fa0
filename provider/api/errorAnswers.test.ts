/** Tests the errors that the client makes of error responses (G9). */
import { expect, test } from "@jest/globals";
import type { RequestError } from "./requestError";
import { answer, type Reaction } from "./testing/scriptedServer";
import { failureOf, never, testClient, testToken, withServer } from "./testing/testClient";

const account = "GET /v2/account";

function refusedWith(react: Reaction): Promise<RequestError> {
  return withServer([{ expect: account, react }], ({ baseUrl }) =>
    failureOf(testClient(baseUrl).account(never)),
  );
}

const envelope = {
  code: "invalid_parameter",
  message: "flavor_id is missing",
  doc_url: "https://docs.example/errors#invalid_parameter",
  request_id: "req_1",
};

test("the fields of the error envelope are in the error and in its message (G9)", async () => {
  const failure = await refusedWith(answer(400, { error: envelope }));
  expect(failure).toMatchObject({
    kind: "answered",
    status: 400,
    hasEnvelope: true,
    method: "GET",
    path: "/v2/account",
    service: {
      code: "invalid_parameter",
      message: "flavor_id is missing",
      docUrl: "https://docs.example/errors#invalid_parameter",
      requestId: "req_1",
    },
  });
  expect(failure.message).toBe(
    "GET /v2/account: flavor_id is missing (HTTP 400, code invalid_parameter, request_id req_1, " +
      "see https://docs.example/errors#invalid_parameter)",
  );
});

test("the error of a request has the words about the run's settings", async () => {
  const steps = [{ expect: account, react: answer(401, { error: envelope }) }];
  const words = { toChange: () => "", wayToValidToken: () => "put a valid one there" };
  const failure = await withServer(steps, ({ baseUrl }) =>
    failureOf(testClient(baseUrl, { words }).account(never)),
  );
  expect(failure).toMatchObject({ about: "token", words });
});

test("a malformed field of the envelope does not hide the other fields", async () => {
  const error = { ...envelope, code: 7, message: null, more: true };
  const failure = await refusedWith(answer(401, { error }));
  expect(failure.service).toEqual({
    code: undefined,
    message: undefined,
    docUrl: envelope.doc_url,
    requestId: "req_1",
  });
  expect(failure.message).toMatch(/the service answered Unauthorized \(HTTP 401, request_id req_1/);
});

test("the service's message becomes one short line without control characters or the token (G8)", async () => {
  const message = `red \u001b[31m\n\n alert ${testToken} ${"x".repeat(5000)}`;
  const failure = await refusedWith(answer(403, { error: { ...envelope, message } }));
  expect(failure.service.message).toMatch(/^red \[31m alert \[secret\] x+…$/);
  expect(failure.service.message?.length).toBe(1000);
});

const html = { "content-type": "text/html" };
const bodies: [string, Reaction, RegExp][] = [
  ["empty", answer(404), /the service answered Not Found \(HTTP 404\)$/],
  ["text", answer(404, "no route\nhere"), /Not Found: no route here \(HTTP 404\)$/],
  [
    "HTML",
    answer(404, "<!--x--><style>p{}</style><title>nginx</title><p>Gone\u0007 away</p>", html),
    /Not Found: an HTML page: nginx Gone away \(HTTP 404\)$/,
  ],
  // To search for the end of each of them would take half an hour.
  [
    "HTML without ends",
    answer(404, "<script ".repeat(1_000_000), html),
    /HTML page: +\(HTTP 404\)$/,
  ],
  ["other JSON", answer(404, { error: "no" }), /Not Found: \{"error":"no"\} \(HTTP 404\)$/],
  ["long", answer(404, "😀".repeat(9000)), /Not Found: (😀){99}\ufffd… \(HTTP 404\)$/],
];
test.each(bodies)(
  "the message says in short what is in an error body that is %s",
  async (_, react, message) => {
    const failure = await refusedWith(react);
    expect(failure.message).toMatch(message);
    expect(failure.hasEnvelope).toBe(false);
  },
);
