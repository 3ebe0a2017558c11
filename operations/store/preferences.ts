/** A store's own free JSON: JSON merge patches (RFC 7386) and their bounds. */
import { isDeepStrictEqual } from 'node:util'
import { refuse } from '#runtime/errors'
import { cut } from '#runtime/values/cut'

export type JsonObject = Record<string, unknown>

const bytesAtMost = 64 * 1024
const depthAtMost = 10

/** What is stored after a merge patch: objects merge at every depth, null removes a key, all else replaces. */
export function mergePatch(stored: unknown, patch: JsonObject): JsonObject {
  const merged: JsonObject = isObject(stored) ? { ...stored } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else merged[key] = isObject(value) ? mergePatch(merged[key], value) : value
  }
  return merged
}

/**
 * Refuses preferences that are too deep, too large, or hold a number that JSON cannot. Depth: an object or list is
 * one deeper than what it holds, the preferences themselves included.
 */
export function checkPreferences(preferences: JsonObject): void {
  const open: { value: unknown; depth: number; path: string }[] = [
    { value: preferences, depth: 1, path: 'preferences' },
  ]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth, path } = next
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw refuse('bad_request', `${path}: must be a finite number`)
    }
    if (typeof value !== 'object' || value === null) continue
    if (depth > depthAtMost) {
      throw refuse('bad_request', `preferences: must not be more than ${depthAtMost} levels deep`)
    }
    for (const [key, child] of Object.entries(value)) {
      open.push({ value: child, depth: depth + 1, path: cut(`${path}.${key}`, 100) })
    }
  }
  if (Buffer.byteLength(JSON.stringify(preferences)) > bytesAtMost) {
    throw refuse('bad_request', 'preferences: must not be larger than 64 KiB as JSON')
  }
}

/** Refuses a value of a request that is so deep that comparing it would overflow the stack. */
export function refuseDepth(name: string, root: unknown): void {
  const open = [{ value: root, depth: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue
    // `settings` holds the preferences one level down.
    if (next.depth > depthAtMost + 1) {
      throw refuse('bad_request', `${cut(name, 100)}: must not be more than ${depthAtMost} levels deep`)
    }
    for (const child of Object.values(next.value)) open.push({ value: child, depth: next.depth + 1 })
  }
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export const isSameJson = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(plain(one), plain(other))

/** As it is once it was written and read: −0 is 0. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
