/** The GraphQL side: validates documents against the schema, runs them over the shop, and computes their cost. */
import {
  type DocumentNode,
  defaultFieldResolver,
  executeSync,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  validate,
} from 'graphql'
import type { Bucket } from './bucket.ts'
import { actualCost, requestedCost, type Variables } from './graph-cost.ts'
import {
  createCode,
  deleteCode,
  deleteDiscount,
  findCode,
  saveDiscount,
  setMetafields,
} from './graph-discounts.ts'
import {
  automaticNode,
  codeNode,
  collectionObject,
  customerFields,
  customerObject,
  gid,
  installationId,
  listDiscounts,
  productFields,
  productObject,
  variantObjects,
} from './graph-objects.ts'
import { checkoutFields, checkoutObject, orderFields, orderObject } from './graph-orders.ts'
import { connection, type GraphObject, type PageArgs } from './graph-page.ts'
import { createWebhook, deleteScript, scriptObject, webhookObject } from './graph-shop.ts'
import { schema } from './schema.ts'
import { parseCondition, type Searchable } from './search-syntax.ts'
import type { Shop } from './shop.ts'
import { app } from './tokens.ts'

type ListArgs = PageArgs & { query?: string | null; sortKey?: string }
type BxgyInput = Parameters<typeof saveDiscount>[1]

const found = <T>(
  all: readonly T[],
  query: string | null | undefined,
  fields: (one: T) => Searchable,
): T[] => {
  const condition = parseCondition(query)
  return all.filter((each) => condition(fields(each)))
}

const by =
  <T>(key: (one: T) => string | number) =>
  (a: T, b: T): number => {
    const [x, y] = [key(a), key(b)]
    return x < y ? -1 : x > y ? 1 : 0
  }
const folded = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
const foldTitle = ({ title }: { title: string }): string => folded(title)
const one = (objects: readonly GraphObject[], id: string) => objects.find((each) => each.id === id) ?? null

const buildQueries = (shop: Shop, scopes: readonly string[]) => ({
  publicApiVersions: shop.versions.map((handle) => ({ handle, supported: true })),
  currentAppInstallation: {
    __typename: 'AppInstallation',
    id: installationId,
    app: { __typename: 'App', id: 'gid://shopify/App/48', apiKey: app.clientId },
    accessScopes: scopes.map((handle) => ({ handle, description: handle })),
    metafield: buildMetafieldField(shop, installationId),
  },
  shop: shopObject(shop),
  products: ({ query, sortKey, ...page }: ListArgs) => {
    const sorted = found(shop.products, query, productFields)
    if (sortKey === 'UPDATED_AT') sorted.sort(by(({ updated_at }) => updated_at))
    else sorted.sort(by(foldTitle))
    return connection(
      sorted.map((each) => productObject(shop, each)),
      page,
    )
  },
  productsCount: ({ query }: ListArgs) => ({
    count: Math.min(25_001, found(shop.products, query, productFields).length),
  }),
  product: ({ id }: { id: string }) =>
    one(
      shop.products.map((each) => productObject(shop, each)),
      id,
    ),
  productVariants: ({ query, ...page }: ListArgs) => {
    const ids = /^product_ids:([\d,]+)$/.exec(query ?? '')?.[1]?.split(',') ?? []
    return connection(
      shop.products.filter((each) => ids.includes(String(each.id))).flatMap(variantObjects),
      page,
    )
  },
  collections: (page: PageArgs) =>
    connection(
      [...shop.collections].sort(by(foldTitle)).map((each) => collectionObject(shop, each)),
      page,
    ),
  nodes: ({ ids }: { ids: string[] }) => {
    const all = [
      ...shop.products.map((each) => productObject(shop, each)),
      ...shop.customers.map((each) => customerObject(shop, each)),
      ...shop.discounts.map(automaticNode),
    ]
    return ids.map((id) => one(all, id))
  },
  node: ({ id }: { id: string }) =>
    one(
      shop.checkouts.map((each) => checkoutObject(shop, each)),
      id,
    ),
  customers: ({ query, ...page }: ListArgs) => {
    const sorted = found(shop.customers, query, customerFields).sort(by(({ id }) => id))
    return connection(
      sorted.map((each) => customerObject(shop, each)),
      page,
    )
  },
  orders: ({ query, sortKey, ...page }: ListArgs) => {
    const sorted = found(shop.orders, query, orderFields)
    if (sortKey === 'UPDATED_AT') sorted.sort(by(({ updated_at }) => updated_at))
    return connection(
      sorted.map((each) => orderObject(shop, each)),
      page,
    )
  },
  order: ({ id }: { id: string }) =>
    one(
      shop.orders.map((each) => orderObject(shop, each)),
      id,
    ),
  abandonedCheckouts: ({ query, ...page }: ListArgs) =>
    connection(
      found(shop.checkouts, query, checkoutFields).map((each) => checkoutObject(shop, each)),
      page,
    ),
  scriptTags: (page: PageArgs) => connection(shop.scripts.map(scriptObject), page),
  webhookSubscriptions: ({ uri, ...page }: PageArgs & { uri?: string }) =>
    connection(
      shop.webhooks.filter(({ address }) => uri === undefined || address === uri).map(webhookObject),
      page,
    ),
  codeDiscountNodeByCode: ({ code }: { code: string }) => {
    const known = findCode(shop, code)
    return known ? codeNode(known) : null
  },
  discountNode: ({ id }: { id: string }) =>
    one(
      listDiscounts(shop).map(({ node }) => node),
      id,
    ),
  discountNodes: ({ query, sortKey, ...page }: ListArgs) => {
    const listed = found(listDiscounts(shop), query, ({ fields }) => fields)
    if (sortKey === 'CREATED_AT') listed.sort(by(({ createdAt }) => createdAt))
    return connection(
      listed.map(({ node }) => node),
      page,
    )
  },
})

