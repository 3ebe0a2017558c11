/** Texts of widgets. */
import { line, z } from '#runtime/schema'
import { variableFault } from '#runtime/values/variables'

/** A line that knows these variables: an unknown one, or a `{{` left open, is refused. */
export function variableLine(min: number, max: number, names: readonly string[]) {
  const known = new Set(names)
  return line(min, max)
    .superRefine((value, check) => {
      const fault = variableFault(value, known)
      if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
    })
    .describe(`Knows ${names.map((name) => `{{${name}}}`).join(', ')}`)
}

/** Text that may be missing; `emptyToNull` before it is kept. */
export const nullableText = (max: number) => z.string().trim().max(max).nullable()

/** An empty text in a nullable field becomes null. */
export const emptyToNull = (text: string | null): string | null => (text === '' ? null : text)
