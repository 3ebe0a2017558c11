/** Helpers for requests through the merchant's API. */

import getMetrics from '#operations/exchanges/figures/api/get-metrics'
import approveRequest from '#operations/exchanges/requests/api/approve-request'
import confirmRequest from '#operations/exchanges/requests/api/confirm-request'
import deleteRequest from '#operations/exchanges/requests/api/delete-request'
import getRequest from '#operations/exchanges/requests/api/get-request'
import listRequests from '#operations/exchanges/requests/api/list-requests'
import rejectRequest from '#operations/exchanges/requests/api/reject-request'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import type { Answer } from '#test/support/store'
import type { Asking, ExchangeShop } from './shopper.ts'

export interface Requested {
  id: string
  number: string
  statusUrl: string
  order: PlatformOrder
}

/** Creates a request from the storefront, for a new order unless one is given. */
export async function requested(
  shop: ExchangeShop,
  asking: Asking & { order?: PlatformOrder } = {},
): Promise<Requested> {
  const { order: given, ...fields } = asking
  const order = given ?? (await shop.delivered())
  const asked = await shop.ask(order, fields)
  if (asked.status !== 201) throw new Error(JSON.stringify(asked.body))
  const { number, statusUrl } = asked.body
  const { body } = await shop.call(listRequests, { query: { search: number } })
  const { id } = body.data.find((row: { number: string }) => row.number === number)
  return { id, number, statusUrl, order }
}

/** Creates a request of a customer with a unique email. */
export async function requestedBy(
  shop: ExchangeShop,
  customer: { name: string; email: string; phone: string },
  asking: Asking = {},
): Promise<Requested> {
  const order = await shop.delivered({ customer })
  const { sessionToken } = (await shop.lookup(order, customer.email)).body
  return requested(shop, { order, sessionToken, ...asking })
}

const of = (id: string, body?: unknown) => ({ params: { id }, ...(body === undefined ? {} : { body }) })

export const read = (shop: ExchangeShop, id: string): Promise<Answer> => shop.call(getRequest, of(id))
export const approve = (shop: ExchangeShop, id: string, body: unknown = {}): Promise<Answer> =>
  shop.call(approveRequest, of(id, body))
export const reject = (
  shop: ExchangeShop,
  id: string,
  body: unknown = { reason: 'It was worn' },
): Promise<Answer> => shop.call(rejectRequest, of(id, body))
export const confirm = (shop: ExchangeShop, id: string, body: unknown = {}): Promise<Answer> =>
  shop.call(confirmRequest, of(id, body))
export const received = (shop: ExchangeShop, id: string): Promise<Answer> =>
  confirm(shop, id, { stage: 'received' })
export const remove = (shop: ExchangeShop, id: string): Promise<Answer> => shop.call(deleteRequest, of(id))
export const metrics = (shop: ExchangeShop, query = {}): Promise<Answer> => shop.call(getMetrics, { query })

/** The history events of a request, in order. */
export async function listEvents(shop: ExchangeShop, id: string): Promise<string[]> {
  const { body } = await read(shop, id)
  return body.history.map(({ event }: { event: string }) => event)
}
