/** Local days at clock changes, in every zone: in JavaScript and in the database. */

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { firstInstant } from '#runtime/database/days'
import { hourMs } from '#runtime/durations'
import { addDays, localDay } from '#runtime/values/days'
import { findInstants, getFirstInstant } from '#runtime/values/wall-clock'
import { testApp } from '#test/support/app'

const app = await testApp()
const [from, to] = [Date.UTC(2025, 0, 1), Date.UTC(2027, 0, 1)]

/** Each zone with the days around its changes. */
const days = Intl.supportedValuesOf('timeZone').flatMap((zone) => {
  const found = new Set<string>()
  const offsetAt = (at: number) =>
    getFirstInstant(localDay(new Date(at), zone), zone).getTime() % (24 * hourMs)
  let before = offsetAt(from)
  for (let at = from; at < to; at += 24 * hourMs) {
    const offset = offsetAt(at)
    if (offset === before) continue
    before = offset
    for (const more of [-2, -1, 0, 1]) found.add(addDays(localDay(new Date(at), zone), more))
  }
  return [...found].map((day) => ({ zone, day }))
})

test('a day begins at the first instant with its date', () => {
  expect(days.length).toBeGreaterThan(1000)
  for (const { zone, day } of days) {
    const first = getFirstInstant(day, zone)
    expect(localDay(first, zone), `${day} ${zone}`).toBe(day)
    expect(localDay(new Date(+first - 1), zone), `${day} ${zone}`).toBe(addDays(day, -1))
    // The instant before has another date.
    expect(localDay(new Date(+first - hourMs), zone), `${day} ${zone}`).toBe(addDays(day, -1))
  }
})

test('the database begins the day at the same instant, if it knows the same rules of the zone', async () => {
  const given = days.map(({ zone, day }) => ({ zone, day, first: getFirstInstant(day, zone).toISOString() }))
  const { rows } = await sql<{ zone: string; day: string }>`
    select d.zone, d.day::text from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
      as d (zone text, day date, first timestamptz)
    where ${firstInstant(sql`d.day`, sql`d.zone`)} <> d.first
      and (d.first at time zone d.zone)::date = d.day
      and ((d.first - interval '1 millisecond') at time zone d.zone)::date < d.day`.execute(app.database.root)
  expect(rows).toEqual([])
})

test.each([
  ['2027-09-05', '00:00', 'America/Santiago', ['2027-09-05T04:00:00.000Z']],
  ['2027-10-31', '00:00', 'Atlantic/Azores', ['2027-10-31T00:00:00.000Z', '2027-10-31T01:00:00.000Z']],
  ['2027-03-14', '02:30', 'America/New_York', ['2027-03-14T07:00:00.000Z']],
])('%s %s in %s', (day, time, zone, instants) => {
  expect(findInstants(day, time, zone).map((at) => at.toISOString())).toEqual(instants)
})
