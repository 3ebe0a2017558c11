/** Describes how the three kinds of discounts differ, for the code that writes all of them. */

import type { DiscountSpec } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import type { Draft, KindName } from './draft.ts'

/** `C` is the content specific to the kind. */
export interface Kind<C extends object = object> {
  name: KindName
  /** Name of the kind in messages for the merchant. */
  noun: string
  /** Feature of the plan that the kind needs. */
  feature: string
  /** Path of the kind's page in the dashboard. */
  path: string
  /** Name of the kind in the port. */
  portKind: DiscountSpec['kind']
  liveAtMost: number
  atMost: number
  /** Builds the description of a discount that is sent to the platform. `currency`: the store's. */
  spec(id: string, revision: number, draft: Draft<C>, currency: string): DiscountSpec
  /** Schema of a discount. Its reference marks show which files and products the discount names. */
  schema: z.ZodTypeAny
  /** Runs after a discount was created or changed, in the same transaction. */
  written?(ctx: Context, id: string): Promise<void>
}

/** The reference under which the platform knows a discount. It never changes. */
export const buildReference = (kind: KindName, id: string): string => `${kind}:${id}`
