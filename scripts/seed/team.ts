/** Activity of Aurora's people: read notifications, assistant requests, single messages. */

import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { hourMs } from '#runtime/durations'
import { phoneKey } from '#runtime/values/phone'
import type { DemoStore } from './demo-store.ts'
import { Random } from './random.ts'
import { insertRows, recordSent } from './rows.ts'

/** Olivia and Marco have not read the newest five notifications for everybody; Ada has read none. */
export async function readNotifications(db: RootDatabase, { id, people }: DemoStore): Promise<void> {
  for (const reader of ['olivia', 'marco']) {
    await sql`insert into notification_reads (store_id, notification_id, user_id, read_at)
      select store_id, id, ${people[reader]!}::uuid, created_at + n * interval '1 hour'
      from (select store_id, id, created_at, row_number() over (order by created_at desc) as n from notifications
        where store_id = ${id} and recipient_ids is null) as told
      where n > 5 on conflict do nothing`.execute(db)
  }
}

const phones = { olivia: '+5511940001000', marco: '+5511940001001' }

/** Connects the phones of Olivia and Marco to the assistant, with 37 requests since the message cycle began. */
export async function seedBindings(db: RootDatabase, { id, timeline, people }: DemoStore): Promise<void> {
  const random = new Random('aurora assistant')
  const { starts_at: start } = await db
    .selectFrom('usage_cycles')
    .select('starts_at')
    .where('store_id', '=', id)
    .orderBy('starts_at', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const sinceMs = timeline.now.getTime() - start.getTime()
  // Not in the first and the last hour, whatever the day.
  const edge = Math.min(hourMs, sinceMs / 4)
  for (const [key, name, requests, daysAgo] of [
    ['olivia', 'Olivia', 25, 180],
    ['marco', 'Marco', 12, 95],
  ] as const) {
    const bound = { phone: phones[key], phone_key: phoneKey(phones[key]) }
    const instants = Array.from({ length: requests }, () => random.between(edge, sinceMs - edge))
      .sort((one, other) => one - other)
      .map((afterMs) => new Date(start.getTime() + Math.floor(afterMs)))
    const last_used_at = instants.at(-1)!
    await insertRows(db, 'chat_agent_bindings', id, [
      { ...bound, name, user_id: people[key]!, paired_at: timeline.ago(daysAgo), last_used_at },
    ])
    const asked = instants.map((requested_at, i) => ({
      inbound_id: `demo-${key}-${i}`,
      phone_key: bound.phone_key,
      requested_at,
    }))
    await insertRows(db, 'chat_agent_requests', id, asked)
  }
}

/** 25 single messages, six of them template tests; all sent, one not delivered. */
export async function recordSingles(db: RootDatabase, { id }: DemoStore): Promise<void> {
  const rows = await db.selectFrom('direct_messages').selectAll().where('store_id', '=', id).execute()
  await recordSent(db, id, rows, (row) => ({
    source: 'direct',
    source_id: row.id,
    failure_code: row.error_code,
  }))
}
