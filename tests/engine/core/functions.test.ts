/** Tests the functions of the provider, `.get()`, and outputs that other resources use. */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { instances } from "../support/programs";
import { tokens } from "../support/stack";

const invoke = (name: string, args: object = {}) => ({
  "fn::invoke": { function: `compute:${name}`, arguments: args },
});

test("another resource can use the addresses of an instance, which it gets after the create", async () => {
  await using fixture = await Fixture.create({
    program: instances(
      { web: {}, db: { inputs: { userData: "db for ${web.ipv4} ${web.privateIpv4}" } } },
      {
        outputs: {
          ipv4: "${web.ipv4}",
          network: "${web.networks[0].ipv4}",
          mac: "${web.networks[0].macAddress}",
          created: "${web.createdAt}",
        },
      },
    ),
  });

  await fixture.stack.preview();
  await fixture.stack.up();

  const [web] = fixture.control.instances();
  expect(await fixture.stack.outputs()).toEqual({
    ipv4: web?.ipv4_public,
    network: web?.networks[0]?.ipv4,
    mac: web?.networks[0]?.mac_address,
    created: expect.stringMatching(/^\d{4}-/),
  });
  const posted = fixture.control.requests().filter(({ method }) => method === "POST");
  expect(posted.map(({ name }) => name?.replace(/-.*/, ""))).toEqual(["web", "db"]);
});

test("getInstance, getInstances and getAccount return the data of the service", async () => {
  const variables = {
    byId: invoke("getInstance", { id: "i-one" }),
    byName: invoke("getInstance", { name: "two" }),
    all: invoke("getInstances"),
    offline: invoke("getInstances", { status: "OFFLINE" }),
    account: invoke("getAccount"),
  };
  const outputs = {
    byId: "${byId}",
    byName: "${byName.id}",
    all: "${all.instances}",
    offline: "${offline.instances}",
    complete: "${all.complete}",
    account: "${account}",
  };
  await using fixture = await Fixture.create({
    program: instances({}, { variables, outputs }),
  });
  const { control } = fixture;
  const one = control.insert({ id: "i-one", name: "one" });
  const two = control.insert({ id: "i-two", name: "two", status: "OFFLINE" });
  control.insert({ id: "i-live", name: "one", tokenKind: "live" });
  control.setAccount({ json: { id: "account-1", quota: 5 } });

  await fixture.stack.up();

  const summary = ({ id, name, ipv4_public }: typeof one, status: string) => ({
    id,
    name,
    status,
    ipv4: ipv4_public,
  });
  const shown = await fixture.stack.succeed("stack", "output", "account", "--show-secrets");
  const account = JSON.parse(shown) as { details: string };
  expect(account).toMatchObject({ tokenKind: "test", baseUrl: fixture.service.url });
  expect(JSON.parse(account.details)).toEqual({ id: "account-1", quota: 5 });
  expect(await fixture.stack.outputs()).toEqual({
    byId: summary(one, "ACTIVE"),
    byName: two.id,
    all: [summary(one, "ACTIVE"), summary(two, "OFFLINE")],
    offline: [summary(two, "OFFLINE")],
    complete: true,
    // The whole output is secret, because its details are.
    account: "[secret]",
  });
});

test("a stack can read an instance of another stack with .get(), and its destroy leaves the instance alone", async () => {
  const web = { type: "compute:Instance", get: { id: "i-shared" } };
  await using fixture = await Fixture.create({
    program: instances({}, { resources: { web }, outputs: { ipv4: "${web.ipv4}" } }),
    token: tokens.live,
  });
  const shared = fixture.control.insert({
    id: "i-shared",
    name: "shared",
    tokenKind: "live",
    status: "PROVISIONING",
  });

  await fixture.stack.up();

  expect(await fixture.stack.outputs()).toEqual({ ipv4: shared.ipv4_public });
  expect((await fixture.stack.instance()).outputs).toMatchObject({ status: "PROVISIONING" });
  await fixture.stack.destroy();
  expect(fixture.ids()).toEqual(["i-shared"]);
  expect(fixture.posts()).toBe(0);
});
