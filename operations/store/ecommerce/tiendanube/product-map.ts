/** Maps Tiendanube's products to products of the port. Pure functions. */
import type { Product, ProductVariant } from '../port.ts'
import { type Localized, pickText, toHttps, toInstant } from './http/values.ts'
import type { ShopFacts } from './shop.ts'

export interface ApiProduct {
  id: number
  name: Localized
  handle: Localized
  /** The address of its page. Answers have it, the documentation does not name it. */
  canonical_url?: string | null
  brand: string | null
  published: boolean
  tags: string | null
  categories: { id: number; name: Localized }[]
  images: { id: number; src: string; position: number }[]
  attributes: Localized[]
  variants: ApiVariant[]
  created_at: string
  updated_at: string
}

export interface ApiVariant {
  id: number
  image_id: number | null
  /** Null: the shop sells it only on request. */
  price: string | null
  /** Below `price`, which is then shown struck through. */
  promotional_price: string | null
  stock_management: boolean
  /** Null: not tracked. */
  stock: number | null
  sku: string | null
  values: Localized[]
}

/** The folder of product pages, by language. */
const productFolders: Readonly<Record<string, string>> = { es: 'productos', pt: 'produtos' }

export function toProduct(product: ApiProduct, shop: ShopFacts): Product {
  const { language, domain, currency } = shop
  const handle = pickText(product.handle, language)
  const variants = product.variants.map((variant) => toVariant(product, variant, language))
  const cheapest = findCheapest(variants)
  const images = [...product.images].sort((a, b) => a.position - b.position).map(({ src }) => toHttps(src))
  return {
    id: String(product.id),
    name: pickText(product.name, language),
    handle,
    url: product.canonical_url || `https://${domain}/${productFolders[language] ?? 'products'}/${handle}`,
    imageUrl: images[0] ?? null,
    images,
    brand: product.brand || null,
    categories: product.categories.map(({ id, name }) => ({
      id: String(id),
      name: pickText(name, language),
    })),
    tags: (product.tags ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    price: cheapest?.price ?? 0,
    compareAtPrice: cheapest?.compareAtPrice ?? null,
    currency,
    stock: sumStock(variants),
    isPublished: product.published,
    variants,
    createdAt: toInstant(product.created_at),
    updatedAt: toInstant(product.updated_at),
  }
}

function toVariant(product: ApiProduct, variant: ApiVariant, language: string): ProductVariant {
  const values = variant.values.map((value) => pickText(value, language))
  const price = Number(variant.price ?? 0)
  const promotional = Number(variant.promotional_price ?? 0)
  const isReduced = promotional > 0 && promotional < price
  const stock = variant.stock_management && variant.stock !== null ? Math.max(0, variant.stock) : null
  const image = product.images.find(({ id }) => id === variant.image_id)
  return {
    id: String(variant.id),
    name: values.filter(Boolean).join(' / ') || pickText(product.name, language),
    sku: variant.sku || null,
    options: values.flatMap((value, at) =>
      value ? [{ name: pickText(product.attributes[at], language), value }] : [],
    ),
    price: isReduced ? promotional : price,
    compareAtPrice: isReduced ? price : null,
    stock,
    isAvailable: variant.price !== null && (stock === null || stock > 0),
    imageUrl: image ? toHttps(image.src) : null,
  }
}

const findCheapest = (variants: readonly ProductVariant[]): ProductVariant | undefined =>
  variants.reduce<ProductVariant | undefined>(
    (least, each) => (least && least.price <= each.price ? least : each),
    undefined,
  )

/** The stock of all variants together; null if any of them is not tracked. */
const sumStock = (variants: readonly { stock: number | null }[]): number | null =>
  variants.reduce<number | null>((sum, { stock }) => (sum === null || stock === null ? null : sum + stock), 0)
