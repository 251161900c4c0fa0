/** What a review environment is made of: a Pulumi program as a function. */
import * as compute from "pulumi-compute-instances";

export interface Size {
  servers: number;
}

export function reviewProgram({ servers }: Size) {
  return async () => {
    // A live token is refused before anything is made: nothing of a review is ever billed.
    const provider = new compute.Provider("reviews", { requireTokenKind: "test" });
    const made = Array.from(
      { length: servers },
      (_, index) =>
        new compute.Instance(
          `web-${index + 1}`,
          { flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-dev" },
          { provider },
        ),
    );
    return { names: made.map(({ name }) => name), ipv4: made.map(({ ipv4 }) => ipv4) };
  };
}
