/** Objects of the shop as GraphQL answers them. */
import { connection, type GraphObject, type PageArgs } from './graph-run.ts'
import type { Searchable } from './search-syntax.ts'
import {
  currency,
  type Shop,
  type StoredCustomer,
  type StoredDiscount,
  type StoredItems,
  type StoredOrder,
  type StoredProduct,
} from './shop.ts'

export const gid = (type: string, id: number | string): string => `gid://shopify/${type}/${id}`

export const money = (amount: string) => ({ __typename: 'MoneyV2', amount, currencyCode: currency })

const totalStock = ({ variants }: StoredProduct): number =>
  variants
    .filter(({ inventory_management }) => inventory_management !== null)
    .reduce((sum, { inventory_quantity }) => sum + inventory_quantity, 0)

export const productFields = (product: StoredProduct): Searchable => ({
  id: product.id,
  title: product.title,
  vendor: product.vendor,
  sku: product.variants.map(({ sku }) => sku ?? ''),
  tag: product.tags.split(', '),
  status: product.status,
  published_status: product.published_at === null ? 'unpublished' : 'published',
  inventory_total: totalStock(product),
  collection_id: product.collectionIds.map(String),
  updated_at: product.updated_at,
})

export const productObject = (shop: Shop, product: StoredProduct): GraphObject => ({
  __typename: 'Product',
  id: gid('Product', product.id),
  title: product.title,
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
  { id, title, handle }: Shop['collections'][number],
): GraphObject => ({
  __typename: 'Collection',
  id: gid('Collection', id),
  title,
  handle,
  productsCount: {
    __typename: 'Count',
    count: shop.products.filter(({ collectionIds }) => collectionIds.includes(id)).length,
  },
})

export const variantObjects = (product: StoredProduct): GraphObject[] =>
  product.variants.map((variant) => ({
    __typename: 'ProductVariant',
    id: gid('ProductVariant', variant.id),
    title: variant.title,
    sku: variant.sku,
    price: variant.price,
    compareAtPrice: variant.compare_at_price,
    inventoryQuantity: variant.inventory_quantity,
    inventoryPolicy: variant.inventory_policy.toUpperCase(),
    inventoryItem: { __typename: 'InventoryItem', tracked: variant.inventory_management !== null },
    selectedOptions: product.options.map(({ name }) => ({
      __typename: 'SelectedOption',
      name,
      value: variant.option1,
    })),
  }))

export const customerObject = (shop: Shop, customer: StoredCustomer): GraphObject => {
  const orders = shop.orders
    .filter((order) => order.customer?.id === customer.id)
    .map((order) => ({ __typename: 'Order', processedAt: order.processed_at! }))
  return {
    __typename: 'Customer',
    id: gid('Customer', customer.id),
    metafield: ({ namespace, key }: { namespace: string; key: string }) =>
      namespace === 'facts' && key === 'birth_date' && customer.birthDate
        ? { __typename: 'Metafield', value: customer.birthDate }
        : null,
    lastOrder: orders.at(-1) ?? null,
    orders: (args: PageArgs & { sortKey: 'PROCESSED_AT' }) =>
      connection(
        [...orders].sort((a, b) => Date.parse(a.processedAt) - Date.parse(b.processedAt)),
        args,
      ),
  }
}

export const orderObject = (order: StoredOrder): GraphObject => ({
  __typename: 'Order',
  id: gid('Order', order.id),
  name: order.name,
  updatedAt: order.updated_at,
  test: order.test,
  transactions: ({ first }: { first: number }) =>
    order.transactions.slice(0, first).map((each) => ({ __typename: 'OrderTransaction', ...each })),
  fulfillments: ({ first }: { first: number }) =>
    order.fulfillments.slice(0, first).map(({ shipment_status, updated_at }) => ({
      __typename: 'Fulfillment',
      deliveredAt: shipment_status === 'delivered' ? updated_at : null,
    })),
  paymentCollectionDetails: {
    __typename: 'OrderPaymentCollectionDetails',
    additionalPaymentCollectionUrl:
      order.financial_status === 'pending' ? `https://loja.example.com/pay/${order.id}` : null,
  },
})

export const orderFields = (order: StoredOrder): Searchable => ({
  name: order.name,
  updated_at: order.updated_at,
  checkout_token: order.checkoutToken,
})

function itemsObject({ all, products, collections }: StoredItems): GraphObject {
  const pageOf = (type: string, ids: string[]) => (args: PageArgs) =>
    connection(
      ids.map((id) => ({ __typename: type, id })),
      args,
    )
  if (all) return { __typename: 'AllDiscountItems', allItems: true }
  return collections.length > 0
    ? { __typename: 'DiscountCollections', collections: pageOf('Collection', collections) }
    : { __typename: 'DiscountProducts', products: pageOf('Product', products) }
}

export const discountObject = (discount: StoredDiscount): GraphObject => ({
  __typename: 'DiscountAutomaticNode',
  id: gid('DiscountAutomaticNode', discount.id),
  automaticDiscount: {
    __typename: discount.typename,
    title: discount.title,
    createdAt: discount.createdAt,
    startsAt: discount.startsAt,
    endsAt: discount.endsAt,
    usesPerOrderLimit: discount.usesPerOrderLimit,
    asyncUsageCount: discount.asyncUsageCount,
    combinesWith: { __typename: 'DiscountCombinesWith', ...discount.combinesWith },
    customerBuys: {
      __typename: 'DiscountCustomerBuys',
      value: { __typename: 'DiscountQuantity', quantity: discount.buys.quantity },
      items: itemsObject(discount.buys.items),
    },
    customerGets: {
      __typename: 'DiscountCustomerGets',
      value: {
        __typename: 'DiscountOnQuantity',
        quantity: { __typename: 'DiscountQuantity', quantity: discount.gets.quantity },
        effect: { __typename: 'DiscountPercentage', percentage: discount.gets.percentage },
      },
      items: itemsObject(discount.gets.items),
    },
  },
})

const isActive = ({ startsAt, endsAt }: StoredDiscount): boolean =>
  Date.parse(startsAt) <= Date.now() && (endsAt === null || Date.parse(endsAt) > Date.now())

const types: Record<string, string> = { DiscountAutomaticBxgy: 'bxgy', DiscountAutomaticBasic: 'percentage' }

/** It finds them by nothing else: not by their titles. */
export const discountFields = (discount: StoredDiscount): Searchable => ({
  status: isActive(discount) ? 'active' : 'inactive',
  type: types[discount.typename]!,
})
