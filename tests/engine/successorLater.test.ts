/** Tests what becomes of a server whose DELETE was refused, if its replacement stops serving later (G4). */
import { expect, test } from "@jest/globals";
import { destroyPath, destroys, Fixture } from "./support/fixture";
import { oneInstance } from "./support/programs";
import { tokens } from "./support/stack";
import { expectAgreement, printed } from "./support/typing";

interface Loss {
  what: string;
  lose: (fixture: Fixture, next: string) => void;
  /** How the next server comes to serve again. If the service does not have it any more, Pulumi makes another one. */
  restore: (fixture: Fixture, next: string) => void;
}

const statusIs =
  (status: string) =>
  ({ control }: Fixture, id: string) =>
    void control.setStatus(id, status);

const losses: Loss[] = [
  { what: "is OFFLINE", lose: statusIs("OFFLINE"), restore: statusIs("ACTIVE") },
  { what: "has an unknown status", lose: statusIs("ERROR"), restore: statusIs("ACTIVE") },
  {
    what: "is gone",
    lose: ({ control }, id) => void control.remove(id),
    restore: () => undefined,
  },
];

test.each(losses)(
  "after a refused DELETE, the old server serves on while the new one $what, and the printed command ends that",
  async ({ lose, restore }) => {
    await using fixture = await Fixture.create({
      token: tokens.live,
      config: { destroyPath },
      service: { destroyPath },
    });
    const { stack, control } = fixture;
    await stack.up();
    const [old = ""] = fixture.ids();
    stack.program(oneInstance({ flavorId: "premium-8" }));
    control.fault({ ...destroys, kind: "status", status: 409 });
    await stack.fail("up");
    const [, next = ""] = fixture.ids();
    expect(await stack.ids()).toEqual([old, next].sort());
    lose(fixture, next);

    const refused = await stack.fail("up");

    expect(refused).toContain(`instance ${old} was not deleted: its replacement ${next} `);
    expect(fixture.ids()).toContain(old);
    restore(fixture, next);
    await stack.type(printed(refused, "pulumi up"));
    expect(fixture.ids()).toHaveLength(1);
    expect(fixture.ids()).not.toContain(old);
    await expectAgreement(fixture);
  },
);
