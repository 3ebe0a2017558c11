/**
 * Discounts: what shall be there is written into the ledger first, and then brought about. Whoever is overtaken
 * meanwhile brings about what the other wrote, so that the highest revision is what stays, in whatever order calls
 * arrive. A creation whose answer was lost is looked for before another is made.
 */

import type { Clock } from '#runtime/clock'
import { dayMs } from '#runtime/durations'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type {
  DiscountCapabilities,
  DiscountSpec,
  DiscountUsage,
  LiveDiscount,
  QuantityDiscount,
} from '../discounts.ts'
import {
  activeDiscounts,
  createDiscount,
  deleteDiscount,
  findDiscount,
  newestDiscounts,
  updateDiscount,
  usageOf,
} from './discount-calls.ts'
import {
  contentOf,
  discountInput,
  fingerprint,
  hashOf,
  requireExpressible,
  wantedContent,
} from './discount-map.ts'
import type { ShopifyClient } from './http/client.ts'
import {
  allEntries,
  type Entry,
  findEntries,
  findEntry,
  type ReadEntry,
  type Unheard,
  writeEntry,
} from './ledger.ts'

/** Of a shop, whoever made them. */
const activeAtMost = 25
const triesAtMost = 5
const usageAtOnce = 100
const itemsAtMost = 250
/** Longer than that no call is under way. */
const unheardMs = dayMs

const busy = () => new Unavailable('unknown', 'Others change this discount at Shopify at the same time')

export class ShopifyDiscounts {
  readonly #client: ShopifyClient
  readonly #clock: Clock

