/**
 * State of the demo's seeding, stored in the database. In its own file, because the demo itself is loaded only by the
 * first start.
 */
import type { Services } from '#runtime/context'

/** Whether the database has no store yet, or only an interrupted demo. */
export async function isDemoMissing(services: Services): Promise<boolean> {
  const marker = await readMarker(services)
  if (marker) return !marker.isComplete
  const store = await services.database.root.selectFrom('stores').select('id').limit(1).executeTakeFirst()
  return store === undefined
}

export const markerName = 'demo'

export interface Begun {
  /** The base of all instants of the demo: a resumed run must use the same. */
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
