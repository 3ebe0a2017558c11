// biome-ignore-all lint/plugin/module-state: a cache with bounds, whose copies are good for one stamp of the store
/**
 * The answer of `GET /storefront/:publicId/widgets`: built once for each state of the store, page and product, and kept
 * in this process. What a copy is good for is one stamp, read with the store at each request.
 */
import type { Context } from '#runtime/context'
import { etagOf } from '#runtime/gateway/etag'
import { Packed } from '#runtime/http/packed'
import type { WidgetQuery, WidgetSpec } from './widgets.ts'

export interface Published {
  packed: Packed
  /** When it will be another by itself, in milliseconds; null: never. */
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

/** From the copy that is kept, or built; those who ask for the same at once wait for one build. */
export async function publish(
  ctx: Context,
  visited: { features: ReadonlySet<string>; stamp: string; revision: string },
  query: WidgetQuery,
): Promise<Published> {
  const key = JSON.stringify([ctx.store.id, query.page, query.productId, query.cards])
  const known = entries.get(key)
  if (known && isGood(known, visited.stamp, ctx.clock.ms())) {
    // Those asked for last stay longest.
    entries.delete(key)
    entries.set(key, known)
    return known
  }
  const turn = `${key} ${visited.stamp}`
  let built = building.get(turn)
  if (!built) {
    // Kept before it is no longer under way: who asks between the two would build it again.
    built = build(ctx, visited, query)
      .then((entry) => keep(key, entry))
      .finally(() => building.delete(turn))
    building.set(turn, built)
  }
  return built
}

const isGood = (entry: Entry, stamp: string, now: number): boolean =>
  entry.stamp === stamp && now >= entry.builtAt && (entry.until === null || now < entry.until)

function keep(key: string, entry: Entry): Entry {
  drop(key)
  entries.set(key, entry)
  characters += entry.size
  for (const oldest of entries.keys()) {
    if (entries.size <= entriesAtMost && characters <= charactersAtMost) break
    drop(oldest)
  }
  return entry
}

function drop(key: string): void {
  const entry = entries.get(key)
  if (!entry) return
  entries.delete(key)
  characters -= entry.size
}

async function partOf(ctx: Context, key: string, spec: WidgetSpec, query: WidgetQuery) {
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
    Object.entries(ctx.wired.widgets).flatMap(([key, spec]) =>
      spec && features.has(spec.feature) ? [partOf(ctx, key, spec, query)] : [],
    ),
  )
  const shown: Record<string, unknown> = {}
  let until: number | null = null
  // By ids that anybody may have written: a key of a plain object is not for them.
  const cards = new Map<string, Record<string, unknown>>()
  for (const { key, widget, cards: its } of parts) {
    for (const [productId, card] of its ?? []) {
      cards.set(productId, { ...cards.get(productId), [key]: card })
    }
    // What shows nothing yet may begin to by itself.
    const at = widget?.until?.getTime() ?? null
    if (at !== null && (until === null || at < until)) until = at
    if (widget && widget.value !== null) shown[key] = widget.value
  }
  if (query.cards.length > 0) shown.cards = Object.fromEntries(cards)
  const text = JSON.stringify(shown)
  const etag = `"${revision}-${etagOf(text).slice(1, -1)}"`
  const packed = new Packed(text, { type: 'application/json', effort: 'passing', etag })
  return { stamp, builtAt, until, packed, size: text.length }
}
