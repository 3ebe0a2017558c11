/** A shop of the stand-in: its objects as the API answers them, and its changes. */
import type { ApiCheckout } from '#operations/store/ecommerce/tiendanube/carts'
import type { ApiCoupon } from '#operations/store/ecommerce/tiendanube/coupons'
import type { ApiCustomer } from '#operations/store/ecommerce/tiendanube/customers'
import type { ApiOrder, ApiValueChange } from '#operations/store/ecommerce/tiendanube/order-map'
import type { ApiProduct, ApiVariant } from '#operations/store/ecommerce/tiendanube/product-map'
import type { Clock } from '#runtime/clock'

export interface StoredOrder extends ApiOrder {
  token: string
  store_id: string
  history: ApiValueChange[]
}
export interface StoredCheckout extends ApiCheckout {
  store_id: number
  created_at: string
  /** It is listed from then on, up to six hours after it was left. */
  listedAt?: string
}
export interface StoredCategory {
  id: number
  name: Record<string, string>
  handle: Record<string, string>
  parent: number | null
}
export interface StoredWebhook {
  id: number
  event: string
  url: string
}
export interface StoredScript {
  id: number
  params: Record<string, unknown> | null
  created_at: string
}

export const currency = 'BRL'

export interface ProductInput {
  id: string
  name: string
  brand?: string
  tags?: readonly string[]
  categoryIds?: readonly string[]
  isPublished?: boolean
  variants: readonly {
    id: string
    name?: string
    sku?: string | null
    price: number
    compareAtPrice?: number | null
    stock?: number | null
  }[]
}

const inPortuguese = (text: string): Record<string, string> => ({ es: `${text} (es)`, pt: text })

export class Shop {
  readonly id = 789_456
  readonly clock: Clock
  readonly domains = ['www.loja.example.com']
  readonly originalDomain = 'loja.lojavirtualnuvem.com.br'
  readonly products: ApiProduct[] = []
  readonly categories: StoredCategory[] = []
  readonly customers: ApiCustomer[] = []
  readonly orders: StoredOrder[] = []
  readonly checkouts: StoredCheckout[] = []
  readonly webhooks: StoredWebhook[] = []
  readonly scripts: StoredScript[] = []
  coupons: ApiCoupon[] = []
  promotions: { id: string; name: string; active: boolean }[] = []
  /** The address to which carts are sent. */
  callbackUrl: string | null = null
  #lastId = 70_000
  #lastChange = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** Whole seconds, like Tiendanube's; two changes never have the same time. */
  now(): string {
    this.#lastChange = Math.max(this.#lastChange + 1000, Math.floor(this.clock.ms() / 1000) * 1000)
    return `${new Date(this.#lastChange).toISOString().slice(0, 19)}+0000`
  }

  addCategory({ id, name, parentId }: { id: string; name: string; parentId?: string }): void {
    const handle = inPortuguese(name.toLowerCase())
    this.categories.push({
      id: Number(id),
      name: inPortuguese(name),
      handle,
      parent: parentId ? Number(parentId) : null,
    })
  }

  addProduct(input: ProductInput): void {
    const at = this.now()
    const hasOptions = input.variants.some(({ name }) => name)
    this.products.push({
      id: Number(input.id),
      name: inPortuguese(input.name),
      handle: inPortuguese(`product-${input.id}`),
      brand: input.brand ?? null,
      published: input.isPublished ?? true,
      tags: (input.tags ?? []).join(', '),
      categories: (input.categoryIds ?? []).map(
        (id) => this.categories.find((each) => each.id === Number(id))!,
      ),
      images: [],
      attributes: hasOptions ? [inPortuguese('Cor')] : [],
      variants: input.variants.map(buildVariant),
      created_at: at,
      updated_at: at,
    })
  }

  addCustomer(input: {
    id: string
    name?: string | null
    email?: string | null
    phone?: string | null
    acceptsMarketing?: boolean
  }): void {
    this.customers.push({
      id: Number(input.id),
      name: input.name ?? null,
      email: input.email ?? null,
      phone: input.phone ?? null,
      last_order_id: null,
      accepts_marketing: input.acceptsMarketing ?? true,
    })
  }

  customer(id: string): ApiCustomer {
    return require(this.customers.find((each) => each.id === Number(id)), `customer ${id}`)
  }

  variant(id: string): { product: ApiProduct; variant: ApiVariant } {
    for (const product of this.products) {
      const variant = product.variants.find((each) => each.id === Number(id))
      if (variant) return { product, variant }
    }
    throw new Error(`The stand-in has no variant ${id}`)
  }

  order(id: string): StoredOrder {
    return require(this.orders.find((each) => each.id === Number(id)), `order ${id}`)
  }
}

function require<T>(found: T | undefined, what: string): T {
  if (!found) throw new Error(`The stand-in has no ${what}`)
  return found
}

const buildVariant = (input: ProductInput['variants'][number]): ApiVariant => ({
  id: Number(input.id),
  image_id: null,
  price: (input.compareAtPrice ?? input.price).toFixed(2),
  promotional_price: input.compareAtPrice ? input.price.toFixed(2) : null,
  stock_management: input.stock !== null && input.stock !== undefined,
  stock: input.stock ?? null,
  sku: input.sku ?? null,
  values: input.name ? [inPortuguese(input.name)] : [],
})
