/** The sandbox provider's behaviour towards a store, as set by its tests. */
import type { RootDatabase } from '#db/database'
import { Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'

async function readMode(db: RootDatabase, store: ProviderStore): Promise<string> {
  const row = await db
    .selectFrom('sandbox_modes')
    .select('mode')
    .where('store_id', '=', store.id)
    .where('port', '=', 'messaging')
    .executeTakeFirst()
  return row?.mode ?? 'up'
}

/** Runs a call under the store's mode: the provider may be down, throttle, or lose its response. */
export async function withMode<T>(db: RootDatabase, store: ProviderStore, act: () => Promise<T>): Promise<T> {
  const mode = await readMode(db, store)
  if (mode === 'down' || mode === 'throttle') throw new Unavailable('no', `The sandbox is set to ${mode}`)
  const answer = await act()
  if (mode === 'timeout') throw new Unavailable('unknown', 'The sandbox is set to lose its answers')
  return answer
}
