import { expect, test } from 'vitest'
import { health } from '#operations/store/index'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'

const app = await testApp()
const lines = async (): Promise<string[]> => {
  const answer = await app.fetch(new Request('http://localhost/metrics'), { ip: '127.0.0.1' })
  return (await answer.text()).split('\n').filter((line) => line.startsWith('connections{'))
}
const lost = { kind: 'lost', code: 'gone', message: 'It is gone', remedy: 'Connect it' } as const

test('connections are counted by port and state, without a store label', async () => {
  const [one] = [await connectedStore(app), await connectedStore(app)]
  expect(await lines()).toEqual(['connections{port="ecommerce",state="connected"} 2'])
  const ctx = await one.context()
  const { provider, connected_at: connectedAt } = await ctx.db
    .selectFrom('connections')
    .select(['provider', 'connected_at'])
    .where('port', '=', 'ecommerce')
    .executeTakeFirstOrThrow()
  const connection = { port: 'ecommerce', part: '', provider, connectedAt } as const
  await ctx.transaction((tx) => health.applyHealthEvent(tx, connection, lost))
  expect((await lines()).sort()).toEqual([
    'connections{port="ecommerce",state="connected"} 1',
    'connections{port="ecommerce",state="lost"} 1',
  ])
  // The store was reconnected: earlier health does not count.
  const now = new Date(app.clock.ms() + 1000)
  await ctx.db.updateTable('connections').set({ connected_at: now }).where('port', '=', 'ecommerce').execute()
  expect(await lines()).toEqual(['connections{port="ecommerce",state="connected"} 2'])
  await app.database.query(
    `insert into provider_health (port, provider, state, since, failed_at, troubled_at, checked_at, is_told, probes, updated_at)
     values ('mail', 'smtp', 'lost', $1::timestamptz, '[]', $1, $1, false, 0, $1)`,
    [app.clock.now().toISOString()],
  )
  expect(await lines()).toContain('connections{port="mail",state="lost"} 1')
})
