/** What Aurora's people did: notifications read, the assistant asked, single messages sent. */
import { sql } from 'kysely'
import type { RootDatabase } from '#db/database'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import texts from './data/texts.json' with { type: 'json' }
import { auroraTemplates } from './messaging.ts'
import type { Customer } from './order-plan.ts'
import { Random } from './random.ts'
import { insertRows, recordSent, type SeedRow } from './rows.ts'
import type { DemoStore } from './store.ts'
import { hourMs, minuteMs } from './timeline.ts'

/** Of what was for everybody Olivia and Marco have not read the newest five; Ada has read none. */
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

/** Olivia and Marco, with 37 requests since the message cycle began. */
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

type Single = SeedRow<'direct_messages'>

const singles = 25
const tests = 6

/** 25 single messages, six of them tests of templates; all left, one did not arrive. */
export async function seedSingles(
  db: RootDatabase,
  store: DemoStore,
  customers: readonly Customer[],
): Promise<void> {
  const random = new Random('aurora single sends')
  const reached = random.shuffled(customers).slice(0, singles)
  const rows = reached.map((customer, i): Single => {
    // From a year ago to yesterday, closer together towards today.
    const at = store.timeline.ago(1.2 + 360 * ((singles - 1 - i) / singles) ** 2)
    const id = namedId(`aurora single send ${i}`, at.getTime())
    const common = {
      id,
      connection_type: 'official' as const,
      called_at: at,
      attempts: 1,
      provider_message_id: `wamid.${id}`,
      sent_at: at,
      created_at: at,
      ...fateOf(i, at),
      ...(i < tests
        ? testOf(store, i)
        : { purpose: 'message' as const, type: 'text', via: null, name: customer.name }),
    }
    const phone = i < tests ? phones.olivia : customer.phone
    const text = i < tests ? testText(i) : random.pick(texts.singles)
    return { ...common, phone, phone_key: phoneKey(phone), text }
  })
  await insertRows(db, 'direct_messages', store.id, rows)
  await recordSent(db, store.id, rows, ({ id, error_code }) => ({
    source: 'direct',
    source_id: id,
    failure_code: error_code ?? null,
  }))
}

/** A template with its examples, to the owner's own phone. */
const testOf = ({ names }: DemoStore, i: number) => {
  const { name, examples, buttonExamples = [] } = auroraTemplates[i]!
  return {
    purpose: 'template-test' as const,
    type: 'template',
    via: 'official' as const,
    officialapi_template_id: Number(names.get(`template:${name}`)),
    template_parameters: { header: [], body: examples, buttons: buttonExamples },
  }
}

function testText(i: number): string {
  const { body, examples } = auroraTemplates[i]!
  return body.replace(/\{\{(\d+)\}\}/g, (_all, n: string) => examples[Number(n) - 1]!)
}

/** One did not arrive, three were never read. */
function fateOf(i: number, sentAt: Date) {
  const at = (minutes: number): Date => new Date(sentAt.getTime() + minutes * minuteMs)
  if (i === 9) {
    const error_message = 'The message could not be delivered'
    return {
      status: 'failed',
      error_code: 'undelivered',
      error_message,
      failed_at: at(1),
      updated_at: at(1),
    } as const
  }
  if (i % 8 === 7) return { status: 'delivered', delivered_at: at(1), updated_at: at(1) } as const
  return { status: 'read', delivered_at: at(1), read_at: at(4 + i), updated_at: at(4 + i) } as const
}
