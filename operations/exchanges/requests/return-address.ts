/** Where the items of a request are to be sent. */
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import { given } from '#runtime/values/changes'
import type { address, addressInput } from '../settings/schema.ts'
import { wholeAddress } from '../settings/settings.ts'

export type Address = z.infer<typeof address>

const shipping: ReadonlySet<string> = new Set(['customer-ships', 'prepaid-label'])
/** Methods by which the shopper sends the items to an address. */
export const isShipping = (method: string): boolean => shipping.has(method)

/** What is left out keeps its value. Refuses (400) what lacks a required line in the end. */
export const changedAddress = (
  ctx: Context,
  before: unknown,
  change: z.infer<typeof addressInput>,
): Address => wholeAddress(ctx, { ...(before as object | null), ...given(change) })
