/**
 * Lists customers in the order of their ids: first the ids with the birthdays (Shopify's standard metafield
 * `facts.birth_date`), then the content of the wanted ones. The number of orders and the amount spent are Shopify's own
 * figures, which include unpaid and cancelled orders.
 */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { PlatformCustomer } from '../port.ts'
import { type CustomersQuery, customerIdsDocument, customersDocument } from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { isPlainId, plainId, toInstantOrNull } from './http/ids.ts'

const pageSize = 250
/** Customers per query: few enough to keep it below Shopify's limit of 1,000 cost points. */
const batchSize = 80

type Customer = Extract<CustomersQuery['nodes'][number], { firstName: unknown }>

/** If `birthdays` (`MM-DD`) are given, a page may have fewer than `limit` customers, or none. */
export async function listCustomers(
  client: ShopifyClient,
  store: ProviderStore,
  { cursor, limit, birthdays }: { cursor?: string; limit: number; birthdays?: string[] },
): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
  const after = cursor ?? '0'
  if (after !== '0' && !isPlainId(after))
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
  const first = Math.min(limit, pageSize)
  const { customers } = await client.graphVisible(store, customerIdsDocument, {
    first,
    query: `id:>${after}`,
  })
  const walked = customers.nodes.map(({ id, metafield }) => ({ id, birthDate: metafield?.value ?? null }))
  const wanted = birthdays
    ? walked.filter(({ birthDate }) => birthDate !== null && birthdays.includes(birthDate.slice(5, 10)))
    : walked
  const found = await readCustomers(
    client,
    store,
    wanted.map(({ id }) => id),
  )
  return {
    customers: wanted.flatMap(({ id, birthDate }) => {
      const customer = found.get(id)
      return customer ? [toCustomer(customer, birthDate)] : []
    }),
    next: walked.length === first && walked.length > 0 ? plainId(walked.at(-1)!.id) : null,
  }
}

async function readCustomers(
  client: ShopifyClient,
  store: ProviderStore,
  gids: readonly string[],
): Promise<Map<string, Customer>> {
  const found = new Map<string, Customer>()
  for (let i = 0; i < gids.length; i += batchSize) {
    const ids = gids.slice(i, i + batchSize)
    const { nodes } = await client.graphVisible(store, customersDocument, { ids })
    for (const node of nodes) if (isCustomer(node)) found.set(node.id, node)
  }
  return found
}

const isCustomer = (node: CustomersQuery['nodes'][number]): node is Customer => node !== null && 'id' in node

interface Person {
  firstName: string | null
  lastName: string | null
}

export const fullName = (person: Person | null | undefined): string | null =>
  [person?.firstName, person?.lastName].filter(Boolean).join(' ').trim() || null

function toCustomer(customer: Customer, birthDate: string | null): PlatformCustomer {
  const { defaultEmailAddress: email, defaultPhoneNumber: phone } = customer
  return {
    id: plainId(customer.id),
    name: fullName(customer),
    email: email?.emailAddress || null,
    phone: phone?.phoneNumber || customer.defaultAddress?.phone || null,
    birthDate: birthDate?.slice(0, 10) ?? null,
    ordersCount: Number(customer.numberOfOrders),
    totalSpent: hundredths.toMoney(hundredths.toCents(customer.amountSpent?.amount ?? '0')),
    firstOrderAt: toInstantOrNull(customer.orders?.nodes[0]?.processedAt),
    lastOrderAt: toInstantOrNull(customer.lastOrder?.processedAt),
    acceptsMarketing: email?.marketingState === 'SUBSCRIBED',
  }
}
