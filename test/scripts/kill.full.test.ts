/** kill -9 of real processes in the middle of real work: nobody gets a message twice, nobody is missed. */
import { expect, test } from 'vitest'
import type { TestApp } from '#test/support/app'
import { audience } from '#test/support/people'
import { call, outbox, prepareServer, start, until } from '#test/support/processes'

const recipients = 1500

async function filled(app: TestApp): Promise<{ key: string; listId: string }> {
  const given = { phone: '+5511900001111', people: recipients, firstPhone: 80_000_000 }
  const { shop, listId } = await audience(app, given)
  return { key: shop.key, listId }
}

test('a campaign survives kill -9 of the process that sends it', async () => {
  const {
    env,
    filled: { key, listId },
  } = await prepareServer(filled)
  const first = await start('scripts/start.ts', env)
  const created = await call(first.url, key, 'POST', '/v1/campaigns', {
    name: 'To everybody',
    listId,
    content: { type: 'text', text: 'Hello {{firstName|you}}' },
  })
  expect(created.status).toBe(201)
  const path = `/v1/campaigns/${created.body.id}`
  expect((await call(first.url, key, 'POST', `${path}/send`)).status).toBe(202)
  await until(
    async () => (await call(first.url, key, 'GET', path)).body.counters.sent >= recipients / 3 && true,
  )
  first.child.kill('SIGKILL')
  await first.ended

  const second = await start('scripts/start.ts', env)
  const middle = (await call(second.url, key, 'GET', path)).body
  expect(middle.status).toBe('sending')
  expect(middle.counters.total).toBe(recipients)
  // Claims of the dead process expire after two minutes of the clock.
  const moved = await fetch(`${second.url}/sandbox/api/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceSeconds: 130 }),
  })
  expect(moved.status).toBe(200)
  const done = await until(async () => {
    const { body } = await call(second.url, key, 'GET', path)
    return body.status === 'sent' && body
  })
  const { counters } = done
  expect(counters).toMatchObject({ total: recipients, pending: 0, skipped: 0, cancelled: 0 })
  expect(counters.sent + counters.failed).toBe(recipients)
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)

  const { rows, phones, keys } = await outbox(env)
  expect([rows, phones, keys]).toEqual([recipients, recipients, recipients])
})
