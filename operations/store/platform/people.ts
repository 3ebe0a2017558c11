/** Of whom a platform speaks: what it says, and what their orders know of them besides. */
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { emailKey } from '#runtime/values/email'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import type { Forgotten } from '../forgotten.ts'

export interface PersonRequest {
  customerId?: string | null
  email?: string | null
  phone?: string | null
  orderIds?: string[]
}

/**
 * By their customer id and their orders, never by an address: a family may share one. Orders without a customer are theirs
 * only where they are named.
 */
export async function personOf(
  ctx: Context,
  { customerId = null, email, phone, orderIds = [] }: PersonRequest,
): Promise<Forgotten> {
  const orders = await ctx.db
    .selectFrom('orders')
    .select(['id', 'customer_email', 'phone_key', 'customer_name'])
    .where((eb) =>
      eb.or([isAmong('id', orderIds), ...(customerId ? [eb('customer_id', '=', customerId)] : [])]),
    )
    .execute()
  const parsed = phone ? parsePhone(phone, ctx.store.country) : null
  const distinct = (values: readonly (string | null | undefined)[]): string[] => [
    ...new Set(values.flatMap((value) => value || [])),
  ]
  return {
    customerId,
    emailKeys: distinct(
      [email, ...orders.map((row) => row.customer_email)].map((each) => each && emailKey(each)),
    ),
    phoneKeys: distinct([parsed && phoneKey(parsed), ...orders.map((row) => row.phone_key)]),
    orderIds: distinct([...orderIds, ...orders.map(({ id }) => id)]),
    names: distinct(orders.map((row) => row.customer_name)),
  }
}
