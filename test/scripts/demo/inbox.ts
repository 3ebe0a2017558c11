/** Numbers of the demo's inbox. */
import { expect, test } from 'vitest'
import type { Seeded } from './seeded-demo.ts'

export function inboxTests({ one }: Seeded): void {
  test('conversations have the planned numbers', async () => {
    expect(
      await one(`select count(*)::int as all, count(*) filter (where status = 'open')::int as open,
        count(*) filter (where unread_count > 0)::int as unread, sum(unread_count)::int as unread_messages,
        count(*) filter (where is_pinned)::int as pinned, count(*) filter (where waiting_since is not null)::int as waiting,
        count(*) filter (where assignee_name like 'Ada%')::int as ada,
        count(*) filter (where assignee_name like 'Marco%')::int as marco,
        sum(message_count)::int as messages from conversations where store_id = $aurora`),
    ).toEqual({
      all: 60,
      open: 34,
      unread: 12,
      unread_messages: 31,
      pinned: 3,
      waiting: 9,
      ada: 15,
      marco: 9,
      messages: 640,
    })
    const open = await one<{ open: number }>(
      `select count(*)::int as open from conversations where store_id = $aurora
        and last_inbound_at > (select (value::jsonb->>'at')::timestamptz from server_settings where name = 'demo') - interval '24 hours'`,
    )
    expect(open.open).toBe(18)
  })

  test('messages have the planned numbers', async () => {
    expect(
      await one(`select count(*)::int as all, count(*) filter (where direction = 'inbound')::int as inbound,
        count(*) filter (where source = 'agent')::int as team, count(*) filter (where source in ('automation', 'campaign'))::int as earlier,
        count(*) filter (where type = 'image')::int as images, count(*) filter (where type = 'audio')::int as audios,
        count(*) filter (where type = 'document')::int as documents, count(*) filter (where type = 'location')::int as locations,
        count(*) filter (where type = 'template')::int as templates, count(*) filter (where type = 'reaction')::int as reactions,
        count(*) filter (where text = 'STOP')::int as stops, count(*) filter (where status = 'failed')::int as failed
        from inbox_messages where store_id = $aurora`),
    ).toEqual({
      all: 640,
      inbound: 335,
      team: 275,
      earlier: 30,
      images: 24,
      audios: 6,
      documents: 4,
      locations: 3,
      templates: 40,
      reactions: 1,
      stops: 1,
      failed: 5,
    })
    expect(
      await one(
        `select count(*)::int as rows from message_ledger where store_id = $aurora and source = 'inbox'`,
      ),
    ).toEqual({ rows: 270 })
  })

  test("the team's work has the planned numbers", async () => {
    expect(
      await one(`select
        (select count(distinct conversation_id)::int from inbox_conversation_tags where store_id = $aurora) as tagged,
        (select count(*)::int from inbox_notes where store_id = $aurora) as notes,
        (select count(distinct author_id)::int from inbox_notes where store_id = $aurora) as authors,
        (select count(*)::int from inbox_quick_replies where store_id = $aurora) as replies,
        (select count(*)::int from contacts where store_id = $aurora and tier_source = 'manual') as by_hand,
        (select count(*)::int from contacts k where k.store_id = $aurora and exists (
          select 1 from orders o where o.store_id = k.store_id and o.phone_key = k.phone_key)) as buyers`),
    ).toEqual({ tagged: 35, notes: 20, authors: 3, replies: 8, by_hand: 2, buyers: 25 })
  })
}
