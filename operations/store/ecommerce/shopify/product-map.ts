/** Maps Shopify's products to products of the port. Pure functions. */
import type { Product, ProductVariant } from '../port.ts'
import { plainId, toInstant } from './http/ids.ts'

export interface RestProduct {
  id: number
  title: string
  handle: string
  vendor: string | null
  tags: string
  status: 'active' | 'archived' | 'draft'
  published_at: string | null
  created_at: string
  updated_at: string
  images: { id: number; src: string }[]
  image: { src: string } | null
  options: { name: string }[]
  variants: RestVariant[]
}

export interface RestVariant {
  id: number
  title: string
  sku: string | null
  price: string
  compare_at_price: string | null
  inventory_quantity: number
  /** Null: stock is not tracked. */
  inventory_management: string | null
  inventory_policy: 'deny' | 'continue'
  image_id: number | null
  option1: string | null
  option2: string | null
  option3: string | null
}

/** A variant as GraphQL returns it. */
export interface GraphVariant {
  id: string
  title: string
  sku: string | null
  price: string
  compareAtPrice: string | null
  inventoryQuantity: number | null
  inventoryPolicy: 'DENY' | 'CONTINUE'
  inventoryItem: { tracked: boolean }
  selectedOptions: { name: string; value: string }[]
}

/** Facts of a product that REST does not return. */
export interface ProductFacts {
  domain: string
  currency: string
  categories: Product['categories']
  /** All variants, if REST returned only the first ones. */
  variants?: ProductVariant[]
}

/** The variant title that Shopify gives to products without options. */
const noTitle = 'Default Title'

export function toProduct(product: RestProduct, facts: ProductFacts): Product {
  const variants = facts.variants ?? product.variants.map((variant) => toVariant(product, variant))
  const cheapest = findCheapest(variants)
  const images = product.images.map(({ src }) => src)
  return {
    id: String(product.id),
    name: product.title,
    handle: product.handle,
    url: `https://${facts.domain}/products/${product.handle}`,
    imageUrl: product.image?.src ?? images[0] ?? null,
    images,
    brand: product.vendor || null,
    categories: facts.categories,
    tags: product.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    price: cheapest?.price ?? 0,
    compareAtPrice: cheapest?.compareAtPrice ?? null,
    currency: facts.currency,
    stock: sumStock(variants),
    isPublished: product.status === 'active' && product.published_at !== null,
    variants,
    createdAt: toInstant(product.created_at),
    updatedAt: toInstant(product.updated_at),
  }
}

export const findCheapest = (variants: readonly ProductVariant[]): ProductVariant | undefined =>
  variants.reduce<ProductVariant | undefined>(
    (least, each) => (least && least.price <= each.price ? least : each),
    undefined,
  )

/** The stock of all variants together; null if any of them is not tracked. */
export const sumStock = (variants: readonly { stock: number | null }[]): number | null =>
  variants.reduce<number | null>((sum, { stock }) => (sum === null || stock === null ? null : sum + stock), 0)

export function toVariant(
  product: Pick<RestProduct, 'title' | 'options' | 'images'>,
  variant: RestVariant,
): ProductVariant {
  const values = [variant.option1, variant.option2, variant.option3]
  return buildVariant(product.title, {
    id: String(variant.id),
    title: variant.title,
    sku: variant.sku,
    price: variant.price,
    compareAtPrice: variant.compare_at_price,
    quantity: variant.inventory_management === null ? null : variant.inventory_quantity,
    sellsWithout: variant.inventory_policy === 'continue',
    options: (product.options ?? []).flatMap(({ name }, at) =>
      values[at] ? [{ name, value: values[at] }] : [],
    ),
    imageUrl: product.images?.find(({ id }) => id === variant.image_id)?.src ?? null,
  })
}

export const fromGraphVariant = (productName: string, variant: GraphVariant): ProductVariant =>
  buildVariant(productName, {
    id: plainId(variant.id),
    title: variant.title,
    sku: variant.sku,
    price: variant.price,
    compareAtPrice: variant.compareAtPrice,
    quantity: variant.inventoryItem.tracked ? (variant.inventoryQuantity ?? 0) : null,
    sellsWithout: variant.inventoryPolicy === 'CONTINUE',
    options: variant.selectedOptions,
    imageUrl: null,
  })

interface VariantParts {
  id: string
  title: string
  sku: string | null
  price: string
  compareAtPrice: string | null
  /** Null: not tracked. */
  quantity: number | null
  /** Whether the variant can be sold even if it is out of stock. */
  sellsWithout: boolean
  options: { name: string; value: string }[]
  imageUrl: string | null
}

function buildVariant(productName: string, parts: VariantParts): ProductVariant {
  const stock = parts.quantity === null ? null : Math.max(0, parts.quantity)
  return {
    id: parts.id,
    name: parts.title === noTitle ? productName : parts.title,
    sku: parts.sku || null,
    options: parts.options.filter(({ value }) => value !== noTitle),
    price: Number(parts.price),
    compareAtPrice: parts.compareAtPrice === null ? null : Number(parts.compareAtPrice),
    stock,
    isAvailable: stock === null || stock > 0 || parts.sellsWithout,
    imageUrl: parts.imageUrl,
  }
}
