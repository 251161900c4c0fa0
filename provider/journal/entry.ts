/** What the journal notes of one create. It holds no secrets (G8). */
import * as z from "zod";
import { originSchema } from "../origin";

export const entrySchema = z.object({
  ...originSchema.shape,
  urn: z.string(),
  /** The program's own provider of the resource, for the commands that name it. */
  provider: z.string().optional(),
  name: z.string(),
  /** Keyed digest of what was asked for, to tell whether the program still asks for the same. */
  digest: z.string(),
  /** When the POST was about to be sent (ISO 8601). */
  at: z.string(),
  /** Instances that can't be the one created: of the same name before the POST, or of this URN before it. */
  before: z.array(z.string()),
  /** Whether `before` is all there was of that name. */
  beforeComplete: z.boolean(),
  /** Whether the state held an instance of this resource before the POST. */
  replaces: z.boolean(),
  id: z.string().optional(),
  /** Whether the engine surely had the answer: it took leave afterwards. */
  answered: z.literal(true).optional(),
  /** Whether the service called it refused, in words that the document does not give, and no listing showed it. */
  refused: z.literal(true).optional(),
  /** What only the 202 shows; kept for the run that takes the instance over. */
  accepted: z
    .object({
      createdAt: z.string().optional(),
      networks: z.array(
        z.object({
          type: z.string(),
          ipv4: z.string().optional(),
          mac_address: z.string().optional(),
        }),
      ),
    })
    .optional(),
});
export type JournalEntry = z.infer<typeof entrySchema>;
