/** Facts of the shop that other answers need: domain, currency, main language. Cached for ten minutes for each shop. */
import type { Clock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import type { ProviderStore } from '#runtime/ports/provider'
import type { TiendanubeClient } from './http/client.ts'
import { type Localized, pickText } from './http/values.ts'

interface ApiShop {
  id: number
  name: Localized
  country: string
  domains: string[]
  original_domain: string
  main_currency: string
  main_language: string
  plan_name?: string | null
}

export interface ShopFacts {
  id: string
  name: string
  /** The domain of its pages. */
  domain: string
  /** All of its domains, in lower case. */
  domains: string[]
  country: string
  currency: string
  language: string
  plan: string | null
}

const cachedForMs = 10 * minuteMs
const cachedAtMost = 2000

export async function readShop(client: TiendanubeClient, store: ProviderStore): Promise<ShopFacts> {
  const shop = await client.call<ApiShop>(store, {
    path: 'store',
    query: { fields: 'id,name,country,domains,original_domain,main_currency,main_language,plan_name' },
  })
  const domains = [...(shop.domains ?? []), shop.original_domain].flatMap((each) => readHost(each) ?? [])
  return {
    id: String(shop.id),
    name: pickText(shop.name, shop.main_language),
    domain: domains[0] ?? '',
    domains,
    country: shop.country,
    currency: shop.main_currency,
    language: shop.main_language,
    plan: shop.plan_name ?? null,
  }
}

/** The host of an address or a host, in lower case. */
export const readHost = (address: string | null | undefined): string | null =>
  address
    ? (URL.parse(/^https?:\/\//.test(address) ? address : `https://${address}`)?.hostname ?? null)
    : null

export class ShopCache {
  readonly #client: TiendanubeClient
  readonly #clock: Clock
  readonly #known = new Map<string, { until: number; facts: Promise<ShopFacts> }>()

  constructor(client: TiendanubeClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  get(store: ProviderStore): Promise<ShopFacts> {
    const { storeId } = this.#client.parseCredentials(store)
    const known = this.#known.get(storeId)
    if (known && this.#clock.ms() < known.until) return known.facts
    const facts = readShop(this.#client, store)
    this.#known.delete(storeId)
    this.#known.set(storeId, { until: this.#clock.ms() + cachedForMs, facts })
    if (this.#known.size > cachedAtMost) this.#known.delete(this.#known.keys().next().value!)
    facts.catch(() => this.#known.delete(storeId))
    return facts
  }
}