const buildMutations = (shop: Shop) => ({
  metafieldsSet: ({ metafields }: { metafields: Parameters<typeof setMetafields>[1] }) =>
    setMetafields(shop, metafields),
  webhookSubscriptionCreate: (args: Parameters<typeof createWebhook>[1]) => createWebhook(shop, args),
  scriptTagDelete: ({ id }: { id: string }) => deleteScript(shop, id),
  discountAutomaticBxgyCreate: (args: { automaticBxgyDiscount: BxgyInput }) =>
    saveDiscount(shop, args.automaticBxgyDiscount, null),
  discountAutomaticBxgyUpdate: (args: { id: string; automaticBxgyDiscount: BxgyInput }) =>
    saveDiscount(shop, args.automaticBxgyDiscount, args.id),
  discountAutomaticDelete: ({ id }: { id: string }) => deleteDiscount(shop, id),
  discountCodeDelete: ({ id }: { id: string }) => deleteCode(shop, id),
  discountCodeBasicCreate: (args: { basicCodeDiscount: Record<string, unknown> }) =>
    createCode(shop, 'basicCodeDiscount', args.basicCodeDiscount),
  discountCodeFreeShippingCreate: (args: { freeShippingCodeDiscount: Record<string, unknown> }) =>
    createCode(shop, 'freeShippingCodeDiscount', args.freeShippingCodeDiscount),
})

const shopObject = (shop: Shop): GraphObject => ({
  __typename: 'Shop',
  id: gid('Shop', shop.id),
  name: 'Loja',
  currencyCode: 'BRL',
  ianaTimezone: 'America/Sao_Paulo',
  primaryDomain: { host: 'loja.example.com' },
  shopAddress: { countryCodeV2: 'BR' },
  metafield: buildMetafieldField(shop, gid('Shop', shop.id)),
  metafields: ({ namespace, ...page }: PageArgs & { namespace: string }) =>
    connection(
      shop.metafields
        .filter((each) => each.ownerId === gid('Shop', shop.id) && each.namespace === namespace)
        .map((each) => ({ __typename: 'Metafield', ...each })),
      page,
    ),
})

const buildMetafieldField =
  (shop: Shop, ownerId: string) =>
  ({ namespace, key }: { namespace: string; key: string }) =>
    shop.metafields.find(
      (each) => each.ownerId === ownerId && each.namespace === namespace && each.key === key,
    ) ?? null

