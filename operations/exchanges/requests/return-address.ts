/** The return address of a request. */
import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
import type { address, addressInput } from '../settings/schema.ts'
import { completeAddress } from '../settings/settings.ts'

export type Address = z.infer<typeof address>

const shipping: ReadonlySet<string> = new Set(['customer-ships', 'prepaid-label'])
/** Whether the shopper sends the items to the return address with this method. */
export const isShipping = (method: string): boolean => shipping.has(method)

/** Merges a change into an address; omitted lines keep their value. Refuses (400) a result without a required line. */
export const mergeAddress = (ctx: Context, before: unknown, change: z.infer<typeof addressInput>): Address =>
  completeAddress(ctx, { ...(before as object | null), ...omitUndefined(change) })
