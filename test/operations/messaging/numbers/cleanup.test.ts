import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { dayMs } from '#runtime/durations'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('callbacks and assistant conversations are deleted after 90 days, not before', async () => {
  await app.setClock('2026-11-20T12:00:00.000Z')
  const shop = await store(app)
  const ctx = await shop.context()
  const ages = { old: 90 * dayMs + 1, young: 90 * dayMs - 60_000 }
  for (const [name, age] of Object.entries(ages)) {
    const at = new Date(app.clock.ms() - age)
    await ctx.system
      .insertInto('provider_events')
      .values({
        id: newId(at.getTime()),
        port: 'messaging',
        provider: 'sandbox',
        key: `status:${name}`,
        store_id: shop.id,
        kind: 'status',
        occurred_at: at,
        payload: JSON.stringify({}),
        created_at: at,
      } as never)
      .execute()
    const code = { id: newId(at.getTime()), user_id: shop.userId, name, code_hash: name, phone_key: null }
    await ctx.db
      .insertInto('chat_agent_codes')
      .values({ ...code, created_at: at, expires_at: at })
      .execute()
    const phone = `+5511999990${name.length}`
    await ctx.db
      .insertInto('chat_agent_requests')
      .values({ inbound_id: name, phone_key: phone, requested_at: at })
      .execute()
    await ctx.system
      .insertInto('chat_agent_replies')
      .values({
        inbound_id: name,
        id: newId(at.getTime()),
        store_id: null,
        phone,
        text: null,
        created_at: at,
      } as never)
      .execute()
    await ctx.system
      .insertInto('chat_agent_strangers')
      .values({ phone_key: name, told_at: at } as never)
      .execute()
    await ctx.system
      .insertInto('chat_agent_strangers')
      .values({ phone_key: `${name} wrong`, wrong_at: sql<Date[]>`array[${at}::timestamptz]` } as never)
      .execute()
  }
  await app.database.root.deleteFrom('job_schedules').execute()
  app.worker.clockMoved()
  await app.drainJobs()
  const { root } = app.database
  const names = async (table: string, column: string): Promise<string[]> => {
    const rows = await app.database.query<{ name: string }>(
      `select ${column} as name from ${table} order by 1`,
      [],
    )
    return rows.map((row) => row.name)
  }
  expect(await names('provider_events', 'key')).toEqual(['status:young'])
  expect(await names('chat_agent_codes', 'code_hash')).toEqual(['young'])
  expect(await names('chat_agent_requests', 'inbound_id')).toEqual(['young'])
  expect(await names('chat_agent_replies', 'inbound_id')).toEqual(['young'])
  expect(await names('chat_agent_strangers', 'phone_key')).toEqual(['young', 'young wrong'])
  expect(await root.selectFrom('messaging_releases').select('id').execute()).toEqual([])
})
