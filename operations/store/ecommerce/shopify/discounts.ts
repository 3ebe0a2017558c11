/**
 * Writes discounts to Shopify. The desired state is first written to the ledger, then Shopify is reconciled with the ledger.
 * A writer that finds a newer ledger entry reconciles that entry, so the highest revision wins in whatever order calls
 * arrive. Before a creation is repeated, Shopify is searched for a discount whose creation got no response.
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
  createDiscount,
  deleteDiscount,
  findDiscount,
  listActiveDiscounts,
  listNewestDiscounts,
  readUsage,
  updateDiscount,
} from './discount-calls.ts'
import {
  buildDiscountInput,
  fingerprint,
  hashDiscount,
  parseContent,
  requireExpressible,
  toContent,
} from './discount-map.ts'
import type { ShopifyClient } from './http/client.ts'
import {
  type Entry,
  findEntries,
  findEntry,
  listEntries,
  type PendingCreations,
  type VersionedEntry,
  writeEntry,
} from './ledger.ts'

/** Shopify's limit on active automatic discounts per shop, including the merchant's. */
const maxActive = 25
const maxAttempts = 5
const usageBatchSize = 100
const maxItems = 250
/** A creation without a response is searched for during this time, which is longer than any call can take. */
const orphanWindowMs = dayMs

const busy = () => new Unavailable('unknown', 'Others change this discount at Shopify at the same time')

export class ShopifyDiscounts {
  readonly #client: ShopifyClient
  readonly #clock: Clock

