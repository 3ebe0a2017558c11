/** `PATCH /store` (rule 12): what of a free JSON body goes where. */
import { refuse } from '#runtime/errors'
import { read } from '#runtime/gateway/input'
import { isSameJson, type JsonObject, refuseDepth } from '../preferences.ts'
import { readOnlyKeys, type StorePatch, storePatch } from './schema.ts'

const settingNames = ['messagingConnectionType', 'attribution', 'preferences'] as const

export interface SplitPatch {
  /** Checked; settings taken out of `settings`. */
  known: Omit<StorePatch, 'settings'>
  /** Every other key: merged into the preferences. */
  preferences: JsonObject
}

/**
 * Splits a body into the fields that are known and the preferences; drops read-only keys. `current`: the profile as
 * it is, whose own values are accepted whatever they are. Refuses a known field out of bounds by its name, and a
 * setting that is given twice with different values.
 */
export function splitPatch(body: JsonObject, current: JsonObject): SplitPatch {
  const given: JsonObject = {}
  const preferences: JsonObject = {}
  for (const [key, value] of Object.entries(body)) {
    if (readOnlyKeys.has(key)) continue
    refuseDepth(key, value)
    if (!Object.hasOwn(storePatch.shape, key)) preferences[key] = value
    else if (!Object.hasOwn(current, key) || !isSameJson(value, current[key])) given[key] = value
  }
  const { settings, ...rest } = read(storePatch, given, 'body') as StorePatch
  return { known: { ...rest, ...oneOfBoth(settings ?? {}, rest) }, preferences }
}

type Settings = Pick<StorePatch, (typeof settingNames)[number]>

/** The settings, nested or at the top level. */
function oneOfBoth(nested: Settings, top: Settings): Settings {
  for (const name of settingNames) {
    if (nested[name] === undefined || top[name] === undefined) continue
    if (!isSameJson(nested[name], top[name])) {
      throw refuse('bad_request', `${name}: differs from settings.${name}: give it once, or the same twice`)
    }
  }
  return { ...top, ...nested }
}
