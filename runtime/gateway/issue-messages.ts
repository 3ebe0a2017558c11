/** Writes the sentences of a 400: one per issue of zod, each with the field and the remedy. */
import type { z } from '#runtime/schema'
import { truncate } from '#runtime/values/truncate'

const issuesShown = 5

export const shorten = (path: string): string => (path.length > 100 ? `${truncate(path, 100)}…` : path)
/** `1 entry`, `2 entries`. */
export const plural = (n: number | bigint, one: string, many: string): string =>
  `${n} ${Number(n) === 1 ? one : many}`

/** The message of a 400. */
export function describeIssues(error: z.ZodError, place: string): string {
  const sentences: string[] = []
  for (const issue of error.issues.flatMap(flattenUnionIssues)) {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys)
        sentences.push(`${shorten(path ? `${path}.${key}` : key)}: is not a known field`)
    } else sentences.push(`${shorten(path || place)}: ${issue.message}`)
  }
  return [...new Set(sentences)].slice(0, issuesShown).join('; ')
}

/** Replaces a union's issue by the issues of the member that came closest, or by one issue that lists all values. */
function flattenUnionIssues(issue: z.ZodIssue): z.ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const members = issue.unionErrors.map((error) => error.issues.flatMap(flattenUnionIssues))
  const accepted = members.map(listAccepted)
  if (accepted.every((values) => values !== null))
    return [{ code: 'custom', path: issue.path, message: oneOf(accepted.flat()) }]
  const closest = members.sort(
    (a, b) => Number(isTypeIssue(a)) - Number(isTypeIssue(b)) || a.length - b.length,
  )[0]
  return closest ?? [issue]
}
const isTypeIssue = (issues: z.ZodIssue[]): boolean =>
  issues.length === 1 && (issues[0]!.code === 'invalid_type' || issues[0]!.code === 'invalid_literal')

/** The values that a member of a union accepts, if it is a literal or an enum and got a value; otherwise null. */
function listAccepted([issue, ...others]: z.ZodIssue[]): unknown[] | null {
  if (!issue || others.length > 0 || ('received' in issue && (issue.received ?? 'undefined') === 'undefined'))
    return null
  if (issue.code === 'invalid_literal') return [issue.expected]
  if (issue.code === 'invalid_enum_value') return issue.options
  return issue.code === 'invalid_type' ? parseQuoted(issue.expected) : null
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.join(', ')}`

/** The values in zod's text of an enum, `'a' | 'b'`; null for the name of a type. */
const parseQuoted = (expected: string): string[] | null =>
  expected.startsWith("'") ? expected.slice(1, -1).split("' | '") : null

const typeNames: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

/** Whether the schema has no sentence of its own for a wrong type. */
const isZodSentence = (text: string): boolean => /^(?:Required$|Expected |Invalid )/.test(text)

export const messages: z.ZodErrorMap = (issue, context) => {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.received === 'undefined') return { message: 'is required' }
      if (issue.received === 'null') return { message: 'must not be null' }
      if (!isZodSentence(context.defaultError)) return { message: context.defaultError }
      const values = parseQuoted(issue.expected)
      return { message: values ? oneOf(values) : `must be ${typeNames[issue.expected] ?? issue.expected}` }
    }
    case 'too_small':
    case 'too_big':
      return { message: describeBound(issue) }
    case 'invalid_enum_value':
      return { message: oneOf(issue.options) }
    case 'invalid_union_discriminator':
      return { message: oneOf(issue.options) }
    case 'invalid_literal':
      if (issue.received === undefined) return { message: 'is required' }
      if (!isZodSentence(context.defaultError)) return { message: context.defaultError }
      return { message: oneOf([issue.expected]) }
    case 'invalid_string':
      if (issue.validation === 'uuid')
        return { message: 'must be an id such as 01980000-0000-7000-8000-000000000000' }
      if (issue.validation === 'email') return { message: 'must be an email address' }
      return { message: 'has the wrong form' }
    case 'not_multiple_of':
      return { message: `must be a multiple of ${issue.multipleOf}` }
    case 'not_finite':
      return { message: 'must be a finite number' }
    default:
      return { message: context.defaultError === 'Invalid input' ? 'is not valid' : context.defaultError }
  }
}

function describeBound(issue: z.ZodTooSmallIssue | z.ZodTooBigIssue): string {
  const isLeast = issue.code === 'too_small'
  const bound = isLeast ? issue.minimum : issue.maximum
  if (issue.type === 'string' && isLeast && bound === 1) return 'must not be empty'
  const word = issue.exact ? 'exactly' : isLeast ? 'at least' : 'at most'
  if (issue.type === 'string') return `must have ${word} ${plural(bound, 'character', 'characters')}`
  if (issue.type === 'array' || issue.type === 'set')
    return `must have ${word} ${plural(bound, 'entry', 'entries')}`
  if (!issue.inclusive) return `must be ${isLeast ? 'more' : 'less'} than ${bound}`
  return `must be ${word} ${bound}`
}

export const queryMessages: z.ZodErrorMap = (issue, context) =>
  issue.code === 'invalid_type' && issue.received === 'array'
    ? { message: 'must be given once' }
    : messages(issue, context)
