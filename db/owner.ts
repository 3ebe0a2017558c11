/** The store for which a request runs statements: they take at most half of a room (`postgres/room.ts`). */
import { AsyncLocalStorage } from 'node:async_hooks'

const current = new AsyncLocalStorage<string>()

/** Runs `work`, and everything that it starts, for an owner; without one, for everybody. */
export const runFor = <T>(owner: string | undefined, work: () => T): T =>
  owner === undefined ? work() : current.run(owner, work)

export const findOwner = (): string | null => current.getStore() ?? null
