/** Shows who asks for it the head of each answer, a refusal's too. */
import type { ClientOptions } from "../client";
import type { Link } from "./exchange";

export function heads({ clock, onAnswer }: Pick<ClientOptions, "clock" | "onAnswer">): Link {
  if (!onAnswer) return (next) => next;
  return (next) => async (call) => {
    const asked = clock.date();
    const { status, headers, ...rest } = await next(call);
    onAnswer({ status, headers, asked, answered: clock.date() });
    return { status, headers, ...rest };
  };
}
