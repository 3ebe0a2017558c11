/** What reviews and testimonials have in common. */
import { reference } from '#runtime/references'
import { z } from '#runtime/schema'
import { variableFault } from '#runtime/values/variables'

/** Plain text, shown as it is. */
export const plain = (min: number, max: number) =>
  z.string().trim().min(min, 'must not be empty').max(max, `must have at most ${max} characters`)

/** An empty one is kept as null. */
export const optionalText = (max: number) => plain(0, max).nullable()

/** With variables of these names. */
export const knowing = <T extends z.ZodTypeAny>(text: T, names: readonly string[]) =>
  text.superRefine((value: unknown, check) => {
    const fault = typeof value === 'string' ? variableFault(value, new Set(names)) : null
    if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
  })

/** Of a picture: https, or one that was uploaded here (`refuseForeign`). An empty one is kept as null. */
export const pictureUrl = reference(
  'file',
  z
    .string()
    .max(2000)
    .regex(/^(https?:\/\/[^\s]+)?$/, 'must be an https address'),
).nullable()

export const rating = z.number().int().min(1).max(5)

export const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 10:00')
