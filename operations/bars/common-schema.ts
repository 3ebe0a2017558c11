/** What bars and alerts have in common. */
import { setOf, z } from '#runtime/schema'
import { parseVariables, variableFault } from '#runtime/values/variables'

export const pages = setOf(z.enum(['all', 'home', 'category', 'product', 'cart']), 5, 1).describe(
  'Pages it shows on',
)
export const devices = z.enum(['all', 'mobile', 'desktop'])

/** An address in the shop or elsewhere. */
export const link = z
  .string()
  .max(2000)
  .regex(/^(https:\/\/[^\s]+|\/(?![/\\])[^\s]*)$/, 'must be an https address or a path that starts with /')

export const platformId = z.string().min(1).max(64).describe("The platform's own id")

/** Plain text, shown as it is. */
export const plain = (min: number, max: number) =>
  z.string().trim().min(min, 'must not be empty').max(max, `must have at most ${max} characters`)

/** Plain text with variables of these names; with none where no name is given. */
export const knowing = (text: z.ZodString, names: readonly string[]) =>
  text.superRefine((value, check) => {
    const fault = names.length > 0 ? variableFault(value, new Set(names)) : anyVariable(value)
    if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
  })

function anyVariable(text: string): string | null {
  const parsed = parseVariables(text)
  if ('fault' in parsed) return parsed.fault
  return parsed.parts.some((part) => typeof part !== 'string')
    ? 'has a variable, and there are none here'
    : null
}
