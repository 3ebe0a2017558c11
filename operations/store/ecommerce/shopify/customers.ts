/**
 * Customers, in the order of their ids. REST tells who they are; their birthday (Shopify's standard metafield
 * `facts.birth_date`) and the days of their first and last order come by GraphQL. How many orders and how much they
 * spent are Shopify's own figures, unpaid and cancelled orders included as Shopify does.
 */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { toCents, toMoney } from '#runtime/values/money'
import type { PlatformCustomer } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { gidOf, instantOrNull, isPlainId, plainId } from './http/ids.ts'

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

const customersAtOnce = 250
const factsAtOnce = 100

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

/** A page may have fewer than `limit`, or nobody, where only `birthdays` (`MM-DD`) are asked for. */
export async function listCustomers(
  client: ShopifyClient,
  store: ProviderStore,
  { cursor, limit, birthdays }: { cursor?: string; limit: number; birthdays?: string[] },
): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
  const after = cursor ?? '0'
  if (after !== '0' && !isPlainId(after)) throw new Refused('bad-cursor', 'cursor: is none of this platform')
  const asked = Math.min(limit, customersAtOnce)
  const { body } = await client.rest<{ customers: RestCustomer[] }>(store, {
    path: 'customers.json',
    query: { since_id: after, limit: asked },
  })
  const walked = body.customers
  const born = birthdays ? await bornOn(client, store, walked, birthdays) : walked
  const facts = await factsOf(client, store, factsDocument, factsAtOnce, born)
  return {
    customers: born.map((customer) => customerOf(customer, facts.get(String(customer.id)))),
    next: walked.length === asked && walked.length > 0 ? String(walked.at(-1)!.id) : null,
  }
}

async function bornOn(
  client: ShopifyClient,
  store: ProviderStore,
  customers: RestCustomer[],
  birthdays: readonly string[],
): Promise<RestCustomer[]> {
  const facts = await factsOf(client, store, birthDaysDocument, customersAtOnce, customers)
  return customers.filter(({ id }) => {
    const day = facts.get(String(id))?.metafield?.value
    return day !== undefined && birthdays.includes(day.slice(5, 10))
  })
}

async function factsOf(
  client: ShopifyClient,
  store: ProviderStore,
  document: string,
  atOnce: number,
  customers: readonly RestCustomer[],
): Promise<Map<string, Facts>> {
  const known = new Map<string, Facts>()
  for (let i = 0; i < customers.length; i += atOnce) {
    const ids = customers.slice(i, i + atOnce).map(({ id }) => gidOf('Customer', String(id)))
    const { nodes } = await client.graph<{ nodes: (Facts | null)[] }>(store, document, { ids })
    for (const node of nodes) if (node) known.set(plainId(node.id), node)
  }
  return known
}

export const nameOf = (
  person: { first_name?: string | null; last_name?: string | null } | null | undefined,
) => [person?.first_name, person?.last_name].filter(Boolean).join(' ').trim() || null

function customerOf(customer: RestCustomer, facts: Facts | undefined): PlatformCustomer {
  return {
    id: String(customer.id),
    name: nameOf(customer),
    email: customer.email || null,
    phone: customer.phone || customer.default_address?.phone || null,
    birthDate: facts?.metafield?.value.slice(0, 10) ?? null,
    ordersCount: customer.orders_count,
    totalSpent: toMoney(toCents(customer.total_spent)),
    firstOrderAt: instantOrNull(facts?.orders?.nodes[0]?.processedAt),
    lastOrderAt: instantOrNull(facts?.lastOrder?.processedAt),
    acceptsMarketing: customer.email_marketing_consent?.state === 'subscribed',
  }
}
