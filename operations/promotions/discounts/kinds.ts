/** The three kinds of discounts: their differences, for the shared write. */

import type { DiscountSpec } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import type { Draft, KindName } from './draft.ts'

/** `C`: the content specific to the kind. */
export interface Kind<C extends object = object> {
  name: KindName
  /** Used in sentences for the merchant. */
  noun: string
  /** Feature of the plan. */
  feature: string
  /** Path in the dashboard. */
  path: string
  /** Name of the kind in the port. */
  portKind: DiscountSpec['kind']
  liveAtMost: number
  atMost: number
  /** The spec to send to the platform. */
  spec(id: string, revision: number, draft: Draft<C>): DiscountSpec
  /** Schema whose reference marks list the files and objects it names. */
  schema: z.ZodTypeAny
  /** Runs after each create or change, in its transaction. */
  written?(ctx: Context, id: string): Promise<void>
}

/** The permanent reference of a discount at the platform. */
export const buildReference = (kind: KindName, id: string): string => `${kind}:${id}`
