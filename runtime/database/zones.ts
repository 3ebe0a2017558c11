/**
 * Compares the database's time zone data with that of this process. The database computes days and this process
 * computes hours, so they must agree. Both have IANA data, but possibly of different releases.
 */

import { setImmediate as breath } from 'node:timers/promises'
import { sql } from 'kysely'
import { IANAZone } from 'luxon'
import type { RootDatabase } from '#db/database'
import { dayMs } from '#runtime/durations'

export interface ZoneDifferences {
  /** Zones whose offsets differ within the next year. */
  differing: string[]
  /** Zones that the database does not know. */
  missing: string[]
}

/** Offsets are compared once a month for a year, since they change with the seasons. */
const months = 12
const monthMs = 30 * dayMs
const atATime = 20

/**
 * Compares all zones that this process knows, or the given ones. Not for the embedded database, which would take
 * seconds.
 */
export async function compareZones(
  db: RootDatabase,
  now: Date,
  zones: readonly string[] = Intl.supportedValuesOf('timeZone'),
  offsetOf = (zone: string, at: Date): number => IANAZone.create(zone).offset(at.getTime()),
): Promise<ZoneDifferences> {
  const instants = Array.from({ length: months + 1 }, (_, month) => new Date(now.getTime() + month * monthMs))
  const { rows } = await sql<{ zone: string; offsets: number[] }>`
    with known as materialized (select name as zone from pg_timezone_names where name = any(${[...zones]}::text[]))
    select zone, (
      select array_agg((extract(epoch from (i at time zone zone) - (i at time zone 'UTC')) / 60)::float8 order by n)
      from unnest(${instants.map((at) => at.toISOString())}::text[]::timestamptz[]) with ordinality as each(i, n)
    ) as offsets from known`.execute(db)
  const there = new Map(rows.map((row) => [row.zone, row.offsets]))
  const apart: string[] = []
  for (const [index, zone] of zones.entries()) {
    if (index % atATime === 0) await breath()
    const offsets = there.get(zone)
    if (offsets?.some((offset, month) => offset !== offsetOf(zone, instants[month]!))) apart.push(zone)
  }
  return { differing: apart, missing: zones.filter((zone) => !there.has(zone)) }
}
