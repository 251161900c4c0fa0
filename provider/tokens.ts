/** What the provider offers, by Pulumi's names for it; apart from what each is, which takes a while to load. */

export const instanceToken = "compute:index:Instance";

export const functionTokens = [
  "compute:index:getInstance",
  "compute:index:getInstances",
  "compute:index:getAccount",
] as const;
export type FunctionToken = (typeof functionTokens)[number];

export function isFunction(token: string): token is FunctionToken {
  return (functionTokens as readonly string[]).includes(token);
}
