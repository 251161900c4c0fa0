import { expect, test } from "@jest/globals";
import { deferred } from "./deferred";
import { propertyMap } from "./propertyValue";
import { scriptedProvider } from "./rpc/testing/scriptedProvider";

const request = { news: propertyMap({}) };

function setUp() {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const scripted = scriptedProvider();
  const loads: number[] = [];
  const provider = deferred(async () => {
    loads.push(1);
    await gate;
    return scripted.provider;
  });
  const called = () => scripted.calls.map(([name]) => name);
  return { provider, open, loads, called };
}

test("Cancel and a new engine load nothing", () => {
  const { provider, loads } = setUp();
  provider.cancel(true);
  provider.renew();
  expect(loads).toEqual([]);
});

test("the first call loads, once, and those that come meanwhile follow in their order", async () => {
  const { provider, open, loads, called } = setUp();
  const first = provider.checkConfig(request);
  const second = provider.configure({ scope: { kind: "none" }, args: propertyMap({}) });
  open();
  await Promise.all([first, second, provider.checkConfig(request)]);
  expect(called()).toEqual(["checkConfig", "configure", "checkConfig"]);
  expect(loads).toEqual([1]);
});

test("a Cancel that comes while it loads is told before any call", async () => {
  const { provider, open, called } = setUp();
  const call = provider.checkConfig(request);
  provider.cancel(true);
  open();
  await call;
  expect(called()).toEqual(["cancel", "checkConfig"]);
});

test("a new engine takes back the Cancel of the one before", async () => {
  const { provider, open, called } = setUp();
  provider.cancel(true);
  provider.renew();
  open();
  await provider.checkConfig(request);
  provider.cancel(true);
  provider.renew();
  expect(called()).toEqual(["checkConfig", "cancel", "renew"]);
});
