/** Conditions of stickers and badges: on which of the products that it targets a label is shown, such as new ones. */

import { dayMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import type * as snapshots from '../catalog/snapshots.ts'

export const conditionFields = {
  condition: z.enum(['always', 'on-sale', 'new', 'low-stock', 'out-of-stock']),
  conditionValue: z
    .number()
    .int()
    .min(1)
    .max(365)
    .nullable()
    .describe('For new: days since the product was created; for low-stock: units, inclusive. Null otherwise'),
}

export interface Condition {
  condition: 'always' | 'on-sale' | 'new' | 'low-stock' | 'out-of-stock'
  conditionValue: number | null
}
export type ConditionChange = { [K in keyof Condition]?: Condition[K] | undefined }

export const unconditional: Condition = { condition: 'always', conditionValue: null }

/**
 * Merges a change. Fields left out keep their value, but `conditionValue` becomes null if the condition does not use one.
 * Refuses a condition that needs a value and has none.
 */
export function mergeCondition(before: Condition, change: ConditionChange): Condition {
  const condition = change.condition ?? before.condition
  if (condition !== 'new' && condition !== 'low-stock') return { condition, conditionValue: null }
  const { conditionValue = before.conditionValue } = change
  if (conditionValue === null) {
    throw refuse('bad_request', `conditionValue: is required while condition is ${condition}`)
  }
  return { condition, conditionValue }
}

/** Whether a product meets the condition now, from its snapshot. */
export function meetsCondition(
  { condition, conditionValue }: Condition,
  product: snapshots.Snapshot,
  now: Date,
): boolean {
  const { variants, stock } = product
  switch (condition) {
    case 'always':
      return true
    case 'on-sale':
      return variants.some(
        ({ price, compareAtPrice }) => compareAtPrice !== null && Number(compareAtPrice) > Number(price),
      )
    case 'new':
      return now.getTime() < product.createdAt.getTime() + conditionValue! * dayMs
    case 'low-stock':
      return stock !== null && stock > 0 && stock <= conditionValue!
    case 'out-of-stock':
      return variants.length > 0 && variants.every((variant) => variant.stock === 0)
  }
}
