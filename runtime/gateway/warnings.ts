/**
 * What a write that went well warns of, in the header `Warning` (rule 36): bodies have exactly the fields that their
 * resource has, so that what is read can be compared and sent back, and the warning stands beside them.
 */
import { faintness, groundOf } from '#runtime/contrast'
import { childrenOf } from '#runtime/documents/publish'
import { z } from '#runtime/schema'

const known = new WeakMap<z.ZodTypeAny, boolean>()

/** Whether there is anything in it that is warned of. */
export function mayWarn(schema: z.ZodTypeAny): boolean {
  let may = known.get(schema)
  if (may === undefined) {
    may = groundOf(schema) !== undefined || childrenOf(schema).some(mayWarn)
    known.set(schema, may)
  }
  return may
}

const atMost = 5

/** Sentences about a resource as it was answered, each beginning with its field; as many as a refusal would name. */
export function warningsOf(schema: z.ZodTypeAny, resource: unknown): string[] {
  const found = new Set<string>()
  collect(schema, resource, '', found)
  return [...found].slice(0, atMost)
}

function collect(schema: z.ZodTypeAny, value: unknown, path: string, found: Set<string>): void {
  if (value === null || typeof value !== 'object' || !mayWarn(schema)) return
  if (schema instanceof z.ZodArray) {
    const entries = value as unknown[]
    for (const [at, entry] of entries.entries()) collect(schema.element, entry, `${path}${at}.`, found)
  } else if (schema instanceof z.ZodObject) {
    const fields = value as Record<string, unknown>
    for (const [field, its] of Object.entries(schema.shape as z.ZodRawShape)) {
      const ground = groundWithin(its)
      const sentence = ground ? faintness(ground, field, path, fields) : null
      if (sentence) found.add(sentence)
      collect(its, fields[field], `${path}${field}.`, found)
    }
  } else {
    for (const child of childrenOf(schema)) collect(child, value, path, found)
  }
}

/** Of a field, through what makes it optional, nullable or defaulted. */
function groundWithin(schema: z.ZodTypeAny): ReturnType<typeof groundOf> {
  const ground = groundOf(schema)
  if (ground || schema instanceof z.ZodObject || schema instanceof z.ZodArray) return ground
  for (const child of childrenOf(schema)) {
    const its = groundWithin(child)
    if (its) return its
  }
  return undefined
}

/** As a header: `299` is a warning that stays until something is done about it, `-` says nothing of who warns. */
export const warningHeader = (sentences: readonly string[]): string =>
  sentences
    .map((each) => `299 - "${each.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`)
    .join(', ')

/** The sentences of a header again. */
export const warningsIn = (header: string | undefined): string[] =>
  [...(header ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replace(/\\(.)/g, '$1'))
