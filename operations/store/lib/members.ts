/** Members of a store, and what must happen when one is removed. */
import type { Context } from '#runtime/context'

type Listener = (ctx: Context, userId: string) => Promise<void>
const listeners: Listener[] = []

/** Runs in the transaction that removes a member. */
export const onRemoved = (listener: Listener): void => {
  listeners.push(listener)
}
export const removedListeners = (): readonly Listener[] => listeners
