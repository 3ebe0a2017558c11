/** Objects of the shop in GraphQL form. */
import { connection, type GraphObject, type PageArgs } from './graph-page.ts'
import type { Searchable } from './search-syntax.ts'
import {
  currency,
  type Shop,
  type StoredCode,
  type StoredCustomer,
  type StoredDiscount,
  type StoredItems,
  type StoredProduct,
} from './shop.ts'

/** The app's installation in this shop. */
export const installationId = 'gid://shopify/AppInstallation/480'

export const gid = (type: string, id: number | string): string => `gid://shopify/${type}/${id}`

/** An amount of the shop's own currency. */
export const money = (amount: string) => ({ shopMoney: { amount, currencyCode: currency } })

const totalStock = ({ variants }: StoredProduct): number =>
  variants
    .filter(({ inventory_management }) => inventory_management !== null)
    .reduce((sum, { inventory_quantity }) => sum + inventory_quantity, 0)

export const productFields = (product: StoredProduct): Searchable => ({
  id: product.id,
  title: product.title,
  vendor: product.vendor,
  sku: product.variants.map(({ sku }) => sku),
  tag: product.tags,
  status: product.status,
  published_status: product.published_at === null ? 'unpublished' : 'published',
  inventory_total: totalStock(product),
  collection_id: product.collectionIds.map(String),
  updated_at: product.updated_at,
})

const image = (url: string | null) => (url === null ? null : { __typename: 'Image', url })
const mediaNode = (url: string | null): GraphObject =>
  url === null
    ? { __typename: 'Video', id: gid('Video', 1) }
    : { __typename: 'MediaImage', id: gid('MediaImage', 1), image: image(url) }

export const productObject = (shop: Shop, product: StoredProduct): GraphObject => ({
  __typename: 'Product',
  id: gid('Product', product.id),
  title: product.title,
  handle: product.handle,
  vendor: product.vendor,
  tags: product.tags,
  status: product.status.toUpperCase(),
  publishedAt: product.published_at,
  createdAt: product.created_at,
  updatedAt: product.updated_at,
  tracksInventory: product.variants.some(({ inventory_management }) => inventory_management !== null),
  totalInventory: totalStock(product),
  priceRangeV2: {
    minVariantPrice: { amount: String(Math.min(...product.variants.map(({ price }) => Number(price)))) },
  },
  media: (args: PageArgs) => connection(product.media.map(mediaNode), args),
  collections: (args: PageArgs) =>
    connection(
      shop.collections
        .filter(({ id }) => product.collectionIds.includes(id))
        .map((collection) => collectionObject(shop, collection)),
      args,
    ),
})

export const collectionObject = (
  shop: Shop,
  { id, title, handle, subCollectionIds }: Shop['collections'][number],
): GraphObject => ({
  __typename: 'Collection',
  id: gid('Collection', id),
  title,
  handle,
  productsCount: {
    count: shop.products.filter(({ collectionIds }) =>
      [id, ...subCollectionIds].some((each) => collectionIds.includes(each)),
    ).length,
  },
  sources: [
    { __typename: 'CollectionConditionsSource', id: gid('CollectionConditionsSource', id) },
    {
      __typename: 'CollectionSubCollectionsSource',
      id: gid('CollectionSubCollectionsSource', id),
      collections: subCollectionIds.map((each) => ({
        __typename: 'Collection',
        id: gid('Collection', each),
      })),
    },
  ],
})

export const variantObjects = (product: StoredProduct): GraphObject[] =>
  product.variants.map((variant, at) => ({
    __typename: 'ProductVariant',
    id: gid('ProductVariant', variant.id),
    product: { __typename: 'Product', id: gid('Product', product.id) },
    title: variant.title,
    sku: variant.sku,
    price: variant.price,
    compareAtPrice: variant.compare_at_price,
    position: at + 1,
    inventoryQuantity: variant.inventory_quantity,
    inventoryPolicy: variant.inventory_policy.toUpperCase(),
    inventoryItem: { tracked: variant.inventory_management !== null },
    selectedOptions: product.options.map(({ name }) => ({ name, value: variant.option1 })),
    media: (args: PageArgs) => connection(variant.image === null ? [] : [mediaNode(variant.image)], args),
  }))

export const customerObject = (shop: Shop, customer: StoredCustomer): GraphObject => {
  const orders = shop.orders
    .filter((order) => order.customer?.id === customer.id)
    .map((order) => ({ __typename: 'Order', processedAt: order.processed_at }))
  return {
    __typename: 'Customer',
    id: gid('Customer', customer.id),
    firstName: customer.first_name,
    lastName: customer.last_name,
    defaultEmailAddress: customer.email && {
      emailAddress: customer.email,
      marketingState: customer.acceptsMarketing ? 'SUBSCRIBED' : 'NOT_SUBSCRIBED',
    },
    defaultPhoneNumber: customer.phone && { phoneNumber: customer.phone },
    defaultAddress: null,
    numberOfOrders: String(customer.orders_count),
    amountSpent: money(customer.total_spent).shopMoney,
    metafield: ({ namespace, key }: { namespace: string; key: string }) =>
      namespace === 'facts' && key === 'birth_date' && customer.birthDate
        ? { value: customer.birthDate }
        : null,
    lastOrder: orders.at(-1) ?? null,
    orders: (args: PageArgs & { sortKey: 'PROCESSED_AT' }) =>
      connection(
        [...orders].sort((a, b) => Date.parse(a.processedAt) - Date.parse(b.processedAt)),
        args,
      ),
  }
}

