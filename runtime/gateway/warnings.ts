/**
 * Warnings about a successful write, sent in the header `Warning` (rule 36). They are not in the body, which has
 * exactly the fields of its resource, so that a caller can send back what it has read.
 */
import { checkContrast, getContrastRule } from '#runtime/contrast'
import { getChildSchemas } from '#runtime/documents/publish'
import { z } from '#runtime/schema'

const mayWarnCache = new WeakMap<z.ZodTypeAny, boolean>()

/** Whether a schema has anything that can cause a warning. */
export function mayWarn(schema: z.ZodTypeAny): boolean {
  let may = mayWarnCache.get(schema)
  if (may === undefined) {
    may = getContrastRule(schema) !== undefined || getChildSchemas(schema).some(mayWarn)
    mayWarnCache.set(schema, may)
  }
  return may
}

const atMost = 5

/**
 * Returns at most five warnings about an answered resource, each beginning with its field.
 */
export function findWarnings(schema: z.ZodTypeAny, resource: unknown): string[] {
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
      const ground = findContrastRule(its)
      const sentence = ground ? checkContrast(ground, field, path, fields) : null
      if (sentence) found.add(sentence)
      collect(its, fields[field], `${path}${field}.`, found)
    }
  } else {
    for (const child of getChildSchemas(schema)) collect(child, value, path, found)
  }
}

/** Finds the contrast rule of a field whose schema may be wrapped in optional, nullable and default. */
function findContrastRule(schema: z.ZodTypeAny): ReturnType<typeof getContrastRule> {
  const ground = getContrastRule(schema)
  if (ground || schema instanceof z.ZodObject || schema instanceof z.ZodArray) return ground
  for (const child of getChildSchemas(schema)) {
    const its = findContrastRule(child)
    if (its) return its
  }
  return undefined
}

/** Formats warnings as the header's value: `299` is a persistent warning, `-` an unnamed agent. */
export const warningHeader = (sentences: readonly string[]): string =>
  sentences
    .map((each) => `299 - "${each.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`)
    .join(', ')

/** Parses the warnings of a header. */
export const parseWarnings = (header: string | undefined): string[] =>
  [...(header ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!.replace(/\\(.)/g, '$1'))