  constructor(client: ShopifyClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  async capabilities(store: ProviderStore): Promise<DiscountCapabilities> {
    const active = await activeDiscounts(this.#client, store)
    const ours = new Set((await allEntries(this.#client, store)).map(({ platformId }) => platformId))
    const others = active.filter((id) => !ours.has(id)).length
    return { kinds: ['quantity'], maxLive: Math.max(0, activeAtMost - others) }
  }

  /** Throws `Refused` for what Shopify cannot say or does not take: then all is as it was. */
  async put(store: ProviderStore, spec: DiscountSpec): Promise<{ platformId: string }> {
    requireExpressible(spec)
    const platformId = await this.#write(store, spec.reference, spec.revision, spec)
    return { platformId: platformId ?? '' }
  }

  async remove(store: ProviderStore, reference: string, revision: number): Promise<void> {
    await this.#write(store, reference, revision, null)
  }

  async list(store: ProviderStore): Promise<LiveDiscount[]> {
    const live: LiveDiscount[] = []
    for (const entry of await allEntries(this.#client, store)) {
      const found = await this.#seen(store, entry)
      if (found) live.push({ reference: entry.reference, revision: entry.revision, ...found })
    }
    return live
  }

  /** Shopify counts the uses of those that are there, and does not add up what they took off. */
  async usage(store: ProviderStore, references: readonly string[]): Promise<Record<string, DiscountUsage>> {
    const usage: Record<string, DiscountUsage> = {}
    for (let i = 0; i < references.length; i += usageAtOnce) {
      const entries = await findEntries(this.#client, store, references.slice(i, i + usageAtOnce))
      const ids = entries.flatMap(({ platformId }) => platformId ?? [])
      if (ids.length === 0) continue
      const { currency, used } = await usageOf(this.#client, store, ids)
      for (const { reference, platformId } of entries) {
        const orders = platformId === null ? undefined : used.get(platformId)
        if (orders !== undefined) usage[reference] = { orders, total: null, currency }
      }
    }
    return usage
  }

  /** What Shopify has of an entry; null: nothing. */
  async #seen(store: ProviderStore, entry: Entry): Promise<Pick<LiveDiscount, 'platformId' | 'hash'> | null> {
    const { platformId, spec } = entry
    const lost = await this.#lost(store, entry, this.#stillUnheard(entry))
    const node =
      platformId === null ? null : await findDiscount(this.#client, store, platformId, itemsIn(spec) + 1)
    const there = node ? platformId : lost[0]
    if (!there) return null
    // What shall be gone and is still there, or is there twice, is put right like what differs.
    const isRight = node && spec && lost.length === 0
    return { platformId: there, hash: isRight ? hashOf(spec, node, this.#clock.now()) : 'unfinished' }
  }

  async #write(
    store: ProviderStore,
    reference: string,
    revision: number,
    spec: QuantityDiscount | null,
  ): Promise<string | null> {
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const { shopId, found } = await findEntry(this.#client, store, reference)
      if (found && found.entry.revision > revision) return found.entry.platformId
      const entry = this.#claim(found?.entry ?? null, reference, revision, spec)
      const digest = await writeEntry(this.#client, store, shopId, entry, found?.digest ?? null)
      if (digest === null) continue
      try {
        const lost = this.#stillUnheard(found?.entry ?? null)
        return await this.#bring(store, shopId, { entry, digest }, lost)
      } catch (error) {
        if (error instanceof Refused)
          await this.#giveBack(store, shopId, found?.entry ?? null, { entry, digest })
        throw error
      }
    }
    throw busy()
  }

  #claim(before: Entry | null, reference: string, revision: number, spec: QuantityDiscount | null): Entry {
    const platformId = before?.platformId ?? null
    const { since, made } = this.#stillUnheard(before) ?? { since: this.#clock.now().toISOString(), made: [] }
    const isNew = spec && platformId === null
    const all = isNew ? [...without(made, spec), printOf(spec)] : made
    return { reference, revision, spec, platformId, unheard: all.length > 0 ? { since, made: all } : null }
  }

  #stillUnheard(entry: Entry | null): Unheard | null {
    const unheard = entry?.unheard ?? null
    return unheard && this.#clock.ms() - Date.parse(unheard.since) < unheardMs ? unheard : null
  }

  /** Makes Shopify's discount what the ledger says, also where the ledger is changed meanwhile. */
  async #bring(
    store: ProviderStore,
    shopId: string,
    claimed: ReadEntry,
    lost: Unheard | null,
  ): Promise<string | null> {
    let wanted = claimed
    let unheard = lost
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const platformId = await this.#apply(store, wanted.entry, unheard)
      const overtaken = await this.#settle(store, shopId, wanted, platformId)
      if (!overtaken) return platformId
      wanted = overtaken
      unheard = this.#stillUnheard(overtaken.entry)
    }
    throw busy()
  }

  /** Notes where the discount is. Answers what somebody else wrote meanwhile, which has to be brought about. */
  async #settle(
    store: ProviderStore,
    shopId: string,
    { entry, digest }: ReadEntry,
    platformId: string | null,
  ): Promise<ReadEntry | null> {
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const { found } = await findEntry(this.#client, store, entry.reference)
      if (!found) throw busy()
      const isOurs = found.digest === digest
      const theirs = found.entry.platformId
      if (theirs === platformId) return isOurs ? null : found
      if (!isOurs) {
        if (platformId === null) return found
        // Two made one each, or the other wants none: ours goes.
        if (theirs !== null || found.entry.spec === null) {
          await deleteDiscount(this.#client, store, platformId)
          return found
        }
      }
      const settled = { ...found.entry, platformId, unheard: heardOf(found.entry.unheard, entry.spec) }
      const written = await writeEntry(this.#client, store, shopId, settled, found.digest)
      // The one that was made is handed to whoever is at it now.
      if (written !== null) return isOurs ? null : { entry: settled, digest: written }
    }
    throw busy()
  }

  async #apply(store: ProviderStore, entry: Entry, unheard: Unheard | null): Promise<string | null> {
    const { spec } = entry
    const lost = await this.#lost(store, entry, unheard)
    const id = entry.platformId ?? lost[0] ?? null
    for (const stray of lost) if (stray !== id) await deleteDiscount(this.#client, store, stray)
    if (spec === null) {
      if (id !== null) await deleteDiscount(this.#client, store, id)
      return null
    }
    const wanted = wantedContent(spec)
    const now = this.#clock.now()
    const node = id === null ? null : await findDiscount(this.#client, store, id, itemsAtMost)
    if (!node || id === null) {
      return createDiscount(this.#client, store, discountInput(wanted, null, now))
    }
    await updateDiscount(this.#client, store, id, discountInput(wanted, contentOf(node), now))
    return id
  }

  /** Those that we made and never heard of, beside the one we know: of our content, and no other reference's. */
  async #lost(
    store: ProviderStore,
    { reference, platformId }: Entry,
    unheard: Unheard | null,
  ): Promise<string[]> {
    if (!unheard) return []
    const prints = new Map(unheard.made.map((each) => [each.fingerprint, each.title]))
    const titles = new Set(prints.values())
    const lost: string[] = []
    for (const { id, title } of await newestDiscounts(this.#client, store, unheard.since)) {
      if (id === platformId || !titles.has(title)) continue
      const node = await findDiscount(this.#client, store, id, itemsAtMost)
      const content = node && contentOf(node)
      const isLike = content && prints.has(fingerprint(content))
      if (isLike && !(await this.#isOthers(store, reference, id))) lost.push(id)
    }
    return lost
  }

  async #isOthers(store: ProviderStore, reference: string, id: string): Promise<boolean> {
    const entries = await allEntries(this.#client, store)
    return entries.some((entry) => entry.platformId === id && entry.reference !== reference)
  }

  /** Shopify did not take it: the ledger says again what is there. Who wrote meanwhile knows better. */
  async #giveBack(store: ProviderStore, shopId: string, before: Entry | null, now: ReadEntry): Promise<void> {
    const { reference, revision } = now.entry
    const kept = before ?? { reference, revision: revision - 1, spec: null, platformId: null, unheard: null }
    await writeEntry(this.#client, store, shopId, kept, now.digest)
  }
}

function itemsIn(spec: QuantityDiscount | null): number {
  return Math.min(itemsAtMost - 1, Math.max(spec?.productIds.length ?? 0, spec?.categoryIds.length ?? 0))
}

const printOf = (spec: QuantityDiscount): Unheard['made'][number] => ({
  title: spec.title,
  fingerprint: fingerprint(wantedContent(spec)),
})

const without = (made: Unheard['made'], spec: QuantityDiscount): Unheard['made'] => {
  const { fingerprint: print } = printOf(spec)
  return made.filter((each) => each.fingerprint !== print)
}

/** This one's answer came; that of others may not have. */
function heardOf(unheard: Unheard | null, spec: QuantityDiscount | null): Unheard | null {
  if (!unheard || !spec) return unheard
  const made = without(unheard.made, spec)
  return made.length > 0 ? { ...unheard, made } : null
}
