/** Maps Shopify's products to products of the port. Pure functions. */
import type { Product, ProductVariant } from '../port.ts'
import type { ProductsQuery, VariantsQuery } from './documents/documents.ts'
import { plainId, toInstant } from './http/ids.ts'

export type ShopifyProduct = Extract<ProductsQuery['nodes'][number], { title: unknown }>
export type ShopifyVariant = VariantsQuery['productVariants']['nodes'][number]
export type MediaNodes = ShopifyProduct['media']['nodes']

/** The parts of a product that are read by further queries. */
export interface ProductFacts {
  shop: ProductsQuery['shop']
  collections: { id: string; title: string }[]
  media: MediaNodes
  /** All variants of the product, in any order. */
  variants: readonly ShopifyVariant[]
}

/** The variant title that Shopify gives to products without options. */
const noTitle = 'Default Title'

export function toProduct(product: ShopifyProduct, facts: ProductFacts): Product {
  const variants = [...facts.variants]
    .sort((a, b) => a.position - b.position)
    .map((variant) => toVariant(product.title, variant))
  const cheapest = findCheapest(variants)
  const images = findImages(facts.media)
  return {
    id: plainId(product.id),
    name: product.title,
    handle: product.handle,
    url: `https://${facts.shop.primaryDomain.host}/products/${product.handle}`,
    imageUrl: images[0] ?? null,
    images,
    brand: product.vendor || null,
    categories: facts.collections.map(({ id, title }) => ({ id: plainId(id), name: title })),
    tags: product.tags,
    price: cheapest?.price ?? 0,
    compareAtPrice: cheapest?.compareAtPrice ?? null,
    currency: facts.shop.currencyCode,
    stock: sumStock(variants),
    isPublished: product.status === 'ACTIVE' && product.publishedAt !== null,
    variants,
    createdAt: toInstant(product.createdAt),
    updatedAt: toInstant(product.updatedAt),
  }
}

/** The URLs of the images; videos, models and images that are still being processed have none. */
const findImages = (nodes: MediaNodes): string[] =>
  nodes.flatMap((node) => ('image' in node && node.image ? node.image.url : []))

const findCheapest = (variants: readonly ProductVariant[]): ProductVariant | undefined =>
  variants.reduce<ProductVariant | undefined>(
    (least, each) => (least && least.price <= each.price ? least : each),
    undefined,
  )

/** The stock of all variants together; null if any of them is not tracked. */
export const sumStock = (variants: readonly { stock: number | null }[]): number | null =>
  variants.reduce<number | null>((sum, { stock }) => (sum === null || stock === null ? null : sum + stock), 0)

/** Null: not tracked. */
export const getStock = ({
  inventoryItem,
  inventoryQuantity,
}: Pick<ShopifyVariant, 'inventoryItem' | 'inventoryQuantity'>): number | null =>
  inventoryItem.tracked ? Math.max(0, inventoryQuantity ?? 0) : null

function toVariant(productName: string, variant: ShopifyVariant): ProductVariant {
  const stock = getStock(variant)
  return {
    id: plainId(variant.id),
    name: variant.title === noTitle ? productName : variant.title,
    sku: variant.sku || null,
    options: variant.selectedOptions.filter(({ value }) => value !== noTitle),
    price: Number(variant.price),
    compareAtPrice: variant.compareAtPrice === null ? null : Number(variant.compareAtPrice),
    stock,
    isAvailable: stock === null || stock > 0 || variant.inventoryPolicy === 'CONTINUE',
    imageUrl: findImages(variant.media.nodes)[0] ?? null,
  }
}
