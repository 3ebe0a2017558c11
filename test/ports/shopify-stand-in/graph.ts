/** The GraphQL side: root fields, and their cost. */

import type { Bucket } from './bucket.ts'
import { createCode, deleteDiscount, findCode, saveDiscount, setMetafields } from './graph-discounts.ts'
import {
  collectionObject,
  customerObject,
  discountFields,
  discountObject,
  gid,
  orderFields,
  orderObject,
  productFields,
  productObject,
  variantObjects,
} from './graph-objects.ts'
import { GraphSyntaxError, parse } from './graph-parse.ts'
import {
  actualCost,
  connection,
  GraphError,
  type GraphObject,
  type PageArgs,
  requestedCost,
  requireVariables,
  run,
  type Variables,
} from './graph-run.ts'
import { conditionOf, type Searchable } from './search-syntax.ts'
import type { Shop } from './shop.ts'

type ListArgs = PageArgs & { query?: string | null; sortKey?: string }

const found = <T>(
  all: readonly T[],
  query: string | null | undefined,
  fields: (one: T) => Searchable,
): T[] => {
  const condition = conditionOf(query)
  return all.filter((each) => condition(fields(each)))
}

const by =
  <T>(key: (one: T) => string | number) =>
  (a: T, b: T): number => {
    const [x, y] = [key(a), key(b)]
    return x < y ? -1 : x > y ? 1 : 0
  }
const folded = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

function rootOf(shop: Shop): GraphObject {
  const products = ({ query, sortKey, ...page }: ListArgs) => {
    const key = sortKey === 'UPDATED_AT' ? ({ updated_at }: Updated) => updated_at : titleOf
    const sorted = found(shop.products, query, productFields).sort(by(key))
    return connection(
      sorted.map((each) => productObject(shop, each)),
      page,
    )
  }
  const orders = ({ query, sortKey, ...page }: ListArgs) => {
    const sorted = found(shop.orders, query, orderFields)
    if (sortKey === 'UPDATED_AT') sorted.sort(by(({ updated_at }) => updated_at))
    return connection(sorted.map(orderObject), page)
  }
  const all = (): GraphObject[] => [
    ...shop.products.map((each) => productObject(shop, each)),
    ...shop.customers.map((each) => customerObject(shop, each)),
    ...shop.discounts.map(discountObject),
  ]
  const one = (objects: GraphObject[], id: unknown) => objects.find((each) => each.id === id) ?? null
  return {
    __typename: 'QueryRoot',
    shop: shopObject(shop),
    products,
    productsCount: ({ query }: ListArgs) => ({
      __typename: 'Count',
      count: Math.min(25_001, found(shop.products, query, productFields).length),
    }),
    product: ({ id }: { id: string }) =>
      one(
        shop.products.map((each) => productObject(shop, each)),
        id,
      ),
    productVariants: ({ query, ...page }: ListArgs) => {
      const id = /^product_id:(\d+)$/.exec(query ?? '')?.[1]
      return connection(shop.products.filter((each) => String(each.id) === id).flatMap(variantObjects), page)
    },
    collections: ({ sortKey: _key, ...page }: ListArgs) =>
      connection(
        [...shop.collections].sort(by(titleOf)).map((each) => collectionObject(shop, each)),
        page,
      ),
    nodes: ({ ids }: { ids: string[] }) => ids.map((id) => one(all(), id)),
    orders,
    order: ({ id }: { id: string }) => one(shop.orders.map(orderObject), id),
    codeDiscountNodeByCode: ({ code }: { code: string }) => {
      const known = findCode(shop, code)
      return known ? { __typename: 'DiscountCodeNode', id: gid('DiscountCodeNode', known.id) } : null
    },
    automaticDiscountNode: ({ id }: { id: string }) => one(shop.discounts.map(discountObject), id),
    automaticDiscountNodes: ({ query, sortKey, ...page }: ListArgs) => {
      const listed = found(shop.discounts, query, discountFields)
      if (sortKey === 'CREATED_AT') listed.sort(by(({ createdAt }) => createdAt))
      return connection(listed.map(discountObject), page)
    },
    metafieldsSet: ({ metafields }: { metafields: Parameters<typeof setMetafields>[1] }) =>
      setMetafields(shop, metafields),
    discountAutomaticBxgyCreate: (args: { automaticBxgyDiscount: Parameters<typeof saveDiscount>[1] }) =>
      saveDiscount(shop, args.automaticBxgyDiscount, null),
    discountAutomaticBxgyUpdate: (args: {
      id: string
      automaticBxgyDiscount: Parameters<typeof saveDiscount>[1]
    }) => saveDiscount(shop, args.automaticBxgyDiscount, args.id),
    discountAutomaticDelete: ({ id }: { id: string }) => deleteDiscount(shop, id),
    discountCodeBasicCreate: (args: { basicCodeDiscount: Record<string, unknown> }) =>
      createCode(shop, 'basicCodeDiscount', args.basicCodeDiscount),
    discountCodeFreeShippingCreate: (args: { freeShippingCodeDiscount: Record<string, unknown> }) =>
      createCode(shop, 'freeShippingCodeDiscount', args.freeShippingCodeDiscount),
  }
}

