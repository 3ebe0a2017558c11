/** Schemas shared by reviews and testimonials. */
import { reference } from '#runtime/references'
import { z } from '#runtime/schema'
import { findVariableIssue } from '#runtime/values/variables'

/** A trimmed text that is shown as it is, without markup. */
export const plainText = (min: number, max: number) =>
  z.string().trim().min(min, 'must not be empty').max(max, `must have at most ${max} characters`)

/** A text or null. */
export const optionalText = (max: number) => plainText(0, max).nullable()

/** Refuses a text with variables other than `names`. */
export const withVariables = <T extends z.ZodTypeAny>(text: T, names: readonly string[]) =>
  text.superRefine((value: unknown, check) => {
    const fault = typeof value === 'string' ? findVariableIssue(value, new Set(names)) : null
    if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
  })

/**
 * URL of a picture. `refuseForeignUrl` then checks that it is https, or a file
 * uploaded here.
 */
export const pictureUrl = reference(
  'file',
  z
    .string()
    .max(2000)
    .regex(/^(https?:\/\/[^\s]+)?$/, 'must be an https address'),
).nullable()

export const rating = z.number().int().min(1).max(5)

export const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 10:00')
