/** Merges and limits a store's free-form JSON preferences (merge patches, RFC 7386). */
import { isDeepStrictEqual } from 'node:util'
import { refuse } from '#runtime/errors'
import { truncate } from '#runtime/values/truncate'

export type JsonObject = Record<string, unknown>

const maxBytes = 64 * 1024
const maxDepth = 10

/** Applies a merge patch: objects are merged at every depth, null removes a key, any other value replaces. */
export function mergePatch(stored: unknown, patch: JsonObject): JsonObject {
  const merged: JsonObject = isObject(stored) ? { ...stored } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = isObject(value) ? mergePatch(merged[key], value) : value
  }
  return merged
}

/** Refuses preferences that are too deep or too large. The preferences object itself is level 1. */
export function checkPreferences(preferences: JsonObject): void {
  const open: { value: unknown; depth: number }[] = [{ value: preferences, depth: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth > maxDepth) {
      throw refuse('bad_request', `preferences: must not be more than ${maxDepth} levels deep`)
    }
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 })
  }
  if (Buffer.byteLength(JSON.stringify(preferences)) > maxBytes) {
    throw refuse('bad_request', 'preferences: must not be larger than 64 KiB as JSON')
  }
}

/** Refuses a value that is nested so deeply that comparing it would overflow the stack. */
export function checkDepth(name: string, root: unknown): void {
  const open = [{ value: root, depth: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue
    // One level more than the limit, because `settings` contains the preferences one level deeper.
    if (next.depth > maxDepth + 1) {
      throw refuse('bad_request', `${truncate(name, 100)}: must not be more than ${maxDepth} levels deep`)
    }
    for (const child of Object.values(next.value)) open.push({ value: child, depth: next.depth + 1 })
  }
}

/** Compares JSON values, ignoring the order of keys. */
export const isSameJson = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(roundTrip(one), roundTrip(other))

/** The value after a JSON round trip, which for example turns −0 into 0. */
const roundTrip = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
