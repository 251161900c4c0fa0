/** Every answer as the document gives it, to the letter: the emulator sends nothing else of its own accord. */
import * as z from "zod";
import { instanceStatuses, pageLimit, requestIdPrefix } from "../../provider/api/contract";

const listItem = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  status: z.enum(instanceStatuses),
  ipv4_public: z.ipv4().optional(),
});

const network = z.strictObject({
  type: z.string(),
  ipv4: z.ipv4(),
  mac_address: z
    .string()
    .regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i)
    .optional(),
});

export const listForm = z.strictObject({
  object: z.literal("list"),
  data: z.array(listItem).max(pageLimit.max),
  has_more: z.boolean(),
});

export const acceptedForm = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  status: z.literal("PROVISIONING"),
  created_at: z.iso.datetime(),
  networks: z.array(network),
});

export const errorForm = z.strictObject({
  error: z.strictObject({
    code: z.string().min(1),
    message: z.string().min(1),
    doc_url: z.string().regex(/\/errors#.+$/),
    request_id: z.string().startsWith(requestIdPrefix),
  }),
});
