/** Schemas of widget texts. */
import { line, z } from '#runtime/schema'
import { findVariableIssue } from '#runtime/values/variables'

/** A line of text with variables; refuses an unknown one, and a `{{` that is not closed. */
export function variableLine(min: number, max: number, names: readonly string[]) {
  const known = new Set(names)
  return line(min, max)
    .superRefine((value, check) => {
      const fault = findVariableIssue(value, known)
      if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
    })
    .describe(`Knows ${names.map((name) => `{{${name}}}`).join(', ')}`)
}

/** Optional text; pass it through `emptyToNull` before it is stored. */
export const nullableText = (max: number) => z.string().trim().max(max).nullable()

/** An empty text in a nullable field becomes null. */
export const emptyToNull = (text: string | null): string | null => (text === '' ? null : text)
