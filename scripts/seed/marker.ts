/** How far the demo is, in the database itself. Apart from the demo, which is read by the first start alone. */
import type { Services } from '#runtime/context'

/** Whether the database has no store yet, or only a demo that was interrupted. */
export async function isDemoMissing(services: Services): Promise<boolean> {
  const marker = await readMarker(services)
  if (marker) return !marker.isComplete
  const store = await services.database.root.selectFrom('stores').select('id').limit(1).executeTakeFirst()
  return store === undefined
}

export const markerName = 'demo'

export interface Begun {
  /** The instant that all others of the demo are counted back from: a run that goes on must use the same. */
  at: string
  isComplete: boolean
}

export async function readMarker(services: Services): Promise<Begun | null> {
  const row = await services.database.root
    .selectFrom('server_settings')
    .select('value')
    .where('name', '=', markerName)
    .executeTakeFirst()
  return (row?.value as Begun | undefined) ?? null
}
