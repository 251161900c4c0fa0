/**
 * Whether these tests run the oldest engine that the provider works with. It prints some things in other
 * words, keeps no logs of its own, and has neither `pulumi do` nor `state taint`.
 */
export const isOldest = process.env["COMPUTE_TEST_ENGINE"] === "oldest";
