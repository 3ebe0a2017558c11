/** `PATCH /store` (rule 12): splits the JSON body into known fields and preferences. */
import { refuse } from '#runtime/errors'
import { parseInput } from '#runtime/gateway/input'
import { checkDepth, isSameJson, type JsonObject } from '../preferences.ts'
import { readOnlyKeys, type StorePatch, storePatch } from './schema.ts'

const settingNames = ['messagingConnectionType', 'attribution', 'preferences'] as const

export interface SplitPatch {
  /** The known fields, validated; the fields of `settings` are moved to the top level. */
  known: Omit<StorePatch, 'settings'>
  /** All other keys, to be merged into the preferences. */
  preferences: JsonObject
}

/**
 * Splits a body into known fields and preferences, and drops read-only keys. `current`: the stored profile; a field with the
 * stored value is not validated. Refuses an invalid field, naming it, and a setting given twice with different values.
 */
export function splitPatch(body: JsonObject, current: JsonObject): SplitPatch {
  const given: JsonObject = {}
  const preferences: JsonObject = {}
  for (const [key, value] of Object.entries(body)) {
    if (readOnlyKeys.has(key)) continue
    checkDepth(key, value)
    if (!Object.hasOwn(storePatch.shape, key)) preferences[key] = value
    else if (!Object.hasOwn(current, key) || !isSameJson(value, current[key])) given[key] = value
  }
  const { settings, ...rest } = parseInput(storePatch, given, 'body') as StorePatch
  return { known: { ...rest, ...mergeSettings(settings ?? {}, rest) }, preferences }
}

type Settings = Pick<StorePatch, (typeof settingNames)[number]>

/** Merges the settings given under `settings` with those given at the top level. */
function mergeSettings(nested: Settings, top: Settings): Settings {
  for (const name of settingNames) {
    if (nested[name] === undefined || top[name] === undefined) continue
    if (!isSameJson(nested[name], top[name])) {
      throw refuse('bad_request', `${name}: differs from settings.${name}: give it once, or the same twice`)
    }
  }
  return { ...top, ...nested }
}
