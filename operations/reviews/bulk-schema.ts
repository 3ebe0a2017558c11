import { id, named, object, z } from '#runtime/schema'

/** What became of one of several. */
export const itemResult = named(
  'ItemResult',
  object({
    id,
    ok: z.boolean(),
    status: z.string().nullable().describe('As it is now; null for what is not there'),
    error: object({ code: z.string(), message: z.string() }).nullable(),
  }),
)
export type ItemResult = z.infer<typeof itemResult>
