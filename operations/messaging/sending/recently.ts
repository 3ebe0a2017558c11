/** Reads that hundreds of messages a second would each repeat: shared by the messages of one batch. */
import type { Context } from '#runtime/context'

const freshMs = 250
// biome-ignore lint/plugin/module-state: for a quarter of a second, and no longer than the context that asks lives
const kept = new WeakMap<Context, Map<string, { until: number; value: Promise<unknown> }>>()

/** What `load` answered to this context under this name within the last quarter of a second, or answers now. */
export function recently<T>(ctx: Context, name: string, load: () => Promise<T>): Promise<T> {
  const names = kept.get(ctx) ?? new Map<string, { until: number; value: Promise<unknown> }>()
  kept.set(ctx, names)
  const found = names.get(name)
  if (found && performance.now() < found.until) return found.value as Promise<T>
  const value = load()
  names.set(name, { until: performance.now() + freshMs, value })
  value.catch(() => names.delete(name))
  return value
}