const queryAtMost = 1000
const refused = (message: string, code: string) => new GraphQLError(message, { extensions: { code } })

/** The whole body of an answer: data or errors, and its cost. */
export function answerGraph(
  shop: Shop,
  { query, variables = {}, scopes }: { query: string; variables?: Variables; scopes: readonly string[] },
  bucket: Bucket,
  deniedFields: ReadonlySet<string>,
): unknown {
  try {
    return answered(shop, parse(query), { variables, scopes }, bucket, deniedFields)
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error.toJSON()] }
    throw error
  }
}

function answered(
  shop: Shop,
  document: DocumentNode,
  { variables, scopes }: { variables: Variables; scopes: readonly string[] },
  bucket: Bucket,
  deniedFields: ReadonlySet<string>,
): unknown {
  const invalid = validate(schema, document)
  if (invalid.length > 0) return { errors: invalid.map((error) => error.toJSON()) }
  const operation = document.definitions.find(
    ({ kind }) => kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode
  const requested = requestedCost(document, operation, variables)
  const cost = (actual: number | null) => ({
    cost: {
      requestedQueryCost: requested,
      actualQueryCost: actual,
      throttleStatus: {
        maximumAvailable: bucket.size,
        currentlyAvailable: Math.floor(bucket.left),
        restoreRate: bucket.perSecond,
      },
    },
  })
  if (requested > queryAtMost) {
    throw refused(
      `Query cost is ${requested}, which exceeds the single query max cost limit (1000).`,
      'MAX_COST_EXCEEDED',
    )
  }
  if (!bucket.take(requested)) {
    return { errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }], extensions: cost(null) }
  }
  const isMutation = operation.operation === OperationTypeNode.MUTATION
  const rootValue = isMutation ? buildMutations(shop) : buildQueries(shop, scopes)
  const { data, errors } = executeSync({
    schema,
    document,
    rootValue,
    variableValues: variables,
    fieldResolver: (source, args, context, info) => {
      requireAccess(info.parentType.name, info.fieldName, scopes, deniedFields)
      return defaultFieldResolver(source, args, context, info)
    },
  })
  if (errors) {
    const json = errors.map((error) => toInternalError(error).toJSON())
    return { ...(data ? { data } : {}), errors: json, extensions: cost(null) }
  }
  const actual = isMutation ? 10 : Math.min(requested, actualCost(data) - 1)
  bucket.giveBack(requested - actual)
  return { data, extensions: cost(actual) }
}

/** The permission that reading a field of the root needs; writing needs the same with `write`. */
const requiredScopes: Readonly<Record<string, string>> = {
  products: 'read_products',
  product: 'read_products',
  productVariants: 'read_products',
  collections: 'read_products',
  customers: 'read_customers',
  orders: 'read_orders',
  order: 'read_orders',
  abandonedCheckouts: 'read_orders',
  scriptTags: 'read_script_tags',
  scriptTagDelete: 'write_script_tags',
}

/** `denied`: fields of the root, or fields with protected customer data such as `Order.email`. */
function requireAccess(
  type: string,
  field: string,
  scopes: readonly string[],
  denied: ReadonlySet<string>,
): void {
  if (denied.has(`${type}.${field}`)) {
    throw refused(`This app is not approved to use the ${field} field.`, 'ACCESS_DENIED')
  }
  if (type !== 'QueryRoot' && type !== 'Mutation') return
  const scope = requiredScopes[field]
  const isGranted =
    !scope ||
    scopes.includes(scope) ||
    (scope !== 'write_script_tags' && scopes.includes(scope.replace('read_', 'write_')))
  if (isGranted && !denied.has(field)) return
  throw refused(
    `Access denied for ${field} field. Required access: \`${scope}\` access scope.`,
    'ACCESS_DENIED',
  )
}

/** A bug of the stand-in itself must not look like an answer of Shopify's. */
function toInternalError(error: GraphQLError): GraphQLError {
  if (error.originalError && !(error.originalError instanceof GraphQLError)) throw error.originalError
  return error
}