  constructor(client: ShopifyClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  async capabilities(store: ProviderStore): Promise<DiscountCapabilities> {
    const active = await listActiveDiscounts(this.#client, store)
    const ownIds = new Set((await listEntries(this.#client, store)).map(({ platformId }) => platformId))
    const others = active.filter((id) => !ownIds.has(id)).length
    return { kinds: ['quantity'], maxLive: Math.max(0, maxActive - others) }
  }

  /** Throws `Refused`, and changes nothing, if Shopify cannot express the discount or rejects it. */
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
    for (const entry of await listEntries(this.#client, store)) {
      const found = await this.#inspect(store, entry)
      if (found) live.push({ reference: entry.reference, revision: entry.revision, ...found })
    }
    return live
  }

  /** Returns only numbers of uses, because Shopify does not report the discounted amounts. */
  async usage(store: ProviderStore, references: readonly string[]): Promise<Record<string, DiscountUsage>> {
    const usage: Record<string, DiscountUsage> = {}
    for (let i = 0; i < references.length; i += usageBatchSize) {
      const entries = await findEntries(this.#client, store, references.slice(i, i + usageBatchSize))
      const ids = entries.flatMap(({ platformId }) => platformId ?? [])
      if (ids.length === 0) continue
      const { currency, used } = await readUsage(this.#client, store, ids)
      for (const { reference, platformId } of entries) {
        const orders = platformId === null ? undefined : used.get(platformId)
        if (orders !== undefined) usage[reference] = { orders, total: null, currency }
      }
    }
    return usage
  }

  /** Reads Shopify's discount for a ledger entry; null if there is none. */
  async #inspect(
    store: ProviderStore,
    entry: Entry,
  ): Promise<Pick<LiveDiscount, 'platformId' | 'hash'> | null> {
    const { platformId, spec } = entry
    const orphans = await this.#findOrphans(store, entry, this.#findPending(entry))
    const node =
      platformId === null ? null : await findDiscount(this.#client, store, platformId, countItems(spec) + 1)
    const platformDiscount = node ? platformId : orphans[0]
    if (!platformDiscount) return null
    // An orphan or a duplicate gets a hash that matches no spec, so that the caller writes the discount again.
    const isRight = node && spec && orphans.length === 0
    return {
      platformId: platformDiscount,
      hash: isRight ? hashDiscount(spec, node, this.#clock.now()) : 'unfinished',
    }
  }

  async #write(
    store: ProviderStore,
    reference: string,
    revision: number,
    spec: QuantityDiscount | null,
  ): Promise<string | null> {
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      const { shopId, found } = await findEntry(this.#client, store, reference)
      if (found && found.entry.revision > revision) return found.entry.platformId
      const entry = this.#claim(found?.entry ?? null, reference, revision, spec)
      const digest = await writeEntry(this.#client, store, shopId, entry, found?.digest ?? null)
      if (digest === null) continue
      try {
        const pending = this.#findPending(found?.entry ?? null)
        return await this.#reconcile(store, shopId, { entry, digest }, pending)
      } catch (error) {
        if (error instanceof Refused)
          await this.#rollBack(store, shopId, found?.entry ?? null, { entry, digest })
        throw error
      }
    }
    throw busy()
  }

  #claim(before: Entry | null, reference: string, revision: number, spec: QuantityDiscount | null): Entry {
    const platformId = before?.platformId ?? null
    const { since, made } = this.#findPending(before) ?? { since: this.#clock.now().toISOString(), made: [] }
    const isNew = spec && platformId === null
    const all = isNew ? [...removePrint(made, spec), toPrint(spec)] : made
    return { reference, revision, spec, platformId, unheard: all.length > 0 ? { since, made: all } : null }
  }

  #findPending(entry: Entry | null): PendingCreations | null {
    const unheard = entry?.unheard ?? null
    return unheard && this.#clock.ms() - Date.parse(unheard.since) < orphanWindowMs ? unheard : null
  }

  /** Reconciles Shopify's discount with the ledger entry. Repeats this if the entry changes meanwhile. */
  async #reconcile(
    store: ProviderStore,
    shopId: string,
    claimed: VersionedEntry,
    pending: PendingCreations | null,
  ): Promise<string | null> {
    let target = claimed
    let unheard = pending
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      const platformId = await this.#apply(store, target.entry, unheard)
      const overtaken = await this.#recordResult(store, shopId, target, platformId)
      if (!overtaken) return platformId
      target = overtaken
      unheard = this.#findPending(overtaken.entry)
    }
    throw busy()
  }

  /**
   * Records the discount's id in the ledger. Returns null, or the newer entry of another writer, which the caller must
   * reconcile.
   */
  async #recordResult(
    store: ProviderStore,
    shopId: string,
    { entry, digest }: VersionedEntry,
    platformId: string | null,
  ): Promise<VersionedEntry | null> {
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      const { found } = await findEntry(this.#client, store, entry.reference)
      if (!found) throw busy()
      const isOurs = found.digest === digest
      const recordedId = found.entry.platformId
      if (recordedId === platformId) return isOurs ? null : found
      if (!isOurs) {
        if (platformId === null) return found
        // The other writer created a duplicate or removed the discount: delete ours.
        if (recordedId !== null || found.entry.spec === null) {
          await deleteDiscount(this.#client, store, platformId)
          return found
        }
      }
      const updated = {
        ...found.entry,
        platformId,
        unheard: confirmCreation(found.entry.unheard, entry.spec),
      }
      const written = await writeEntry(this.#client, store, shopId, updated, found.digest)
      // If the entry is newer, it now holds the id of the discount that this call created.
      if (written !== null) return isOurs ? null : { entry: updated, digest: written }
    }
    throw busy()
  }

  async #apply(store: ProviderStore, entry: Entry, unheard: PendingCreations | null): Promise<string | null> {
    const { spec } = entry
    const orphans = await this.#findOrphans(store, entry, unheard)
    const id = entry.platformId ?? orphans[0] ?? null
    for (const stray of orphans) if (stray !== id) await deleteDiscount(this.#client, store, stray)
    if (spec === null) {
      if (id !== null) await deleteDiscount(this.#client, store, id)
      return null
    }
    const desired = toContent(spec)
    const now = this.#clock.now()
    const node = id === null ? null : await findDiscount(this.#client, store, id, maxItems)
    if (!node || id === null) {
      return createDiscount(this.#client, store, buildDiscountInput(desired, null, now))
    }
    await updateDiscount(this.#client, store, id, buildDiscountInput(desired, parseContent(node), now))
    return id
  }

  /**
   * Finds orphans: discounts that we created without getting a response. They have the content that we sent and belong to no
   * other reference.
   */
  async #findOrphans(
    store: ProviderStore,
    { reference, platformId }: Entry,
    unheard: PendingCreations | null,
  ): Promise<string[]> {
    if (!unheard) return []
    const prints = new Map(unheard.made.map((each) => [each.fingerprint, each.title]))
    const titles = new Set(prints.values())
    const orphans: string[] = []
    for (const { id, title } of await listNewestDiscounts(this.#client, store, unheard.since)) {
      if (id === platformId || !titles.has(title)) continue
      const node = await findDiscount(this.#client, store, id, maxItems)
      const content = node && parseContent(node)
      const isLike = content && prints.has(fingerprint(content))
      if (isLike && !(await this.#belongsToOther(store, reference, id))) orphans.push(id)
    }
    return orphans
  }

  async #belongsToOther(store: ProviderStore, reference: string, id: string): Promise<boolean> {
    const entries = await listEntries(this.#client, store)
    return entries.some((entry) => entry.platformId === id && entry.reference !== reference)
  }

  /** Restores the previous ledger entry after Shopify rejected the discount, unless another writer has replaced the entry. */
  async #rollBack(
    store: ProviderStore,
    shopId: string,
    before: Entry | null,
    now: VersionedEntry,
  ): Promise<void> {
    const { reference, revision } = now.entry
    const restored = before ?? {
      reference,
      revision: revision - 1,
      spec: null,
      platformId: null,
      unheard: null,
    }
    await writeEntry(this.#client, store, shopId, restored, now.digest)
  }
}

function countItems(spec: QuantityDiscount | null): number {
  return Math.min(maxItems - 1, Math.max(spec?.productIds.length ?? 0, spec?.categoryIds.length ?? 0))
}

const toPrint = (spec: QuantityDiscount): PendingCreations['made'][number] => ({
  title: spec.title,
  fingerprint: fingerprint(toContent(spec)),
})

const removePrint = (made: PendingCreations['made'], spec: QuantityDiscount): PendingCreations['made'] => {
  const { fingerprint: print } = toPrint(spec)
  return made.filter((each) => each.fingerprint !== print)
}

/** Removes the creation of `spec` from the pending creations, because it got a response. */
function confirmCreation(
  unheard: PendingCreations | null,
  spec: QuantityDiscount | null,
): PendingCreations | null {
  if (!unheard || !spec) return unheard
  const made = removePrint(unheard.made, spec)
  return made.length > 0 ? { ...unheard, made } : null
}
