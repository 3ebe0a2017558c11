/**
 * Lists customers in the order of their ids. REST returns the customer. GraphQL returns the birthday (Shopify's standard
 * metafield `facts.birth_date`) and the dates of the first and last order. The number of orders and the amount spent are
 * Shopify's own figures, which include unpaid and cancelled orders.
 */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { PlatformCustomer } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { isPlainId, plainId, toGid, toInstantOrNull } from './http/ids.ts'

export interface RestCustomer {
  id: number
  first_name: string | null
  last_name: string | null
  email: string | null
  phone: string | null
  orders_count: number
  total_spent: string
  email_marketing_consent: { state: string } | null
  default_address?: { phone?: string | null } | null
}

const pageSize = 250
const factsBatchSize = 100

const birthDay = 'metafield(namespace: "facts", key: "birth_date") { value }'
const birthDaysDocument = `query BirthDays($ids: [ID!]!) {
  nodes(ids: $ids) { ... on Customer { id ${birthDay} } }
}`
const factsDocument = `query CustomerFacts($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on Customer {
      id ${birthDay}
      lastOrder { processedAt }
      orders(first: 1, sortKey: PROCESSED_AT) { nodes { processedAt } }
    }
  }
}`

interface Facts {
  id: string
  metafield: { value: string } | null
  lastOrder?: { processedAt: string } | null
  orders?: { nodes: { processedAt: string }[] }
}

/** If `birthdays` (`MM-DD`) are given, a page may have fewer than `limit` customers, or none. */
export async function listCustomers(
  client: ShopifyClient,
  store: ProviderStore,
  { cursor, limit, birthdays }: { cursor?: string; limit: number; birthdays?: string[] },
): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
  const after = cursor ?? '0'
  if (after !== '0' && !isPlainId(after))
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
  const pageLimit = Math.min(limit, pageSize)
  const { body } = await client.rest<{ customers: RestCustomer[] }>(store, {
    path: 'customers.json',
    query: { since_id: after, limit: pageLimit },
  })
  const walked = body.customers
  const born = birthdays ? await filterByBirthday(client, store, walked, birthdays) : walked
  const facts = await readFacts(client, store, factsDocument, factsBatchSize, born)
  return {
    customers: born.map((customer) => toCustomer(customer, facts.get(String(customer.id)))),
    next: walked.length === pageLimit && walked.length > 0 ? String(walked.at(-1)!.id) : null,
  }
}

async function filterByBirthday(
  client: ShopifyClient,
  store: ProviderStore,
  customers: RestCustomer[],
  birthdays: readonly string[],
): Promise<RestCustomer[]> {
  const facts = await readFacts(client, store, birthDaysDocument, pageSize, customers)
  return customers.filter(({ id }) => {
    const day = facts.get(String(id))?.metafield?.value
    return day !== undefined && birthdays.includes(day.slice(5, 10))
  })
}

async function readFacts(
  client: ShopifyClient,
  store: ProviderStore,
  document: string,
  atOnce: number,
  customers: readonly RestCustomer[],
): Promise<Map<string, Facts>> {
  const known = new Map<string, Facts>()
  for (let i = 0; i < customers.length; i += atOnce) {
    const ids = customers.slice(i, i + atOnce).map(({ id }) => toGid('Customer', String(id)))
    const { nodes } = await client.graph<{ nodes: (Facts | null)[] }>(store, document, { ids })
    for (const node of nodes) if (node) known.set(plainId(node.id), node)
  }
  return known
}

export const fullName = (
  person: { first_name?: string | null; last_name?: string | null } | null | undefined,
) => [person?.first_name, person?.last_name].filter(Boolean).join(' ').trim() || null

function toCustomer(customer: RestCustomer, facts: Facts | undefined): PlatformCustomer {
  return {
    id: String(customer.id),
    name: fullName(customer),
    email: customer.email || null,
    phone: customer.phone || customer.default_address?.phone || null,
    birthDate: facts?.metafield?.value.slice(0, 10) ?? null,
    ordersCount: customer.orders_count,
    totalSpent: hundredths.toMoney(hundredths.toCents(customer.total_spent)),
    firstOrderAt: toInstantOrNull(facts?.orders?.nodes[0]?.processedAt),
    lastOrderAt: toInstantOrNull(facts?.lastOrder?.processedAt),
    acceptsMarketing: customer.email_marketing_consent?.state === 'subscribed',
  }
}
