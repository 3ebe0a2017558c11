// biome-ignore-all lint/plugin/module-state: a cache with bounds, whose copies are good for one stamp of the store
/**
 * Builds the response of `GET /storefront/:publicId/widgets` and caches it in this process, by store, page and product. A
 * cached entry is valid as long as the store's stamp is the same; every request reads the stamp with the store.
 */
import type { Context } from '#runtime/context'
import { buildEtag } from '#runtime/gateway/etag'
import { CompressedText } from '#runtime/http/compression-cache'
import { findByHandle } from '../catalog/read.ts'
import type { PageQuery, WidgetQuery, WidgetSpec } from './widgets.ts'

export interface Published {
  packed: CompressedText
  /** When the response expires because a schedule starts or ends, in milliseconds; null if never. */
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

/** Returns the response from the cache, or builds it. Concurrent requests for the same key share one build. */
export async function publish(
  ctx: Context,
  visited: { features: ReadonlySet<string>; stamp: string; revision: string },
  query: PageQuery,
): Promise<Published> {
  const key = JSON.stringify([ctx.store.id, query.page, query.productId, query.cards, query.handles])
  const known = entries.get(key)
  if (known && isValid(known, visited.stamp, ctx.clock.ms())) {
    // Moves the entry to the end, because the first (least recently used) entries are evicted.
    entries.delete(key)
    entries.set(key, known)
    return known
  }
  const buildKey = `${key} ${visited.stamp}`
  let built = building.get(buildKey)
  if (!built) {
    // Caches the entry before removing the build from `building`; otherwise a request in between would build it again.
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
  asked: PageQuery,
): Promise<Entry> {
  const builtAt = ctx.clock.ms()
  const { handles: written = [], ...rest } = asked
  const handles = await findByHandle(ctx, written)
  const query = { ...rest, cards: [...new Set([...rest.cards, ...handles.values()])].sort() }
  const parts = await Promise.all(
    Object.entries(ctx.extensions.widgets).flatMap(([key, spec]) =>
      spec && features.has(spec.feature) ? [buildPart(ctx, key, spec, query)] : [],
    ),
  )
  const shown: Record<string, unknown> = {}
  let until: number | null = null
  // A map, because the ids come from the request, and an id such as `__proto__` must not become a key of a plain object.
  const cards = new Map<string, Record<string, unknown>>(query.cards.map((id) => [id, {}]))
  for (const { key, widget, cards: its } of parts) {
    for (const [productId, card] of its ?? []) {
      cards.set(productId, { ...cards.get(productId), [key]: card })
    }
    // `until` counts for a part with nothing to show too: the part may show something later.
    const at = widget?.until?.getTime() ?? null
    if (at !== null && (until === null || at < until)) until = at
    if (widget && widget.value !== null) shown[key] = widget.value
  }
  if (query.cards.length > 0) shown.cards = Object.fromEntries(cards)
  if (handles.size > 0) shown.handles = Object.fromEntries(handles)
  const text = JSON.stringify(shown)
  const etag = `"${revision}-${buildEtag(text).slice(1, -1)}"`
  const packed = new CompressedText(text, { type: 'application/json', effort: 'passing', etag })
  return { stamp, builtAt, until, packed, size: text.length }
}
