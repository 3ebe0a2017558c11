/** The zones of a server's database beside this process's own. */
import { expect, test } from 'vitest'
import { zonesApart } from '#runtime/database/zones'
import { testApp } from '#test/support/app'

const app = await testApp()
const db = app.database.root
const isServer = app.database.kind === 'postgres'

test.runIf(isServer)('which the database does not know, or knows otherwise', async () => {
  const now = app.clock.now()
  const told = await zonesApart(db, now)
  // What is installed here may be older than Node, as on Debian; what both must know by now is the same.
  for (const zone of ['UTC', 'America/Sao_Paulo', 'Europe/Lisbon', 'Asia/Tokyo', 'America/New_York']) {
    expect(told.apart).not.toContain(zone)
    expect(told.missing).not.toContain(zone)
  }
  expect(await zonesApart(db, now, ['Europe/Lisbon', 'Moon/Tranquility'])).toEqual({
    apart: [],
    missing: ['Moon/Tranquility'],
  })
})

test.runIf(isServer)('a clock that differs in one season alone is found', async () => {
  const withoutSummer = () => 0
  const told = await zonesApart(db, app.clock.now(), ['Europe/Lisbon', 'UTC'], withoutSummer)
  expect(told).toEqual({ apart: ['Europe/Lisbon'], missing: [] })
})
