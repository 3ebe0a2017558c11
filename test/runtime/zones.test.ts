/** The time zones of a server's database compared with this process's own. */
import { expect, test } from 'vitest'
import { compareZones } from '#runtime/database/zones'
import { testApp } from '#test/support/app'

const app = await testApp()
const db = app.database.root
const isServer = app.database.kind === 'postgres'

test.runIf(isServer)('unknown and differing zones are found', async () => {
  const now = app.clock.now()
  const differences = await compareZones(db, now)
  // An installation may be older than Node, as on Debian; these rules must be equal by now.
  for (const zone of ['UTC', 'America/Sao_Paulo', 'Europe/Lisbon', 'Asia/Tokyo', 'America/New_York']) {
    expect(differences.differing).not.toContain(zone)
    expect(differences.missing).not.toContain(zone)
  }
  expect(await compareZones(db, now, ['Europe/Lisbon', 'Moon/Tranquility'])).toEqual({
    differing: [],
    missing: ['Moon/Tranquility'],
  })
})

test.runIf(isServer)('a difference in one season only is found', async () => {
  const withoutSummer = () => 0
  const differences = await compareZones(db, app.clock.now(), ['Europe/Lisbon', 'UTC'], withoutSummer)
  expect(differences).toEqual({ differing: ['Europe/Lisbon'], missing: [] })
})
