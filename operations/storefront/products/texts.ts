/** Schemas of widget texts. */
import { line, z } from '#runtime/schema'
import { findVariableIssue } from '#runtime/values/variables'

/** A line of text with variables. Refuses an unknown variable, and a `{{` that is not closed. */
export function variableLine(min: number, max: number, names: readonly string[]) {
  const known = new Set(names)
  return line(min, max)
    .superRefine((value, check) => {
      const fault = findVariableIssue(value, known)
      if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
    })
    .describe(`Knows ${names.map((name) => `{{${name}}}`).join(', ')}`)
}

/** An optional text. */
export const nullableText = (max: number) => z.string().trim().max(max).nullable()