export const customerFields = ({ id }: StoredCustomer): Searchable => ({ id })

function itemsObject({ products, collections }: StoredItems): GraphObject {
  const pageOf = (type: string, ids: string[]) => (args: PageArgs) =>
    connection(
      ids.map((id) => ({ __typename: type, id })),
      args,
    )
  return collections.length > 0
    ? { __typename: 'DiscountCollections', collections: pageOf('Collection', collections) }
    : { __typename: 'DiscountProducts', products: pageOf('Product', products) }
}

const automaticDiscount = (discount: StoredDiscount): GraphObject => ({
  __typename: discount.typename,
  title: discount.title,
  createdAt: discount.createdAt,
  startsAt: discount.startsAt,
  endsAt: discount.endsAt,
  usesPerOrderLimit: discount.usesPerOrderLimit,
  asyncUsageCount: discount.asyncUsageCount,
  combinesWith: discount.combinesWith,
  customerBuys: {
    value: { __typename: 'DiscountQuantity', quantity: discount.buys.quantity },
    items: itemsObject(discount.buys.items),
  },
  customerGets: {
    value: {
      __typename: 'DiscountOnQuantity',
      quantity: { quantity: discount.gets.quantity },
      effect: { __typename: 'DiscountPercentage', percentage: discount.gets.percentage },
    },
    items: itemsObject(discount.gets.items),
  },
})

export const automaticNode = (discount: StoredDiscount): GraphObject => ({
  __typename: 'DiscountAutomaticNode',
  id: gid('DiscountAutomaticNode', discount.id),
  automaticDiscount: automaticDiscount(discount),
})

interface CodeInput {
  usageLimit?: number | null
  minimumRequirement?: { subtotal: { greaterThanOrEqualToSubtotal: string } }
  customerGets?: { value: { percentage?: number; discountAmount?: { amount: string } } }
}

/** A discount of all items, as a merchant's program creates it. */
function toCodeTerms(input: CodeInput) {
  const { minimumRequirement: least, customerGets: gets } = input
  return {
    usageLimit: input.usageLimit ?? null,
    minimumRequirement: least
      ? {
          __typename: 'DiscountMinimumSubtotal',
          greaterThanOrEqualToSubtotal: money(least.subtotal.greaterThanOrEqualToSubtotal).shopMoney,
        }
      : null,
    customerGets: gets && {
      items: { __typename: 'AllDiscountItems' },
      value:
        gets.value.percentage === undefined
          ? { __typename: 'DiscountAmount', amount: money(gets.value.discountAmount!.amount).shopMoney }
          : { __typename: 'DiscountPercentage', percentage: gets.value.percentage },
    },
  }
}

export const codeNode = ({ id, typename, title, endsAt, input }: StoredCode): GraphObject => ({
  __typename: 'DiscountCodeNode',
  id: gid('DiscountCodeNode', id),
  codeDiscount: { __typename: typename, title, endsAt, ...toCodeTerms(input as CodeInput) },
})

/** A discount of either method, with its search and sort fields; a `DiscountNode` has its own node's id. */
export interface ListedDiscount {
  createdAt: string
  /** Titles are not searchable. */
  fields: Searchable
  node: GraphObject
}

export const listDiscounts = (shop: Shop): ListedDiscount[] => [
  ...shop.discounts.map((discount) => ({
    createdAt: discount.createdAt,
    fields: { method: 'automatic', status: getStatus(discount, shop.clock.ms()) },
    node: {
      __typename: 'DiscountNode',
      id: gid('DiscountAutomaticNode', discount.id),
      discount: automaticDiscount(discount),
    },
  })),
  ...shop.codes.map((code) => ({
    createdAt: code.createdAt,
    fields: { method: 'code', status: getStatus(code, shop.clock.ms()) },
    node: {
      __typename: 'DiscountNode',
      id: gid('DiscountCodeNode', code.id),
      discount: { __typename: code.typename, title: code.title },
    },
  })),
]

function getStatus({ startsAt, endsAt }: { startsAt: string; endsAt: string | null }, nowMs: number): string {
  if (endsAt !== null && Date.parse(endsAt) <= nowMs) return 'expired'
  return Date.parse(startsAt) > nowMs ? 'scheduled' : 'active'
}
