import { id, named, object, z } from '#runtime/schema'

/** Result for one item of a bulk request. */
export const itemResult = named(
  'ItemResult',
  object({
    id,
    ok: z.boolean(),
    status: z.string().nullable().describe('The current status; null for an unknown id'),
    error: object({ code: z.string(), message: z.string() }).nullable(),
  }),
)
export type ItemResult = z.infer<typeof itemResult>
