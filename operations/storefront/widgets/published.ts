// biome-ignore-all lint/plugin/module-state: a cache with bounds, whose copies are good for one stamp of the store
/**
 * The answer of `GET /storefront/:publicId/widgets`: built once for each state of the store, page and product, and
 * cached in this process. A cached entry is valid for one stamp, which is read with the store at each request.
 */
import type { Context } from '#runtime/context'
import { buildEtag } from '#runtime/gateway/etag'
import { CompressedText } from '#runtime/http/compression-cache'
import type { WidgetQuery, WidgetSpec } from './widgets.ts'

export interface Published {
  packed: CompressedText
  /** When it expires by itself, in milliseconds; null: never. */
  until: number | null
}

interface Entry extends Published {
  size: number
  stamp: string
  builtAt: number
}

const entriesAtMost = 5000
const charactersAtMost = 64 * 1024 * 1024
const entries = new Map<string, Entry>()
let characters = 0
const building = new Map<string, Promise<Entry>>()

/** From the cache, or built; concurrent requests for the same key share one build. */
export async function publish(
  ctx: Context,
  visited: { features: ReadonlySet<string>; stamp: string; revision: string },
  query: WidgetQuery,
): Promise<Published> {
  const key = JSON.stringify([ctx.store.id, query.page, query.productId, query.cards])
  const known = entries.get(key)
  if (known && isValid(known, visited.stamp, ctx.clock.ms())) {
    // Least recently used entries are evicted first.
    entries.delete(key)
    entries.set(key, known)
    return known
  }
  const buildKey = `${key} ${visited.stamp}`
  let built = building.get(buildKey)
  if (!built) {
    // Cached before the build is removed from `building`: a request in between would build it again.
    built = build(ctx, visited, query)
      .then((entry) => cacheEntry(key, entry))
      .finally(() => building.delete(buildKey))
    building.set(buildKey, built)
  }
  return built
}

const isValid = (entry: Entry, stamp: string, now: number): boolean =>
  entry.stamp === stamp && now >= entry.builtAt && (entry.until === null || now < entry.until)

function cacheEntry(key: string, entry: Entry): Entry {
  evict(key)
  entries.set(key, entry)
  characters += entry.size
  for (const oldest of entries.keys()) {
    if (entries.size <= entriesAtMost && characters <= charactersAtMost) break
    evict(oldest)
  }
  return entry
}

function evict(key: string): void {
  const entry = entries.get(key)
  if (!entry) return
  entries.delete(key)
  characters -= entry.size
}

async function buildPart(ctx: Context, key: string, spec: WidgetSpec, query: WidgetQuery) {
  const [widget, cards] = await Promise.all([
    spec.build(ctx, query),
    query.cards.length > 0 ? spec.cards?.(ctx, query.cards) : undefined,
  ])
  return { key, widget, cards }
}

async function build(
  ctx: Context,
  { features, stamp, revision }: { features: ReadonlySet<string>; stamp: string; revision: string },
  query: WidgetQuery,
): Promise<Entry> {
  const builtAt = ctx.clock.ms()
  const parts = await Promise.all(
    Object.entries(ctx.extensions.widgets).flatMap(([key, spec]) =>
      spec && features.has(spec.feature) ? [buildPart(ctx, key, spec, query)] : [],
    ),
  )
  const shown: Record<string, unknown> = {}
  let until: number | null = null
  // Ids come from the request, so they must not be keys of a plain object.
  const cards = new Map<string, Record<string, unknown>>()
  for (const { key, widget, cards: its } of parts) {
    for (const [productId, card] of its ?? []) {
      cards.set(productId, { ...cards.get(productId), [key]: card })
    }
    // An empty part may start to show something later.
    const at = widget?.until?.getTime() ?? null
    if (at !== null && (until === null || at < until)) until = at
    if (widget && widget.value !== null) shown[key] = widget.value
  }
  if (query.cards.length > 0) shown.cards = Object.fromEntries(cards)
  const text = JSON.stringify(shown)
  const etag = `"${revision}-${buildEtag(text).slice(1, -1)}"`
  const packed = new CompressedText(text, { type: 'application/json', effort: 'passing', etag })
  return { stamp, builtAt, until, packed, size: text.length }
}