interface Updated {
  title: string
  updated_at: string
}
const titleOf = ({ title }: { title: string }): string => folded(title)

const shopObject = (shop: Shop): GraphObject => ({
  __typename: 'Shop',
  id: gid('Shop', shop.id),
  currencyCode: 'BRL',
  primaryDomain: { __typename: 'Domain', host: 'loja.example.com' },
  metafield: ({ namespace, key }: { namespace: string; key: string }) => {
    const known = shop.metafields.find((each) => each.namespace === namespace && each.key === key)
    return known ? { __typename: 'Metafield', ...known } : null
  },
  metafields: ({ namespace, ...page }: PageArgs & { namespace: string }) =>
    connection(
      shop.metafields
        .filter((each) => each.namespace === namespace)
        .map((each) => ({ __typename: 'Metafield', ...each })),
      page,
    ),
})

const queryAtMost = 1000

/** The whole body of an answer: data or errors, and what it cost. */
export function answerGraph(
  shop: Shop,
  { query, variables = {} }: { query: string; variables?: Variables },
  bucket: Bucket,
  deniedFields: ReadonlySet<string>,
): unknown {
  try {
    const operation = parse(query)
    requireVariables(operation, variables)
    const requested = requestedCost(operation, variables)
    const status = () => ({
      maximumAvailable: bucket.size,
      currentlyAvailable: Math.floor(bucket.left),
      restoreRate: bucket.perSecond,
    })
    const cost = (actual: number | null) => ({
      cost: { requestedQueryCost: requested, actualQueryCost: actual, throttleStatus: status() },
    })
    if (requested > queryAtMost) {
      throw new GraphError(
        'MAX_COST_EXCEEDED',
        `Query cost is ${requested}, which exceeds the single query max cost limit (1000).`,
      )
    }
    if (!bucket.take(requested)) {
      return { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }], extensions: cost(null) }
    }
    for (const each of operation.selection) {
      if (each.kind === 'field' && deniedFields.has(each.name)) {
        throw new GraphError('ACCESS_DENIED', `Access denied for ${each.name} field.`)
      }
    }
    const data = run(rootOf(shop), operation.selection, variables)
    const actual = operation.type === 'mutation' ? 10 : Math.min(requested, actualCost(data) - 1)
    bucket.giveBack(requested - actual)
    return { data, extensions: cost(actual) }
  } catch (error) {
    if (!(error instanceof GraphError || error instanceof GraphSyntaxError)) throw error
    const code = error instanceof GraphError ? error.code : 'parseError'
    return { errors: [{ message: error.message, extensions: { code } }] }
  }
}
