/** The three kinds of discounts: what is different in each for whoever writes them. */

import type { DiscountSpec } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import type { Draft, KindName } from './draft.ts'

/** `C`: what is the kind's own of a discount. */
export interface Kind<C extends object = object> {
  name: KindName
  /** In sentences for the merchant. */
  noun: string
  /** Of the plan. */
  feature: string
  /** Where the merchant finds it. */
  path: string
  /** As ports call it. */
  portKind: DiscountSpec['kind']
  liveAtMost: number
  atMost: number
  /** What the platform is told of it. */
  spec(id: string, revision: number, draft: Draft<C>): DiscountSpec
  /** Whose marks say what it names. */
  schema: z.ZodTypeAny
  /** Done with each write that leaves one, in its transaction. */
  written?(ctx: Context, id: string): Promise<void>
}

/** Ours on the platform, for ever. */
export const referenceOf = (kind: KindName, id: string): string => `${kind}:${id}`
