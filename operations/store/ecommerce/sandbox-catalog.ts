/** Writes the sandbox's products, categories and customers, for the seed, the tests and `/sandbox/api`. */
import { foldText } from '#runtime/values/fold'
import { parsePhone } from '#runtime/values/phone'
import type { Category, Product, ProductVariant } from './port.ts'
import { findObjects, instantText, putObjects, readShopFacts, type Shop } from './sandbox-rows.ts'

export interface CategoryInput {
  id: string
  name: string
  parentId?: string | null
  handle?: string
  url?: string
  /** Position among its siblings; default: its index in the list. */
  position?: number
}

/** A stored category; path and count are computed when it is listed. */
export type StoredCategory = Omit<Category, 'path' | 'productCount'>

export interface ProductInput {
  id: string
  name: string
  handle?: string
  url?: string
  brand?: string | null
  /** Must be ids of existing categories. */
  categoryIds?: readonly string[]
  tags?: readonly string[]
  imageUrl?: string | null
  images?: readonly string[]
  isPublished?: boolean
  createdAt?: Date | string
  updatedAt?: Date | string
  /** At least one variant. Prices are in the store's currency; stock `null`: not tracked. */
  variants: readonly {
    id: string
    name?: string
    sku?: string | null
    options?: readonly { name: string; value: string }[]
    price: number
    compareAtPrice?: number | null
    stock?: number | null
    imageUrl?: string | null
  }[]
}

export interface CustomerInput {
  id: string
  name?: string | null
  email?: string | null
  phone?: string | null
  /** `YYYY-MM-DD`. */
  birthDate?: string | null
  acceptsMarketing?: boolean
}

/** A stored customer; figures about the customer's orders are computed when customers are listed. */
export interface StoredCustomer {
  id: string
  name: string | null
  email: string | null
  phone: string | null
  birthDate: string | null
  acceptsMarketing: boolean
}

/** Turns `Mesa de Jantar` into `mesa-de-jantar`. */
const toHandle = (name: string): string =>
  foldText(name)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

/** Creates or replaces categories. */
export async function putCategories(shop: Shop, categories: readonly CategoryInput[]): Promise<void> {
  const { domain } = await readShopFacts(shop)
  const now = instantText(shop.clock.now())
  await putObjects(
    shop,
    'category',
    categories.map((category, index) => {
      const handle = category.handle ?? toHandle(category.name)
      const data: StoredCategory = {
        id: category.id,
        name: category.name,
        parentId: category.parentId ?? null,
        handle,
        url: category.url ?? `https://${domain}/categories/${handle}`,
        position: category.position ?? index + 1,
      }
      return { id: category.id, data, updatedAt: now }
    }),
  )
}
export const putCategory = (shop: Shop, category: CategoryInput): Promise<void> =>
  putCategories(shop, [category])

/** Creates or replaces products. Throws on an unknown category. */
export async function putProducts(shop: Shop, products: readonly ProductInput[]): Promise<Product[]> {
  const { domain, currency } = await readShopFacts(shop)
  const categoryIds = [...new Set(products.flatMap((product) => product.categoryIds ?? []))]
  const found = await findObjects<StoredCategory>(shop, 'category', categoryIds)
  const names = new Map(found.map((category) => [category.id, category.name]))
  const now = shop.clock.now()
  const made = products.map((product) => buildProduct(product, { domain, currency, names, now }))
  await putObjects(
    shop,
    'product',
    made.map((data) => ({ id: data.id, data, updatedAt: data.updatedAt })),
  )
  return made
}
export const putProduct = async (shop: Shop, product: ProductInput): Promise<Product> =>
  (await putProducts(shop, [product]))[0]!

function buildProduct(
  input: ProductInput,
  known: { domain: string; currency: string; names: ReadonlyMap<string, string>; now: Date },
): Product {
  const handle = input.handle ?? toHandle(input.name)
  const images = [...(input.images ?? (input.imageUrl ? [input.imageUrl] : []))]
  const variants = input.variants.map((variant): ProductVariant => {
    const stock = variant.stock ?? null
    return {
      id: variant.id,
      name: variant.name ?? input.name,
      sku: variant.sku ?? null,
      options: [...(variant.options ?? [])],
      price: variant.price,
      compareAtPrice: variant.compareAtPrice ?? null,
      stock,
      isAvailable: stock === null || stock > 0,
      imageUrl: variant.imageUrl ?? null,
    }
  })
  const cheapest = [...variants].sort((a, b) => a.price - b.price)[0]
  if (!cheapest) throw new Error(`Product ${input.id} of the sandbox has no variant`)
  const stocks = variants.map((variant) => variant.stock)
  return {
    id: input.id,
    name: input.name,
    handle,
    url: input.url ?? `https://${known.domain}/products/${handle}`,
    imageUrl: input.imageUrl ?? images[0] ?? null,
    images,
    brand: input.brand ?? null,
    categories: (input.categoryIds ?? []).map((id) => {
      const name = known.names.get(id)
      if (name === undefined) throw new Error(`Category ${id} does not exist in the sandbox`)
      return { id, name }
    }),
    tags: [...(input.tags ?? [])],
    price: cheapest.price,
    compareAtPrice: cheapest.compareAtPrice,
    currency: known.currency,
    stock: stocks.includes(null) ? null : stocks.reduce<number>((sum, stock) => sum + stock!, 0),
    isPublished: input.isPublished ?? true,
    variants,
    createdAt: instantText(input.createdAt ?? known.now),
    updatedAt: instantText(input.updatedAt ?? known.now),
  }
}

/** Creates or replaces customers; phones valid in the store's country are stored in E.164. */
export async function putCustomers(
  shop: Shop,
  customers: readonly CustomerInput[],
): Promise<StoredCustomer[]> {
  const { country } = await readShopFacts(shop)
  const made = customers.map((customer): StoredCustomer => {
    const phone = customer.phone ?? null
    return {
      id: customer.id,
      name: customer.name ?? null,
      email: customer.email?.trim() ?? null,
      phone: phone === null ? null : (parsePhone(phone, country) ?? phone),
      birthDate: customer.birthDate ?? null,
      acceptsMarketing: customer.acceptsMarketing ?? true,
    }
  })
  const now = instantText(shop.clock.now())
  await putObjects(
    shop,
    'customer',
    made.map((data) => ({ id: data.id, data, updatedAt: now })),
  )
  return made
}
export const putCustomer = async (shop: Shop, customer: CustomerInput): Promise<StoredCustomer> =>
  (await putCustomers(shop, [customer]))[0]!
