/**
 * Whether a server's database has the zones' clocks that this process has: days are counted there, hours are kept here.
 * Both come from the IANA's data, each as old as what it was installed with.
 */

import { setImmediate as breath } from 'node:timers/promises'
import { sql } from 'kysely'
import { IANAZone } from 'luxon'
import type { RootDatabase } from '#db/database'
import { dayMs } from '#runtime/durations'

export interface ZonesApart {
  /** Whose clocks differ within the next year. */
  apart: string[]
  /** Of which the database knows nothing. */
  missing: string[]
}

/** Once a month for a year: rules change with a season. */
const months = 12
const monthMs = 30 * dayMs
const atATime = 20

/** Of all zones that this process knows, unless some are named. For a server: the embedded database takes seconds. */
export async function zonesApart(
  db: RootDatabase,
  now: Date,
  zones: readonly string[] = Intl.supportedValuesOf('timeZone'),
  offsetOf = (zone: string, at: Date): number => IANAZone.create(zone).offset(at.getTime()),
): Promise<ZonesApart> {
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
  return { apart, missing: zones.filter((zone) => !there.has(zone)) }
}
