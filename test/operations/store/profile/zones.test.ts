/** A time zone must mean the same to JavaScript, which computes due times, and to the database, which groups by day. */
import { IANAZone } from 'luxon'
import { expect, test } from 'vitest'
import { isTimezone } from '#operations/store/profile/locality'
import { createStore } from '#scripts/admin/create-store'
import { testApp } from '#test/support/app'

/** Winter and summer of a year on which all versions of the time zone database agree. */
const instants = ['2021-01-15T12:00:00Z', '2021-07-15T12:00:00Z']

test('an abbreviation known to the database is refused, unless it means the same to both', async () => {
  const { database } = await testApp()
  const rows = await database.query<{ name: string; minutes: number[] }>(
    `select abbrev as name, array(
        select (extract(epoch from (at at time zone abbrev) - (at at time zone 'UTC')) / 60)::int
        from unnest($1::timestamptz[]) with ordinality t(at, n) order by n) as minutes
      from pg_timezone_abbrevs`,
    [instants],
  )
  const taken = rows.filter(({ name }) => isTimezone(name))
  expect(taken.map(({ name }) => name)).toEqual(expect.arrayContaining(['EST', 'UTC']))
  const differing = taken.filter(({ name, minutes }) =>
    instants.some((at, n) => IANAZone.create(name).offset(Date.parse(at)) !== minutes[n]),
  )
  expect(differing).toEqual([])
})

test('abbreviations known only to JavaScript are refused', () => {
  const alphabet = Array.from({ length: 26 }, (_none, n) => String.fromCharCode(65 + n))
  const all = alphabet.flatMap((a) => alphabet.flatMap((b) => alphabet.map((c) => a + b + c)))
  expect(all.filter(isTimezone)).toEqual(['EST', 'GMT', 'HST', 'MST', 'PRC', 'ROC', 'ROK', 'UCT', 'UTC'])
})

test('a store cannot be created in a zone unknown to the database', async () => {
  const { database, services } = await testApp()
  const timezone = 'Canada/East-Saskatchewan'
  expect(isTimezone(timezone)).toBe(true)
  const place = { country: 'US', currency: 'USD', timezone }
  const made = createStore(database, services.clock.now(), {
    slug: 'west',
    name: 'West',
    owner: 'a@x.com',
    ...place,
  })
  await expect(made).rejects.toThrow(`timezone: ${timezone} is not known here`)
})
