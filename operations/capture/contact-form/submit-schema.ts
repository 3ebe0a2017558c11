import { object, z } from '#runtime/schema'

export const submitBody = object({
  token: z.string().min(1).max(600),
  values: z
    .record(z.union([z.string().max(5000), z.boolean()]))
    .refine((values) => Object.keys(values).length <= 50, 'must have at most 50 fields'),
  consent: z.boolean().optional(),
  pageUrl: z.string().max(8000).optional(),
  website: z.string().max(500).optional().describe('Hidden: only machines fill it in'),
})
export type SubmitBody = z.infer<typeof submitBody>
