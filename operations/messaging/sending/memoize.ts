/** Caches reads for the messages of one batch, which would otherwise repeat them hundreds of times per second. */
import type { Context } from '#runtime/context'

const ttlMs = 250
// biome-ignore lint/plugin/module-state: for a quarter of a second, and no longer than the context that asks lives
const caches = new WeakMap<Context, Map<string, { until: number; value: Promise<unknown> }>>()

/** Returns the result of `load`, cached per context and name for a quarter of a second. */
export function memoize<T>(ctx: Context, name: string, load: () => Promise<T>): Promise<T> {
  const names = caches.get(ctx) ?? new Map<string, { until: number; value: Promise<unknown> }>()
  caches.set(ctx, names)
  const found = names.get(name)
  if (found && performance.now() < found.until) return found.value as Promise<T>
  const value = load()
  names.set(name, { until: performance.now() + ttlMs, value })
  value.catch(() => names.delete(name))
  return value
}
