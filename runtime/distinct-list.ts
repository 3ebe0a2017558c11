/** A list that refuses duplicates. */
import type { z } from '#runtime/schema'

const checks = new WeakSet<object>()

/** The list with a check that the documents show as `uniqueItems`; they show no other refinement. */
export function distinctList<T extends z.ZodArray<z.ZodTypeAny>>(list: T, refusal: string) {
  const refined = list.refine((entries) => new Set(entries).size === entries.length, refusal)
  checks.add(refined._def.effect)
  return refined
}
export const isDistinctCheck = (effect: object): boolean => checks.has(effect)
