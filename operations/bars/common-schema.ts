/** Schemas shared by banners and alerts. */
import { setOf, z } from '#runtime/schema'
import { findVariableIssue, parseVariables } from '#runtime/values/variables'

export const pages = setOf(z.enum(['all', 'home', 'category', 'product', 'cart']), 5, 1).describe(
  'Pages it shows on',
)
export const devices = z.enum(['all', 'mobile', 'desktop'])

/** A path in the shop, or an external https URL. */
export const link = z
  .string()
  .max(2000)
  .regex(/^(https:\/\/[^\s]+|\/(?![/\\])[^\s]*)$/, 'must be an https address or a path that starts with /')

export const platformId = z.string().min(1).max(64).describe("The platform's own id")

/** Plain text, rendered without markup. */
export const plainText = (min: number, max: number) =>
  z.string().trim().min(min, 'must not be empty').max(max, `must have at most ${max} characters`)

/** Text that may use only the variables with these names. */
export const withVariables = (text: z.ZodString, names: readonly string[]) =>
  text.superRefine((value, check) => {
    const fault = names.length > 0 ? findVariableIssue(value, new Set(names)) : findAnyVariable(value)
    if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
  })

function findAnyVariable(text: string): string | null {
  const parsed = parseVariables(text)
  if ('issue' in parsed) return parsed.issue
  return parsed.parts.some((part) => typeof part !== 'string')
    ? 'has a variable, and there are none here'
    : null
}
