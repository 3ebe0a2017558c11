/** Aurora's chat button, and the phones that talk to the assistant. */
import type { RootDatabase } from '#db/database'
import type { ButtonContent } from '#operations/messaging/button/schema'
import { namedId } from '#runtime/values/ids'
import { phoneKey } from '#runtime/values/phone'
import { Random } from './random.ts'
import { insertRows } from './rows.ts'
import type { DemoStore } from './store.ts'
import { hourMs } from './timeline.ts'

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri'] as const

const button: ButtonContent = {
  isEnabled: true,
  phone: null,
  message: 'Oi! Estou vendo {{pageTitle}} e queria ajuda.',
  label: 'Fale com a gente',
  tooltip: 'Respondemos em poucos minutos',
  tooltipDelaySeconds: 3,
  position: 'bottom-right',
  offsetX: 20,
  offsetY: 20,
  mobileOffsetY: 80,
  size: 56,
  backgroundColor: '#25d366',
  iconColor: '#ffffff',
  devices: 'all',
  pageMode: 'exclude',
  pagePatterns: ['/checkout*'],
  attendants: [
    { name: 'Marco', role: 'Vendas', phone: '+5511940001001', avatarUrl: null },
    { name: 'Ada', role: 'Trocas e entregas', phone: '+5511940001002', avatarUrl: null },
  ],
  schedule: {
    isEnabled: true,
    hours: weekdays.map((day) => ({ day, start: '09:00', end: '18:00' })),
    outside: 'show',
    outsideMessage: 'Voltamos no próximo dia útil, às 9h.',
  },
}

/** Enabled, with two attendants, on weekdays. */
export async function seedAuroraButton(db: RootDatabase, { id, timeline }: DemoStore): Promise<void> {
  const createdAt = timeline.ago(310)
  await insertRows(db, 'messaging_buttons', id, [
    {
      id: namedId('aurora messaging button', createdAt.getTime()),
      content: button,
      created_at: createdAt,
      updated_at: timeline.ago(41),
    },
  ])
}

const requestsOfCycle = { olivia: 25, marco: 12 }

/** Olivia and Marco, with 37 requests since the message cycle began. */
export async function seedAuroraBindings(db: RootDatabase, store: DemoStore): Promise<void> {
  const { id, timeline, people } = store
  const random = new Random('aurora assistant')
  const { starts_at: cycleStart } = await db
    .selectFrom('usage_cycles')
    .select('starts_at')
    .where('store_id', '=', id)
    .orderBy('starts_at', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const sinceMs = timeline.now.getTime() - cycleStart.getTime()
  const paired = [
    { key: 'olivia', name: 'Olivia', phone: '+5511940001000', daysAgo: 180 },
    { key: 'marco', name: 'Marco', phone: '+5511940001001', daysAgo: 95 },
  ] as const
  for (const { key, name, phone, daysAgo } of paired) {
    const instants = Array.from({ length: requestsOfCycle[key] }, () =>
      // Not in the first and the last hour, whatever the day.
      random.between(Math.min(hourMs, sinceMs / 4), sinceMs - Math.min(hourMs, sinceMs / 4)),
    )
      .map((afterMs) => new Date(cycleStart.getTime() + Math.floor(afterMs)))
      .sort((a, b) => a.getTime() - b.getTime())
    await insertRows(db, 'chat_agent_bindings', id, [
      {
        phone,
        phone_key: phoneKey(phone),
        name,
        user_id: people[key]!,
        paired_at: timeline.ago(daysAgo),
        last_used_at: instants.at(-1)!,
      },
    ])
    await insertRows(
      db,
      'chat_agent_requests',
      id,
      instants.map((requested_at, i) => ({
        inbound_id: `demo-${key}-${i}`,
        phone_key: phoneKey(phone),
        requested_at,
      })),
    )
  }
}
