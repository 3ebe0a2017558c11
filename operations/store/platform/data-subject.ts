/** Finds the identifiers of a data subject, from the platform's request and from the person's orders. */
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { emailKey } from '#runtime/values/email'
import { parsePhone, phoneKey } from '#runtime/values/phone'
import type { DataSubject } from '../erasure.ts'

export interface DataRequest {
  customerId?: string | null
  email?: string | null
  phone?: string | null
  orderIds?: string[]
}

/**
 * Finds the person's orders by customer id and by the given order ids, never by email, because a family may share it. An
 * order without a customer counts only if it is in `orderIds`.
 */
export async function findDataSubject(
  ctx: Context,
  { customerId = null, email, phone, orderIds = [] }: DataRequest,
): Promise<DataSubject> {
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
