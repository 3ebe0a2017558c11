/**
 * Discounts. Tiendanube stores the name of a promotion, and asks at each change of a cart what it takes off. So the rules are
 * kept here (./ledger.ts), and are applied to each cart (./answer.ts).
 */
import type { Clock } from '#runtime/clock'
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { z } from '#runtime/schema'
import { type DiscountSpec, discountHash, type LiveDiscount } from '../../discounts.ts'
import type { TiendanubeClient } from '../http/client.ts'
import { answerCart } from './answer.ts'
import type { DiscountLedger } from './ledger.ts'

interface ApiPromotion {
  id: string
  active: boolean
}

const amount = z.union([z.string(), z.number()]).transform(String)
const id = z.coerce.number().int()
const askedCart = z.object({
  currency: z.string().length(3),
  execution_tier: z.string(),
  products: z.array(
    z.object({
      price: amount,
      product_id: id,
      variant_id: id,
      quantity: z.coerce.number().int().min(0).max(100_000),
      categories: z.array(z.object({ id, parent: id.nullable() })).optional(),
    }),
  ),
  promotions: z.array(z.object({ id: z.string() })).optional(),
  coupons: z.array(z.string()).optional(),
})

export class TiendanubeDiscounts {
  readonly #client: TiendanubeClient
  readonly #ledger: DiscountLedger
  readonly #cartUrl: (storeId: string) => string
  readonly #clock: Clock

  constructor(
    client: TiendanubeClient,
    ledger: DiscountLedger,
    { cartUrl, clock }: { cartUrl: (storeId: string) => string; clock: Clock },
  ) {
    this.#client = client
    this.#ledger = ledger
    this.#cartUrl = cartUrl
    this.#clock = clock
  }

  async put(store: ProviderStore, spec: DiscountSpec): Promise<{ platformId: string }> {
    if (spec.kind === 'gift' && (spec.usageLimit !== null || spec.usageLimitPerCustomer !== null)) {
      throw new Refused('unsupported', 'usageLimit: Tiendanube does not say how often a gift was given')
    }
    const url = this.#cartUrl(store.id)
    if (!url.startsWith('https://')) {
      throw new Refused(
        'invalid-address',
        'Tiendanube asks https addresses alone: this server needs one (PUBLIC_URL)',
      )
    }
    // First, so that nothing is stored if Tiendanube does not answer.
    await this.#client.call(store, { method: 'PUT', path: 'discounts/callbacks', body: { url } })
    const { reference, revision } = spec
    const { before, isWritten } = await this.#ledger.write(store.id, reference, { revision, spec })
    if (!isWritten) return { platformId: before?.platformId ?? '' }
    if (before?.platformId) return { platformId: before.platformId }
    // A removal may have failed after the rules were gone here.
    if (before?.removedId) await this.#delete(store, before.removedId)
    const platformId = await this.#create(store, spec)
    const kept = await this.#ledger.keepPlatformId(store.id, reference, platformId)
    // Another call was faster, or has removed the discount.
    if (kept !== platformId) await this.#delete(store, platformId)
    return { platformId: kept ?? '' }
  }

  async remove(store: ProviderStore, reference: string, revision: number): Promise<void> {
    await this.#listPromotions(store)
    const { before, isWritten } = await this.#ledger.write(store.id, reference, { revision, spec: null })
    // The removed id: an earlier call may have failed before its deletion.
    const id = before?.platformId ?? before?.removedId
    if (isWritten && id) await this.#delete(store, id)
  }

  async list(store: ProviderStore): Promise<LiveDiscount[]> {
    const promotions = await this.#listPromotions(store)
    const active = new Set(promotions.flatMap((each) => (each.active ? [each.id] : [])))
    return [...(await this.#ledger.read(store.id))].flatMap(([reference, { revision, platformId, spec }]) =>
      spec && platformId && active.has(platformId)
        ? [{ reference, platformId, revision, hash: discountHash(spec) }]
        : [],
    )
  }

  /** Answers Tiendanube's question for a cart. */
  async answer(store: ProviderStore, rawBody: Uint8Array): Promise<object | null> {
    const cart = readCart(rawBody)
    const entries = [...(await this.#ledger.read(store.id)).values()]
    const live = entries.flatMap(({ platformId, spec }) => (spec && platformId ? [{ platformId, spec }] : []))
    const ids = new Set(
      entries.flatMap(({ platformId, removedId }) => [platformId ?? [], removedId ?? []].flat()),
    )
    return answerCart(cart, { live, ids }, this.#clock.now())
  }

  async #create(store: ProviderStore, { title, combinesWith }: DiscountSpec): Promise<string> {
    const { data } = await this.#client.call<{ data: { id: string } }>(store, {
      method: 'POST',
      path: 'promotions',
      body: {
        name: title,
        allocation_type: 'cross_items',
        active: true,
        combines_with_quantity_discounts: combinesWith.promotions,
        combines_with_cart_amount_discounts: combinesWith.promotions,
        // Ours are combined here; reduced prices and free shipping are no promotions.
        combines_with_app_discounts: true,
        combines_with_price_discounts: true,
        combines_with_free_shipping: true,
      },
    })
    return data.id
  }

  async #delete(store: ProviderStore, id: string): Promise<void> {
    await this.#client.find(store, { method: 'DELETE', path: `promotions/${encodeURIComponent(id)}` })
  }

  async #listPromotions(store: ProviderStore): Promise<ApiPromotion[]> {
    const answer = await this.#client.find<{ data: ApiPromotion[] }>(store, { path: 'promotions' })
    return answer?.data ?? []
  }
}

function readCart(rawBody: Uint8Array) {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody))
  } catch (error) {
    throw new Refused('bad-body', 'The cart cannot be read', { cause: error })
  }
  const read = askedCart.safeParse(body)
  if (!read.success) throw new Refused('bad-body', 'The cart cannot be read', { cause: read.error })
  return read.data
}
